package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var findRules = []Rule{
	rule(findReturnsInsertionOrder,
		"without a sort, documents come in the order of insertion, and a change does not move them"),
	rule(findReturnsMatches, "Find returns the documents that match, or an empty slice; a nil filter matches every document"),
	rule(filtersFindPatterns,
		"$regex, a $not of it, and {$regex, $options} in $in and $nin match strings, and arrays that contain a matching string"),
	rule(arraysFindPatterns, "{$regex, $options} in $all, and in $in and $nin inside $elemMatch, is a pattern"),
	rule(findSkipsAndLimits, "Skip leaves out the first documents; Limit is the maximum number to return, and 0 means all"),
	rule(negativeSkipAndLimitAreRefused, "a negative Skip or Limit is InvalidArgument"),
	rule(getFindsByID, "Get returns the document with an _id of any type, and reports whether there is one"),
	rule(countCountsMatches, "Count returns the number of documents that match"),
}

// numbered returns documents with the _ids 1 to count and the same number in a field n.
func numbered(count int) []document.Object {
	documents := make([]document.Object, 0, count)
	for i := range count {
		documents = append(documents, document.O("_id", i+1, "n", i+1))
	}
	return documents
}

func findReturnsInsertionOrder(t *trial) {
	for _, id := range []any{"m", "z", "a", 3, 1, 2} {
		t.insert(document.O("_id", id, "kind", "x"))
	}
	order := []any{"m", "z", "a", 3, 1, 2}
	t.requireIDs(order, t.all())
	t.requireIDs(order, t.find(t.filter("kind", "x"), store.FindOptions{}))

	t.update(t.filter("_id", "z"), t.change("$set", document.O("large", make([]int, 500))), store.UpdateOptions{})
	t.update(t.filter("_id", 3), t.change("kind", "x"), store.UpdateOptions{})
	t.requireIDs(order, t.all())

	require.NoError(t, failure(t.Delete(t.Context(), t.filter("_id", "m"), store.DeleteOptions{})))
	t.insert(document.O("_id", "m"))
	t.requireIDs([]any{"z", "a", 3, 1, 2, "m"}, t.all())
}

func findReturnsMatches(t *trial) {
	t.insert(numbered(5)...)
	t.requireIDs([]any{1, 2, 3, 4, 5}, t.all())
	t.requireIDs([]any{4, 5}, t.find(t.filter("n", document.O("$gt", 3)), store.FindOptions{}))
	t.requireIDs([]any{2}, t.find(t.filter("_id", 2), store.FindOptions{}))
	t.requireIDs([]any{}, t.find(t.filter("_id", 2, "n", 3), store.FindOptions{}))
	none := t.find(t.filter("n", 9), store.FindOptions{})
	require.NotNil(t, none, "the slice is nil")
	require.Empty(t, none)
}

type filtered struct {
	filter document.Object
	ids    []any
}

// requireFinds inserts named documents, and finds them with the filters.
func (t *trial) requireFinds(tests []filtered) {
	t.Helper()
	o, a := document.O, document.A
	t.insert(
		o("_id", 1, "a", "Ann", "k", a(o("s", "Ann"))), o("_id", 2, "a", "bob"), o("_id", 3, "a", a("x", "ann", "Bob")),
		o("_id", 4, "a", nil), o("_id", 5), o("_id", 6, "a", 7, "k", a(o("s", "bob"), o("s", 7))),
	)
	for _, test := range tests {
		filter, err := query.CompileFilter(test.filter)
		require.NoError(t, err, "compiling %s", test.filter)
		t.requireIDs(test.ids, t.find(filter, store.FindOptions{}), "matching %s", test.filter)
	}
}

