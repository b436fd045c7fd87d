package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var deleteRules = []Rule{
	{
		Name:  "DeleteRemovesTheFirstMatch",
		Text:  "Delete removes the first document that matches, in the order of insertion",
		check: deleteRemovesTheFirstMatch,
	},
	{
		Name:  "DeleteMultiRemovesAllMatches",
		Text:  "Multi removes all documents that match, and Delete returns how many it removed",
		check: deleteMultiRemovesAllMatches,
	},
	{
		Name:  "DeletedIDsAreFree",
		Text:  "what was deleted is gone, and its _id can be given again",
		check: deletedIDsAreFree,
	},
}

// remove deletes documents and checks how many.
func (t *trial) remove(expected int64, filter *query.Filter, options store.DeleteOptions) {
	t.Helper()
	removed, err := t.Delete(t.ctx(), filter, options)
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
