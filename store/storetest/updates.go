package storetest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var updateRules = []Rule{
	rule(updateChangesTheFirstMatch, "Update changes the first document that matches, in the order of insertion"),
	rule(updateMultiChangesAllMatches, "Multi changes all documents that match"),
	rule(updateCountsWhatChanged, "Matched is the number of documents that matched, Modified the number that changed"),
	rule(updateMultiIsAllOrNone, "after an error none of several documents has changed"),
	rule(updateOfManyIsAllOrNone, "after an error other than Unavailable none of very many documents has changed"),
	rule(updateMultiJudgesEachDocumentOnce, "Multi changes each document once, even if it matches again afterwards"),
	rule(replacementReplacesOneDocument, "a replacement replaces all fields except the _id; with Multi it is InvalidArgument"),
	rule(pullTakesPatterns, "$pull removes the elements that $regex, or a pattern in a list of its condition, matches"),
	rule(updateNeedsAnUpdate, "a change without an update is InvalidArgument"),
	rule(updatePositionIsTheFiltersMatch, `"$" in a path is the element through which the filter matched`),
	rule(updateArrayFiltersChooseElements, `"$[name]" in a path is each element that the array filter matches`),
	rule(updateSortChoosesTheFirst, "Sort decides which document is the first; with Multi it is InvalidArgument"),
}

var (
	first = store.UpdateOptions{}
	multi = store.UpdateOptions{Multi: true}
)

func updateChangesTheFirstMatch(t *trial) {
	t.insert(document.O("_id", "c", "n", 1), document.O("_id", "a", "n", 2), document.O("_id", "b", "n", 2))
	result := t.update(t.filter("n", 2), t.change("$set", document.O("n", 3)), first)
	require.Equal(t, store.UpdateResult{Matched: 1, Modified: 1}, result)
	t.requireHolds(document.O("_id", "c", "n", 1), document.O("_id", "a", "n", 3), document.O("_id", "b", "n", 2))

	t.update(nil, t.change("$unset", document.O("n", "")), first)
	t.requireHolds(document.O("_id", "c"), document.O("_id", "a", "n", 3), document.O("_id", "b", "n", 2))
}

func updateMultiChangesAllMatches(t *trial) {
	t.insert(numbered(4)...)
	result := t.update(t.filter("n", document.O("$gte", 3)), t.change("$inc", document.O("n", 10)), multi)
	require.Equal(t, store.UpdateResult{Matched: 2, Modified: 2}, result)
	t.requireHolds(
		document.O("_id", 1, "n", 1), document.O("_id", 2, "n", 2), document.O("_id", 3, "n", 13), document.O("_id", 4, "n", 14),
	)
}

func updateCountsWhatChanged(t *trial) {
	t.insert(numbered(3)...)
	for _, test := range []struct {
		filter   *query.Filter
		change   query.Change
		options  store.UpdateOptions
		expected store.UpdateResult
	}{
		{t.filter("n", 9), t.change("$set", document.O("n", 1)), multi, store.UpdateResult{}},
		{t.filter("n", 9), t.change("$set", document.O("n", 1)), first, store.UpdateResult{}},
		{t.filter("n", 1), t.change("$set", document.O("n", 1)), first, store.UpdateResult{Matched: 1}},
		{t.filter("n", 1), t.change("_id", 1, "n", 1), first, store.UpdateResult{Matched: 1}},
		{t.filter("n", 1), t.change("n", 1), first, store.UpdateResult{Matched: 1, Modified: 1}},
		{nil, t.change("$set", document.O("n", 2)), multi, store.UpdateResult{Matched: 3, Modified: 2}},
		{nil, t.change("$unset", document.O("x", "")), multi, store.UpdateResult{Matched: 3}},
	} {
		result := t.update(test.filter, test.change, test.options)
		require.Equal(t, test.expected, result, "%s where %s", test.change.Update.Source(), test.filter.Source())
	}
	for id, large := range map[string]float64{"2^53": 1 << 53, "1e300": 1e300} { // Adding 1 does not change these numbers.
		t.insert(document.O("_id", id, "large", large))
		for _, filter := range []*query.Filter{t.filter("_id", id), t.filter("large", large)} {
			result := t.update(filter, t.change("$inc", document.O("large", 1)), first)
			require.Equal(t, store.UpdateResult{Matched: 1}, result, "$inc where %s", filter.Source())
		}
	}
}