func filtersFindPatterns(t *trial) {
	o, a := document.O, document.A
	ann, bob := o("$regex", "^a", "$options", "si"), o("$regex", "^b")
	t.requireFinds([]filtered{
		{o("a", ann), []any{1, 3}},
		{o("a", o("$not", ann)), []any{2, 4, 5, 6}},
		{o("a", o("$in", a(ann))), []any{1, 3}},
		{o("a", o("$in", a(ann, bob))), []any{1, 2, 3}},
		{o("a", o("$in", a(7, bob, nil))), []any{2, 4, 5, 6}},
		{o("a", o("$in", a(o("$options", "s", "$regex", "^b.b$")))), []any{2}},
		{o("a", o("$nin", a(ann))), []any{2, 4, 5, 6}},
		{o("a", o("$nin", a(bob, nil))), []any{1, 3, 6}},
		{o("a", o("$not", o("$in", a(bob, 7)))), []any{1, 3, 4, 5}},
		{o("k.s", o("$in", a(bob))), []any{6}},
		{o("$or", a(o("a", o("$in", a(bob))), o("_id", 5))), []any{2, 5}},
		{o("$and", a(o("$nor", a(o("a", o("$in", a(bob))))), o("a", o("$nin", a(ann))))), []any{4, 5, 6}},
		{o("a", o("$in", a(ann)), "_id", 3), []any{3}},
		{o("a", o("$in", a(o("b", 1), o("c", o("$in", a(ann)))))), []any{}},
	})
	t.update(t.filter("a", o("$in", a(bob, "q"))), t.change("$set", o("is", 1)), store.UpdateOptions{Multi: true})
	t.requireIDs([]any{2}, t.find(t.filter("is", 1), store.FindOptions{}))
	t.update(t.filter("a", o("$in", a(o("$regex", "^A")))), t.change("$set", o("a", "z")), store.UpdateOptions{Multi: true})
	t.requireIDs([]any{1}, t.find(t.filter("a", "z"), store.FindOptions{}))
	t.remove(1, t.filter("a", o("$nin", a(ann, bob, 7, nil))), store.DeleteOptions{Multi: true})
	t.requireIDs([]any{2, 3, 4, 5, 6}, t.all())
}

func arraysFindPatterns(t *trial) {
	o, a := document.O, document.A
	ann, bob := o("$regex", "^a", "$options", "si"), o("$regex", "^b")
	t.requireFinds([]filtered{
		{o("a", o("$all", a(ann))), []any{1, 3}},
		{o("a", o("$all", a(ann, "Bob"))), []any{3}},
		{o("a", o("$all", a("bob", bob))), []any{2}},
		{o("a", o("$all", a(ann, o("$regex", "^B")))), []any{3}},
		{o("a", o("$not", o("$all", a(ann)))), []any{2, 4, 5, 6}},
		{o("a", o("$elemMatch", o("$in", a(bob, ann)))), []any{3}},
		{o("a", o("$elemMatch", o("$nin", a(ann, "x")))), []any{3}},
		{o("k", o("$elemMatch", o("s", o("$in", a(ann))))), []any{1}},
	})
}

func findSkipsAndLimits(t *trial) {
	t.insert(numbered(5)...)
	for _, test := range []struct {
		skip, limit int64
		ids         []any
	}{
		{0, 0, []any{1, 2, 3, 4, 5}},
		{0, 2, []any{1, 2}},
		{2, 0, []any{3, 4, 5}},
		{1, 2, []any{2, 3}},
		{4, 9, []any{5}},
		{5, 1, []any{}},
		{9, 0, []any{}},
		{1 << 62, 1 << 62, []any{}},
	} {
		options := store.FindOptions{Skip: test.skip, Limit: test.limit}
		t.requireIDs(test.ids, t.find(nil, options), "skip %d, limit %d", test.skip, test.limit)
		options.Sort = t.order("n", 1)
		t.requireIDs(test.ids, t.find(nil, options), "skip %d, limit %d, sorted", test.skip, test.limit)
	}
	options := store.FindOptions{Skip: 1, Limit: 2}
	t.requireIDs([]any{3, 4}, t.find(t.filter("n", document.O("$gte", 2)), options), "among those that match")
}

func negativeSkipAndLimitAreRefused(t *trial) {
	t.insert(numbered(2)...)
	for _, options := range []store.FindOptions{{Skip: -1}, {Limit: -1}} {
		t.requireCode(boterr.InvalidArgument, failure(t.Find(t.Context(), nil, options)), "%+v", options)
	}
}

