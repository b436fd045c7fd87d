package query_test

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/golang/geo/s2"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// Shapes for filters and documents. The hut is at the lower left corner of the square.
const (
	hut        = `{"type":"Point","coordinates":[0,0]}`
	squareAt   = `[[0,0],[10,0],[10,10],[0,10],[0,0]]`
	squareArea = `{"type":"Polygon","coordinates":[` + squareAt + `]}`
	strictCRS  = `{"type":"name","properties":{"name":"urn:x-mongodb:crs:strictwinding:EPSG:4326"}}`
)

func geoFilter(t *testing.T, condition string) *query.Filter {
	t.Helper()
	f, err := query.CompileFilter(parse(t, `{"at":`+condition+`}`))
	require.NoError(t, err, condition)
	return f
}

func TestGeoFilter(t *testing.T) {
	t.Parallel()
	within := func(shape string) string { return `{"$geoWithin":{` + shape + `}}` }
	touching := func(geometry string) string { return `{"$geoIntersects":{"$geometry":` + geometry + `}}` }
	area := within(`"$geometry":` + squareArea)
	for _, test := range []struct {
		condition, value string
		matches          bool
	}{
		{within(`"$box":[[0,0],[5,5]]`), `[3,3]`, true},
		{within(`"$box":[[0,0],[5,5]]`), `{"x":3,"y":3,"name":"here"}`, true},
		{within(`"$box":[[0,0],[5,5]]`), `{"type":"Point","coordinates":[5,5]}`, true},
		{within(`"$box":[[0,0],[5,5]]`), `[[9,9],[3,3]]`, true},
		{within(`"$box":[[0,0],[5,5]]`), `[[9,9],[7,3]]`, false},
		{within(`"$box":[[0,0],[5,5]]`), `{"type":"LineString","coordinates":[[1,1],[2,2]]}`, false},
		{within(`"$box":[[0,0],[500,500]]`), `[300,300]`, true},
		{within(`"$box":[[0,0],[5,5]]`), `"3,3"`, false},
		{within(`"$box":{"low":[0,0],"high":[5,5]}`), `[3,3]`, true},
		{within(`"$polygon":[[0,0],[10,0],[5,10]]`), `[5,3]`, true},
		{within(`"$polygon":{"a":[0,0],"b":{"x":10,"y":0},"c":[5,10]}`), `[5,3]`, true},
		{within(`"$center":[[0,0],5]`), `[3,4]`, true},
		{within(`"$center":[{"x":0,"y":0},5]`), `[4,4]`, false},
		{within(`"$centerSphere":[[0,0],0.1]`), `[3,4]`, true},
		{within(`"$centerSphere":[[0,0],0.1]`), `{"type":"LineString","coordinates":[[1,1],[2,2]]}`, true},
		{within(`"$centerSphere":[[0,0],4]`), `[200,0]`, false},
		{within(`"$box":[[0,0],[5,5]],"$uniqueDocs":true`), `[3,3]`, true},
		{`{"$within":{"$box":[[0,0],[5,5]]}}`, `[3,3]`, true},
		{area, `[5,5]`, true},
		{area, `[5,5,100]`, true},
		{area, `[0,5]`, true},
		{area, `[5]`, false},
		{area, `[200,5]`, false},
		{area, `{}`, false},
		{area, `{"type":"Point","coordinates":[5,5,100],"bbox":1}`, true},
		{area, `{"type":"Point","coordinates":[5]}`, false},
		{area, `{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]]}`, true},
		{area, `{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]],"crs":` + strictCRS + `}`, false},
		{area, `{"type":"Polygon","coordinates":[[[1,1],[2,2],[2,1],[1,2],[1,1]]]}`, false},
		{area, `{"type":"MultiLineString","coordinates":[[[1,1],[2,2]],[[3,3],[40,40]]]}`, false},
		{area, `[{"type":"Point","coordinates":[50,5]},{"type":"Point","coordinates":[5,5]}]`, true},
		{within(`"$geometry":{"type":"MultiPolygon","coordinates":[[[[20,20],[21,20],[21,21],[20,20]]],[` + squareAt + `]]}`), `[5,5]`, true},
		{within(`"$geometry":{"type":"GeometryCollection","geometries":[` + hut + `,` + squareArea + `]}`), `[5,5]`, true},
		{within(`"$geometry":{"type":"Polygon","coordinates":[` + squareAt + `],"crs":` + strictCRS + `}`), `[5,5]`, true},
		{within(`"$geometry":{"type":"Polygon","coordinates":[[[0,0],[0,10],[10,10],[10,0],[0,0]]],"crs":` + strictCRS + `}`), `[50,5]`, true},
		{touching(squareArea), `{"type":"LineString","coordinates":[[5,5],[50,5]]}`, true},
		{touching(squareArea), `{"type":"MultiPoint","coordinates":[[50,5],[5,5]]}`, true},
		{touching(squareArea), `{"type":"MultiPoint","coordinates":[]}`, false},
		{touching(hut), `[0,0]`, true},
		{touching(`[0,0]`), hut, true},
		{touching(`{"lng":0,"lat":0}`), hut, true},
		{touching(`{"type":"Point","coordinates":{"lng":0,"lat":0,"height":"low"}}`), hut, true},
		{`{"$not":` + area + `}`, `[50,5]`, true},
		{`{"$not":` + area + `}`, `null`, true},
		{`{"$elemMatch":` + area + `}`, `[[50,5],[5,5]]`, true},
	} {
		o := parse(t, `{"at":`+test.value+`}`)
		require.Equal(t, test.matches, geoFilter(t, test.condition).Match(o), "%s %s", test.condition, test.value)
	}
}

