package memstore_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// places makes random places: most of them near one spot, some all over the globe.
type places struct{ *rand.Rand }

func newPlaces(seed uint64) places { return places{rand.New(rand.NewPCG(seed, 7))} }

// around returns coordinates at most reach degrees from a spot, on the globe.
func (p places) around(x, y, reach float64) document.Array {
	x += (p.Float64()*2 - 1) * reach
	y += (p.Float64()*2 - 1) * reach
	return document.A(math.Remainder(x, 360), max(-90, min(90, y)))
}

func (p places) coordinates() document.Array {
	switch p.IntN(12) {
	case 0:
		return p.around(0, 0, 180)
	case 1:
		return document.A(float64(p.IntN(5)-2)*90, float64(p.IntN(5)-2)*45)
	case 2:
		return p.around(180, -89, 2)
	case 3:
		return document.A(float64(p.IntN(5)), float64(48+p.IntN(4)))
	default:
		return p.around(2, 49, 3)
	}
}

func (p places) point() document.Object {
	return document.O("type", "Point", "coordinates", p.coordinates())
}

// line returns a line of a few short sides.
func (p places) line() document.Object {
	at := p.coordinates()
	points := []any{at}
	for range 1 + p.IntN(4) {
		points = append(points, p.around(at.At(0).(float64), at.At(1).(float64), 1.5))
	}
	return document.O("type", "LineString", "coordinates", document.A(points...))
}

// ring returns the corners of a convex polygon.
func (p places) ring(x, y, radius float64) document.Array {
	corners := 3 + p.IntN(6)
	start := p.Float64()
	points := make([]any, 0, corners+1)
	for i := range corners {
		angle := 2 * math.Pi * (start + float64(i)/float64(corners))
		points = append(points, document.A(x+radius*math.Cos(angle), y+radius*math.Sin(angle)))
	}
	return document.A(append(points, points[0])...)
}

func (p places) polygon() document.Object {
	x, y := 2+(p.Float64()*2-1)*3, 49+(p.Float64()*2-1)*3
	radius := 0.01 + p.Float64()*p.Float64()*5
	rings := []any{p.ring(x, y, radius)}
	if p.IntN(3) == 0 {
		rings = append(rings, p.ring(x, y, radius/5))
	}
	return document.O("type", "Polygon", "coordinates", document.A(rings...))
}

// shape returns a value that a 2dsphere index can hold.
func (p places) shape() any {
	switch p.IntN(10) {
	case 0:
		return p.line()
	case 1:
		return p.polygon()
	case 2:
		return document.O("type", "MultiPoint", "coordinates", document.A(p.coordinates(), p.coordinates()))
	case 3:
		return document.O("type", "GeometryCollection", "geometries", document.A(p.point(), p.line(), p.polygon()))
	case 4:
		return p.coordinates()
	default:
		return p.point()
	}
}

// condition returns a random condition on places on the globe.
func (p places) condition() document.Object {
	switch p.IntN(5) {
	case 0:
		return document.O("$geoWithin", document.O("$centerSphere", document.A(p.coordinates(), p.Float64()*p.Float64()*0.2)))
	case 1:
		return document.O("$geoWithin", document.O("$geometry", p.polygon()))
	case 2:
		return document.O("$geoIntersects", document.O("$geometry", p.polygon()))
	case 3:
		return document.O("$geoIntersects", document.O("$geometry", p.line()))
	default:
		return document.O("$geoIntersects", document.O("$geometry", p.point()))
	}
}

// planeCondition returns a random condition on pairs.
func (p places) planeCondition() document.Object {
	radius := p.Float64() * p.Float64() * 4
	at := p.coordinates()
	switch p.IntN(4) {
	case 0:
		return document.O("$geoWithin", document.O("$box", document.A(at, p.coordinates())))
	case 1:
		return document.O("$geoWithin", document.O("$center", document.A(at, radius)))
	case 2:
		return document.O("$geoWithin", document.O("$centerSphere", document.A(at, radius/50)))
	default:
		return document.O("$geoWithin", document.O("$polygon", p.ring(2, 49, radius)))
	}
}

// twins are two collections with the same documents; one of them has an index.
type twins struct{ indexed, plain store.Collection }

// newTwins returns collections without documents and with a geo index on "at".
func newTwins(t *testing.T, kind query.IndexKind) twins {
	t.Helper()
	c := twins{indexed: memstore.New().Collection("c"), plain: memstore.New().Collection("c")}
	require.NoError(t, c.indexed.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "at", Kind: kind}}}))
	return c
}