func updateMultiIsAllOrNone(t *trial) {
	held := []document.Object{
		document.O("_id", 1, "n", 1), document.O("_id", 2, "n", 2), document.O("_id", 3, "n", "three"), document.O("_id", 4, "n", 4),
	}
	t.insert(held...)
	t.requireCode(boterr.InvalidArgument, failure(t.Update(t.Context(), nil, t.change("$inc", document.O("n", 1)), multi)), "$inc of a string")
	t.requireHolds(held...)
}

func updateOfManyIsAllOrNone(t *trial) {
	const many = 600 // Some stores write so many documents in parts.
	require.NoError(t, t.EnsureIndex(t.Context(), store.Index{Keys: ascending("n"), Unique: true}))
	held := make([]document.Object, many, many+1)
	for i := range held {
		held[i] = document.O("_id", i, "n", 2*i, "moves", true)
	}
	held = append(held, document.O("_id", "last", "n", 2*many-1))
	t.insert(held...)
	_, err := t.Update(t.Context(), t.filter("moves", true), t.change("$inc", document.O("n", 1)), multi)
	if boterr.CodeOf(err) == boterr.Unavailable {
		return
	}
	t.requireCode(boterr.AlreadyExists, err, "the last document takes a key that another one has")
	t.requireHolds(held...)
}

func updateMultiJudgesEachDocumentOnce(t *trial) {
	t.insert(numbered(5)...)
	result := t.update(t.filter("n", document.O("$lt", 100)), t.change("$inc", document.O("n", 1)), multi)
	require.Equal(t, int64(5), result.Modified)
	for i, o := range t.all() {
		require.Equal(t, int64(i+2), document.Get(o, "n", int64(0)))
	}
}

func replacementReplacesOneDocument(t *trial) {
	t.insert(document.O("_id", 1, "a", 1, "b", 2), document.O("_id", 2, "a", 1))
	result := t.update(t.filter("a", 1), t.change("c", 3, "b", 4), first)
	require.Equal(t, store.UpdateResult{Matched: 1, Modified: 1}, result)
	held := []document.Object{document.O("_id", 1, "c", 3, "b", 4), document.O("_id", 2, "a", 1)}
	t.requireHolds(held...)

	t.requireCode(boterr.InvalidArgument, failure(t.Update(t.Context(), nil, t.change("d", 5), multi)), "a replacement of many")
	t.requireHolds(held...)
}

func pullTakesPatterns(t *trial) {
	o, a := document.O, document.A
	t.insert(o("_id", 1, "l", a("ab", "b", 7)), o("_id", 2, "l", a("ab", "b", 7)), o("_id", 3, "l", a(o("s", "ab"), o("s", "b"))))
	pattern := o("$regex", "^A", "$options", "i")
	t.update(t.filter("_id", 1), t.change("$pull", o("l", pattern)), first)
	t.update(t.filter("_id", 2), t.change("$pull", o("l", o("$in", a(7, pattern)))), first)
	t.update(t.filter("l.s", o("$in", a(pattern))), t.change("$pull", o("l", o("s", o("$nin", a(pattern))))), first)
	t.requireHolds(o("_id", 1, "l", a("b", 7)), o("_id", 2, "l", a("b")), o("_id", 3, "l", a(o("s", "ab"))))
}

func updateNeedsAnUpdate(t *trial) {
	t.insert(numbered(1)...)
	for _, none := range []query.Change{{}, {Update: &query.Update{}}} {
		t.requireCode(boterr.InvalidArgument, failure(t.Update(t.Context(), nil, none, first)), "Update")
		t.requireCode(boterr.InvalidArgument, failure(t.FindAndModify(t.Context(), nil, none, store.FindAndModifyOptions{})), "FindAndModify")
	}
	t.requireHolds(numbered(1)...)
}