func getFindsByID(t *trial) {
	ids := []any{"a", "1", 1, 2.5, true, nil, document.O("x", 1, "y", "z"), time.UnixMilli(7).UTC()}
	for _, id := range ids {
		t.insert(document.O("_id", id, "kind", "x"))
	}
	for _, id := range append(ids, 1.0) {
		found, exists, err := t.Get(t.Context(), id)
		require.NoError(t, err)
		require.True(t, exists, "%v", id)
		require.True(t, document.Equal(document.O("_id", id, "kind", "x"), found), "%v is %v", id, found)
	}
	for _, id := range []any{"b", 2, "2.5", false, document.O("y", "z", "x", 1), document.A("a")} {
		found, exists, err := t.Get(t.Context(), id)
		require.NoError(t, err)
		require.False(t, exists, "%v", id)
		require.True(t, found.IsZero(), "%v", id)
	}
	_, _, err := t.Get(t.Context(), func() {})
	t.requireCode(boterr.InvalidArgument, err)
}

func countCountsMatches(t *trial) {
	t.insert(numbered(5)...)
	for _, test := range []struct {
		filter *query.Filter
		count  int64
	}{
		{nil, 5},
		{t.filter(), 5},
		{t.filter("n", document.O("$lte", 2)), 2},
		{t.filter("_id", 3), 1},
		{t.filter("n", "none"), 0},
	} {
		count, err := t.Count(t.Context(), test.filter)
		require.NoError(t, err)
		require.Equal(t, test.count, count, "matching %s", test.filter.Source())
	}
}

var projectionRules = []Rule{
	rule(findProjects, "Projection selects the fields of the returned documents, in the order of the document"),
	rule(filterAndSortSeeWholeDocuments, "filter and sort see the whole documents, whatever the projection selects"),
	rule(projectionCutsArrays, "$slice, $elemMatch and a path that ends in $ shorten arrays"),
	rule(projectionWithoutAPositionIsRefused, "a path that ends in $ is InvalidArgument if the filter matched no element of the array"),
	rule(findAndModifyProjects,
		"Projection selects the fields of the returned document, before the change or after it; the stored document keeps all fields"),
	rule(findAndModifyRefusesAProjectionWhole,
		"after an error of the projection nothing has changed; with New, a path that ends in $ is InvalidArgument"),
}

func (t *trial) projection(pairs ...any) *query.Projection {
	t.Helper()
	p, err := query.CompileProjection(document.O(pairs...))
	require.NoError(t, err)
	return p
}

func findProjects(t *trial) {
	t.insert(
		document.O("_id", 1, "b", 1, "a", document.O("x", 1, "y", 2), "c", 3),
		document.O("_id", 2, "a", document.A(document.O("x", 1.5), 7), "b", true),
	)
	for _, test := range []struct {
		projection *query.Projection
		want       []document.Object
	}{
		{
			t.projection("a.x", 1, "b", 1),
			[]document.Object{
				document.O("_id", 1, "b", 1, "a", document.O("x", 1)),
				document.O("_id", 2, "a", document.A(document.O("x", 1.5)), "b", true),
			},
		},
		{t.projection("c", 1, "_id", 0), []document.Object{document.O("c", 3), document.O()}},
		{
			t.projection("a", 0),
			[]document.Object{document.O("_id", 1, "b", 1, "c", 3), document.O("_id", 2, "b", true)},
		},
	} {
		found := t.find(nil, store.FindOptions{Projection: test.projection})
		t.requireSame(test.want, found, "projection %s", test.projection.Source())
	}
}

func filterAndSortSeeWholeDocuments(t *trial) {
	t.insert(numbered(4)...)
	options := store.FindOptions{Sort: t.order("n", -1), Skip: 1, Limit: 2, Projection: t.projection("none", 1)}
	found := t.find(t.filter("n", document.O("$gt", 1)), options)
	t.requireSame([]document.Object{document.O("_id", 3), document.O("_id", 2)}, found)
	result := t.findAndModify(t.filter("n", 4), t.change("$set", document.O("last", true)),
		store.FindAndModifyOptions{Projection: t.projection("none", 1)})
	t.requireModified(store.FindAndModifyResult{Document: document.O("_id", 4), Matched: true, Modified: true}, result)
}

func projectionCutsArrays(t *trial) {
	t.insert(document.O("_id", 1, "n", 1, "list", document.A(1, 2, 3, 4)))
	for _, test := range []struct {
		projection *query.Projection
		want       document.Object
	}{
		{t.projection("list", document.O("$slice", -2)), document.O("_id", 1, "n", 1, "list", document.A(3, 4))},
		{t.projection("list", document.O("$slice", document.A(1, 2)), "n", 1), document.O("_id", 1, "n", 1, "list", document.A(2, 3))},
		{t.projection("list", document.O("$elemMatch", document.O("$gt", 2))), document.O("_id", 1, "list", document.A(3))},
		{t.projection("list.$", 1), document.O("_id", 1, "list", document.A(2))},
	} {
		found := t.find(t.filter("list", document.O("$gte", 2)), store.FindOptions{Projection: test.projection})
		t.requireSame([]document.Object{test.want}, found, "projection %s", test.projection.Source())
	}
}