// insert inserts documents with places, then changes and removes some.
func (c twins) insert(t *testing.T, count int, place func() any) {
	t.Helper()
	for _, collection := range []store.Collection{c.indexed, c.plain} {
		require.NoError(t, collection.Insert(t.Context(), document.O("_id", "nowhere"), document.O("_id", "null", "at", nil)))
	}
	for i := range count {
		o := document.O("_id", i, "n", i%3, "at", place())
		require.NoError(t, c.indexed.Insert(t.Context(), o), "%v", o)
		require.NoError(t, c.plain.Insert(t.Context(), o))
	}
	for i := 0; i < count; i += 7 {
		update := sharedtest.Change(t, "$set", document.O("at", place()))
		f := sharedtest.Filter(t, "_id", i)
		if i%2 == 0 {
			update = sharedtest.Change(t, "$unset", document.O("at", 1))
		}
		for _, collection := range []store.Collection{c.indexed, c.plain} {
			require.NoError(t, failure(collection.Update(t.Context(), f, update, store.UpdateOptions{})))
			require.NoError(t, failure(collection.Delete(t.Context(), sharedtest.Filter(t, "_id", i+3), store.DeleteOptions{})))
		}
	}
}

// requireSame requires that a filter finds the same documents in both collections.
func (c twins) requireSame(t *testing.T, f *query.Filter) int {
	t.Helper()
	found := find(t, c.indexed, f, store.FindOptions{})
	expected := find(t, c.plain, f, store.FindOptions{})
	require.Equal(t, texts(expected), texts(found), "%v", f.Source())
	return len(found)
}

func TestGeoIndex_FindsWhatScanFinds(t *testing.T) {
	t.Parallel()
	seeds := uint64(rounds.Of(t, 1, 5))
	for kind, test := range map[query.IndexKind]struct {
		place     func(places) any
		condition func(places) document.Object
	}{
		query.Geo2DSphere: {place: places.shape, condition: places.condition},
		query.Geo2D:       {place: func(p places) any { return p.coordinates() }, condition: places.planeCondition},
	} {
		for seed := range seeds {
			t.Run(fmt.Sprint(kind, seed), func(t *testing.T) {
				t.Parallel()
				p := newPlaces(seed)
				c := newTwins(t, kind)
				c.insert(t, 300, func() any { return test.place(p) })
				found := 0
				for range 120 {
					found += c.requireSame(t, sharedtest.Filter(t, "at", test.condition(p)))
				}
				require.Greater(t, found, 120)
			})
		}
	}
}

// nearIDs returns the _ids of a search by a filter's $near.
func nearIDs(t *testing.T, c store.Collection, condition document.Object) []any {
	t.Helper()
	found := find(t, c, sharedtest.Filter(t, "at", condition, "n", document.O("$lt", 2)), store.FindOptions{})
	return query.Values(document.O("all", anys(found)), "all._id")
}

func anys(documents []document.Object) []any {
	all := make([]any, len(documents))
	for i, o := range documents {
		all[i] = o
	}
	return all
}

func TestNear_OrderOfDistance(t *testing.T) {
	t.Parallel()
	count := rounds.Of(t, 10, 40)
	for _, test := range []struct {
		kind   query.IndexKind
		place  func(places) any
		near   func(places) any
		sphere bool
		// reach is the scale of the distances.
		reach float64
	}{
		{query.Geo2DSphere, places.shape, func(p places) any { return p.point() }, true, 500_000},
		{query.Geo2DSphere, places.shape, func(p places) any { return p.coordinates() }, true, 0.1},
		{query.Geo2D, func(p places) any { return p.coordinates() }, func(p places) any { return p.coordinates() }, false, 5},
		{query.Geo2D, func(p places) any { return p.coordinates() }, func(p places) any { return p.coordinates() }, true, 0.1},
	} {
		t.Run(fmt.Sprint(test.kind, test.reach, test.sphere), func(t *testing.T) {
			t.Parallel()
			p := newPlaces(11)
			c := newTwins(t, test.kind)
			c.insert(t, 300, func() any { return test.place(p) })
			for round := range count {
				search := document.O("near", test.near(p), "spherical", test.sphere, "key", "at", "distanceField", "d",
					"query", document.O("n", document.O("$lt", 2)))
				operator := map[bool]string{true: "$nearSphere", false: "$near"}[test.sphere]
				condition := document.O(operator, document.Get[any](search, "near", nil))
				if round%2 == 0 {
					least, most := p.Float64()*test.reach, p.Float64()*2*test.reach
					search = search.With("minDistance", least).With("maxDistance", most)
					condition = condition.With("$minDistance", least).With("$maxDistance", most)
				}
				near, err := query.CompileGeoNear(search)
				require.NoError(t, err)
				expected, err := c.plain.GeoNear(t.Context(), near)
				require.NoError(t, err)
				found, err := c.indexed.GeoNear(t.Context(), near)
				require.NoError(t, err)
				require.Equal(t, distances(expected), distances(found), "%v", search)
				require.True(t, slices.IsSorted(distances(found)))
				few, err := query.CompileGeoNear(search.With("limit", 7))
				require.NoError(t, err)
				for _, collection := range []store.Collection{c.indexed, c.plain} {
					limited, err := collection.GeoNear(t.Context(), few)
					require.NoError(t, err)
					require.Equal(t, found[:min(7, len(found))], limited, "%v", search)
				}
				ids := make([]any, len(found))
				for i, result := range found {
					ids[i], _ = result.Document.Field("_id")
				}
				require.Equal(t, ids, append([]any{}, nearIDs(t, c.indexed, condition)...), "%v", search)
			}
		})
	}
}

