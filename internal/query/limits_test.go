package query_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
)

func TestPath_TooManyParts(t *testing.T) {
	t.Parallel()
	path := strings.Repeat("a.", 3_000_000) + "b"
	require.ErrorIs(t, failure(query.CompileFilter(document.O(path, 1))), boterr.InvalidArgument)
	require.ErrorIs(t, failure(query.CompileUpdate(document.Set(path, 1))), boterr.InvalidArgument)
	require.ErrorIs(t, failure(query.CompileSort(document.O(path, 1))), boterr.InvalidArgument)
	require.ErrorIs(t, failure(query.CompileGeoNear(document.O("near", document.A(0, 0), "distanceField", path))), boterr.InvalidArgument)
	var o document.Object
	o.Set(path, 1)
	require.ErrorIs(t, o.Err(), boterr.InvalidArgument)
}

func TestPath_IndexesAreWalkedOnce(t *testing.T) {
	t.Parallel()
	nested := document.A(document.O("0", 5))
	for range 40 {
		nested = document.A(document.O("0", nested))
	}
	filter := query.Must(query.CompileFilter(document.O("a"+strings.Repeat(".0", 60), 7)))
	require.False(t, filter.Match(document.O("a", nested)))
}

func TestPattern_RepeatsMuch(t *testing.T) {
	t.Parallel()
	filter := query.Must(query.CompileFilter(document.O("a", document.O("$regex", strings.Repeat(".{0,100}", 20)+"Z"))))
	require.True(t, filter.Match(document.O("a", strings.Repeat("a", 500)+"Z")))
}

func TestUpdate_ManyFieldsAtOnce(t *testing.T) {
	t.Parallel()
	var unset []string
	var pairs []any
	for i := range 20_000 {
		name := "k" + strconv.Itoa(i)
		pairs = append(pairs, name, i)
		unset = append(unset, name)
	}
	update := query.Must(query.CompileUpdate(document.Set(pairs...)))
	after, modified, err := newCall(t).Change(query.Change{Update: update}, nil, document.O("_id", 1))
	require.NoError(t, err)
	require.True(t, modified)
	require.Equal(t, 20_001, after.Len())
	update = query.Must(query.CompileUpdate(document.Unset(unset...)))
	emptied, _, err := newCall(t).Change(query.Change{Update: update}, nil, after)
	require.NoError(t, err)
	require.Equal(t, `{"_id":1}`, emptied.String())
	compiled := query.Must(query.CompileFilter(document.O(pairs...)))
	update = query.Must(query.CompileUpdate(document.Set("x", 1)))
	inserted, err := newCall(t).Insert(query.Change{Update: update}, compiled)
	require.NoError(t, err)
	require.Equal(t, 20_001, inserted.Len())
}

func TestUpdate_IndexesAndNames(t *testing.T) {
	t.Parallel()
	after, _, err := apply(t, `{"_id":1,"a":[]}`, `{}`, `{"$unset":{"a.1a":""},"$set":{"a.10":2,"a.9":1}}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"_id":1,"a":[null,null,null,null,null,null,null,null,null,1,2]}`, after)
	_, err = query.CompileUpdate(parse(t, `{"$set":{"p.10":1,"p.5a":1,"p.1b":1,"p.2":1,"p.11":1},"$inc":{"p.10":1}}`))
	requireInvalid(t, err, "$inc.p.10")
}