func TestGeoFilter_Refuses(t *testing.T) {
	t.Parallel()
	geometry := func(text string) string { return `{"$geoWithin":{"$geometry":` + text + `}}` }
	for condition, field := range map[string]string{
		`{"$geoWithin":5}`:                                                                 "$geoWithin",
		`{"$geoWithin":{}}`:                                                                "$geoWithin",
		`{"$geoWithin":{"$circle":[[0,0],1]}}`:                                             "$geoWithin.$circle",
		`{"$geoWithin":` + squareArea + `}`:                                                "$geoWithin.coordinates",
		`{"$geoWithin":{"$box":[[0,0],[1,1]],"$center":[[0,0],1]}}`:                        "$geoWithin.$center",
		`{"$geoWithin":{"$box":[[0,0]]}}`:                                                  "$geoWithin.$box",
		`{"$geoWithin":{"$box":[[0,0],[1,1]]},"$eq":[0,0]}`:                                "$geoWithin",
		`{"$exists":true,"$geoWithin":{"$box":[[0,0],[1,1]]}}`:                             "$geoWithin",
		`{"$not":{"$geoWithin":{"$box":[[0,0],[1,1]]},"$ne":1}}`:                           "$not.$geoWithin",
		`{"$geoIntersects":{"$geometry":` + hut + `},"$geoWithin":{"$box":[[0,0],[1,1]]}}`: "$geoIntersects",
		`{"$eq":[0,0],"$geoIntersects":{"$geometry":` + hut + `}}`:                         "$geoIntersects",
		`{"$geoWithin":{"$box":5}}`:                                                        "$geoWithin.$box",
		`{"$geoWithin":{"$box":[[0,0],[1,"1"]]}}`:                                          "$geoWithin.$box[1]",
		`{"$geoWithin":{"$box":[[0,0,0],[1,1,1]]}}`:                                        "$geoWithin.$box[0]",
		`{"$geoWithin":{"$polygon":[[0,0],[1,1]]}}`:                                        "$geoWithin.$polygon",
		`{"$geoWithin":{"$polygon":[[0,0],[1,1],[2]]}}`:                                    "$geoWithin.$polygon[2]",
		`{"$geoWithin":{"$center":[[0,0]]}}`:                                               "$geoWithin.$center",
		`{"$geoWithin":{"$center":[[0,0],1,2]}}`:                                           "$geoWithin.$center",
		`{"$geoWithin":{"$center":[[0,0],-1]}}`:                                            "$geoWithin.$center[1]",
		`{"$geoWithin":{"$center":[[0,0],"1"]}}`:                                           "$geoWithin.$center[1]",
		`{"$geoWithin":{"$center":[[0,0,0],1]}}`:                                           "$geoWithin.$center[0]",
		`{"$geoWithin":{"$centerSphere":[[181,0],1]}}`:                                     "$geoWithin.$centerSphere[0]",
		geometry(`7`):     "$geoWithin.$geometry",
		geometry(`[]`):    "$geoWithin.$geometry",
		geometry(`{}`):    "$geoWithin.$geometry.type",
		geometry(hut):     "$geoWithin.$geometry",
		geometry(`[0,0]`): "$geoWithin.$geometry",
		geometry(`{"type":"LineString","coordinates":[[0,0],[1,1]]}`):                                                                        "$geoWithin.$geometry",
		geometry(`{"type":"polygon","coordinates":[` + squareAt + `]}`):                                                                      "$geoWithin.$geometry.type",
		geometry(`{"coordinates":[` + squareAt + `]}`):                                                                                       "$geoWithin.$geometry.type",
		geometry(`{"type":"Polygon"}`):                                                                                                       "$geoWithin.$geometry.coordinates",
		geometry(`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,"1"],[0,0]]]}`):                                                           "$geoWithin.$geometry.coordinates[0][2]",
		geometry(`{"type":"Polygon","coordinates":[[[0,0],[1,0],{"x":1,"y":1}]]}`):                                                           "$geoWithin.$geometry.coordinates[0][2]",
		geometry(`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,91],[0,0]]]}`):                                                            "$geoWithin.$geometry.coordinates[0][2]",
		geometry(`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}`):                                                                   "$geoWithin.$geometry.coordinates[0]",
		geometry(`{"type":"MultiPolygon","coordinates":[]}`):                                                                                 "$geoWithin.$geometry.coordinates",
		geometry(`{"type":"MultiPolygon","coordinates":[[` + squareAt + `],[]]}`):                                                            "$geoWithin.$geometry.coordinates[1]",
		geometry(`{"type":"GeometryCollection"}`):                                                                                            "$geoWithin.$geometry.geometries",
		geometry(`{"type":"GeometryCollection","geometries":[]}`):                                                                            "$geoWithin.$geometry.geometries",
		geometry(`{"type":"GeometryCollection","geometries":[7]}`):                                                                           "$geoWithin.$geometry.geometries[0]",
		geometry(`{"type":"GeometryCollection","geometries":[{"type":"Point"}]}`):                                                            "$geoWithin.$geometry.geometries[0].coordinates",
		geometry(`{"type":"GeometryCollection","geometries":[{"type":"GeometryCollection","geometries":[` + hut + `]}]}`):                    "$geoWithin.$geometry.geometries[0].type",
		geometry(`{"type":"GeometryCollection","geometries":[{"type":"Polygon","coordinates":[` + squareAt + `],"crs":` + strictCRS + `}]}`): "$geoWithin.$geometry.geometries[0].crs",
		geometry(`{"type":"MultiPolygon","coordinates":[[` + squareAt + `]],"crs":` + strictCRS + `}`):                                       "$geoWithin.$geometry.crs",
		geometry(`{"type":"Polygon","coordinates":[` + squareAt + `,` + squareAt + `],"crs":` + strictCRS + `}`):                             "$geoWithin.$geometry.coordinates",
		geometry(`{"type":"Polygon","coordinates":[` + squareAt + `],"crs":null}`):                                                           "$geoWithin.$geometry.crs",
		geometry(`{"type":"Polygon","coordinates":[` + squareAt + `],"crs":{"type":"link"}}`):                                                "$geoWithin.$geometry.crs.type",
		geometry(`{"type":"Polygon","coordinates":[` + squareAt + `],"crs":{"type":"name"}}`):                                                "$geoWithin.$geometry.crs.properties",
		geometry(`{"type":"Polygon","coordinates":[` + squareAt + `],"crs":{"type":"name","properties":{"name":"EPSG:1"}}}`):                 "$geoWithin.$geometry.crs.properties.name",
		`{"$geoIntersects":{"$box":[[0,0],[1,1]]}}`:                                                                                          "$geoIntersects.$box",
		`{"$geoIntersects":{"$geometry":[0]}}`:                                                                                               "$geoIntersects.$geometry",
		`{"$geoIntersects":{"$geometry":[0,0,0]}}`:                                                                                           "$geoIntersects.$geometry",
		`{"$geoIntersects":{"$geometry":[181,0]}}`:                                                                                           "$geoIntersects.$geometry",
		`{"$geoIntersects":{"$geometry":{"type":"Point","coordinates":[0,0],"crs":` + strictCRS + `}}}`:                                      "$geoIntersects.$geometry.crs",
		`{"$box":[[0,0],[1,1]]}`: "$box",
	} {
		requireInvalid(t, failure(query.CompileFilter(parse(t, `{"at":`+condition+`}`))), "at."+field)
	}
	_, err := query.CompileFilter(document.O("at", document.O("$geoWithin", document.O("$center", document.A(document.A(0, 0), math.NaN())))))
	requireInvalid(t, err, "at.$geoWithin.$center[1]")
	_, err = query.CompileFilter(document.O("at", document.O("$geoWithin", document.O("$box", document.A(document.A(0, math.Inf(1)), document.A(0, 0))))))
	requireInvalid(t, err, "at.$geoWithin.$box[0]")
	requireInvalid(t, failure(query.CompileFilter(parse(t, `{"$geoWithin":{"$box":[[0,0],[1,1]]}}`))), "$geoWithin")
}

