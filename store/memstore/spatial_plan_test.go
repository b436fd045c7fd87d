package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

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
		{filter(t, "at", around("$centerSphere")), store.FindOptions{}, "at_2dsphere", 100},
		{filter(t, "at", around("$center")), store.FindOptions{}, "", 1_000},
		{filter(t, "flat", around("$center")), store.FindOptions{}, "flat_2d_n_1", 10},
		{filter(t, "flat", around("$centerSphere"), "n", document.O("$gt", 2)), store.FindOptions{}, "flat_2d_n_1", 100},
		{filter(t, "flat", around("$centerSphere"), "n", 3), store.FindOptions{}, "n_1", 100},
		{filter(t, "at", document.O("$not", around("$centerSphere"))), store.FindOptions{}, "", 1_000},
		{filter(t, "at", document.O("$nearSphere", document.A(2, 49))), store.FindOptions{Limit: 5}, "at_2dsphere", 100},
		{filter(t, "flat", document.O("$near", document.A(2, 49)), "_id", 7), store.FindOptions{}, "flat_2d_n_1", 1_000},
		{filter(t, "flat", document.O("$near", document.A(2, 49))), store.FindOptions{Sort: order(t, "n", 1)}, "flat_2d_n_1", 1_000},
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
		f := filter(t, "at", test.near.Without("kind"))
		if shop, ok := test.near.Field("kind"); ok {
			f = query.And(f, filter(t, "kind", shop))
		}
		set := change(t, "$set", document.O("seen", true))
		for operation, run := range map[string]func() error{
			"Find": func() error {
				_, err := c.Find(t.Context(), f, store.FindOptions{})
				return err
			},
			"Find with a sort": func() error {
				_, err := c.Find(t.Context(), f, store.FindOptions{Sort: order(t, "kind", 1)})
				return err
			},
			"Count": func() error {
				_, err := c.Count(t.Context(), f)
				return err
			},
			"Distinct": func() error {
				_, err := c.Distinct(t.Context(), "kind", f)
				return err
			},
			"Update": func() error {
				_, err := c.Update(t.Context(), f, set, store.UpdateOptions{Multi: true})
				return err
			},
			"Upsert": func() error {
				_, err := c.Update(t.Context(), f, set, store.UpdateOptions{Upsert: true})
				return err
			},
			"FindAndModify": func() error {
				_, err := c.FindAndModify(t.Context(), f, set, store.FindAndModifyOptions{})
				return err
			},
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

func TestGeoIndex_KeysNotTogether(t *testing.T) {
	t.Parallel()
	globe, flat := store.IndexKey{Path: "at", Kind: query.Geo2DSphere}, store.IndexKey{Path: "flat", Kind: query.Geo2D}
	n := store.IndexKey{Path: "n", Kind: query.Ascending}
	for _, keys := range [][]store.IndexKey{{n, flat}, {flat, globe}, {globe, flat}, {flat, {Path: "at", Kind: query.Geo2D}}} {
		err := memstore.New().Collection("c").EnsureIndex(t.Context(), store.Index{Keys: keys})
		require.ErrorIs(t, err, boterr.InvalidArgument, "%v", keys)
	}
	for _, keys := range [][]store.IndexKey{{flat, n}, {n, globe}, {globe, {Path: "to", Kind: query.Geo2DSphere}, n}} {
		require.NoError(t, memstore.New().Collection("c").EnsureIndex(t.Context(), store.Index{Keys: keys}), "%v", keys)
	}
}

func TestEnsureIndex_RefusesNamesThatNoFieldHas(t *testing.T) {
	t.Parallel()
	for path, isRefused := range map[string]bool{"$a": true, "a.$b": true, "a\x00": true, "a.b$": false, "owner.$id": false} {
		keys := []store.IndexKey{{Path: path, Kind: query.Ascending}}
		err := memstore.New().Collection("c").EnsureIndex(t.Context(), store.Index{Keys: keys})
		require.Equal(t, isRefused, err != nil, "%q: %v", path, err)
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
	wide := filter(t, "at", document.O("$geoWithin", document.O("$box", document.A(document.A(-500, 0), document.A(500, 200)))))
	found, err := c.plain.Count(t.Context(), wide)
	require.NoError(t, err)
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
			require.Equal(t, 1, c.requireSame(t, filter(t, "at", sphere)), "%v", kind)
		}
	}
}