func TestPosition_OfOrThatIsAnIn(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"items":[{"sku":"x"},{"sku":"y"}],"state":"open","vip":true}`
	for _, filter := range []string{
		`{"$or":[{"items.sku":"y","state":"closed"},{"vip":true}]}`,
		`{"$or":[{"items.sku":"x","state":"closed"},{"items.sku":"y"}]}`,
		`{"$or":[{"items.sku":"y"},{"items.sku":{"$gt":"x"}}]}`,
	} {
		_, _, err := apply(t, doc, filter, `{"$set":{"items.$.sku":"z"}}`)
		require.ErrorIs(t, err, boterr.InvalidArgument, filter)
	}
	for filter, want := range map[string]string{
		`{"$or":[{"items.sku":"y"},{"items.sku":"x"}]}`:                 `{"_id":1,"items":[{"sku":"z"},{"sku":"y"}],"state":"open","vip":true}`,
		`{"$or":[{"items.sku":{"$regex":"^y"}},{"items.sku":"none"}]}`:  `{"_id":1,"items":[{"sku":"x"},{"sku":"z"}],"state":"open","vip":true}`,
		`{"$or":[{"items":{"$elemMatch":{"sku":"y"}},"state":"open"}]}`: `{"_id":1,"items":[{"sku":"x"},{"sku":"z"}],"state":"open","vip":true}`,
	} {
		after, _, err := apply(t, doc, filter, `{"$set":{"items.$.sku":"z"}}`)
		require.NoError(t, err, filter)
		require.JSONEq(t, want, after, filter)
	}
}

// If several conditions on arrays match, the same one must determine the position, whatever their order.
func TestPosition_OfLastCondition(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"a":[1,2,3,4,5],"b":[9,7,8]}`
	for conditions, position := range map[string]int{
		`{"a":{"$gt":1}} {"a":{"$lt":5}}`:                          1,
		`{"a":{"$gte":3}} {"a":{"$gt":1}}`:                         2,
		`{"a":{"$lte":2}} {"a":2}`:                                 0,
		`{"a":{"$elemMatch":{"$gt":3}}} {"a":2}`:                   1,
		`{"a":{"$in":[4]}} {"a":{"$lt":9}}`:                        0,
		`{"a":{"$in":[4,5]}} {"a":{"$lt":9}}`:                      3,
		`{"a":{"$exists":true}} {"a":{"$mod":[3,0]}}`:              2,
		`{"a":{"$type":"int"}} {"a":{"$bitsAllSet":4}} {"a":5}`:    0,
		`{"b":7} {"a":3}`:                                          1,
		`{"b":{"$lt":8}} {"a":{"$gt":2}}`:                          2,
		`{"a":{"$all":[4,2]}} {"a":{"$ne":9}}`:                     1,
		`{"$and":[{"a":{"$gt":1}},{"b":8}]} {"a":{"$lt":5}}`:       1,
		`{"$or":[{"a":5},{"b":8}]} {"a":3}`:                        2,
		`{"a":{"$gt":1,"$lt":5}} {"_id":1}`:                        1,
		`{"a":{"$not":{"$gt":9}}} {"a":{"$lt":5}} {"a":{"$gt":3}}`: 3,
	} {
		clauses := strings.Split(conditions, " ")
		for range clauses {
			clauses = append(clauses[1:], clauses[0])
			filter := `{"$and":[` + strings.Join(clauses, ",") + `]}`
			after, _, err := apply(t, doc, filter, `{"$set":{"a.$":0}}`)
			require.NoError(t, err, filter)
			want := parse(t, doc)
			want.Set("a."+strconv.Itoa(position), 0)
			require.JSONEq(t, want.String(), after, filter)
		}
	}
}

