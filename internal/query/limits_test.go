package query_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func TestPath_TooManyParts(t *testing.T) {
	t.Parallel()
	path := strings.Repeat("a.", 3_000_000) + "b"
	_, err := query.CompileFilter(document.O(path, 1))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = query.CompileUpdate(document.Set(path, 1))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = query.CompileSort(document.O(path, 1))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = query.CompileGeoNear(document.O("near", document.A(0, 0), "distanceField", path))
	require.ErrorIs(t, err, boterr.InvalidArgument)
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
	filter, err := query.CompileFilter(document.O("a"+strings.Repeat(".0", 60), 7))
	require.NoError(t, err)
	require.False(t, filter.Match(document.O("a", nested)))
}

func TestPattern_RepeatsMuch(t *testing.T) {
	t.Parallel()
	filter, err := query.CompileFilter(document.O("a", document.O("$regex", strings.Repeat(".{0,100}", 20)+"Z")))
	require.NoError(t, err)
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
	update, err := query.CompileUpdate(document.Set(pairs...))
	require.NoError(t, err)
	after, modified, err := query.Change{Update: update}.Apply(nil, document.O("_id", 1))
	require.NoError(t, err)
	require.True(t, modified)
	require.Equal(t, 20_001, after.Len())
	update, err = query.CompileUpdate(document.Unset(unset...))
	require.NoError(t, err)
	emptied, _, err := query.Change{Update: update}.Apply(nil, after)
	require.NoError(t, err)
	require.Equal(t, `{"_id":1}`, emptied.String())
	compiled, err := query.CompileFilter(document.O(pairs...))
	require.NoError(t, err)
	update, err = query.CompileUpdate(document.Set("x", 1))
	require.NoError(t, err)
	inserted, err := query.Change{Update: update}.Insert(compiled)
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

// Of several conditions on arrays one leaves the position, whatever their order.
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

func TestUpdate_NumberOutOfRange(t *testing.T) {
	t.Parallel()
	_, _, err := apply(t, `{"_id":1,"a":1e308}`, `{}`, `{"$mul":{"a":10.0}}`)
	requireInvalid(t, err, "update.a")
}

func TestUpdate_NumberEqualToID(t *testing.T) {
	t.Parallel()
	after, modified, err := apply(t, `{"_id":1,"a":1}`, `{}`, `{"_id":1.0,"a":1}`)
	require.NoError(t, err)
	require.False(t, modified)
	require.Equal(t, `{"_id":1,"a":1}`, after)
}

func TestZeroValues_DoNotPanic(t *testing.T) {
	t.Parallel()
	require.True(t, (&query.Filter{}).Match(document.O("a", 1)))
	_, _, err := query.Change{}.Apply(nil, document.O("a", 1))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = query.Change{}.Insert(nil)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestFilter_PatternsCountTogether(t *testing.T) {
	t.Parallel()
	var clauses []any
	for range 100 {
		clauses = append(clauses, document.O("a", document.O("$regex", "(a?){990}")))
	}
	_, err := query.CompileFilter(document.O("$or", document.A(clauses...)))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = query.CompileFilter(document.O("$or", document.A(clauses[:10]...)))
	require.NoError(t, err)
}

func TestCompiler_CountedRepetitions(t *testing.T) {
	t.Parallel()
	var c query.Compiler
	source := document.O("a", document.O("$regex", "(a?){990}"))
	first, err := c.Filter(source)
	require.NoError(t, err)
	again, err := c.Filter(source)
	require.NoError(t, err)
	require.NotSame(t, first, again)
}
