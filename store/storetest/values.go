package storetest

import (
	"math"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var valueRules = []Rule{
	rule(fieldsKeepTheirOrder, "documents are stored exactly as given, including the order of fields"),
	rule(numbersKeepTheirType, "documents are stored exactly as given, including the types of numbers"),
	rule(infinityIsKept, "documents are stored exactly as given, including infinite numbers"),
	rule(timesKeepMilliseconds, "times are kept to the millisecond, and timestamps are whole numbers"),
	rule(oddStringsAreKept, "documents are stored exactly as given, including any string, as a value and as the name of a field"),
	rule(emptyAndNestedValuesAreKept, "documents are stored exactly as given, including null, empty values and deep nesting"),
	rule(documentsThatAreTooDeepAreRefused,
		"a document has at most MaxDepth levels; a deeper one is InvalidArgument, and changes nothing"),
	rule(nestedArraysAreKept, "documents are stored exactly as given, including arrays in arrays"),
	rule(nothingStoredIsAliased, "a caller cannot change the store through values that it passed or received"),
	rule(whatWasReadStays, "returned documents are immutable: later writes do not change them"),
}

// requireKept inserts documents and checks that they are returned unchanged.
func (t *trial) requireKept(documents ...document.Object) {
	t.Helper()
	t.insert(documents...)
	t.requireHolds(documents...)
	for _, o := range documents {
		id, _ := o.Field(document.IDField)
		t.requireSame([]document.Object{o}, t.find(t.filter("_id", id), store.FindOptions{}))
	}
}

func fieldsKeepTheirOrder(t *trial) {
	t.requireKept(
		document.O("_id", 1, "b", 1, "a", 2, "c", document.O("z", 1, "y", 2)),
		document.O("z", 1, "_id", 2, "a", 1),
		document.O("_id", 3, "2", 1, "10", 1, "1", 1),
	)
	t.update(t.filter("_id", 1), t.change("$set", document.O("new", 0, "a", 3, "c.y", 4, "c.x", 5)), store.UpdateOptions{})
	t.requireSame(
		[]document.Object{document.O("_id", 1, "b", 1, "a", 3, "c", document.O("z", 1, "y", 4, "x", 5), "new", 0)},
		t.find(t.filter("_id", 1), store.FindOptions{}),
	)
}

func numbersKeepTheirType(t *trial) {
	t.requireKept(
		document.O("_id", 1, "int", 1, "double", 1.0, "zero", 0, "zero double", 0.0),
		document.O("_id", 2, "large", int64(math.MaxInt64), "small", int64(math.MinInt64), "odd", int64(1<<53+1)),
		document.O("_id", 3, "largest", math.MaxFloat64, "smallest", math.SmallestNonzeroFloat64, "third", 1.0/3),
	)
	t.update(t.filter("_id", 1), t.change("$inc", document.O("int", 1, "double", 1)), store.UpdateOptions{})
	t.requireSame(
		[]document.Object{document.O("_id", 1, "int", 2, "double", 2.0, "zero", 0, "zero double", 0.0)},
		t.find(t.filter("_id", 1), store.FindOptions{}),
	)
}

func infinityIsKept(t *trial) {
	t.requireKept(document.O("_id", 1, "infinite", math.Inf(1), "negative", math.Inf(-1)))
}

func timesKeepMilliseconds(t *trial) {
	at := time.Date(2024, 2, 29, 12, 34, 56, 789000000, time.UTC)
	t.requireKept(
		document.O("_id", 1, "at", at, "timestamp", document.TimestampOf(at)),
		document.O("_id", 2, "at", at.Add(time.Millisecond), "epoch", time.UnixMilli(0).UTC()),
		document.O("_id", 3, "at", time.Date(1, 1, 1, 0, 0, 0, 1000000, time.UTC)),
	)
	t.requireIDs([]any{2}, t.find(t.filter("at", document.O("$gt", at)), store.FindOptions{}))
}

func oddStringsAreKept(t *trial) {
	long := strings.Repeat("long é😀 ", 20_000)
	for i, s := range []string{"", " ", "\x00", "a\x00b", "😀", "é", "e\u0301", "\u2028\u200b", "\t\n\r", `"\`, "$set", "a.b", long} {
		t.requireSame(nil, t.find(t.filter("s", s), store.FindOptions{}))
		t.insert(document.O("_id", i, "s", s))
		t.requireSame([]document.Object{document.O("_id", i, "s", s)}, t.find(t.filter("s", s), store.FindOptions{}))
	}
	for _, name := range []string{"a key", " ", "😀", "é", `"\`, "a-b", "1", "#", "_", "Id", long[:1000]} {
		o := document.O("_id", name, name, "value", "inner", document.O(name, 1))
		t.insert(o)
		t.requireSame([]document.Object{o}, t.find(t.filter("_id", name, name, "value"), store.FindOptions{}))
	}
}

func nestedDocument(id any, levels int) document.Object {
	inner := document.O("end", 1)
	for range levels - 2 {
		inner = document.O("in", inner)
	}
	return document.O("_id", id, "in", inner)
}

func documentsThatAreTooDeepAreRefused(t *trial) {
	held := nestedDocument(1, document.MaxDepth)
	t.insert(held)
	t.requireCode(boterr.InvalidArgument, t.Insert(t.Context(), nestedDocument(2, document.MaxDepth+1)), "Insert")
	deeper := t.change("$set", document.O("x", nestedDocument(3, document.MaxDepth)))
	t.requireCode(boterr.InvalidArgument, failure(t.Update(t.Context(), t.filter("_id", 1), deeper, store.UpdateOptions{})), "Update")
	t.requireHolds(held)
	path := strings.Repeat("in.", document.MaxDepth-1) + "end"
	t.requireIDs([]any{1}, t.find(t.filter(path, 1), store.FindOptions{}), "by the deepest field")
}

func emptyAndNestedValuesAreKept(t *trial) {
	deep := document.O("end", 1)
	for range 40 {
		deep = document.O("in", document.A(deep, nil))
	}
	t.requireKept(
		document.O("_id", 1, "null", nil, "object", document.O(), "array", document.A(), "string", "", "false", false),
		document.O("_id", 3, "nulls", document.A(nil, nil)),
		document.O("_id", 4, "deep", deep),
		nestedDocument(5, document.MaxDepth),
	)
}

func nestedArraysAreKept(t *trial) {
	t.requireKept(document.O("_id", 1, "arrays", document.A(document.A(), document.A(document.A(nil)), document.O())))
}

func nothingStoredIsAliased(t *trial) {
	list, fields := []any{1, 2}, map[string]any{"a": 1}
	given := document.O("_id", 1, "list", list, "fields", fields)
	stored := document.O("_id", 1, "list", document.A(1, 2), "fields", document.O("a", 1))
	documents := []document.Object{given}
	t.insert(documents...)
	list[0], fields["a"] = 9, 9
	given.Set("fields.a", 9)
	documents[0] = document.O("_id", 9)
	t.requireHolds(stored)

	found := t.all()
	found[0].Set("list.0", 9)
	found[0] = document.O("_id", 9)
	t.requireHolds(stored)

	values, err := t.Distinct(t.Context(), "list", nil)
	require.NoError(t, err)
	require.Len(t, values, 2)
	values[0] = 9
	t.requireHolds(stored)

	result := t.findAndModify(nil, t.change("$set", document.O("list", list)), store.FindAndModifyOptions{New: true})
	result.Document.Set("fields.a", 9)
	list[1] = 8
	t.requireHolds(document.O("_id", 1, "list", document.A(9, 2), "fields", document.O("a", 1)))
}

func whatWasReadStays(t *trial) {
	before := document.O("_id", 1, "list", document.A(1), "in", document.O("a", 1))
	t.insert(before)
	read := t.all()
	t.update(nil, t.change("$set", document.O("in.a", 2), "$push", document.O("list", 2)), store.UpdateOptions{})
	t.requireHolds(document.O("_id", 1, "list", document.A(1, 2), "in", document.O("a", 2)))
	require.NoError(t, failure(t.Delete(t.Context(), nil, store.DeleteOptions{})))
	t.requireSame([]document.Object{before}, read)
}

var fixedRules = []Rule{
	rule(iDIsFixed, "_id is always fixed: no operator and no replacement changes it"),
	rule(fixedFieldsStay, "an update that would give a fixed field another value is InvalidArgument, and changes nothing"),
	rule(replacementKeepsFixedFields, "a replacement that lacks a fixed field keeps it"),
	rule(stampsAreRenewedByAChange,
		"stamps are renewed in a document that the update changes; a counter that is not a number starts at 1"),
	rule(stampsStayWithoutAChange, "stamps stay as they are in a document that the update does not change otherwise"),
	rule(updatesDoNotReachStamps, "changes that the caller's update makes to stamped fields have no effect and do not count"),
}

// changers are the two ways to change the first match.
var changers = map[string]func(*trial, query.Change) (modified bool, err error){
	"Update": func(t *trial, change query.Change) (bool, error) {
		result, err := t.Update(t.Context(), nil, change, first)
		return result.Modified == 1, err
	},
	"FindAndModify": func(t *trial, change query.Change) (bool, error) {
		result, err := t.FindAndModify(t.Context(), nil, change, store.FindAndModifyOptions{})
		return result.Modified, err
	},
}

// requireRefused checks that changes are InvalidArgument and have no effect.
func (t *trial) requireRefused(held document.Object, fixed []string, changes ...query.Change) {
	t.Helper()
	t.insert(held)
	for _, change := range changes {
		change.Fixed = fixed
		for name, apply := range changers {
			_, err := apply(t, change)
			t.requireCode(boterr.InvalidArgument, err, "%s of %s", name, change.Update.Source())
			t.requireHolds(held)
		}
	}
}

func iDIsFixed(t *trial) {
	t.requireRefused(document.O("_id", 1, "n", 5), nil,
		t.change("$set", document.O("_id", 2)),
		t.change("$unset", document.O("_id", "")),
		t.change("$inc", document.O("_id", 1)),
		t.change("_id", 2, "n", 5),
	)
	t.update(nil, t.change("$set", document.O("_id", 1, "n", 2)), first)
	t.update(nil, t.change("_id", 1, "n", 3), first)
	t.requireHolds(document.O("_id", 1, "n", 3))
}

func fixedFieldsStay(t *trial) {
	t.requireRefused(document.O("_id", 1, "app", "a", "in", document.O("x", 1), "n", 1), []string{"app", "in", "none"},
		t.change("$set", document.O("app", "b")),
		t.change("$set", document.O("n", 5, "in.x", 2)),
		t.change("$unset", document.O("in", "")),
		t.change("$set", document.O("none", 1)),
		t.change("$rename", document.O("n", "app")),
		t.change("app", "b"),
		t.change("none", 1),
	)
}

func replacementKeepsFixedFields(t *trial) {
	t.insert(document.O("_id", 1, "app", "a", "n", 1))
	for n, replacement := range []query.Change{t.change("n", 0), t.change("app", "a", "n", 1), t.change("_id", 1, "n", 2)} {
		replacement.Fixed = []string{"app", "none"}
		t.update(nil, replacement, first)
		t.requireHolds(document.O("_id", 1, "app", "a", "n", n))
	}
}

func (t *trial) stamped(pairs ...any) query.Change {
	t.Helper()
	change := t.change(pairs...)
	change.Stamps = query.Stamps{Set: document.O("updatedAt", 99, "etag", "new"), Increment: []string{"_version", "count"}}
	return change
}

func stampsAreRenewedByAChange(t *trial) {
	for name, apply := range changers {
		c := t.with(t.store.Collection("storetest." + name))
		c.insert(document.O("_id", 1, "updatedAt", 1, "_version", 7, "count", "none", "n", 1))
		modified, err := apply(c, t.stamped("$set", document.O("n", 2)))
		require.NoError(t, err)
		require.True(t, modified)
		c.requireHolds(document.O("_id", 1, "updatedAt", 99, "_version", 8, "count", 1, "n", 2, "etag", "new"))
	}
}

func stampsStayWithoutAChange(t *trial) {
	held := document.O("_id", 1, "updatedAt", 1, "_version", 7, "n", 1)
	t.insert(held)
	for name, apply := range changers {
		for _, change := range []query.Change{
			t.stamped("$set", document.O("n", 1)),
			t.stamped("$unset", document.O("x", "")),
			t.stamped("$inc", document.O("n", 0)),
			t.stamped("_id", 1, "n", 1),
		} {
			modified, err := apply(t, change)
			require.NoError(t, err)
			require.False(t, modified, "%s of %s", name, change.Update.Source())
			t.requireHolds(held)
		}
		_, err := apply(t, t.stamped("n", 1))
		require.NoError(t, err)
		t.requireHolds(held)
	}
}

func updatesDoNotReachStamps(t *trial) {
	held := document.O("_id", 1, "updatedAt", 1, "_version", 7, "n", 1)
	t.insert(held)
	for name, apply := range changers {
		for _, change := range []query.Change{
			t.stamped("$set", document.O("updatedAt", 5)),
			t.stamped("$inc", document.O("_version", 5)),
			t.stamped("$unset", document.O("updatedAt", "")),
			t.stamped("_id", 1, "n", 1, "updatedAt", 5),
		} {
			modified, err := apply(t, change)
			require.NoError(t, err)
			require.False(t, modified, "%s of %s", name, change.Update.Source())
			t.requireHolds(held)
		}
	}
	t.update(nil, t.stamped("$set", document.O("n", 2, "_version", 50, "updatedAt", 5)), first)
	t.requireHolds(document.O("_id", 1, "updatedAt", 99, "_version", 8, "n", 2, "etag", "new", "count", 1))
}

var expressionRules = []Rule{
	rule(exprComparesFields, "$expr in a filter compares the results of aggregation expressions over a document"),
	rule(exprThatFailsFailsTheOperation,
		"if an $expr fails on a document, the operation is InvalidArgument, and nothing has changed"),
	rule(exprKnowsTheStoresTime, "$$NOW in an $expr is the time of the store's clock"),
}

func (t *trial) expr(operator string, arguments ...any) *query.Filter {
	t.Helper()
	return t.filter("$expr", document.O(operator, document.A(arguments...)))
}

func exprComparesFields(t *trial) {
	t.insert(
		document.O("_id", 1, "spent", 120, "budget", 100),
		document.O("_id", 2, "spent", 50, "budget", 100),
		document.O("_id", 3, "spent", 7),
	)
	filter := t.expr("$gt", "$spent", "$budget")
	t.requireIDs([]any{1, 3}, t.find(filter, store.FindOptions{}))
	count, err := t.Count(t.Context(), filter)
	require.NoError(t, err)
	require.Equal(t, int64(2), count)
}

func exprThatFailsFailsTheOperation(t *trial) {
	docs := []document.Object{document.O("_id", 1, "n", 0), document.O("_id", 2, "n", 1)}
	t.insert(docs...)
	filter := t.expr("$gte", document.O("$divide", document.A(1, "$n")), 1)
	t.requireCode(boterr.InvalidArgument, failure(t.Find(t.Context(), filter, store.FindOptions{})))
	t.requireCode(boterr.InvalidArgument, failure(t.Count(t.Context(), filter)))
	t.requireCode(boterr.InvalidArgument, failure(t.Distinct(t.Context(), "n", filter)))
	_, err := t.Update(t.Context(), filter, t.change("$set", document.O("seen", true)), store.UpdateOptions{Multi: true})
	t.requireCode(boterr.InvalidArgument, err)
	t.requireCode(boterr.InvalidArgument, failure(t.Delete(t.Context(), filter, store.DeleteOptions{Multi: true})))
	t.requireHolds(docs...)
}

func exprKnowsTheStoresTime(t *trial) {
	now, err := t.store.Now(t.Context())
	require.NoError(t, err)
	t.insert(
		document.O("_id", "before", "at", now.Add(-time.Hour)),
		document.O("_id", "after", "at", now.Add(time.Hour)),
	)
	t.requireIDs([]any{"before"}, t.find(t.expr("$lt", "$at", "$$NOW"), store.FindOptions{}))
}

var placeRules = []Rule{
	rule(nearComesNearestFirst,
		"documents that match a $near come nearest first unless there is a sort, and the first match is the nearest"),
	rule(nearNeedsAnIndex, "a filter with a $near that no index serves is InvalidArgument, and changes nothing"),
	rule(placesAreComparedWithoutAnIndex,
		"$geoWithin and $geoIntersects match the same documents with and without an index"),
	rule(geoIndexesRefuseWhatIsNoPlace,
		"a document whose value a geo index cannot hold is InvalidArgument, before and after the index is created"),
}

func geoIndex(path string, kind query.IndexKind) store.Index {
	return store.Index{Keys: []store.IndexKey{{Path: path, Kind: kind}}}
}

// insertPoints inserts points on the equator, but no invalid places.
func (t *trial) insertPoints() {
	t.Helper()
	for i, longitude := range []float64{3, 1, 2, -1} {
		t.insert(document.O("_id", i, "at", equator(longitude)))
	}
	t.insert(document.O("_id", "nowhere", "at", nil))
}

func nearComesNearestFirst(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), geoIndex("at", query.Geo2DSphere)))
	t.insertPoints()
	near := document.O("$near", document.O("$geometry", equator(2.1), "$maxDistance", 250_000))
	t.requireIDs([]any{2, 0, 1}, t.find(t.filter("at", near), store.FindOptions{}))
	t.requireIDs([]any{2, 0, 1}, t.find(t.filter("at", near), store.FindOptions{Sort: &query.Sort{}}))
	t.requireIDs([]any{2, 1, 0}, t.find(t.filter("at", near), store.FindOptions{Sort: t.order("_id", -1)}))
	result := t.findAndModify(t.filter("at", near), t.change("$set", document.O("found", true)), store.FindAndModifyOptions{})
	t.requireIDs([]any{2}, []document.Object{result.Document})
	count, err := t.Count(t.Context(), t.filter("at", near))
	require.NoError(t, err)
	require.Equal(t, int64(3), count)
}