func TestPosition_NotFromAnIndex(t *testing.T) {
	t.Parallel()
	_, _, err := apply(t, `{"_id":1,"a":[1,2]}`, `{"a.0":1}`, `{"$set":{"a.$":5}}`)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, _, err = apply(t, `{"_id":1,"a":[[1],[2,3]]}`, `{"a.1":[2,3]}`, `{"$set":{"a.$":5}}`)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestUpdate_TwoSelectorsConflict(t *testing.T) {
	t.Parallel()
	for _, update := range []string{
		`{"$set":{"a.$[].b":1},"$inc":{"a.0.b":5}}`, `{"$set":{"a.$[].b":{}},"$inc":{"a.0.b.c":5}}`, `{"$set":{"a.$[]":1,"a.0.b":2}}`,
		`{"$set":{"a.$[].b":1,"a.0.c":2}}`,
	} {
		_, _, err := apply(t, `{"_id":1,"a":[{"b":0}]}`, `{}`, update)
		require.ErrorIs(t, err, boterr.InvalidArgument, update)
	}
	after, _, err := apply(t, `{"_id":1,"a":[{"b":0},{"b":0}]}`, `{}`, `{"$set":{"a.$[].b":1,"a.$[].c":2}}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"_id":1,"a":[{"b":1,"c":2},{"b":1,"c":2}]}`, after)
}

func TestZeroValues_DoNotPanic(t *testing.T) {
	t.Parallel()
	require.True(t, (&query.Filter{}).Match(document.O("a", 1)))
	require.True(t, query.And(&query.Filter{}, query.FieldsEqual(query.FieldValue{Name: "a", Value: int64(1)})).Match(document.O("a", 1)))
	require.NoError(t, newCall(t).CheckSort(&query.Sort{}, document.O("a", 1)))
	whole, err := newCall(t).Project(&query.Projection{}, nil, document.O("a", 1))
	require.NoError(t, err)
	require.Equal(t, document.O("a", 1), whole)
	require.True(t, (*query.Update)(nil).Source().IsZero())
	require.True(t, (*query.GeoNear)(nil).Source().IsZero())
	for _, none := range []query.Change{{}, {Update: &query.Update{}}} {
		_, _, err := newCall(t).Change(none, nil, document.O("a", 1))
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.ErrorIs(t, failure(newCall(t).Insert(none, nil)), boterr.InvalidArgument)
	}
}

// numbers returns an array of the integers from first up to end, which is not included.
func numbers(first, end int) document.Array {
	items := make([]any, 0, end-first)
	for i := first; i < end; i++ {
		items = append(items, i)
	}
	return document.A(items...)
}

func changed(t *testing.T, o, update document.Object, arrayFilters ...document.Object) (document.Object, error) {
	t.Helper()
	compiled := query.Must(query.CompileUpdate(update, arrayFilters...))
	after, _, err := newCall(t).Change(query.Change{Update: compiled}, nil, o)
	return after, err
}

func TestUpdate_FillsArraysWithoutEnd(t *testing.T) {
	t.Parallel()
	require.NoError(t, failure(changed(t, document.O("_id", 1), document.Set("a.b", 1, "a.c", document.O("x", numbers(0, 10))))))
	pairs, empty := []any{}, []any{}
	for i := range 1000 {
		pairs = append(pairs, "a"+strconv.Itoa(i)+"."+strconv.Itoa(document.MaxArrayIndex), 1)
		empty = append(empty, document.A())
	}
	o := document.O("_id", 1)
	for i := range 1000 {
		o = o.With("a"+strconv.Itoa(i), document.A())
	}
	require.ErrorIs(t, failure(changed(t, o, document.Set(pairs...))), boterr.InvalidArgument)
	_, err := changed(t, document.O("_id", 1, "a", document.A(empty...)), document.Set("a.$[]."+strconv.Itoa(document.MaxArrayIndex), 1))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	text := string(make([]byte, 1<<20))
	_, err = changed(t, document.O("_id", 1, "a", document.A(empty...)), document.Set("a.$[]", text))
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestCompare_LongLists(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 20_000, 100_000)
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
	many := rounds.Of(t, 20_000, 100_000)
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
		filter := query.Must(query.CompileFilter(test.filter))
		require.Equal(t, test.want, filter.Match(o))
	}
	update := query.Must(query.CompileUpdate(document.Set("a.$", "x")))
	filter := query.Must(query.CompileFilter(document.O("a", document.O("$all", numbers(0, 30)))))
	after, _, err := newCall(t).Change(query.Change{Update: update}, filter, document.O("_id", 1, "a", numbers(0, 30)))
	require.NoError(t, err)
	require.Equal(t, "x", document.Get(after, "a.29", ""), "the last value gives the position")
	reversed := slices.Clone(numbers(0, 30).Items())
	slices.Reverse(reversed)
	after, _, err = newCall(t).Change(query.Change{Update: update}, filter, document.O("_id", 1, "a", document.A(reversed...)))
	require.NoError(t, err)
	require.Equal(t, "x", document.Get(after, "a.0", ""), "the last value gives the position")
}

