package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var findAndModifyRules = []Rule{
	{
		Name:  "FindAndModifyReturnsBeforeOrAfter",
		Text:  "FindAndModify returns the document as it was before the change, or with New as it is after",
		check: findAndModifyReturnsBeforeOrAfter,
	},
	{
		Name:  "FindAndModifyOfNothing",
		Text:  "the document is the zero Object where none matched",
		check: findAndModifyOfNothing,
	},
	{
		Name:  "FindAndModifyTakesTheFirst",
		Text:  "FindAndModify changes the first document in the order of the sort, else of insertion, which also decides ties",
		check: findAndModifyTakesTheFirst,
	},
	{
		Name:  "FindAndModifyUpserts",
		Text:  "an upsert that inserts returns the document with New, else the zero Object, and its _id",
		check: findAndModifyUpserts,
	},
	{
		Name:  "FindAndModifyTellsWhatChanged",
		Text:  "Modified tells that the document changed",
		check: findAndModifyTellsWhatChanged,
	},
	{
		Name:  "FindAndModifyFailsWhole",
		Text:  "after an error nothing has changed",
		check: findAndModifyFailsWhole,
	},
}

// requireModified checks a result of FindAndModify.
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
	_, err := t.FindAndModify(t.ctx(), nil, t.change("$inc", document.O("n", 1, "text", 1)), store.FindAndModifyOptions{})
	t.requireCode(boterr.InvalidArgument, err, "$inc of a string")
	t.requireHolds(held)
}
