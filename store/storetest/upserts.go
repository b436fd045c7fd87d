package storetest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var upsertRules = []Rule{
	{
		Name:  "UpsertInsertsWhereNothingMatches",
		Text:  "Upsert inserts a document where none matches: the fields that the filter requires, changed by the update",
		check: upsertInsertsWhereNothingMatches,
	},
	{
		Name:  "UpsertChangesAMatch",
		Text:  "Upsert inserts nothing where a document matches",
		check: upsertChangesAMatch,
	},
	{
		Name:  "OnInsertCompletesAnUpsert",
		Text:  "OnInsert gives what filter and update do not, the _id among it, and the stamped fields in any case",
		check: onInsertCompletesAnUpsert,
	},
	{
		Name:  "OnInsertKeepsFixedFields",
		Text:  "a caller's value that differs from OnInsert in a fixed field is InvalidArgument",
		check: onInsertKeepsFixedFields,
	},
	{
		Name:  "UpsertOfAnIDThatExists",
		Text:  "an upsert that would insert a second document with the same _id is AlreadyExists",
		check: upsertOfAnIDThatExists,
	},
	{
		Name:  "UpsertRefusesBadDocuments",
		Text:  "an upsert that would insert a document without an _id, or with an array for it, is InvalidArgument",
		check: upsertRefusesBadDocuments,
	},
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
		_, err := t.Update(t.ctx(), test.filter, test.change, upsert)
		t.requireCode(boterr.InvalidArgument, err, "%s where %s", test.change.Update.Source(), test.filter.Source())
		t.requireHolds()
	}
}

func upsertOfAnIDThatExists(t *trial) {
	t.insert(document.O("_id", 1, "n", 1))
	_, err := t.Update(t.ctx(), t.filter("_id", 1, "n", 2), t.change("$set", document.O("m", 1)), upsert)
	t.requireCode(boterr.AlreadyExists, err)
	t.requireHolds(document.O("_id", 1, "n", 1))
}

func upsertRefusesBadDocuments(t *trial) {
	change := t.change("$set", document.O("n", 1))
	_, err := t.Update(t.ctx(), t.filter("n", 2), change, upsert)
	t.requireCode(boterr.InvalidArgument, err, "no _id")
	change.OnInsert = document.O("_id", document.A(1))
	_, err = t.Update(t.ctx(), t.filter("n", 2), change, upsert)
	t.requireCode(boterr.InvalidArgument, err, "an array as _id")
	t.requireHolds()
}

// sortedLiteral is literal of the fields in the order of their names, for documents
// whose order no rule tells.
func sortedLiteral(o document.Object) string {
	sorted := document.O()
	for _, key := range slices.Sorted(slices.Values(o.Keys())) {
		value, _ := o.Field(key)
		sorted = sorted.With(key, value)
	}
	return literal(sorted)
}
