package query_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// paris and london are points; their distance is about 343.9 km.
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
		`{"near":` + paris + `,"key":"at"}`:           `{"location":` + london + `}`,
	} {
		_, ok := measure(t, query, doc)
		require.False(t, ok, query)
	}
}

func TestGeoNear_DistanceAndPointFields(t *testing.T) {
	t.Parallel()
	found, ok := measure(t, `{"near":[0,0],"key":"spots","distanceField":"how.far","includeLocs":"at"}`, `{"_id":1,"spots":[[3,4],[0,1]]}`)
	require.True(t, ok)
	require.JSONEq(t, `{"_id":1,"spots":[[3,4],[0,1]],"how":{"far":1},"at":[0,1]}`, found.Document.String())
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
		_, err := query.CompileGeoNear(parse(t, search))
		requireInvalid(t, err, field)
	}
	_, err := query.CompileGeoNear(document.O("near", document.A(math.NaN(), 0)))
	requireInvalid(t, err, "near")
	_, err = query.CompileGeoNear(document.Object{})
	requireInvalid(t, err, "near")
}

func TestGeoNear_DistanceOverwritesScalar(t *testing.T) {
	t.Parallel()
	found, ok := measure(t, `{"near":[0,0],"distanceField":"name.d","includeLocs":"tags.1500000"}`,
		`{"location":[0,1],"name":"x","tags":[1]}`)
	require.True(t, ok)
	require.JSONEq(t, `{"location":[0,1],"name":{"d":1},"tags":{"1500000":[0,1]}}`, found.Document.String())
}

func TestGeoNear_ComputedDistance(t *testing.T) {
	t.Parallel()
	_, err := query.CompileGeoNear(parse(t, `{"near":[0,0],"minDistance":{"$add":[1,2]},"maxDistance":{"$pow":[2,4]}}`))
	require.NoError(t, err)
	for _, distance := range []string{`"$a"`, `{"$add":["$a",1]}`, `{"$subtract":[1,2]}`, `{"a":1}`, `"1"`, `"$$NOW"`, `"$$REMOVE"`} {
		_, err := query.CompileGeoNear(parse(t, `{"near":[0,0],"maxDistance":`+distance+`}`))
		requireInvalid(t, err, "maxDistance")
	}
	_, err = query.CompileGeoNear(parse(t, `{"near":[0,0],"maxDistance":{"$none":1}}`))
	requireInvalid(t, err, "maxDistance.$none")
}