func TestNear_OnlyAtTheTop(t *testing.T) {
	t.Parallel()
	near := `{"at":{"$near":[0,0]}}`
	for _, source := range []string{
		near, `{"a":1,"at":{"$nearSphere":[0,0]}}`, `{"$and":[` + near + `]}`, `{"$and":[{"a":1},{"$and":[{"b":1},` + near + `]}]}`,
		`{"$or":[` + near + `]}`, `{"at":{"$geoNear":[0,0]}}`,
	} {
		f, err := query.CompileFilter(parse(t, source))
		require.NoError(t, err, source)
		require.Equal(t, "at", f.Near().Key(), source)
	}
	for source, field := range map[string]string{
		`{"$or":[` + near + `,{"a":1}]}`:                                 "$or[0].at.$near",
		`{"$nor":[` + near + `]}`:                                        "$nor[0].at.$near",
		`{"at":{"$not":{"$near":[0,0]}}}`:                                "at.$not.$near",
		`{"all":{"$elemMatch":` + near + `}}`:                            "all.$elemMatch.at.$near",
		`{"all":{"$elemMatch":{"$near":[0,0]}}}`:                         "all.$elemMatch.$near",
		`{"at":{"$gt":1,"$near":[0,0]}}`:                                 "at.$near",
		`{"at":{"$near":[0,0],"$gt":1}}`:                                 "at.$gt",
		`{"at":{"$near":[0,0],"$nearSphere":[0,0]}}`:                     "at.$nearSphere",
		`{"at":{"$near":[0,0]},"to":{"$near":[0,0]}}`:                    "to.$near",
		`{"$and":[` + near + `,{"at":{"$nearSphere":[1,1]}}]}`:           "$and[1].at.$nearSphere",
		`{"at":{"$maxDistance":1,"$near":[0,0]}}`:                        "at.$maxDistance",
		`{"at":{"$maxDistance":1}}`:                                      "at.$maxDistance",
		`{"at":{"$near":5}}`:                                             "at.$near",
		`{"at":{"$near":[]}}`:                                            "at.$near",
		`{"at":{"$near":{}}}`:                                            "at.$near.$geometry",
		`{"at":{"$near":[0,"0"]}}`:                                       "at.$near",
		`{"at":{"$near":[0,0,-1]}}`:                                      "at.$near",
		`{"at":{"$near":[0,0,1,1]}}`:                                     "at.$near",
		`{"at":{"$nearSphere":[0,91]}}`:                                  "at.$nearSphere",
		`{"at":{"$near":{"$geometry":[0,0]}}}`:                           "at.$near.$geometry",
		`{"at":{"$near":{"$geometry":` + squareArea + `}}}`:              "at.$near.$geometry.type",
		`{"at":{"$near":{"$maxDistance":1}}}`:                            "at.$near.$geometry",
		`{"at":{"$near":{"$geometry":` + hut + `,"max":1}}}`:             "at.$near.max",
		`{"at":{"$near":{"$geometry":` + hut + `},"$maxDistance":1}}`:    "at.$maxDistance",
		`{"at":{"$near":{"$geometry":` + hut + `,"$maxDistance":-1}}}`:   "at.$near.$maxDistance",
		`{"at":{"$near":{"$geometry":` + hut + `,"$minDistance":"1"}}}`:  "at.$near.$minDistance",
		`{"at":{"$near":{"$geometry":` + hut + `,"$minDistance":null}}}`: "at.$near.$minDistance",
		`{"at":{"$near":[0,0],"$minDistance":-1}}`:                       "at.$minDistance",
		`{"at":{"$near":[0,0],"$maxDistance":true}}`:                     "at.$maxDistance",
	} {
		requireInvalid(t, failure(query.CompileFilter(parse(t, source))), field)
	}
	_, err := query.CompileUpdate(parse(t, `{"$set":{"all.$[x].n":1}}`), parse(t, `{"x.at":{"$near":[0,0]}}`))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorIs(t, failure(query.CompileUpdate(parse(t, `{"$pull":{"all":{"at":{"$near":[0,0]}}}}`))), boterr.InvalidArgument)
}