func projectionWithoutAPositionIsRefused(t *trial) {
	t.insert(document.O("_id", 1, "list", document.A(1, 2)))
	for _, filter := range []*query.Filter{nil, t.filter("_id", 1), t.filter("list.0", 1)} {
		_, err := t.Find(t.Context(), filter, store.FindOptions{Projection: t.projection("list.$", 1)})
		t.requireCode(boterr.InvalidArgument, err, "filter %s", filter.Source())
	}
}

func findAndModifyProjects(t *trial) {
	t.insert(document.O("_id", 1, "n", 1, "list", document.A(1, 2)))
	inc := t.change("$inc", document.O("n", 1))
	before := t.findAndModify(nil, inc, store.FindAndModifyOptions{Projection: t.projection("n", 1)})
	t.requireModified(
		store.FindAndModifyResult{Document: document.O("_id", 1, "n", 1), Matched: true, Modified: true}, before)
	after := t.findAndModify(nil, inc, store.FindAndModifyOptions{New: true, Projection: t.projection("n", 1, "_id", 0)})
	t.requireModified(store.FindAndModifyResult{Document: document.O("n", 3), Matched: true, Modified: true}, after)
	position := t.findAndModify(t.filter("list", 2), inc, store.FindAndModifyOptions{Projection: t.projection("list.$", 1)})
	t.requireModified(
		store.FindAndModifyResult{Document: document.O("_id", 1, "list", document.A(2)), Matched: true, Modified: true}, position)
	t.requireHolds(document.O("_id", 1, "n", 4, "list", document.A(1, 2)))

	none := t.findAndModify(t.filter("n", 9), inc, store.FindAndModifyOptions{Projection: t.projection("n", 1)})
	t.requireModified(store.FindAndModifyResult{}, none)
	inserted := t.findAndModify(t.filter("_id", "new"), inc,
		store.FindAndModifyOptions{New: true, Upsert: true, Projection: t.projection("n", 1, "_id", 0)})
	t.requireModified(store.FindAndModifyResult{Document: document.O("n", 1), UpsertedID: "new"}, inserted)
}

func findAndModifyRefusesAProjectionWhole(t *trial) {
	held := document.O("_id", 1, "list", document.A(1, 2))
	t.insert(held)
	change, projection := t.change("$push", document.O("list", 3)), t.projection("list.$", 1)
	for _, test := range []struct {
		filter  *query.Filter
		options store.FindAndModifyOptions
	}{
		{nil, store.FindAndModifyOptions{Projection: projection}},
		{t.filter("list", 2), store.FindAndModifyOptions{New: true, Projection: projection}},
	} {
		_, err := t.FindAndModify(t.Context(), test.filter, change, test.options)
		t.requireCode(boterr.InvalidArgument, err, "filter %s", test.filter.Source())
		t.requireHolds(held)
	}
}

var geoRules = []Rule{
	rule(geoNearReturnsNearestFirst,
		"GeoNear returns the documents that have a point, nearest first, with ties in the order of insertion"),
	rule(geoNearKeepsToItsBounds,
		"GeoNear returns the documents that match the query's filter and lie within its distances, up to its limit"),
	rule(geoNearWritesIntoResultsOnly, "the distance and the point are in the returned documents, not in the stored ones"),
	rule(geoNearMeasuresLegacyPairs, "distances of legacy pairs are in the units of the coordinates"),
	rule(geoNearRefuses, "GeoNear without a field, in a collection without a geo index, is InvalidArgument with ErrNoGeoIndex; "+
		"if its context has ended, it is Canceled"),
	rule(geoIndexesAreTaken, "an index of kind Geo2D or Geo2DSphere serves the field of its key"),
}

func equator(longitude float64) document.Object {
	return document.O("type", "Point", "coordinates", document.A(longitude, 0))
}