func updatePositionIsTheFiltersMatch(t *trial) {
	t.insert(document.O("_id", 1, "list", document.A(1, 5, 7)), document.O("_id", 2, "list", document.A(6)))
	filter, change := t.filter("list", document.O("$gt", 4)), t.change("$set", document.O("list.$", 0))
	t.update(filter, change, multi)
	t.requireHolds(document.O("_id", 1, "list", document.A(1, 0, 7)), document.O("_id", 2, "list", document.A(0)))

	t.requireCode(boterr.InvalidArgument, failure(t.Update(t.Context(), t.filter("_id", 1), change, first)), "a filter without an element")
}

func updateArrayFiltersChooseElements(t *trial) {
	t.insert(document.O("_id", 1, "list", document.A(1, 5, 7)))
	u, err := query.CompileUpdate(document.O("$inc", document.O("list.$[large]", 10)), document.O("large", document.O("$gt", 4)))
	require.NoError(t, err)
	t.update(nil, query.Change{Update: u}, first)
	t.requireHolds(document.O("_id", 1, "list", document.A(1, 15, 17)))
}

func updateSortChoosesTheFirst(t *trial) {
	t.insert(numbered(3)...)
	t.update(nil, t.change("$set", document.O("last", true)), store.UpdateOptions{Sort: t.order("n", -1)})
	held := []document.Object{document.O("_id", 1, "n", 1), document.O("_id", 2, "n", 2), document.O("_id", 3, "n", 3, "last", true)}
	t.requireHolds(held...)

	options := store.UpdateOptions{Sort: t.order("n", -1), Multi: true}
	_, err := t.Update(t.Context(), nil, t.change("$set", document.O("n", 0)), options)
	t.requireCode(boterr.InvalidArgument, err, "Sort with Multi")
	t.requireHolds(held...)
}

var upsertRules = []Rule{
	rule(upsertInsertsWhereNothingMatches,
		"Upsert inserts a document if none matches: the fields that the filter requires, changed by the update"),
	rule(upsertChangesAMatch, "Upsert inserts nothing if a document matches"),
	rule(onInsertCompletesAnUpsert,
		"OnInsert gives the fields that filter and update do not give, including the _id, and always the stamped fields"),
	rule(onInsertKeepsFixedFields, "a caller's value that differs from OnInsert in a fixed field is InvalidArgument"),
	rule(upsertOfAnIDThatExists, "an upsert that would insert a second document with the same _id is AlreadyExists"),
	rule(upsertRefusesBadDocuments, "an upsert that would insert a document without an _id, or with an array as its _id, is InvalidArgument"),
}

var upsert = store.UpdateOptions{Upsert: true}

func upsertInsertsWhereNothingMatches(t *trial) {
	filter := t.filter("_id", "a", "kind", "x", "n", document.O("$gt", 5), "in.deep", document.O("$eq", 1))
	result := t.update(filter, t.change("$set", document.O("new", true)), upsert)
	require.Equal(t, store.UpdateResult{UpsertedID: "a"}, result)
	held := t.all()
	require.Len(t, held, 1)
	expected := document.O("_id", "a", "kind", "x", "in", document.O("deep", 1), "new", true)
	require.Equal(t, sortedLiteral(expected), sortedLiteral(held[0]))

	many := store.UpdateOptions{Upsert: true, Multi: true}
	result = t.update(t.filter("_id", "b"), t.change("$inc", document.O("n", 2)), many)
	require.Equal(t, store.UpdateResult{UpsertedID: "b"}, result)
	result = t.update(t.filter("_id", "c", "kind", "x"), t.change("n", 3), upsert)
	require.Equal(t, store.UpdateResult{UpsertedID: "c"}, result)
	t.requireSame(
		[]document.Object{document.O("_id", "b", "n", 2), document.O("_id", "c", "n", 3)},
		t.find(t.filter("_id", document.O("$gte", "b")), store.FindOptions{}),
	)
}

