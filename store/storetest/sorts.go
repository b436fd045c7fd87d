package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var sortRules = []Rule{
	rule(sortOrdersByEachKeyInTurn, "a sort orders by its first key, and by the next one if the first is equal"),
	rule(sortOrdersAllTypes,
		"a sort orders null and missing, numbers, strings, objects, arrays, booleans and dates in this order"),
	rule(sortTiesKeepInsertionOrder, "documents that are equal in a sort keep the order of insertion"),
	rule(sortTakesOneElementForTwoPaths, "if two paths of a sort lead through the same array, both values come from one element"),
	rule(sortTakesTheElementOfAnIndex, "a number in a path of a sort is the index of an element, and only that element counts"),
	rule(sortRefusesArraysSideBySide, "a sort by two separate arrays of a document is InvalidArgument, and changes nothing"),
}

var distinctRules = []Rule{
	rule(distinctReturnsEachValueOnce,
		"Distinct returns the distinct values in the order of their first occurrence; 1 and 1.0 are one value"),
	rule(distinctLooksIntoArrays, "an array counts as its elements, and a path continues through arrays of objects"),
	rule(distinctLeavesOutWhatIsMissing, "a missing field gives no value, null gives null, and without values the slice is empty"),
	rule(distinctRefusesBadPaths, "a path with a NUL byte or too many parts is InvalidArgument; one with an empty part finds nothing"),
}

func distinctRefusesBadPaths(t *trial) {
	t.insert(document.O("_id", 1, "v", 1))
	for _, path := range []string{"v\x00", "\x00v", strings.Repeat("v.", document.MaxNesting) + "v"} {
		t.requireCode(boterr.InvalidArgument, failure(t.Distinct(t.Context(), path, nil)), "the path %q", path)
	}
	for _, path := range []string{".v", "v.", "v..v"} {
		t.requireDistinct([]any{}, path, nil)
	}
}

func sortOrdersByEachKeyInTurn(t *trial) {
	t.insert(
		document.O("_id", 1, "a", 2, "b", document.O("c", 1)),
		document.O("_id", 2, "a", 1, "b", document.O("c", 1)),
		document.O("_id", 3, "a", 2, "b", document.O("c", 3)),
		document.O("_id", 4, "a", 1.5, "b", document.O("c", 9)),
	)
	for _, test := range []struct {
		sort *query.Sort
		ids  []any
	}{
		{&query.Sort{}, []any{1, 2, 3, 4}},
		{t.order("a", 1, "b.c", 1), []any{2, 4, 1, 3}},
		{t.order("a", 1, "b.c", -1), []any{2, 4, 3, 1}},
		{t.order("a", -1, "_id", -1), []any{3, 1, 4, 2}},
		{t.order("b.c", 1, "a", -1), []any{1, 2, 3, 4}},
	} {
		t.requireIDs(test.ids, t.find(nil, store.FindOptions{Sort: test.sort}), "sorted by %s", test.sort.Source())
		top := t.find(nil, store.FindOptions{Sort: test.sort, Limit: 2})
		t.requireIDs(test.ids[:2], top, "the first two by %s", test.sort.Source())
	}
}

func sortOrdersAllTypes(t *trial) {
	t.insert(
		document.O("_id", "date", "v", time.UnixMilli(0)),
		document.O("_id", "false", "v", false),
		document.O("_id", "object", "v", document.O("a", 1)),
		document.O("_id", "text", "v", "text"),
		document.O("_id", "number", "v", 1e300),
		document.O("_id", "missing"),
		document.O("_id", "null", "v", nil),
		document.O("_id", "array", "v", document.A(document.A(1))),
		document.O("_id", "integer", "v", -3),
		document.O("_id", "Text", "v", "Text"),
	)
	t.requireIDs(
		[]any{"missing", "null", "integer", "number", "Text", "text", "object", "array", "false", "date"},
		t.find(nil, store.FindOptions{Sort: t.order("v", 1)}),
	)
	t.requireIDs(
		[]any{"date", "false", "array", "object", "text", "Text", "number", "integer", "missing", "null"},
		t.find(nil, store.FindOptions{Sort: t.order("v", -1)}),
	)
}

func sortTiesKeepInsertionOrder(t *trial) {
	for i := range 20 {
		t.insert(document.O("_id", (i*7)%20, "even", i%2 == 0))
	}
	var even, odd []any
	for i := range 20 {
		if i%2 == 0 {
			even = append(even, (i*7)%20)
		} else {
			odd = append(odd, (i*7)%20)
		}
	}
	falseFirst := store.FindOptions{Sort: t.order("even", 1)}
	t.requireIDs(slices.Concat(odd, even), t.find(nil, falseFirst))
	trueFirst := store.FindOptions{Sort: t.order("even", -1), Skip: 2, Limit: 3}
	t.requireIDs(even[2:5], t.find(nil, trueFirst))
}