func nearNeedsAnIndex(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), geoIndex("to", query.Geo2DSphere)))
	held := document.O("_id", 1, "at", document.A(0, 0))
	t.insert(held)
	for _, operator := range []string{"$near", "$nearSphere"} {
		near := t.filter("at", document.O(operator, document.A(0, 0)))
		t.requireCode(boterr.InvalidArgument, failure(t.Find(t.Context(), near, store.FindOptions{})), "finding")
		t.requireCode(boterr.InvalidArgument, failure(t.Count(t.Context(), near)), "counting")
		_, err := t.Update(t.Context(), near, t.change("$set", document.O("n", 1)), store.UpdateOptions{Upsert: true})
		t.requireCode(boterr.InvalidArgument, err, "changing")
		t.requireCode(boterr.InvalidArgument, failure(t.Delete(t.Context(), near, store.DeleteOptions{})), "removing")
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
		require.NoError(t, t.EnsureIndex(t.Context(), geoIndex("at", query.Geo2DSphere)))
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
			t.requireCode(boterr.InvalidArgument, before.EnsureIndex(t.Context(), geoIndex("at", kind)), o)
			require.NoError(t, failure(before.Delete(t.Context(), nil, store.DeleteOptions{Multi: true})))
			after := t.with(t.store.Collection("storetest.after." + string(kind)))
			require.NoError(t, after.EnsureIndex(t.Context(), geoIndex("at", kind)))
			t.requireCode(boterr.InvalidArgument, after.Insert(t.Context(), o), o)
		}
	}
}