func TestNear_WithinItsDistances(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		condition, value string
		matches          bool
		kinds            []query.IndexKind
	}{
		{`{"$near":[0,0]}`, `[3,4]`, true, []query.IndexKind{query.Geo2D}},
		{`{"$near":[0,0],"$maxDistance":5}`, `[3,4]`, true, []query.IndexKind{query.Geo2D}},
		{`{"$near":[0,0,4]}`, `[3,4]`, false, []query.IndexKind{query.Geo2D}},
		{`{"$near":[0,0],"$minDistance":6}`, `[[3,4],[7,7]]`, false, []query.IndexKind{query.Geo2D}},
		{`{"$near":{"x":0,"y":0}}`, `"here"`, false, []query.IndexKind{query.Geo2D}},
		{`{"$nearSphere":[0,0],"$maxDistance":0.0874}`, `[3,4]`, true, []query.IndexKind{query.Geo2DSphere, query.Geo2D}},
		{`{"$near":` + hut + `,"$maxDistance":556000}`, `[3,4]`, false, []query.IndexKind{query.Geo2DSphere}},
		{`{"$near":{"$geometry":` + hut + `,"$maxDistance":557000}}`, `[3,4]`, true, []query.IndexKind{query.Geo2DSphere}},
		{`{"$nearSphere":{"$geometry":{"coordinates":[0,0]},"$minDistance":1}}`, hut, false, []query.IndexKind{query.Geo2DSphere}},
		{`{"$near":{"$geometry":` + hut + `,"$maxDistance":0}}`, squareArea, true, []query.IndexKind{query.Geo2DSphere}},
	} {
		f := geoFilter(t, test.condition)
		require.Equal(t, test.matches, f.Match(parse(t, `{"at":`+test.value+`}`)), "%s %s", test.condition, test.value)
		require.Equal(t, test.kinds, f.Near().Kinds(), test.condition)
	}
}

