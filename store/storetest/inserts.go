package storetest

import (
	"math"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var insertRules = []Rule{
	rule(insertIsAllOrNone, "Insert adds all of the documents or none"),
	rule(insertOfNothing, "Insert without documents adds none, and is not an error"),
	rule(insertRefusesAnIDThatExists, "a second document with the same _id is AlreadyExists; 1 and 1.0 are the same"),
	rule(insertTakesAnyIDButArrays, "an _id is any value except an array"),
	rule(insertRefusesBadDocuments,
		`a document is InvalidArgument if its _id is missing, an array, or an object with a field that begins with "$"`),
}

func insertIsAllOrNone(t *trial) {
	t.insert(document.O("_id", "old"))
	for name, documents := range map[string][]document.Object{
		"an _id that exists":  {document.O("_id", "a"), document.O("_id", "b"), document.O("_id", "old"), document.O("_id", "c")},
		"an _id twice":        {document.O("_id", "a"), document.O("_id", "b"), document.O("_id", "a")},
		"a document too many": {document.O("_id", "a"), document.O("name", "has no _id")},
	} {
		require.Error(t, t.Insert(t.Context(), documents...), name)
		t.requireHolds(document.O("_id", "old"))
	}
	t.insert(document.O("_id", "a"), document.O("_id", "b"))
	t.requireHolds(document.O("_id", "old"), document.O("_id", "a"), document.O("_id", "b"))
}

func insertOfNothing(t *trial) {
	t.insert()
	t.requireHolds()
}

func insertRefusesAnIDThatExists(t *trial) {
	t.insert(document.O("_id", 1), document.O("_id", "s"), document.O("_id", document.O("a", 1)))
	for _, id := range []any{1, 1.0, "s", document.O("a", 1), document.O("a", 1.0)} {
		t.requireCode(boterr.AlreadyExists, t.Insert(t.Context(), document.O("_id", id)), "the _id %v", id)
	}
	t.insert(document.O("_id", "1"))
}

func insertTakesAnyIDButArrays(t *trial) {
	ids := []any{
		nil, true, false, 0, -1, 1.5, int64(math.MaxInt64), int64(math.MaxInt64 - 1), "", "a", "A", "a b", "é", "😀",
		time.UnixMilli(1_700_000_000_123).UTC(), document.O(), document.O("a", 1, "b", 2), document.O("b", 2, "a", 1),
	}
	for _, id := range ids {
		t.insert(document.O("_id", id))
	}
	t.requireIDs(ids, t.all())
	for _, id := range ids {
		if id == nil {
			continue
		}
		t.requireIDs([]any{id}, t.find(t.filter("_id", id), store.FindOptions{}), "the _id %v", id)
	}
}

func insertRefusesBadDocuments(t *trial) {
	for name, bad := range map[string]document.Object{
		"absent":         {},
		"no value":       document.O("_id", 1, "channel", make(chan int)),
		"no _id":         document.O("a", 1),
		"array as _id":   document.O("_id", document.A(1)),
		"operator in id": document.O("_id", document.O("$gt", 1)),
	} {
		t.requireCode(boterr.InvalidArgument, t.Insert(t.Context(), document.O("_id", "good"), bad), name)
		t.requireHolds()
	}
}

var deleteRules = []Rule{
	rule(deleteRemovesTheFirstMatch, "Delete removes the first document that matches, in the order of insertion"),
	rule(deleteMultiRemovesAllMatches, "with Multi, Delete removes all documents that match; it returns the number removed"),
	rule(deletedIDsAreFree, "a deleted document is gone, and its _id can be used again"),
}

func (t *trial) remove(expected int64, filter *query.Filter, options store.DeleteOptions) {
	t.Helper()
	removed, err := t.Delete(t.Context(), filter, options)
	require.NoError(t, err)
	require.Equal(t, expected, removed)
}

func deleteRemovesTheFirstMatch(t *trial) {
	t.insert(document.O("_id", "b", "n", 1), document.O("_id", "c", "n", 2), document.O("_id", "a", "n", 2))
	t.remove(1, t.filter("n", 2), store.DeleteOptions{})
	t.requireIDs([]any{"b", "a"}, t.all())
	t.remove(1, nil, store.DeleteOptions{})
	t.requireIDs([]any{"a"}, t.all())
}

func deleteMultiRemovesAllMatches(t *trial) {
	t.insert(numbered(5)...)
	t.remove(0, t.filter("n", 9), store.DeleteOptions{Multi: true})
	t.remove(3, t.filter("n", document.O("$gt", 2)), store.DeleteOptions{Multi: true})
	t.requireIDs([]any{1, 2}, t.all())
	t.remove(2, nil, store.DeleteOptions{Multi: true})
	t.requireHolds()
	t.remove(0, nil, store.DeleteOptions{})
}

func deletedIDsAreFree(t *trial) {
	t.insert(document.O("_id", 1, "n", 1))
	t.remove(1, t.filter("_id", 1), store.DeleteOptions{})
	t.remove(0, t.filter("_id", 1), store.DeleteOptions{})
	t.insert(document.O("_id", 1, "n", 2))
	t.requireHolds(document.O("_id", 1, "n", 2))
}