func TestIn_ManyObjects(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 20_000, 100_000)
	held, wanted := make([]any, many), make([]any, many)
	for i := range many {
		held[i], wanted[i] = document.O("k", i), document.O("k", -i-1)
	}
	o := document.O("a", document.A(held...))
	filter := query.Must(query.CompileFilter(document.O("a", document.O("$in", document.A(wanted...)))))
	require.False(t, filter.Match(o))
	wanted[many/2] = document.O("k", 7.0)
	filter = query.Must(query.CompileFilter(document.O("a", document.O("$in", document.A(wanted...)))))
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
	filter := query.Must(query.CompileFilter(document.O("$or", document.A(clauses...))))
	require.False(t, filter.Match(o))
	clauses[many/2] = document.O("a", document.O("$regex", "^x"))
	filter = query.Must(query.CompileFilter(document.O("$or", document.A(clauses...))))
	require.False(t, filter.Match(o))
	require.True(t, filter.Match(document.O("a", "xy")))
	require.True(t, filter.Match(document.O("a", -9.0)))
}

func TestUpdate_ManyPaths(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 20_000, 100_000)
	update, projection := make([]any, 0, 2*many), make([]any, 0, 2*many)
	for i := many; i > 0; i-- {
		update = append(update, "f"+strconv.Itoa(many+i), 1)
		projection = append(projection, "f"+strconv.Itoa(i), 1)
	}
	after, err := changed(t, document.O("_id", 1), document.Set(update...))
	require.NoError(t, err)
	require.Equal(t, "f"+strconv.Itoa(many+1), after.Keys()[1], "new fields come in the order of their names")
	require.NoError(t, failure(query.CompileProjection(document.O(projection...))))
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
	requireInvalid(t, failure(query.CompileFilter(large)), "")
	requireInvalid(t, failure(query.CompileUpdate(document.O("$set", large))), "")
	requireInvalid(t, failure(query.CompileSort(large)), "")
	requireInvalid(t, failure(query.CompileProjection(large)), "")
	requireInvalid(t, failure(query.CompileGeoNear(large)), "")
	requireInvalid(t, failure(query.CompileUpdate(document.Set("a.$[x]", 1), document.O("x", large))), "arrayFilters[0]")
}