func TestAnd_KeepsNear(t *testing.T) {
	t.Parallel()
	near, other := geoFilter(t, `{"$near":[0,0],"$maxDistance":5}`), geoFilter(t, `{"$exists":true}`)
	require.Nil(t, other.Near())
	require.Nil(t, (*query.Filter)(nil).Near())
	require.Same(t, near.Near(), query.And(other, near).Near())
	require.False(t, query.And(other, near).Match(parse(t, `{"at":[9,9]}`)))
}

func TestGeoNear_LinesAndPolygons(t *testing.T) {
	t.Parallel()
	const degree = 111_318.845
	for _, test := range []struct {
		location, place string
		degrees         float64
	}{
		{`{"type":"LineString","coordinates":[[-5,2],[5,2]]}`, ``, 2},
		{`{"type":"Polygon","coordinates":[[[3,-1],[9,-1],[9,1],[3,1],[3,-1]]]}`, ``, 3},
		{`{"type":"MultiPoint","coordinates":[[9,0],[4,0]]}`, ``, 4},
		{`{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[5,0]}]}`, ``, 5},
		{`[{"type":"Point","coordinates":[7,0]},[6,0],"here"]`, `[6,0]`, 6},
	} {
		found, ok := measure(t, `{"near":`+hut+`,"includeLocs":"place"}`, `{"location":`+test.location+`}`)
		require.True(t, ok, test.location)
		require.InEpsilon(t, test.degrees*degree, found.Distance, 5e-3, test.location)
		place := parse(t, `{"place":`+cmp.Or(test.place, test.location)+`}`)
		require.Equal(t, place.String(), document.O("place", document.Get[any](found.Document, "place", nil)).String())
	}
	_, ok := measure(t, `{"near":[0,0]}`, `{"location":{"type":"LineString","coordinates":[[0,0],[1,1]]}}`)
	require.False(t, ok, "a line is not on the plane")
}

func TestGeoNear_SphericalAsTruth(t *testing.T) {
	t.Parallel()
	for spherical, distance := range map[string]float64{
		`null`: 3, `0`: 3, `false`: 3, `[]`: 3 * math.Pi / 180, `{}`: 3 * math.Pi / 180, `"no"`: 3 * math.Pi / 180,
	} {
		found, ok := measure(t, `{"near":[0,0],"spherical":`+spherical+`}`, `{"location":[3,0]}`)
		require.True(t, ok)
		require.InEpsilon(t, distance, found.Distance, 1e-9, spherical)
	}
}

