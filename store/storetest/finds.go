package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
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
		Name:  "FiltersFindPatterns",
		Text:  "$regex, its $not, and an element {$regex, $options} of $in and $nin match strings, and arrays that hold one",
		check: filtersFindPatterns,
	},
	{
		Name:  "ArraysFindPatterns",
		Text:  "an element {$regex, $options} of $all, and of $in and $nin in $elemMatch, is a pattern",
		check: arraysFindPatterns,
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

// filtered is a filter, and the _ids that it finds.
type filtered struct {
	filter document.Object
	ids    []any
}

// requireFinds inserts documents that have names, and finds by the filters.
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
	t.update(t.filter("a", o("$in", a(o("$regex", "^A")))), t.change("$set", o("a", "z")), store.UpdateOptions{Multi: true, Partly: true})
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
