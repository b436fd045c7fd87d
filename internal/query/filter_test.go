package query_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// parse reads an object from JSON.
func parse(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, o.UnmarshalJSON([]byte(text)), text)
	return o
}

// requireInvalid asserts an InvalidArgument for a field.
func requireInvalid(t *testing.T, err error, field string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	found, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, found.Field, "%v", err)
}

func TestFilter(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":5,"f":2.5,"s":"Café","null":null,"o":{"a":1,"b":[1,2]},"list":[3,"x",[7,8]],
		"items":[{"sku":"A","qty":2},{"sku":"B","qty":9},{"tags":["t"]}],"empty":[],"t":true,"deep":[5,[2,4]]}`
	for filter, want := range map[string]bool{
		`{}`:                                  true,
		`{"n":5.0}`:                           true,
		`{"n":"5"}`:                           false,
		`{"missing":null}`:                    true,
		`{"n":null}`:                          false,
		`{"n":{"$gte":5,"$lt":6}}`:            true,
		`{"s":{"$gt":1}}`:                     false,
		`{"null":{"$gte":null}}`:              true,
		`{"missing":{"$lte":null}}`:           true,
		`{"missing":{"$ne":1}}`:               true,
		`{"o":{"a":1,"b":[1,2]}}`:             true,
		`{"o":{"b":[1,2],"a":1}}`:             false,
		`{"o.b":2}`:                           true,
		`{"o.b.1":2}`:                         true,
		`{"o.b.0":2}`:                         false,
		`{"deep.1":4}`:                        false,
		`{"deep.1":[2,4]}`:                    true,
		`{"deep.1":{"$gt":1}}`:                false,
		`{"deep.1":{"$size":2}}`:              true,
		`{"deep.1":{"$type":"number"}}`:       false,
		`{"deep.1":{"$elemMatch":{"$eq":4}}}`: true,
		`{"deep.1.1":4}`:                      true,
		`{"list":[7,8]}`:                      true,
		`{"list":7}`:                          false,
		`{"items.sku":"B"}`:                   true,
		`{"items.0.sku":"B"}`:                 false,
		`{"items.qty":{"$gt":2,"$lt":9}}`:     true,
		`{"items":{"$elemMatch":{"qty":{"$gt":2,"$lt":9}}}}`:   false,
		`{"items":{"$elemMatch":{"sku":"B","qty":{"$gt":5}}}}`: true,
		`{"o.b":{"$elemMatch":{"$gt":1,"$lt":3}}}`:             true,
		`{"list":{"$elemMatch":{"$not":{"$gt":100}}}}`:         true,
		`{"n":{"$in":[1,5]}}`:                                  true,
		`{"s":{"$in":["a","b"]}}`:                              false,
		`{"missing":{"$in":[null]}}`:                           true,
		`{"n":{"$nin":[5]}}`:                                   false,
		`{"list":{"$nin":[3]}}`:                                false,
		`{"items.tags":{"$exists":true}}`:                      true,
		`{"empty.a":{"$exists":true}}`:                         false,
		`{"null":{"$exists":true}}`:                            true,
		`{"s":{"$regex":"^caf","$options":"i"}}`:               true,
		`{"s":{"$not":{"$regex":"x"}}}`:                        true,
		`{"list":{"$size":3}}`:                                 true,
		`{"n":{"$size":1}}`:                                    false,
		`{"list":{"$all":["x",3]}}`:                            true,
		`{"list":{"$all":[]}}`:                                 false,
		`{"items":{"$all":[{"$elemMatch":{"sku":"A"}},{"$elemMatch":{"sku":"B"}}]}}`: true,
		`{"n":{"$not":{"$gt":5}}}`:            true,
		`{"n":{"$mod":[2,1]}}`:                true,
		`{"n":{"$type":"int"}}`:               true,
		`{"f":{"$type":["string","double"]}}`: true,
		`{"list":{"$type":"array"}}`:          true,
		`{"$or":[{"n":1},{"f":2.5}]}`:         true,
		`{"$nor":[{"n":1},{"f":2.5}]}`:        false,
		`{"$and":[{"n":5},{"$or":[{"t":false},{"t":true}]}],"$comment":"why"}`: true,
	} {
		compiled, err := query.CompileFilter(parse(t, filter))
		require.NoError(t, err, filter)
		require.Equal(t, want, compiled.Match(parse(t, doc)), filter)
	}
}

func TestFilter_RefusesWithPath(t *testing.T) {
	t.Parallel()
	for filter, field := range map[string]string{
		`{"a":{"$foo":1}}`:       "a.$foo",
		`{"$foo":1}`:             "$foo",
		`{"a":{"$function":{}}}`: "a.$function",
		`{"$and":[]}`:            "$and",
		`{"$or":{}}`:             "$or",
		`{"$or":[1]}`:            "$or[0]",
		`{"$or":[{"b":1},{"a":{"$gt":1,"$bar":2}}]}`: "$or[1].a.$bar",
		`{"a":{"$in":1}}`:                                       "a.$in",
		`{"a":{"$in":[{"$gt":1}]}}`:                             "a.$in[0]",
		`{"a":{"$in":[1,{"$regex":"("}]}}`:                      "a.$in[1].$regex",
		`{"a":{"$nin":[{"$regex":"x","$options":"z"}]}}`:        "a.$nin[0].$regex",
		`{"a":{"$in":[{"$regex":1}]}}`:                          "a.$in[0].$regex",
		`{"a":{"$in":[{"$options":"i"}]}}`:                      "a.$in[0]",
		`{"a":{"$in":[{"$regex":"x","b":1}]}}`:                  "a.$in[0]",
		`{"a":{"$all":["x",{"$regex":"("}]}}`:                   "a.$all[1].$regex",
		`{"a":{"$all":[{"$regex":"x","$size":1}]}}`:             "a.$all[0]",
		`{"a":{"$all":[{"$regex":"x"},{"$elemMatch":{}}]}}`:     "a.$all[1]",
		`{"a":{"$all":[{"$elemMatch":{}},{"$regex":"x"}]}}`:     "a.$all[1]",
		`{"a":{"$gt":1,"b":2}}`:                                 "a.b",
		`{"a":{"$size":-1}}`:                                    "a.$size",
		`{"a":{"$size":1.5}}`:                                   "a.$size",
		`{"a":{"$size":"1"}}`:                                   "a.$size",
		`{"a":{"$all":1}}`:                                      "a.$all",
		`{"a":{"$all":[1,{"$elemMatch":{}}]}}`:                  "a.$all[1]",
		`{"a":{"$elemMatch":1}}`:                                "a.$elemMatch",
		`{"a":{"$elemMatch":{"b":{"$x":1}}}}`:                   "a.$elemMatch.b.$x",
		`{"a":{"$not":1}}`:                                      "a.$not",
		`{"a":{"$not":{}}}`:                                     "a.$not",
		`{"a":{"$regex":1}}`:                                    "a.$regex",
		`{"a":{"$regex":"("}}`:                                  "a.$regex",
		`{"a":{"$regex":"x","$options":"z"}}`:                   "a.$regex",
		`{"a":{"$options":"i"}}`:                                "a.$options",
		`{"a":{"$mod":[0,1]}}`:                                  "a.$mod",
		`{"a":{"$mod":[2]}}`:                                    "a.$mod",
		`{"a":{"$type":"text"}}`:                                "a.$type[0]",
		`{"a":{"$type":99}}`:                                    "a.$type[0]",
		`{"a":{"$regex":"` + strings.Repeat("x", 40000) + `"}}`: "a.$regex",
	} {
		_, err := query.CompileFilter(parse(t, filter))
		requireInvalid(t, err, field)
	}
}

func TestAnd_MatchesWhereAllDo(t *testing.T) {
	t.Parallel()
	a, err := query.CompileFilter(document.O("a", 1))
	require.NoError(t, err)
	b, err := query.CompileFilter(document.O("b", 2))
	require.NoError(t, err)
	both := query.And(a, nil, b)
	require.True(t, both.Match(document.O("a", 1, "b", 2)))
	require.False(t, both.Match(document.O("a", 1)))
	require.Nil(t, query.And(nil))
	require.True(t, query.And().Match(document.O()), "no filter matches everything")
	compiled, err := query.CompileFilter(both.Source())
	require.NoError(t, err)
	require.False(t, compiled.Match(document.O("b", 2)))
	for path, want := range map[string]any{"a": int64(1), "b": int64(2)} {
		value, ok := both.Equality(path)
		require.True(t, ok)
		require.Equal(t, want, value)
	}
}

func TestFilter_Equality(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]any{
		`{"a":1}`:                       int64(1),
		`{"a":{"$eq":"x"}}`:             "x",
		`{"$and":[{"b":1},{"a":true}]}`: true,
		`{"$or":[{"a":2}]}`:             int64(2),
		`{"a":{"$in":[3]}}`:             int64(3),
		`{"a":{"$in":[3,4]}}`:           nil,
		`{"a":{"$gt":1}}`:               nil,
		`{"$or":[{"a":2},{"b":1}]}`:     nil,
		`{"$nor":[{"a":2}]}`:            nil,
		`{"a":{"$not":{"$eq":2}}}`:      nil,
		`{"a":null}`:                    nil,
		`{"a":[1]}`:                     nil,
	} {
		compiled, err := query.CompileFilter(parse(t, filter))
		require.NoError(t, err)
		value, ok := compiled.Equality("a")
		require.Equal(t, want, value, filter)
		require.Equal(t, want != nil, ok, filter)
	}
}

func TestValues_ExpandArrays(t *testing.T) {
	t.Parallel()
	doc := parse(t, `{"a":[{"b":[1,2]},{"b":3},{"c":4}],"x":null}`)
	require.Equal(t, []any{int64(1), int64(2), int64(3)}, query.Values(doc, "a.b"))
	require.Equal(t, []any{nil}, query.Values(doc, "x"))
	require.Empty(t, query.Values(doc, "none"))
}

// TestIn_EqualToOneOf compares $in, which looks values up, with $eq for each.
func TestIn_EqualToOneOf(t *testing.T) {
	t.Parallel()
	values := []any{
		nil, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, 1.0, 1.5, int64(1) << 53, int64(1)<<53 + 1,
		float64(int64(1) << 53), math.MaxInt64, float64(math.MaxInt64), math.MinInt64, float64(math.MinInt64), "", "1", true, false,
		time.UnixMilli(1), time.UnixMilli(0), document.O(), document.O("a", 1), document.O("a", 1.0), document.A(), document.A(1),
	}
	for _, value := range values {
		for _, wanted := range values {
			eq, err := query.CompileFilter(document.O("x", document.O("$eq", wanted)))
			require.NoError(t, err)
			in, err := query.CompileFilter(document.O("x", document.O("$in", document.A("other", wanted, 77))))
			require.NoError(t, err)
			doc := document.O("x", value)
			require.Equal(t, eq.Match(doc), in.Match(doc), "%v in %v", doc, in.Source())
		}
	}
	in, err := query.CompileFilter(document.O("x", document.O("$in", document.A(1, nil))))
	require.NoError(t, err)
	require.True(t, in.Match(document.O()))
}

func TestFilter_OfARecord(t *testing.T) {
	t.Parallel()
	values := []any{nil, int64(1), 1.0, 2.5, "a", true, document.A(1, "a"), document.A(document.A(1)), document.O("a", 1), document.A()}
	for _, asked := range []any{nil, int64(1), 2.5, "a", true} {
		for _, id := range []any{"x", int64(7)} {
			short, err := query.CompileFilter(document.O("_id", id, "f", asked, "g", nil))
			require.NoError(t, err)
			long, err := query.CompileFilter(document.O("$and", document.A(
				document.O("_id", document.O("$eq", id)), document.O("f", document.O("$eq", asked)), document.O("g", document.O("$eq", nil)),
			)))
			require.NoError(t, err)
			for _, value := range values {
				for _, o := range []document.Object{
					document.O("_id", "x", "f", value), document.O("_id", 7.0, "f", value),
					document.O("_id", "x", "f", value, "g", value), document.O("_id", "x", "g", document.A(nil)), document.O("_id", "x"),
				} {
					require.Equal(t, long.Match(o), short.Match(o), "%v of %v", short.Source(), o)
				}
			}
			got, ok := short.Equality("_id")
			require.True(t, ok)
			require.Equal(t, id, got)
			require.False(t, short.IsEquality())
		}
	}
}