func TestGeoFilter_ConcurrentUse(t *testing.T) {
	t.Parallel()
	var corners []any
	for i := range 200 {
		angle := 2 * math.Pi * float64(i) / 200
		corners = append(corners, document.A(5+math.Cos(angle), 5+math.Sin(angle)))
	}
	ring := document.A(append(corners, corners[0])...)
	area := document.O("type", "Polygon", "coordinates", document.A(ring))
	shapes := []document.Object{
		document.O("at", document.A(5, 5)), document.O("at", area), parse(t, `{"at":`+squareArea+`}`),
		parse(t, `{"at":{"type":"LineString","coordinates":[[5,5],[5.1,5.1]]}}`),
	}
	for operator, matches := range map[string][]bool{
		"$geoWithin": {true, true, false, true}, "$geoIntersects": {true, true, true, true},
	} {
		f := query.Must(query.CompileFilter(document.O("at", document.O(operator, document.O("$geometry", area)))))
		var group sync.WaitGroup
		wrong := make(chan int, 100)
		for range 4 {
			group.Go(func() {
				for i, o := range shapes {
					if f.Match(o) != matches[i] {
						wrong <- i
					}
				}
			})
		}
		group.Wait()
		require.Empty(t, wrong, operator)
	}
}

// paris and london are points at a distance of about 343.9 km.
const (
	paris  = `{"type":"Point","coordinates":[2.3522,48.8566]}`
	london = `{"type":"Point","coordinates":[-0.1276,51.5072]}`
)

func measure(t *testing.T, search, doc string) (query.GeoResult, bool) {
	t.Helper()
	near, err := query.CompileGeoNear(parse(t, search))
	require.NoError(t, err, search)
	return near.Measure(parse(t, doc))
}

func TestGeoNear_UnitOfTheQuery(t *testing.T) {
	t.Parallel()
	const metres = 343_900.0
	for query, want := range map[string]float64{
		`{"near":` + paris + `}`:                                           metres,
		`{"near":` + paris + `,"distanceMultiplier":0.001}`:                metres / 1000,
		`{"near":[2.3522,48.8566],"spherical":true}`:                       metres / query.EarthRadius,
		`{"near":[2.3522,48.8566]}`:                                        math.Hypot(2.3522+0.1276, 48.8566-51.5072),
		`{"near":{"lng":2.3522,"lat":48.8566}}`:                            math.Hypot(2.3522+0.1276, 48.8566-51.5072),
		`{"near":` + paris + `,"maxDistance":344100,"minDistance":343700}`: metres,
		`{"near":[2.3522,48.8566],"spherical":true,"maxDistance":0.06}`:    metres / query.EarthRadius,
		`{"near":` + paris + `,"maxDistance":{"$multiply":[344100,1]}}`:    metres,
		`{"near":{"$literal":` + paris + `}}`:                              metres,
	} {
		for _, doc := range []string{
			`{"location":` + london + `}`, `{"location":[-0.1276,51.5072]}`, `{"location":{"lng":-0.1276,"lat":51.5072}}`,
		} {
			found, ok := measure(t, query, doc)
			require.True(t, ok, query)
			require.InEpsilon(t, want, found.Distance, 1e-3, query)
		}
	}
}

func TestGeoNear_FindsOnlyPointsInRange(t *testing.T) {
	t.Parallel()
	for query, doc := range map[string]string{
		`{"near":` + paris + `,"maxDistance":1000}`:   `{"location":` + london + `}`,
		`{"near":` + paris + `,"minDistance":900000}`: `{"location":` + london + `}`,
		`{"near":` + paris + `}`:                      `{"location":"London"}`,
		`{"near":` + paris + `,"limit":1}`:            `{"place":` + london + `}`,
		`{"near":` + paris + `,"query":{}}`:           `{"location":{"type":"Point","coordinates":[200,0]}}`,
		`{"near":` + paris + `,"query":{"a":1}}`:      `{"location":[200,0]}`,
		`{"near":` + paris + `,"key":"at"}`:           `{"location":` + london + `}`,
	} {
		_, ok := measure(t, query, doc)
		require.False(t, ok, query)
	}
}