func (t *trial) near(pairs ...any) []query.GeoResult {
	t.Helper()
	query, err := query.CompileGeoNear(document.O(pairs...))
	require.NoError(t, err)
	results, err := t.GeoNear(t.Context(), query)
	require.NoError(t, err)
	require.NotNil(t, results, "the slice is nil")
	return results
}

func (t *trial) requireNear(expected []any, results []query.GeoResult) {
	t.Helper()
	documents := make([]document.Object, 0, len(results))
	for _, result := range results {
		documents = append(documents, result.Document)
	}
	t.requireIDs(expected, documents)
}

// insertPlaces inserts places on the equator, named after their longitude. One degree is 111.3 km.
func (t *trial) insertPlaces() {
	t.Helper()
	t.insert(
		document.O("_id", "three", "at", equator(3), "open", true),
		document.O("_id", "one", "at", equator(1), "open", true),
		document.O("_id", "nowhere", "open", true),
		document.O("_id", "minus one", "at", equator(-1), "open", false),
		document.O("_id", "text", "at", "1, 0", "open", true),
		document.O("_id", "two", "at", equator(2), "open", true),
	)
}

func geoNearReturnsNearestFirst(t *trial) {
	t.requireNear([]any{}, t.near("near", equator(0), "key", "at"))
	t.insertPlaces()
	results := t.near("near", equator(0), "key", "at")
	t.requireNear([]any{"one", "minus one", "two", "three"}, results)
	for i, degrees := range []float64{1, 1, 2, 3} {
		require.InEpsilon(t, degrees*111_318.8, results[i].Distance, 1e-5)
	}
}

func geoNearKeepsToItsBounds(t *trial) {
	t.insertPlaces()
	origin := equator(0)
	t.requireNear([]any{"one", "two", "three"}, t.near("near", origin, "key", "at", "query", document.O("open", true)))
	t.requireNear([]any{"one", "minus one"}, t.near("near", origin, "key", "at", "maxDistance", 150_000))
	t.requireNear([]any{"two", "three"}, t.near("near", origin, "key", "at", "minDistance", 150_000))
	t.requireNear([]any{"one", "minus one", "two"}, t.near("near", origin, "key", "at", "limit", 3))
	t.requireNear([]any{"two"}, t.near("near", origin, "key", "at", "query", document.O("_id", "two"), "limit", 3))
}

func geoNearWritesIntoResultsOnly(t *trial) {
	held := document.O("_id", 1, "at", equator(0))
	t.insert(held)
	results := t.near("near", equator(0), "key", "at", "distanceField", "far.away", "includeLocs", "where")
	require.Len(t, results, 1)
	require.Equal(t, literal(0.0), literal(document.Get[any](results[0].Document, "far.away", nil)))
	require.Equal(t, literal(equator(0)), literal(document.Get[any](results[0].Document, "where", nil)))
	t.requireHolds(held)
}

func geoNearMeasuresLegacyPairs(t *trial) {
	t.insert(
		document.O("_id", "far", "at", document.A(6, 8)),
		document.O("_id", "close", "at", document.O("x", 3, "y", 4)),
	)
	results := t.near("near", document.A(0, 0), "key", "at", "maxDistance", 10)
	t.requireNear([]any{"close", "far"}, results)
	require.InDelta(t, 5, results[0].Distance, 1e-9)
	require.InDelta(t, 10, results[1].Distance, 1e-9)
}

func geoNearRefuses(t *trial) {
	t.insertPlaces()
	anywhere, err := query.CompileGeoNear(document.O("near", equator(0)))
	require.NoError(t, err)
	_, err = t.GeoNear(t.Context(), anywhere)
	t.requireCode(boterr.InvalidArgument, err)
	require.ErrorIs(t, err, query.ErrNoGeoIndex)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.requireCode(boterr.Canceled, failure(t.GeoNear(ctx, anywhere.WithKey("at"))))
}

func geoIndexesAreTaken(t *trial) {
	for _, kind := range []query.IndexKind{query.Geo2D, query.Geo2DSphere} {
		c := t.with(t.store.Collection("storetest." + string(kind)))
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "in.at", Kind: kind}}}))
		c.insert(document.O("_id", 1, "in", document.O("at", document.A(1, 1))), document.O("_id", 2))
		c.requireNear([]any{1}, c.near("near", document.A(0, 0), "spherical", kind == query.Geo2DSphere))
	}
}
