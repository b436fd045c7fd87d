package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var indexRules = []Rule{
	rule(ensureIndexTwice, "EnsureIndex creates an index unless one with the same keys and options exists"),
	rule(ensureIndexWithOtherOptions, "an index with the same keys and other options is FailedPrecondition"),
	rule(badIndexesAreRefused,
		"an index without keys, with a path that no field can have, the same path twice, or unsuitable kinds is InvalidArgument"),
	rule(indexesDoNotChangeAnswers, "with an index, the same documents match in the same order as without"),
	rule(indexesFollowWrites, "an index includes what is written after its creation"),
	rule(descendingIndexHoldsEmptyArrays, "in the order of a descending index, a document with an empty array comes last"),
	rule(contradictoryBoundsMatchNothing, "bounds that contradict each other match nothing, with and without an index"),
}

func descendingIndexHoldsEmptyArrays(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "a", Kind: query.Descending}}}))
	t.insert(document.O("_id", 1, "a", document.A()), document.O("_id", 2, "a", 1), document.O("_id", 3))
	t.requireIDs([]any{2, 3, 1}, t.find(nil, store.FindOptions{Sort: t.order("a", -1)}))
	t.requireIDs([]any{1, 3, 2}, t.find(nil, store.FindOptions{Sort: t.order("a", 1)}))
	result := t.findAndModify(nil, t.change("$set", document.O("b", 1)), store.FindAndModifyOptions{Sort: t.order("a", 1)})
	t.requireIDs([]any{1}, []document.Object{result.Document})
}

func contradictoryBoundsMatchNothing(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("a")}))
	t.insert(document.O("_id", 1, "a", 1), document.O("_id", 2, "a", 5), document.O("_id", 3))
	for _, filter := range []*query.Filter{
		t.filter("a", document.O("$gt", 5, "$lt", 1)),
		t.filter("a", document.O("$in", document.A())),
		t.filter("a", document.O("$gt", 1, "$lte", 1)),
	} {
		t.requireIDs([]any{}, t.find(filter, store.FindOptions{}), filter.Source())
		t.requireIDs([]any{}, t.find(filter, store.FindOptions{Sort: t.order("a", -1), Limit: 1}), filter.Source())
		count, err := t.Count(t.Context(), filter)
		require.NoError(t, err)
		require.Zero(t, count, filter.Source())
		require.Zero(t, t.update(filter, t.change("$set", document.O("b", 1)), multi).Matched, filter.Source())
		require.False(t, t.findAndModify(filter, t.change("$set", document.O("b", 1)), store.FindAndModifyOptions{Sort: t.order("a", 1)}).Matched)
		t.remove(0, filter, store.DeleteOptions{Multi: true})
	}
}

func ensureIndexTwice(t *trial) {
	for i := range 2 {
		require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("a", "b.c")}))
		require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("_id")}))
		t.insert(document.O("_id", i, "a", 1))
	}
}

func ensureIndexWithOtherOptions(t *trial) {
	plain := store.Index{Keys: ascending("a")}
	unique := store.Index{Keys: ascending("a"), Unique: true}
	sparse := store.Index{Keys: ascending("a"), Sparse: true}
	require.NoError(t, t.EnsureIndex(t.Context(), unique))
	t.requireCode(boterr.FailedPrecondition, t.EnsureIndex(t.Context(), plain), "plain beside unique")
	t.requireCode(boterr.FailedPrecondition, t.EnsureIndex(t.Context(), sparse), "sparse beside unique")
	require.NoError(t, t.EnsureIndex(t.Context(), unique))
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("a", "b")}), "other keys")
	for range 2 {
		require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("c"), Sparse: true}), "the same again")
	}
}