func TestGeoNear_DistanceAndPointFields(t *testing.T) {
	t.Parallel()
	const spots = `{"_id":1,"spots":[[3,4],[0,1]]}`
	for _, test := range []struct{ search, doc, want string }{
		{`{"key":"spots","distanceField":"how.far","includeLocs":"at"}`, spots, `{"_id":1,"spots":[[3,4],[0,1]],"how":{"far":1},"at":[0,1]}`},
		{`{"key":"spots"}`, spots, spots},
		{`{"distanceField":"at.d","includeLocs":"at"}`, `{"location":[3,4]}`, `{"location":[3,4],"at":[3,4]}`},
		{
			`{"distanceField":"name.d","includeLocs":"tags.1500000"}`, `{"location":[0,1],"name":"x","tags":[1]}`,
			`{"location":[0,1],"name":{"d":1},"tags":{"1500000":[0,1]}}`,
		},
	} {
		search := parse(t, test.search).With("near", document.A(0, 0))
		found, ok := query.Must(query.CompileGeoNear(search)).Measure(parse(t, test.doc))
		require.True(t, ok)
		require.JSONEq(t, test.want, found.Document.String())
	}
}

func TestGeoNear_Refuses(t *testing.T) {
	t.Parallel()
	for search, field := range map[string]string{
		`{}`:                               "near",
		`{"near":null}`:                    "near",
		`{"near":[1]}`:                     "near",
		`{"near":"here"}`:                  "near",
		`{"near":[181,0]}`:                 "near",
		`{"near":[0,-181]}`:                "near",
		`{"near":[0,91],"spherical":true}`: "near",
		`{"near":{"type":"Point","coordinates":[0,91]}}`:  "near",
		`{"near":{"type":"Point","coordinates":["0",1]}}`: "near",
		`{"near":[0,0],"maxDistance":-1}`:                 "maxDistance",
		`{"near":[0,0],"minDistance":"far"}`:              "minDistance",
		`{"near":[0,0],"limit":0}`:                        "limit",
		`{"near":[0,0],"limit":1.5}`:                      "limit",
		`{"near":[0,0],"query":{"a":{"$foo":1}}}`:         "query.a.$foo",
		`{"near":[0,0],"query":7}`:                        "query",
		`{"near":[0,0],"distanceField":"a..b"}`:           "distanceField",
		`{"near":[0,0],"key":"$a"}`:                       "key",
		`{"near":[0,0],"distanceField":null}`:             "distanceField",
		`{"near":[0,0],"includeLocs":["a"]}`:              "includeLocs",
		`{"near":[0,0],"key":7}`:                          "key",
		`{"near":[0,0],"query":null}`:                     "query",
		`{"near":[0,0],"query":{"a":{"$near":[0,0]}}}`:    "query.a.$near",
		`{"near":[0,0],"maxDistance":null}`:               "maxDistance",
		`{"near":[0,0],"distanceMultiplier":-1}`:          "distanceMultiplier",
		`{"near":[0,0,-1]}`:                               "near",
		`{"near":[0,0,1,1]}`:                              "near",
		`{"near":{}}`:                                     "near",
		`{"near":[0,0],"radius":5}`:                       "radius",
	} {
		requireInvalid(t, failure(query.CompileGeoNear(parse(t, search))), field)
	}
	requireInvalid(t, failure(query.CompileGeoNear(document.O("near", document.A(math.NaN(), 0)))), "near")
	requireInvalid(t, failure(query.CompileGeoNear(document.Object{})), "near")
}

func TestGeoNear_ComputedDistance(t *testing.T) {
	t.Parallel()
	require.NoError(t, failure(query.CompileGeoNear(parse(t, `{"near":[0,0],"minDistance":{"$add":[1,2]},"maxDistance":{"$pow":[2,4]}}`))))
	for _, distance := range []string{`"$a"`, `{"$add":["$a",1]}`, `{"$subtract":[1,2]}`, `{"a":1}`, `"1"`, `"$$NOW"`, `"$$REMOVE"`} {
		requireInvalid(t, failure(query.CompileGeoNear(parse(t, `{"near":[0,0],"maxDistance":`+distance+`}`))), "maxDistance")
	}
	requireInvalid(t, failure(query.CompileGeoNear(parse(t, `{"near":[0,0],"maxDistance":{"$none":1}}`))), "maxDistance.$none")
}

// placesOf returns GeoJSON of a kind with many parts. part returns the coordinates of the part at a longitude and
// latitude.
func placesOf(kind string, many int, part func(x, y float64) any) document.Object {
	parts := make([]any, many)
	for i := range parts {
		parts[i] = part(float64(i%100)/2, float64(i)/float64(many))
	}
	return document.O("type", kind, "coordinates", document.ArrayOf(parts))
}

func pointAt(x, y float64) any { return document.A(x, y) }

func lineAt(x, y float64) any { return document.A(document.A(x, y), document.A(x+1, y)) }

func ringAt(x, y float64) any {
	return document.A(document.A(x, y), document.A(x+0.1, y), document.A(x, y+0.1), document.A(x, y))
}

