package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var placeRules = []Rule{
	{
		Name:  "NearComesNearestFirst",
		Text:  "what a filter with $near matches comes nearest first unless a sort says otherwise, and the first match is the nearest",
		Needs: []Capability{GeoFilters, GeoIndexes},
		check: nearComesNearestFirst,
	},
	{
		Name:  "NearNeedsAnIndex",
		Text:  "a filter with a $near that no index serves is InvalidArgument, and changes nothing",
		Needs: []Capability{GeoFilters, GeoIndexes},
		check: nearNeedsAnIndex,
	},
	{
		Name:  "PlacesAreComparedWithoutAnIndex",
		Text:  "$geoWithin and $geoIntersects match without an index, and the same as with one",
		Needs: []Capability{GeoFilters, GeoIndexes},
		check: placesAreComparedWithoutAnIndex,
	},
	{
		Name:  "GeoIndexesRefuseWhatIsNoPlace",
		Text:  "a document whose value a geo index cannot hold is InvalidArgument, before and after the index is made",
		Needs: []Capability{GeoIndexes},
		check: geoIndexesRefuseWhatIsNoPlace,
	},
}

// geoIndex returns an index of one geo key.
func geoIndex(path string, kind query.IndexKind) store.Index {
	return store.Index{Keys: []store.IndexKey{{Path: path, Kind: kind}}}
}

// insertPoints inserts points on the equator, without what is no place.
func (t *trial) insertPoints() {
	t.Helper()
	for i, longitude := range []float64{3, 1, 2, -1} {
		t.insert(document.O("_id", i, "at", equator(longitude)))
	}
	t.insert(document.O("_id", "nowhere", "at", nil))
}

func nearComesNearestFirst(t *trial) {
	require.NoError(t, t.EnsureIndex(t.ctx(), geoIndex("at", query.Geo2DSphere)))
	t.insertPoints()
	near := document.O("$near", document.O("$geometry", equator(2.1), "$maxDistance", 250_000))
	t.requireIDs([]any{2, 0, 1}, t.find(t.filter("at", near), store.FindOptions{}))
	t.requireIDs([]any{2, 1, 0}, t.find(t.filter("at", near), store.FindOptions{Sort: t.order("_id", -1)}))
	result := t.findAndModify(t.filter("at", near), t.change("$set", document.O("found", true)), store.FindAndModifyOptions{})
	t.requireIDs([]any{2}, []document.Object{result.Document})
	count, err := t.Count(t.ctx(), t.filter("at", near))
	require.NoError(t, err)
	require.Equal(t, int64(3), count)
}

func nearNeedsAnIndex(t *trial) {
	require.NoError(t, t.EnsureIndex(t.ctx(), geoIndex("to", query.Geo2DSphere)))
	held := document.O("_id", 1, "at", document.A(0, 0))
	t.insert(held)
	for _, operator := range []string{"$near", "$nearSphere"} {
		near := t.filter("at", document.O(operator, document.A(0, 0)))
		_, err := t.Find(t.ctx(), near, store.FindOptions{})
		t.requireCode(boterr.InvalidArgument, err, "finding")
		_, err = t.Count(t.ctx(), near)
		t.requireCode(boterr.InvalidArgument, err, "counting")
		_, err = t.Update(t.ctx(), near, t.change("$set", document.O("n", 1)), store.UpdateOptions{Upsert: true})
		t.requireCode(boterr.InvalidArgument, err, "changing")
		_, err = t.Delete(t.ctx(), near, store.DeleteOptions{})
		t.requireCode(boterr.InvalidArgument, err, "removing")
	}
	t.requireHolds(held)
}

func placesAreComparedWithoutAnIndex(t *trial) {
	t.insertPoints()
	ring := document.A(document.A(0.5, -1), document.A(2.5, -1), document.A(2.5, 1), document.A(0.5, 1), document.A(0.5, -1))
	area := document.O("$geometry", document.O("type", "Polygon", "coordinates", document.A(ring)))
	for range 2 {
		for _, condition := range []document.Object{
			document.O("$geoWithin", area),
			document.O("$geoIntersects", area),
			document.O("$geoWithin", document.O("$centerSphere", document.A(document.A(1.5, 0), 0.01))),
			document.O("$geoWithin", document.O("$box", document.A(document.A(1, 0), document.A(2, 0)))),
		} {
			t.requireIDs([]any{1, 2}, t.find(t.filter("at", condition), store.FindOptions{}), condition)
		}
		require.NoError(t, t.EnsureIndex(t.ctx(), geoIndex("at", query.Geo2DSphere)))
	}
}

func geoIndexesRefuseWhatIsNoPlace(t *trial) {
	for kind, values := range map[query.IndexKind][]any{
		query.Geo2D:       {equator(1), document.A(document.A(0, 0), "here"), document.O("x", 1), document.A(200, 0), document.A(0, -180.5)},
		query.Geo2DSphere: {"here", 5, document.A(0), document.A(181, 0), document.O("type", "Point"), document.A(equator(1), equator(2))},
	} {
		for _, value := range values {
			o := document.O("_id", 1, "at", value)
			before := t.with(t.store.Collection("storetest.before." + string(kind)))
			before.insert(o)
			t.requireCode(boterr.InvalidArgument, before.EnsureIndex(t.ctx(), geoIndex("at", kind)), o)
			_, err := before.Delete(t.ctx(), nil, store.DeleteOptions{Multi: true})
			require.NoError(t, err)
			after := t.with(t.store.Collection("storetest.after." + string(kind)))
			require.NoError(t, after.EnsureIndex(t.ctx(), geoIndex("at", kind)))
			t.requireCode(boterr.InvalidArgument, after.Insert(t.ctx(), o), o)
		}
	}
}