func badIndexesAreRefused(t *trial) {
	n := store.IndexKey{Path: "n", Kind: query.Ascending}
	flat, globe := store.IndexKey{Path: "flat", Kind: query.Geo2D}, store.IndexKey{Path: "at", Kind: query.Geo2DSphere}
	for name, keys := range map[string][]store.IndexKey{
		"no keys":           nil,
		"an empty path":     ascending(""),
		"an empty part":     ascending("a..b"),
		"bytes":             ascending("a\xff"),
		"NUL":               ascending("a\x00"),
		"an operator":       ascending("$a"),
		"a part with $":     ascending("a.$b"),
		"the same twice":    ascending("a", "b", "a"),
		"an unknown kind":   {{Path: "a", Kind: "sideways"}},
		"no kind":           {{Path: "a"}},
		"a plane as second": {n, flat},
		"plane and globe":   {flat, globe},
		"globe and plane":   {globe, flat},
		"two planes":        {flat, {Path: "at", Kind: query.Geo2D}},
	} {
		t.requireCode(boterr.InvalidArgument, t.EnsureIndex(t.Context(), store.Index{Keys: keys}), name)
	}
	t.requireCode(boterr.Unsupported, t.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{globe}, Unique: true}), "unique places")
	for _, keys := range [][]store.IndexKey{
		ascending("a.b$"), ascending("owner.$id"), {flat, n}, {n, globe}, {globe, {Path: "to", Kind: query.Geo2DSphere}, n},
	} {
		require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: keys}), "%v", keys)
	}
}

// indexed returns documents with values that are difficult for indexes.
func indexed() []document.Object {
	values := []any{
		1, 1.0, 2, "a", "b", nil, true, document.O("b", 1), document.O("b", 2, "c", 1), document.A(), document.A(1, 2),
		document.A("a", "a"), document.A(document.A(1)), document.A(document.O("b", 1), document.O("b", 2, "c", 3)),
		document.A(document.O("b", document.A(1, 5))), document.A(nil), "A", int64(1<<53 + 1), float64(1 << 53),
		document.O("b", document.A(document.O("c", 3))), document.A(document.O("c", 1), 7),
	}
	documents := []document.Object{document.O("_id", "missing")}
	for i, value := range values {
		documents = append(documents,
			document.O("_id", i, "a", value, "k", i%3), document.O("_id", 100-i, "k", i%4, "a", value))
	}
	return documents
}

// queries are filters that an index on a, a.b, a.c or k may serve.
func (t *trial) queries() []*query.Filter {
	t.Helper()
	var filters []*query.Filter
	for _, value := range []any{
		1, 1.0, 2, 3, "a", "A", nil, true, document.O("b", 1), document.A(1, 2), document.A(), document.A(1), int64(1<<53 + 1),
		document.O("$gt", 1), document.O("$in", document.A(1, "b", nil)), document.O("$ne", 1), document.O("$exists", false),
		document.O("$in", document.A(1, document.O("$regex", "^a"))),
		document.O("$in", document.A(nil, document.O("$regex", "^a", "$options", "i"), document.O("$regex", "^b"))),
		document.O("$nin", document.A(1, document.O("$regex", "^a"))), document.O("$all", document.A("a", document.O("$regex", "^a"))),
	} {
		filters = append(filters,
			t.filter("a", value), t.filter("a.b", value), t.filter("a.0", value), t.filter("k", 1, "a", value),
			t.filter("a.b", 1, "a.c", value), t.filter("$or", document.A(document.O("a", value), document.O("k", 2))))
	}
	return append(filters, t.filter("k", 2), t.filter("_id", 3, "a", "a"), t.filter("$and", document.A(document.O("a.b", 2))))
}

func indexesDoNotChangeAnswers(t *trial) {
	plain := t.with(t.store.Collection("storetest.plain"))
	plain.insert(indexed()...)
	filters := t.queries()
	without := make([][]document.Object, len(filters))
	for i, filter := range filters {
		without[i] = plain.find(filter, store.FindOptions{})
	}
	for name, keys := range map[string][]store.IndexKey{
		"a":    ascending("a"),
		"ab":   ascending("a.b"),
		"k-a":  {{Path: "k", Kind: query.Descending}, {Path: "a", Kind: query.Ascending}},
		"k--a": {{Path: "k", Kind: query.Ascending}, {Path: "a", Kind: query.Descending}},
		"abac": ascending("a.b", "a.c"),
		"id-a": {{Path: "_id", Kind: query.Descending}, {Path: "a", Kind: query.Ascending}},
	} {
		c := t.with(t.store.Collection("storetest." + name))
		c.insert(indexed()[:20]...)
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: keys}))
		c.insert(indexed()[20:]...)
		for i, filter := range filters {
			t.requireSame(without[i], c.find(filter, store.FindOptions{}), "with an index on %s, matching %s", name, filter.Source())
		}
	}
}

