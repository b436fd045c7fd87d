package storetest

import (
	"math"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

var valueRules = []Rule{
	{
		Name:  "FieldsKeepTheirOrder",
		Text:  "documents are kept to the letter: order of fields included",
		check: fieldsKeepTheirOrder,
	},
	{
		Name:  "NumbersKeepTheirType",
		Text:  "documents are kept to the letter: types of numbers included",
		check: numbersKeepTheirType,
	},
	{
		Name:  "InfinityIsKept",
		Text:  "documents are kept to the letter: infinite numbers included",
		Needs: []Capability{Infinity},
		check: infinityIsKept,
	},
	{
		Name:  "TimesKeepMilliseconds",
		Text:  "times are kept to the millisecond, and timestamps are whole numbers",
		check: timesKeepMilliseconds,
	},
	{
		Name:  "OddStringsAreKept",
		Text:  "documents are kept to the letter: any string, as a value and as the name of a field",
		check: oddStringsAreKept,
	},
	{
		Name:  "EmptyAndNestedValuesAreKept",
		Text:  "documents are kept to the letter: null, what is empty and what is nested deeply",
		check: emptyAndNestedValuesAreKept,
	},
	{
		Name:  "DocumentsThatAreTooDeepAreRefused",
		Text:  "a document is nested to MaxDepth levels at most; a deeper one is InvalidArgument, and changes nothing",
		check: documentsThatAreTooDeepAreRefused,
	},
	{
		Name:  "NestedArraysAreKept",
		Text:  "documents are kept to the letter: arrays in arrays included",
		Needs: []Capability{NestedArrays},
		check: nestedArraysAreKept,
	},
	{
		Name:  "NothingStoredIsAliased",
		Text:  "nothing the caller does to what it gave or got changes what is stored",
		check: nothingStoredIsAliased,
	},
	{
		Name:  "WhatWasReadStays",
		Text:  "documents that come back are immutable: later writes do not change them",
		check: whatWasReadStays,
	},
}

// requireKept inserts documents and checks that they come back to the letter.
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

// nestedDocument returns a document of so many levels.
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
	t.requireCode(boterr.InvalidArgument, t.Insert(t.ctx(), nestedDocument(2, document.MaxDepth+1)), "Insert")
	deeper := t.change("$set", document.O("x", nestedDocument(3, document.MaxDepth)))
	_, err := t.Update(t.ctx(), t.filter("_id", 1), deeper, store.UpdateOptions{})
	t.requireCode(boterr.InvalidArgument, err, "Update")
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

	values, err := t.Distinct(t.ctx(), "list", nil)
	require.NoError(t, err)
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
	_, err := t.Delete(t.ctx(), nil, store.DeleteOptions{})
	require.NoError(t, err)
	t.requireSame([]document.Object{before}, read)
}