func distances(results []query.GeoResult) []float64 {
	all := make([]float64, len(results))
	for i, result := range results {
		all[i] = result.Distance
	}
	return all
}

func TestGeoIndex_RefusesWhatIsNoPlace(t *testing.T) {
	t.Parallel()
	point := document.O("type", "Point", "coordinates", document.A(1, 2))
	ring := document.A(document.A(0, 0), document.A(1, 0), document.A(1, 1), document.A(0, 0))
	strict := document.O("type", "name", "properties", document.O("name", "urn:x-mongodb:crs:strictwinding:EPSG:4326"))
	for _, test := range []struct {
		kind  query.IndexKind
		value any
		field string
	}{
		{query.Geo2DSphere, "here", "[0].at"},
		{query.Geo2DSphere, 5, "[0].at"},
		{query.Geo2DSphere, document.A(1), "[0].at"},
		{query.Geo2DSphere, document.A(181, 0), "[0].at"},
		{query.Geo2DSphere, document.A(point, point), "[0].at"},
		{query.Geo2DSphere, document.A(document.A(0, 0)), "[0].at"},
		{query.Geo2DSphere, document.O("type", "Pointer", "coordinates", document.A(0, 0)), "[0].at.type"},
		{query.Geo2DSphere, document.O("type", "Point", "coordinates", document.A(0, 91)), "[0].at.coordinates"},
		{query.Geo2DSphere, document.O("type", "Polygon", "coordinates", document.A(ring), "crs", strict), "[0].at.crs"},
		{query.Geo2D, point, "[0].at[0]"},
		{query.Geo2D, document.A(document.A(0, 0), "x"), "[0].at[1]"},
		{query.Geo2D, document.O("x", 1), "[0].at"},
		{query.Geo2D, document.A(math.NaN(), 0), "[0].at"},
	} {
		c := newTwins(t, test.kind)
		o := document.O("_id", 1, "at", test.value)
		err := c.indexed.Insert(t.Context(), o)
		require.ErrorIs(t, err, boterr.InvalidArgument, "%v", o)
		cause, _ := boterr.AsError(err)
		require.Equal(t, test.field, cause.Field, "%v", o)

		require.NoError(t, c.plain.Insert(t.Context(), o))
		keys := []store.IndexKey{{Path: "at", Kind: test.kind}}
		require.ErrorIs(t, c.plain.EnsureIndex(t.Context(), store.Index{Keys: keys}), boterr.InvalidArgument)
	}
}

func TestGeoIndex_LeavesOutWithoutPlace(t *testing.T) {
	t.Parallel()
	for kind, values := range map[query.IndexKind][]any{
		query.Geo2DSphere: {nil, document.A(), document.O()},
		query.Geo2D:       {nil, document.A(), document.O(), "here", 5, true, document.A(document.A())},
	} {
		c := newTwins(t, kind)
		for i, value := range values {
			require.NoError(t, c.indexed.Insert(t.Context(), document.O("_id", i, "at", value)), "%v", value)
		}
		require.Empty(t, nearIDs(t, c.indexed, document.O("$nearSphere", document.A(0, 0))))
	}
}

func TestGeoIndex_Snapshots(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	c := database.Collection("c")
	keys := []store.IndexKey{{Path: "at", Kind: query.Geo2D}}
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: keys}))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "at", document.A(0, 0))))
	fork := database.Fork()
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 2, "at", document.A(0, 0))))
	near := sharedtest.Filter(t, "at", document.O("$near", document.A(0, 0)))
	for collection, count := range map[store.Collection]int{c: 2, fork.Collection("c"): 1} {
		found := find(t, collection, near, store.FindOptions{})
		require.Len(t, found, count)
	}
}