func indexesFollowWrites(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("a")}))
	t.insert(document.O("_id", 1, "a", 1), document.O("_id", 2, "a", document.A(1, 2)), document.O("_id", 3, "a", 3))
	t.update(t.filter("_id", 1), t.change("$set", document.O("a", 2)), first)
	t.update(t.filter("_id", 2), t.change("$pull", document.O("a", 1)), first)
	t.update(t.filter("_id", 4), t.change("$set", document.O("a", 1)), upsert)
	t.findAndModify(t.filter("a", 3), t.change("a", 1), store.FindAndModifyOptions{})
	for value, ids := range map[int][]any{1: {3, 4}, 2: {1, 2}, 3: {}} {
		t.requireIDs(ids, t.find(t.filter("a", value), store.FindOptions{}), "a is %d", value)
	}
	t.remove(1, t.filter("a", 2), store.DeleteOptions{})
	t.requireIDs([]any{2}, t.find(t.filter("a", 2), store.FindOptions{}))
}

var uniqueRules = []Rule{
	rule(uniqueIndexRefusesASecondKey,
		"a write that would give a second document the same key of a unique index is AlreadyExists, and changes nothing"),
	rule(uniqueIndexFreesKeys, "a key of a unique index is free again once no document has it"),
	rule(uniqueIndexCountsMissingAsNull, "in a unique index a missing field counts as null"),
	rule(sparseIndexLeavesOutWhatIsMissing,
		"a sparse index leaves out the documents that have none of its keys"),
	rule(uniqueIndexCountsElements,
		"in an index an array counts as its elements: two documents may not share an element, but one document may repeat it"),
	rule(uniqueIndexOfSeveralKeys,
		"a unique index of several keys refuses a document only if it equals another one in all of them"),
	rule(uniqueIndexRefusesWhatIsThere,
		"EnsureIndex is AlreadyExists if documents violate the unique index, and creates none"),
}

func (t *trial) unique(paths ...string) {
	t.Helper()
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending(paths...), Unique: true}))
}

// requireClash checks that inserting a document is AlreadyExists.
func (t *trial) requireClash(o document.Object) {
	t.Helper()
	t.requireCode(boterr.AlreadyExists, t.Insert(t.Context(), o), "inserting %s", o)
}

func uniqueIndexRefusesASecondKey(t *trial) {
	held := []document.Object{document.O("_id", 1, "a", "x"), document.O("_id", 2, "a", "y"), document.O("_id", 3, "a", 3)}
	t.unique("a")
	t.insert(held...)
	set := t.change("$set", document.O("a", "x"))
	for name, write := range map[string]func() error{
		"Insert": func() error {
			return t.Insert(t.Context(), document.O("_id", 4, "a", "z"), document.O("_id", 5, "a", "x"))
		},
		"Insert of 3.0": func() error { return t.Insert(t.Context(), document.O("_id", 4, "a", 3.0)) },
		"one batch": func() error {
			return t.Insert(t.Context(), document.O("_id", 4, "a", "z"), document.O("_id", 5, "a", "z"))
		},
		"Update": func() error { return failure(t.Update(t.Context(), t.filter("_id", 2), set, first)) },
		"Update of many": func() error {
			return failure(t.Update(t.Context(), nil, t.change("$set", document.O("a", "new")), multi))
		},
		"replacement": func() error { return failure(t.Update(t.Context(), t.filter("_id", 2), t.change("a", "x"), first)) },
		"upsert":      func() error { return failure(t.Update(t.Context(), t.filter("_id", 4), set, upsert)) },
		"FindAndModify": func() error {
			return failure(t.FindAndModify(t.Context(), t.filter("_id", 2), set, store.FindAndModifyOptions{}))
		},
	} {
		t.requireCode(boterr.AlreadyExists, write(), name)
		t.requireHolds(held...)
	}
	t.update(t.filter("_id", 1), set, first)
	t.update(t.filter("_id", 1), t.change("$set", document.O("b", 1)), first)
}