func TestExpression_Limits(t *testing.T) {
	t.Parallel()
	doc := `{"_id":1,"n":2000000,"s":"` + strings.Repeat("x", 1000) + `","l":[` + strings.Repeat("1,", 999) + `1]}`
	doubled := `"$l"`
	for range 20 {
		doubled = `{"$let":{"vars":{"x":` + doubled + `},"in":{"a":"$$x","b":"$$x"}}}`
	}
	for name, expression := range map[string]string{
		"a long range":           `{"$range":[0,2147483647]}`,
		"a range from a field":   `{"$size":{"$range":[0,"$n"]}}`,
		"a string that doubles":  `{"$reduce":{"input":{"$range":[0,40]},"initialValue":"$s","in":{"$concat":["$$value","$$value"]}}}`,
		"an array that doubles":  `{"$reduce":{"input":{"$range":[0,40]},"initialValue":"$l","in":{"$concatArrays":["$$value","$$value"]}}}`,
		"an object that doubles": `{"$reduce":{"input":{"$range":[0,60]},"initialValue":"$l","in":{"a":"$$value","b":"$$value"}}}`,
		"the same in $let":       doubled,
		"nested loops":           `{"$map":{"input":"$l","in":{"$map":{"input":"$l","in":{"$map":{"input":"$l","in":1}}}}}}`,
		"loops that keep little": `{"$size":{"$filter":{"input":"$l","cond":{"$filter":{"input":"$l","cond":{"$filter":{"input":"$l","cond":1}}}}}}}`,
		"comparisons in a loop":  `{"$map":{"input":{"$range":[0,100000]},"in":{"$eq":["$l",{"$literal":[` + strings.Repeat("1,", 999) + `1]}]}}}`,
		"searches in a loop":     `{"$map":{"input":{"$range":[0,100000]},"in":{"$in":[2,"$l"]}}}`,
		"replacing":              `{"$replaceAll":{"input":{"$replaceAll":{"input":"$s","find":"x","replacement":"$s"}},"find":"x","replacement":"$s"}}`,
		"deep nesting":           `{"$reduce":{"input":{"$range":[0,201]},"initialValue":1,"in":["$$value"]}}`,
		"patterns in a loop":     `{"$map":{"input":{"$range":[0,100000]},"in":{"$regexMatch":{"input":"$s","regex":{"$concat":["$s",{"$toString":"$$this"}]}}}}}`,
		"many matches":           `{"$regexFindAll":{"input":{"$reduce":{"input":{"$range":[0,10]},"initialValue":"$s","in":{"$concat":["$$value","$$value"]}}},"regex":"x"}}`,
		"splitting":              `{"$split":[{"$reduce":{"input":{"$range":[0,12]},"initialValue":"$s","in":{"$concat":["$$value","$$value"]}}},"x"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, failure(evaluate(t, expression, doc)), boterr.InvalidArgument)
		})
	}
}

func TestExpression_LargeArrays(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"s":"12","zone":"Europe/Berlin"}`
	requireValues(t, doc, []evaluation{
		{`{"$size":{"$map":{"input":{"$range":[0,100000]},"in":{"$multiply":["$$this",{"$add":["$$this",1]}]}}}}`, `100000`},
		{`{"$reduce":{"input":{"$range":[0,100000]},"initialValue":0,"in":{"$add":["$$value","$$this"]}}}`, `4999950000`},
		{`{"$strLenCP":{"$reduce":{"input":{"$range":[0,3000]},"initialValue":"","in":{"$concat":["$$value","$s"]}}}}`, `6000`},
		{`{"$sum":{"$map":{"input":{"$range":[0,50000]},"in":{"$toInt":"$s"}}}}`, `600000`},
		{`{"$size":{"$filter":{"input":{"$range":[0,20000]},"cond":{"$regexMatch":{"input":{"$toString":"$$this"},"regex":{"$concat":["^","$s"]}}}}}}`, `1111`},
		{`{"$size":{"$setUnion":[{"$range":[0,50000]},{"$range":[25000,75000]}]}}`, `75000`},
		{`{"$max":{"$map":{"input":{"$range":[0,10000]},"in":{"$hour":{"date":"$$NOW","timezone":"$zone"}}}}}`, `23`},
	})
}

func TestProjection_DocumentTooLarge(t *testing.T) {
	t.Parallel()
	half := document.O("_id", 1, "s", strings.Repeat("x", 9<<20))
	projection := query.Must(query.CompileProjection(document.O("t", document.O("a", "$s", "b", "$s"))))
	requireInvalid(t, failure(newCall(t).Project(projection, nil, half)), "")
}

func TestExpression_ConcurrentUse(t *testing.T) {
	t.Parallel()
	filter, err := query.CompileFilter(parse(t, `{"$expr":{"$eq":[
		{"$reduce":{"input":"$l","initialValue":0,"in":{"$let":{"vars":{"s":{"$add":["$$value","$$this"]}},"in":"$$s"}}}},"$sum"]}}`))
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 200 {
				if !filter.Match(document.O("l", document.A(i, 2*i, 3), "sum", 3*i+3)) || filter.Match(document.O("l", document.A(1), "sum", i+2)) {
					t.Error("the sums differ")
				}
			}
		})
	}
	group.Wait()
}

func TestExpression_UsedAgainAfterError(t *testing.T) {
	t.Parallel()
	filter := query.Must(query.CompileFilter(parse(t, `{"$expr":{"$eq":[{"$add":["$a",{"$divide":[10,"$b"]}]},6]}}`)))
	for range 3 {
		require.ErrorIs(t, failure(filter.Check(document.O("a", 1, "b", 0))), boterr.InvalidArgument)
		matched, err := filter.Check(document.O("a", 1, "b", 2))
		require.NoError(t, err)
		require.True(t, matched)
	}
}

const manyPaths = 500

