package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

var findRules = []Rule{
	{
		Name:  "FindReturnsInsertionOrder",
		Text:  "where no sort is given, documents come in the order of their insertion, and a change does not move them",
		check: findReturnsInsertionOrder,
	},
	{
		Name:  "FindReturnsMatches",
		Text:  "Find returns the documents that match, or an empty slice; a nil filter matches every document",
		check: findReturnsMatches,
	},
	{
		Name:  "FindSkipsAndLimits",
		Text:  "Skip leaves documents out at the beginning, Limit is the most to return, and 0 is all",
		check: findSkipsAndLimits,
	},
	{
		Name:  "NegativeSkipAndLimitAreRefused",
		Text:  "a negative Skip or Limit is InvalidArgument",
		check: negativeSkipAndLimitAreRefused,
	},
	{
		Name:  "CountCountsMatches",
		Text:  "Count returns the number of documents that match",
		check: countCountsMatches,
	},
}

// numbered returns documents with the _ids from 1 to count and a field n of the same.
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

	_, err := t.Delete(t.ctx(), t.filter("_id", "m"), store.DeleteOptions{})
	require.NoError(t, err)
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
		_, err := t.Find(t.ctx(), nil, options)
		t.requireCode(boterr.InvalidArgument, err, "%+v", options)
	}
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
		count, err := t.Count(t.ctx(), test.filter)
		require.NoError(t, err)
		require.Equal(t, test.count, count, "matching %s", test.filter.Source())
	}
}