func uniqueIndexFreesKeys(t *trial) {
	t.unique("a")
	t.insert(document.O("_id", 1, "a", "x"), document.O("_id", 2, "a", "y"))
	t.update(t.filter("_id", 1), t.change("$set", document.O("a", "z")), first)
	t.remove(1, t.filter("_id", 2), store.DeleteOptions{})
	t.insert(document.O("_id", 3, "a", "x"), document.O("_id", 4, "a", "y"))
	t.requireClash(document.O("_id", 5, "a", "z"))
}

func uniqueIndexCountsMissingAsNull(t *trial) {
	t.unique("a")
	t.insert(document.O("_id", 1), document.O("_id", 2, "a", 0))
	t.requireClash(document.O("_id", 3))
	t.requireClash(document.O("_id", 3, "a", nil))
}

func sparseIndexLeavesOutWhatIsMissing(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("a", "b"), Unique: true, Sparse: true}))
	t.insert(
		document.O("_id", 1), document.O("_id", 2), document.O("_id", 3, "a", 1), document.O("_id", 4, "b", 1),
		document.O("_id", 5, "a", nil),
	)
	t.requireClash(document.O("_id", 6, "a", 1))
	t.requireClash(document.O("_id", 6, "b", 1))
	t.requireClash(document.O("_id", 6, "a", nil, "b", nil))
	t.requireIDs([]any{1, 2, 4, 5}, t.find(t.filter("a", nil), store.FindOptions{}))
}

func uniqueIndexCountsElements(t *trial) {
	t.unique("tags")
	t.unique("rows.n")
	t.insert(document.O("_id", 1, "tags", document.A("a", "b", "a"), "rows", document.A(document.O("n", 1), document.O("n", 1))))
	t.insert(document.O("_id", 2, "tags", "c", "rows", document.O("n", 2)))
	t.requireClash(document.O("_id", 3, "tags", "b", "rows", document.O("n", 3)))
	t.requireClash(document.O("_id", 3, "tags", document.A("d", "c"), "rows", document.O("n", 3)))
	t.requireClash(document.O("_id", 3, "tags", "d", "rows", document.A(document.O("n", 3), document.O("n", 1))))
	t.update(t.filter("_id", 1), t.change("$pull", document.O("tags", "b")), first)
	t.insert(document.O("_id", 3, "tags", document.A("b", "d"), "rows", document.O("n", 3)))
}

func uniqueIndexOfSeveralKeys(t *trial) {
	t.unique("a", "b")
	t.insert(
		document.O("_id", 1, "a", 1, "b", 1), document.O("_id", 2, "a", 1, "b", 2), document.O("_id", 3, "a", 2, "b", 1),
		document.O("_id", 4, "a", "x", "b", "y"), document.O("_id", 5, "a", "xy", "b", ""), document.O("_id", 6, "a", 1),
	)
	for _, o := range []document.Object{
		document.O("_id", 7, "a", 1, "b", 2), document.O("_id", 7, "a", "x", "b", "y"), document.O("_id", 7, "a", 1, "b", nil),
		document.O("_id", 7, "a", document.A(3, 2), "b", 1),
	} {
		t.requireClash(o)
	}
}

func uniqueIndexRefusesWhatIsThere(t *trial) {
	t.insert(document.O("_id", 1, "a", 1), document.O("_id", 2, "a", 1.0))
	err := t.EnsureIndex(t.Context(), store.Index{Keys: ascending("a"), Unique: true})
	t.requireCode(boterr.AlreadyExists, err)
	t.insert(document.O("_id", 3, "a", 1))
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("a")}), "no index was made")
}