func upsertChangesAMatch(t *trial) {
	t.insert(document.O("_id", 1, "n", 1))
	change := t.change("$set", document.O("n", 2))
	change.OnInsert = document.O("_id", 2, "created", true)
	result := t.update(t.filter("n", 1), change, upsert)
	require.Equal(t, store.UpdateResult{Matched: 1, Modified: 1}, result)
	t.requireHolds(document.O("_id", 1, "n", 2))

	result = t.update(t.filter("n", 2), change, upsert)
	require.Equal(t, store.UpdateResult{Matched: 1}, result)
	t.requireHolds(document.O("_id", 1, "n", 2))
}

func onInsertCompletesAnUpsert(t *trial) {
	change := t.stamped("$set", document.O("n", 1, "color", "red", "updatedAt", 5))
	change.OnInsert = document.O("_id", "made", "color", "blue", "createdAt", 50, "updatedAt", 50, "_version", 1)
	result := t.update(t.filter("kind", "x"), change, upsert)
	require.Equal(t, store.UpdateResult{UpsertedID: "made"}, result)
	held := t.all()
	require.Len(t, held, 1)
	for field, expected := range document.O(
		"_id", "made", "kind", "x", "n", 1, "color", "red", "createdAt", 50, "updatedAt", 50, "_version", 1,
	).All() {
		actual, _ := held[0].Field(field)
		require.Equal(t, literal(expected), literal(actual), field)
	}
	require.False(t, held[0].Has("count"), "a counted stamp that OnInsert does not give")

	change.OnInsert = document.O("_id", "unused")
	result = t.update(t.filter("_id", "own"), change, upsert)
	require.Equal(t, "own", result.UpsertedID)
}

func onInsertKeepsFixedFields(t *trial) {
	for _, test := range []struct {
		filter *query.Filter
		change query.Change
	}{
		{t.filter("app", "b"), t.change("$set", document.O("n", 1))},
		{t.filter("n", 1), t.change("$set", document.O("app", "b"))},
		{t.filter("n", 1), t.change("app", "b")},
	} {
		test.change.Fixed, test.change.OnInsert = []string{"app"}, document.O("_id", 1, "app", "a")
		_, err := t.Update(t.Context(), test.filter, test.change, upsert)
		t.requireCode(boterr.InvalidArgument, err, "%s where %s", test.change.Update.Source(), test.filter.Source())
		t.requireHolds()
	}
}

func upsertOfAnIDThatExists(t *trial) {
	t.insert(document.O("_id", 1, "n", 1))
	_, err := t.Update(t.Context(), t.filter("_id", 1, "n", 2), t.change("$set", document.O("m", 1)), upsert)
	t.requireCode(boterr.AlreadyExists, err)
	t.requireHolds(document.O("_id", 1, "n", 1))
}

func upsertRefusesBadDocuments(t *trial) {
	change := t.change("$set", document.O("n", 1))
	t.requireCode(boterr.InvalidArgument, failure(t.Update(t.Context(), t.filter("n", 2), change, upsert)), "no _id")
	change.OnInsert = document.O("_id", document.A(1))
	t.requireCode(boterr.InvalidArgument, failure(t.Update(t.Context(), t.filter("n", 2), change, upsert)), "an array as _id")
	t.requireHolds()
}

// sortedLiteral is literal with the fields sorted by name, for documents whose order no rule specifies.
func sortedLiteral(o document.Object) string {
	sorted := document.O()
	for _, key := range slices.Sorted(slices.Values(o.Keys())) {
		value, _ := o.Field(key)
		sorted = sorted.With(key, value)
	}
	return literal(sorted)
}

var findAndModifyRules = []Rule{
	rule(findAndModifyReturnsBeforeOrAfter, "FindAndModify returns the document before the change, or after it with New"),
	rule(findAndModifyOfNothing, "the document is the zero Object if none matched"),
	rule(findAndModifyTakesTheFirst,
		"FindAndModify changes the first document in the order of the sort, with ties in the order of insertion"),
	rule(findAndModifyUpserts, "an upsert that inserts returns the document with New, else the zero Object, and in both cases its _id"),
	rule(findAndModifyTellsWhatChanged, "Modified reports whether the document changed"),
	rule(findAndModifyFailsWhole, "after an error nothing has changed"),
}