func TestExplain_GeoIndex(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	c := database.Collection("c")
	for _, keys := range [][]store.IndexKey{
		ascending("n"),
		{{Path: "at", Kind: query.Geo2DSphere}},
		{{Path: "flat", Kind: query.Geo2D}, {Path: "n", Kind: query.Ascending}},
	} {
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: keys}))
	}
	p := newPlaces(5)
	for i := range 1_000 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "n", i%10, "at", p.point(), "flat", p.coordinates())))
	}
	around := func(operator string) document.Object {
		return document.O("$geoWithin", document.O(operator, document.A(document.A(2, 49), 0.005)))
	}
	for _, test := range []struct {
		filter   *query.Filter
		options  store.FindOptions
		index    string
		examined int64
	}{
		{sharedtest.Filter(t, "at", around("$centerSphere")), store.FindOptions{}, "at_2dsphere", 100},
		{sharedtest.Filter(t, "at", around("$center")), store.FindOptions{}, "", 1_000},
		{sharedtest.Filter(t, "flat", around("$center")), store.FindOptions{}, "flat_2d_n_1", 10},
		{sharedtest.Filter(t, "flat", around("$centerSphere"), "n", document.O("$gt", 2)), store.FindOptions{}, "flat_2d_n_1", 100},
		{sharedtest.Filter(t, "flat", around("$centerSphere"), "n", 3), store.FindOptions{}, "n_1", 100},
		{sharedtest.Filter(t, "at", document.O("$not", around("$centerSphere"))), store.FindOptions{}, "", 1_000},
		{sharedtest.Filter(t, "at", document.O("$nearSphere", document.A(2, 49))), store.FindOptions{Limit: 5}, "at_2dsphere", 100},
		{sharedtest.Filter(t, "flat", document.O("$near", document.A(2, 49)), "_id", 7), store.FindOptions{}, "flat_2d_n_1", 1_000},
		{sharedtest.Filter(t, "flat", document.O("$near", document.A(2, 49))), store.FindOptions{Sort: sharedtest.Sort(t, "n", 1)}, "flat_2d_n_1", 1_000},
	} {
		explanation, err := database.Explain(t.Context(), "c", test.filter, test.options)
		require.NoError(t, err)
		require.Equal(t, test.index, explanation.Index, "%v", test.filter.Source())
		require.LessOrEqual(t, explanation.Examined, test.examined, "%v", test.filter.Source())
	}
}

func TestGeoIndex_ServesAsMongoDBs(t *testing.T) {
	t.Parallel()
	point := document.O("type", "Point", "coordinates", document.A(0, 0))
	globe, flat := store.IndexKey{Path: "at", Kind: query.Geo2DSphere}, store.IndexKey{Path: "at", Kind: query.Geo2D}
	kind := store.IndexKey{Path: "kind", Kind: query.Ascending}
	onGlobe, onPlane := document.O("$near", document.O("$geometry", point)), document.O("$near", document.A(0, 0))
	either := document.O("$nearSphere", document.A(0, 0))
	for name, test := range map[string]struct {
		keys   []store.IndexKey
		near   document.Object
		served bool
	}{
		"GeoJSON on the globe":                {[]store.IndexKey{globe}, onGlobe, true},
		"GeoJSON on the plane":                {[]store.IndexKey{flat}, onGlobe, false},
		"a pair on the plane":                 {[]store.IndexKey{flat}, onPlane, true},
		"a pair on the globe":                 {[]store.IndexKey{globe}, onPlane, false},
		"a pair on the globe, round":          {[]store.IndexKey{globe}, either, true},
		"a pair on the plane, round":          {[]store.IndexKey{flat, kind}, either, true},
		"another index":                       {[]store.IndexKey{kind}, either, false},
		"an index on another field":           {[]store.IndexKey{{Path: "to", Kind: query.Geo2DSphere}}, either, false},
		"a key that is led by another":        {[]store.IndexKey{kind, globe}, onGlobe.With("kind", "shop"), true},
		"a key that is led by one left alone": {[]store.IndexKey{kind, globe}, onGlobe, false},
	} {
		c := memstore.New().Collection("c")
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: test.keys}), name)
		require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "kind", "shop", "at", document.A(0, 0))))
		f := sharedtest.Filter(t, "at", test.near.Without("kind"))
		if shop, ok := test.near.Field("kind"); ok {
			f = query.And(f, sharedtest.Filter(t, "kind", shop))
		}
		set := sharedtest.Change(t, "$set", document.O("seen", true))
		for operation, run := range map[string]func() error{
			"Find": func() error { return failure(c.Find(t.Context(), f, store.FindOptions{})) },
			"Find with a sort": func() error {
				return failure(c.Find(t.Context(), f, store.FindOptions{Sort: sharedtest.Sort(t, "kind", 1)}))
			},
			"Count":         func() error { return failure(c.Count(t.Context(), f)) },
			"Distinct":      func() error { return failure(c.Distinct(t.Context(), "kind", f)) },
			"Update":        func() error { return failure(c.Update(t.Context(), f, set, store.UpdateOptions{Multi: true})) },
			"Upsert":        func() error { return failure(c.Update(t.Context(), f, set, store.UpdateOptions{Upsert: true})) },
			"FindAndModify": func() error { return failure(c.FindAndModify(t.Context(), f, set, store.FindAndModifyOptions{})) },
		} {
			if err := run(); test.served {
				require.NoError(t, err, "%s: %s", operation, name)
			} else {
				require.ErrorIs(t, err, boterr.InvalidArgument, "%s: %s", operation, name)
			}
		}
		removed, err := c.Delete(t.Context(), f, store.DeleteOptions{})
		require.Equal(t, test.served, err == nil, "Delete: %s", name)
		require.Equal(t, test.served, removed == 1, "Delete: %s", name)
	}
}

