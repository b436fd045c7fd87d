package query_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// numbers returns an array of the integers from one number to another.
func numbers(first, end int) document.Array {
	items := make([]any, 0, end-first)
	for i := first; i < end; i++ {
		items = append(items, i)
	}
	return document.A(items...)
}

// changed applies an update to a document.
func changed(t *testing.T, o, update document.Object, arrayFilters ...document.Object) (document.Object, error) {
	t.Helper()
	compiled, err := query.CompileUpdate(update, arrayFilters...)
	require.NoError(t, err)
	after, _, err := query.Change{Update: compiled}.Apply(nil, o)
	return after, err
}

func TestUpdate_FillsArraysWithoutEnd(t *testing.T) {
	t.Parallel()
	_, err := changed(t, document.O("_id", 1), document.Set("a.b", 1, "a.c", document.O("x", numbers(0, 10))))
	require.NoError(t, err)
	pairs, empty := []any{}, []any{}
	for i := range 1000 {
		pairs = append(pairs, "a"+strconv.Itoa(i)+"."+strconv.Itoa(document.MaxArrayIndex), 1)
		empty = append(empty, document.A())
	}
	o := document.O("_id", 1)
	for i := range 1000 {
		o = o.With("a"+strconv.Itoa(i), document.A())
	}
	_, err = changed(t, o, document.Set(pairs...))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = changed(t, document.O("_id", 1, "a", document.A(empty...)), document.Set("a.$[]."+strconv.Itoa(document.MaxArrayIndex), 1))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	text := string(make([]byte, 1<<20))
	_, err = changed(t, document.O("_id", 1, "a", document.A(empty...)), document.Set("a.$[]", text))
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestCompare_LongLists(t *testing.T) {
	t.Parallel()
	const many = 100_000
	o := document.O("_id", 1, "a", numbers(0, many))
	after, err := changed(t, o, document.AddToSet("a", document.O("$each", numbers(many/2, 2*many))))
	require.NoError(t, err)
	require.Equal(t, 2*many, document.Get(after, "a", document.Array{}).Len())
	after, err = changed(t, o, document.O("$pullAll", document.O("a", numbers(1, many))))
	require.NoError(t, err)
	require.JSONEq(t, `{"_id":1,"a":[0]}`, after.String())
	after, err = changed(t, document.O("_id", 1, "a", document.A(1, "x")), document.AddToSet("a", document.O("$each",
		document.A(1.0, "y", "y", nil, document.O("k", 1), document.O("k", 1.0)))))
	require.NoError(t, err)
	require.JSONEq(t, `{"_id":1,"a":[1,"x","y",null,{"k":1}]}`, after.String())
}

func TestAll_ManyValues(t *testing.T) {
	t.Parallel()
	const many = 100_000
	o := document.O("a", numbers(0, many), "l", document.A(document.O("n", 1), document.O("n", numbers(0, 20))))
	for _, test := range []struct {
		filter document.Object
		want   bool
	}{
		{document.O("a", document.O("$all", numbers(0, many))), true},
		{document.O("a", document.O("$all", numbers(1, many+1))), false},
		{document.O("a", document.O("$not", document.O("$all", numbers(1, many+1)))), true},
		{document.O("a", document.O("$all", numbers(0, 30).Append(1.0, 2.0))), true},
		{document.O("a", document.O("$all", numbers(0, 30).Append(nil))), false},
		{document.O("none", document.O("$all", document.A(slices.Repeat([]any{nil}, 30)...))), true},
		{document.O("l.n", document.O("$all", numbers(0, 20))), true},
		{document.O("l.n", document.O("$all", numbers(0, 20).Append(numbers(0, 20)))), true},
		{document.O("a", document.O("$elemMatch", document.O("$all", document.A(slices.Repeat([]any{7}, 30)...)))), true},
		{document.O("a", document.O("$elemMatch", document.O("$all", numbers(0, 20)))), false},
	} {
		filter, err := query.CompileFilter(test.filter)
		require.NoError(t, err)
		require.Equal(t, test.want, filter.Match(o))
	}
	update, err := query.CompileUpdate(document.Set("a.$", "x"))
	require.NoError(t, err)
	filter, err := query.CompileFilter(document.O("a", document.O("$all", numbers(0, 30))))
	require.NoError(t, err)
	after, _, err := query.Change{Update: update}.Apply(filter, document.O("_id", 1, "a", numbers(0, 30)))
	require.NoError(t, err)
	require.Equal(t, "x", document.Get(after, "a.29", ""), "the position is that of the last value")
	reversed := slices.Clone(numbers(0, 30).Items())
	slices.Reverse(reversed)
	after, _, err = query.Change{Update: update}.Apply(filter, document.O("_id", 1, "a", document.A(reversed...)))
	require.NoError(t, err)
	require.Equal(t, "x", document.Get(after, "a.0", ""), "the position is that of the last value")
}

func TestIn_ManyObjects(t *testing.T) {
	t.Parallel()
	const many = 100_000
	held, wanted := make([]any, many), make([]any, many)
	for i := range many {
		held[i], wanted[i] = document.O("k", i), document.O("k", -i-1)
	}
	o := document.O("a", document.A(held...))
	filter, err := query.CompileFilter(document.O("a", document.O("$in", document.A(wanted...))))
	require.NoError(t, err)
	require.False(t, filter.Match(o))
	wanted[many/2] = document.O("k", 7.0)
	filter, err = query.CompileFilter(document.O("a", document.O("$in", document.A(wanted...))))
	require.NoError(t, err)
	require.True(t, filter.Match(o))
}

func TestOr_ManyValues(t *testing.T) {
	t.Parallel()
	const many = 50_000
	clauses := make([]any, many)
	for i := range many {
		clauses[i] = document.O("a", -i-1)
	}
	o := document.O("a", numbers(0, many))
	filter, err := query.CompileFilter(document.O("$or", document.A(clauses...)))
	require.NoError(t, err)
	require.False(t, filter.Match(o))
	clauses[many/2] = document.O("a", document.O("$regex", "^x"))
	filter, err = query.CompileFilter(document.O("$or", document.A(clauses...)))
	require.NoError(t, err)
	require.False(t, filter.Match(o))
	require.True(t, filter.Match(document.O("a", "xy")))
	require.True(t, filter.Match(document.O("a", -9.0)))
}

func TestUpdate_ManyPaths(t *testing.T) {
	t.Parallel()
	const many = 100_000
	update, projection := make([]any, 0, 2*many), make([]any, 0, 2*many)
	for i := many; i > 0; i-- {
		update = append(update, "f"+strconv.Itoa(many+i), 1)
		projection = append(projection, "f"+strconv.Itoa(i), 1)
	}
	after, err := changed(t, document.O("_id", 1), document.Set(update...))
	require.NoError(t, err)
	require.Equal(t, "f100001", after.Keys()[1], "new fields come in the order of their names")
	_, err = query.CompileProjection(document.O(projection...))
	require.NoError(t, err)
}

func TestUpdate_ManyArrayFilters(t *testing.T) {
	t.Parallel()
	const many = 20_000
	pairs, filters := make([]any, 0, 2*many), make([]document.Object, 0, many)
	for i := range many {
		name := "x" + strconv.Itoa(i)
		pairs = append(pairs, "a.$["+name+"]."+name, 1)
		filters = append(filters, document.O(name+".k", i))
	}
	after, err := changed(t, document.O("_id", 1, "a", document.A(document.O("k", 7))), document.Set(pairs...), filters...)
	require.NoError(t, err)
	require.JSONEq(t, `{"_id":1,"a":[{"k":7,"x7":1}]}`, after.String())
}

func TestCompile_LargerThanADocument(t *testing.T) {
	t.Parallel()
	large := document.O("a", string(make([]byte, document.MaxSize)))
	_, err := query.CompileFilter(large)
	requireInvalid(t, err, "")
	_, err = query.CompileUpdate(document.O("$set", large))
	requireInvalid(t, err, "")
	_, err = query.CompileSort(large)
	requireInvalid(t, err, "")
	_, err = query.CompileProjection(large)
	requireInvalid(t, err, "")
	_, err = query.CompileUpdate(document.Set("a.$[x]", 1), document.O("x", large))
	requireInvalid(t, err, "arrayFilters[0]")
}