func (t *trial) requireModified(expected, actual store.FindAndModifyResult) {
	t.Helper()
	require.Equal(t, literal(expected.Document), literal(actual.Document), "Document")
	require.Equal(t, expected.Matched, actual.Matched, "Matched")
	require.Equal(t, expected.Modified, actual.Modified, "Modified")
	require.Equal(t, literal(expected.UpsertedID), literal(actual.UpsertedID), "UpsertedID")
}

func findAndModifyReturnsBeforeOrAfter(t *trial) {
	t.insert(document.O("_id", 1, "n", 1))
	before := t.findAndModify(nil, t.change("$inc", document.O("n", 1)), store.FindAndModifyOptions{})
	t.requireModified(
		store.FindAndModifyResult{Document: document.O("_id", 1, "n", 1), Matched: true, Modified: true}, before)
	after := t.findAndModify(nil, t.change("m", 1), store.FindAndModifyOptions{New: true})
	t.requireModified(
		store.FindAndModifyResult{Document: document.O("_id", 1, "m", 1), Matched: true, Modified: true}, after)
	t.requireHolds(document.O("_id", 1, "m", 1))
}

func findAndModifyOfNothing(t *trial) {
	t.insert(document.O("_id", 1, "n", 1))
	for _, options := range []store.FindAndModifyOptions{{}, {New: true}, {Sort: t.order("n", 1)}} {
		result := t.findAndModify(t.filter("n", 2), t.change("$set", document.O("n", 3)), options)
		t.requireModified(store.FindAndModifyResult{}, result)
	}
	t.requireHolds(document.O("_id", 1, "n", 1))
}

func findAndModifyTakesTheFirst(t *trial) {
	t.insert(
		document.O("_id", "c", "n", 2), document.O("_id", "b", "n", 1), document.O("_id", "a", "n", 1), document.O("_id", "d", "n", 3),
	)
	free, take := t.filter("taken", nil), t.change("$set", document.O("taken", true))
	for _, test := range []struct {
		sort *query.Sort
		id   string
	}{{t.order("n", 1), "b"}, {t.order("n", -1), "d"}, {nil, "c"}, {t.order("n", 1, "_id", -1), "a"}} {
		result := t.findAndModify(free, take, store.FindAndModifyOptions{Sort: test.sort})
		require.Equal(t, test.id, document.Get(result.Document, "_id", ""), "sorted by %s", test.sort.Source())
	}
	require.False(t, t.findAndModify(free, take, store.FindAndModifyOptions{}).Matched, "nothing is left")
}

func findAndModifyUpserts(t *trial) {
	change := t.change("$inc", document.O("n", 1))
	result := t.findAndModify(t.filter("_id", "a"), change, store.FindAndModifyOptions{Upsert: true})
	t.requireModified(store.FindAndModifyResult{UpsertedID: "a"}, result)
	result = t.findAndModify(t.filter("_id", "b"), change, store.FindAndModifyOptions{Upsert: true, New: true})
	t.requireModified(store.FindAndModifyResult{Document: document.O("_id", "b", "n", 1), UpsertedID: "b"}, result)
	result = t.findAndModify(t.filter("_id", "b"), change, store.FindAndModifyOptions{Upsert: true, New: true})
	t.requireModified(
		store.FindAndModifyResult{Document: document.O("_id", "b", "n", 2), Matched: true, Modified: true}, result)
	t.requireHolds(document.O("_id", "a", "n", 1), document.O("_id", "b", "n", 2))
}

func findAndModifyTellsWhatChanged(t *trial) {
	held := document.O("_id", 1, "n", 1)
	t.insert(held)
	for _, options := range []store.FindAndModifyOptions{{}, {New: true}} {
		result := t.findAndModify(nil, t.change("$set", document.O("n", 1)), options)
		t.requireModified(store.FindAndModifyResult{Document: held, Matched: true}, result)
	}
}

func findAndModifyFailsWhole(t *trial) {
	held := document.O("_id", 1, "n", 1, "text", "x")
	t.insert(held)
	_, err := t.FindAndModify(t.Context(), nil, t.change("$inc", document.O("n", 1, "text", 1)), store.FindAndModifyOptions{})
	t.requireCode(boterr.InvalidArgument, err, "$inc of a string")
	t.requireHolds(held)
}