func TestGeoNear_NeedsAnIndex(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keys   []store.IndexKey
		search document.Object
		field  string
	}{
		{nil, document.O("near", document.A(0, 0)), "key"},
		{nil, document.O("near", document.A(0, 0), "key", "at"), ""},
		{[]store.IndexKey{{Path: "to", Kind: query.Geo2D}}, document.O("near", document.A(0, 0), "key", "at"), "key"},
		{[]store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}, document.O("near", document.A(0, 0)), "near"},
		{[]store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}, document.O("near", document.A(0, 0), "spherical", true), ""},
	} {
		c := memstore.New().Collection("c")
		if test.keys != nil {
			require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: test.keys}))
		}
		require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "at", document.A(0, 0))))
		query, err := query.CompileGeoNear(test.search)
		require.NoError(t, err)
		found, err := c.GeoNear(t.Context(), query)
		if test.field == "" {
			require.NoError(t, err)
			require.Len(t, found, 1)
			continue
		}
		require.ErrorIs(t, err, boterr.InvalidArgument, "%v", test.search)
		cause, _ := boterr.AsError(err)
		require.Equal(t, test.field, cause.Field)
	}
}

func TestGeoNear_PairsBeyondThePlane(t *testing.T) {
	t.Parallel()
	c := newTwins(t, query.Geo2D)
	for i, x := range []float64{1e9, -400, 179, 300, 1e300, 181} {
		o := document.O("_id", i, "n", 0, "at", document.A(x, 100))
		require.NoError(t, c.plain.Insert(t.Context(), o))
		if x == 179 {
			require.NoError(t, c.indexed.Insert(t.Context(), o))
		} else {
			require.ErrorIs(t, c.indexed.Insert(t.Context(), o), boterr.InvalidArgument)
		}
	}
	require.Equal(t, []any{2}, ints(nearIDs(t, c.indexed, document.O("$near", document.A(170, 100)))))
	wide := sharedtest.Filter(t, "at", document.O("$geoWithin", document.O("$box", document.A(document.A(-500, 0), document.A(500, 200)))))
	found := countOf(t, c.plain, wide)
	require.Equal(t, int64(4), found)
}

// ints returns whole numbers as int.
func ints(values []any) []any {
	all := make([]any, len(values))
	for i, value := range values {
		n, _ := value.(int64)
		all[i] = int(n)
	}
	return all
}

func TestGeoNear_PlaceWithinAPair(t *testing.T) {
	t.Parallel()
	for kind, inner := range map[query.IndexKind]any{
		query.Geo2D:       document.A(30, 40),
		query.Geo2DSphere: document.O("type", "Point", "coordinates", document.A(30, 40)),
	} {
		c := newTwins(t, kind)
		o := document.O("_id", 1, "at", document.A(1, 2, inner))
		require.NoError(t, c.indexed.Insert(t.Context(), o))
		require.NoError(t, c.plain.Insert(t.Context(), o))
		for _, at := range []document.Array{document.A(30, 40), document.A(1, 2)} {
			sphere := document.O("$geoWithin", document.O("$centerSphere", document.A(at, 0.01)))
			require.Equal(t, 1, c.requireSame(t, sharedtest.Filter(t, "at", sphere)), "%v", kind)
		}
	}
}