func repeated(count int, value any) document.Array {
	items := make([]any, count)
	for i := range items {
		items[i] = value
	}
	return document.ArrayOf(items)
}

// paths returns the operand of an update operator for many paths. Numbers replace the last letter of path.
func paths(path string, value any) document.Object {
	b := document.NewBuilder(manyPaths)
	for i := range manyPaths {
		b.Set(path[:len(path)-1]+strconv.Itoa(i), value)
	}
	return b.Object()
}

// filtered returns an update with array filters a0, a1, ... that all elements meet, with a path for each.
func filtered(operator, before, after string, value any) (document.Object, []document.Object) {
	b, filters := document.NewBuilder(manyPaths), []document.Object{}
	for i := range manyPaths {
		name := "a" + strconv.Itoa(i)
		b.Set(before+".$["+name+"]."+after+strconv.Itoa(i), value)
		filters = append(filters, document.O(name, document.O("$exists", true)))
	}
	return document.O(operator, b.Object()), filters
}

// TestUpdate_EndsSoon makes small updates that are costly on a large document. Their context ends early.
func TestUpdate_EndsSoon(t *testing.T) {
	t.Parallel()
	const many = 20_000
	nulls, objects := document.O("l", repeated(many, nil)), document.O("l", repeated(many, document.O("x", 1)))
	wide := document.NewBuilder(many)
	for i := range many {
		wide.Set("f"+strconv.Itoa(i), int64(i))
	}
	inner := document.O("l", document.A(document.O("m", repeated(many, 1), "w", wide.Object())))
	big := document.O("a", repeated(many, 1))
	sameBig := document.O("l", repeated(200, document.O("x", big)))
	inFilters := func(operator, after string, value any) func() (document.Object, []document.Object) {
		return func() (document.Object, []document.Object) { return filtered(operator, "l", after, value) }
	}
	plain := func(update document.Object) func() (document.Object, []document.Object) {
		return func() (document.Object, []document.Object) { return update, nil }
	}
	for name, test := range map[string]struct {
		before document.Object
		update func() (document.Object, []document.Object)
	}{
		"$unset below nulls":       {nulls, plain(document.O("$unset", paths("l.$[].xN", "")))},
		"$unset far below nulls":   {nulls, plain(document.O("$unset", paths("l.$[].z.y.xN", "")))},
		"$unset by filters":        {nulls, inFilters("$unset", "x", "")},
		"$set in all":              {objects, plain(document.O("$set", paths("l.$[].xN", int64(1))))},
		"$set by filters":          {objects, inFilters("$set", "x", int64(1))},
		"$inc in all":              {objects, plain(document.O("$inc", paths("l.$[].xN", int64(1))))},
		"$bit in all":              {objects, plain(document.O("$bit", paths("l.$[].xN", document.O("or", int64(1)))))},
		"elements of one array":    {inner, inFilters("$set", "m.", int64(2))},
		"a field of a wide object": {inner, inFilters("$set", "w.g", int64(2))},
		"$max with equal objects":  {sameBig, plain(document.O("$max", document.O("l.$[].x", big)))},
		"$push into each":          {sameBig, plain(document.O("$push", document.O("l.$[].x.a", document.O("$each", document.A(1), "$sort", 1, "$slice", 5))))},
		"$pull from each":          {sameBig, plain(document.O("$pull", document.O("l.$[].x.a", document.O("$gt", 1))))},
		"$pullAll from each":       {sameBig, plain(document.O("$pullAll", document.O("l.$[].x.a", document.A(5, 6))))},
		"$addToSet to each":        {sameBig, plain(document.O("$addToSet", document.O("l.$[].x.a", 7)))},
		"$pop from each":           {sameBig, plain(document.O("$pop", document.O("l.$[].x.a", 1)))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, filters := test.update()
			update := query.Must(query.CompileUpdate(source, filters...))
			ctx := &endsLater{Context: t.Context(), left: 20}
			_, _, err := query.NewEvaluation(ctx).Change(query.Change{Update: update}, nil, test.before)
			require.ErrorIs(t, err, boterr.Canceled)
		})
	}
}