func sortTakesOneElementForTwoPaths(t *trial) {
	t.insert(
		document.O("_id", "apart", "list", document.A(document.O("x", 1, "y", 5), document.O("x", 2, "y", 0))),
		document.O("_id", "one", "list", document.A(document.O("x", 1, "y", 3))),
		document.O("_id", "none", "list", document.A()),
		document.O("_id", "plain", "list", document.O("x", 1, "y", 4)),
	)
	t.requireIDs([]any{"none", "one", "plain", "apart"}, t.find(nil, store.FindOptions{Sort: t.order("list.x", 1, "list.y", 1)}))
	t.requireIDs([]any{"apart", "one", "plain", "none"}, t.find(nil, store.FindOptions{Sort: t.order("list.x", -1, "list.y", 1)}))
}

func sortTakesTheElementOfAnIndex(t *trial) {
	t.insert(
		document.O("_id", "five", "list", document.A(document.O("x", 5), document.O("x", 1))),
		document.O("_id", "three", "list", document.A(document.O("x", 3), document.O("x", 9))),
		document.O("_id", "none", "list", document.A(document.O("y", 1), document.O("x", 4))),
		document.O("_id", "short", "list", document.A()),
	)
	t.requireIDs([]any{"none", "short", "three", "five"}, t.find(nil, store.FindOptions{Sort: t.order("list.0.x", 1)}))
	t.requireIDs([]any{"five", "three", "none", "short"}, t.find(nil, store.FindOptions{Sort: t.order("list.0.x", -1)}))
}

func sortRefusesArraysSideBySide(t *trial) {
	held := []document.Object{
		document.O("_id", 1, "a", document.A(1, 2), "b", 1), document.O("_id", 2, "a", document.A(1), "b", document.A(2)),
	}
	t.insert(held...)
	sort := t.order("a", 1, "b", 1)
	t.requireIDs([]any{1}, t.find(t.filter("_id", 1), store.FindOptions{Sort: sort}))
	t.requireCode(boterr.InvalidArgument, failure(t.Find(t.Context(), nil, store.FindOptions{Sort: sort})), "Find")
	_, err := t.FindAndModify(t.Context(), nil, t.change("$set", document.O("n", 1)), store.FindAndModifyOptions{Sort: sort})
	t.requireCode(boterr.InvalidArgument, err, "FindAndModify")
	t.requireHolds(held...)
}

func (t *trial) requireDistinct(expected []any, path string, filter *query.Filter) {
	t.Helper()
	values, err := t.Distinct(t.Context(), path, filter)
	require.NoError(t, err)
	require.NotNil(t, values, "the slice is nil")
	require.Equal(t, literal(document.A(expected...)), literal(document.A(values...)), "the values at %s", path)
}

func distinctReturnsEachValueOnce(t *trial) {
	for i, value := range []any{"b", 1, "a", 1.0, "b", "B", true, 1, document.O("x", 1), document.O("x", 1.0)} {
		t.insert(document.O("_id", i, "v", value, "in", document.O("v", value)))
	}
	t.requireDistinct([]any{"b", 1, "a", "B", true, document.O("x", 1)}, "v", nil)
	t.requireDistinct([]any{"b", 1, "a", "B", true, document.O("x", 1)}, "in.v", nil)
	t.requireDistinct([]any{"b", "B", true, 1}, "v", t.filter("_id", document.O("$gte", 4, "$lt", 8)))
}

func distinctLooksIntoArrays(t *trial) {
	t.insert(
		document.O("_id", 1, "tags", document.A("a", "b"), "rows", document.A(document.O("n", 1), document.O("n", 2))),
		document.O("_id", 2, "tags", "c", "rows", document.A(document.O("n", document.A(2, 3)), document.O("m", 4))),
		document.O("_id", 3, "tags", document.A("b", document.A("a")), "rows", document.A()),
	)
	t.requireDistinct([]any{"a", "b", "c", document.A("a")}, "tags", nil)
	t.requireDistinct([]any{1, 2, 3}, "rows.n", nil)
	t.requireDistinct([]any{1}, "rows.0.n", t.filter("_id", 1))
}

func distinctLeavesOutWhatIsMissing(t *trial) {
	t.requireDistinct([]any{}, "v", nil)
	t.insert(document.O("_id", 1), document.O("_id", 2, "v", document.A()), document.O("_id", 3, "w", nil))
	t.requireDistinct([]any{}, "v", nil)
	t.requireDistinct([]any{nil}, "w", nil)
}