func polygonAt(x, y float64) any { return document.A(ringAt(x, y)) }

// polygonWithHoles returns a polygon with many holes.
func polygonWithHoles(many int) document.Object {
	holes := placesOf("Polygon", many, func(x, y float64) any { return ringAt(x, 60*y-30) })
	coordinates, _ := holes.Value("coordinates").(document.Array)
	outer := document.A(document.A(-10, -40), document.A(70, -40), document.A(70, 40), document.A(-10, 40), document.A(-10, -40))
	return holes.With("coordinates", document.ArrayOf(append([]any{outer}, coordinates.Items()...)))
}

func TestGeo_ComparingIsBounded(t *testing.T) {
	t.Parallel()
	const many = 1_000
	shapes := map[string]document.Object{
		"points":   placesOf("MultiPoint", many, pointAt),
		"lines":    placesOf("MultiLineString", many, func(x, y float64) any { return lineAt(x, y-3) }),
		"polygons": placesOf("MultiPolygon", many, func(x, y float64) any { return polygonAt(x, y+3) }),
	}
	for name, shape := range shapes {
		filter := query.Must(query.CompileFilter(document.O("at", document.O("$geoIntersects", document.O("$geometry", shape)))))
		for stored, place := range shapes {
			if name == stored {
				continue
			}
			call := query.NewPartialEvaluation(t.Context(), 1, 100)
			requireTooMuch(t, failure(call.Check(filter, document.O("at", place))), name+", "+stored)
			call = query.NewEvaluation(&endsLater{Context: t.Context(), left: 20})
			require.ErrorIs(t, failure(call.Check(filter, document.O("at", place))), boterr.Canceled, "%s, %s", name, stored)
		}
	}
}

func TestGeo_ReadingIsBounded(t *testing.T) {
	t.Parallel()
	hostile := polygonWithHoles(2_000)
	near := query.Must(query.CompileGeoNear(document.O("near", document.O("type", "Point", "coordinates", document.A(0, 0)), "key", "at")))
	call := query.NewPartialEvaluation(t.Context(), 1, 32)
	_, _, err := call.Distance(near, document.O("at", hostile))
	requireTooMuch(t, err, "a search by distance")
	for name, condition := range map[string]document.Object{
		"$near":      document.O("$near", document.A(0, 0), "$maxDistance", 1),
		"$geoWithin": document.O("$geoWithin", document.O("$centerSphere", document.A(document.A(0, 0), 3))),
	} {
		filter := query.Must(query.CompileFilter(document.O("at", condition)))
		call := query.NewPartialEvaluation(t.Context(), 1, 32)
		requireTooMuch(t, failure(call.Check(filter, document.O("at", hostile))), name)
	}
	_, err = query.NewGeoKey("at", query.Geo2DSphere).AppendCells(nil, document.O("at", hostile))
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.ErrorContains(t, err, "fewer holes")
}

func TestGeo_CompilingIsBounded(t *testing.T) {
	t.Parallel()
	within := func(place document.Object) document.Object {
		return document.O("at", document.O("$geoWithin", document.O("$geometry", place)))
	}
	require.ErrorIs(t, failure(query.CompileFilter(within(polygonWithHoles(5_000)))), boterr.ResourceExhausted)
	one := within(polygonWithHoles(1_000))
	require.NoError(t, failure(query.CompileFilter(one)))
	require.ErrorIs(t, failure(query.CompileFilter(document.O("$or", repeated(20, one)))), boterr.ResourceExhausted)
}

func TestGeoKey_CellsOfManyParts(t *testing.T) {
	t.Parallel()
	key := query.NewGeoKey("at", query.Geo2DSphere)
	for _, kind := range []string{"MultiLineString", "MultiPolygon"} {
		part := map[string]func(x, y float64) any{"MultiLineString": lineAt, "MultiPolygon": polygonAt}[kind]
		all, err := key.AppendCells(nil, document.O("at", placesOf(kind, 500, part)))
		require.NoError(t, err)
		require.LessOrEqual(t, len(all), 6*500)
		filter, err := query.CompileFilter(document.O("at", document.O("$geoIntersects",
			document.O("$geometry", document.O("type", "Point", "coordinates", document.A(7.01, 0.03))))))
		require.NoError(t, err)
		asked, ok := filter.GeoCells(key)
		require.True(t, ok)
		require.True(t, slices.ContainsFunc(all, func(cell uint64) bool { return s2.CellID(cell).Intersects(s2.CellID(asked[0])) }))
	}
}
