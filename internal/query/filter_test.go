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

// newCall returns an evaluation for a single call.
func newCall(t *testing.T) *query.Evaluation {
	t.Helper()
	return query.NewEvaluation(t.Context())
}

// failure returns the error of a call whose result does not matter.
func failure[T any](_ T, err error) error { return err }

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
		requireMatch(t, filter, doc, want)
	}
}

func requireMatch(t *testing.T, filter, doc string, want bool) {
	t.Helper()
	compiled, err := query.CompileFilter(parse(t, filter))
	require.NoError(t, err, filter)
	require.Equal(t, want, compiled.Match(parse(t, doc)), filter)
}

func TestFilter_RefusesWithPath(t *testing.T) {
	t.Parallel()
	for filter, field := range map[string]string{
		`{"a":{"$foo":1}}`:             "a.$foo",
		`{"$foo":1}`:                   "$foo",
		`{"$where":"true"}`:            "$where",
		`{"$text":{"$search":"x"}}`:    "$text",
		`{"$or":[{"$jsonSchema":{}}]}`: "$or[0].$jsonSchema",
		`{"a":{"$function":{}}}`:       "a.$function",
		`{"$and":[]}`:                  "$and",
		`{"$or":{}}`:                   "$or",
		`{"$or":[1]}`:                  "$or[0]",
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
		`{"a":{"$size":3000000000}}`:                            "a.$size",
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
		requireInvalid(t, failure(query.CompileFilter(parse(t, filter))), field)
	}
}

func TestAnd_MatchesWhereAllDo(t *testing.T) {
	t.Parallel()
	a := query.Must(query.CompileFilter(document.O("a", 1)))
	b := query.Must(query.CompileFilter(document.O("b", 2)))
	both := query.And(a, nil, b)
	require.True(t, both.Match(document.O("a", 1, "b", 2)))
	require.False(t, both.Match(document.O("a", 1)))
	require.Nil(t, query.And(nil))
	require.True(t, query.And().Match(document.O()), "no filter matches everything")
	compiled := query.Must(query.CompileFilter(both.Source()))
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
		compiled := query.Must(query.CompileFilter(parse(t, filter)))
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

// TestIn_EqualToOneOf compares $in, which looks values up, with an $eq for each value.
func TestIn_EqualToOneOf(t *testing.T) {
	t.Parallel()
	values := []any{
		nil, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, 1.0, 1.5, int64(1) << 53, int64(1)<<53 + 1,
		float64(int64(1) << 53), math.MaxInt64, float64(math.MaxInt64), math.MinInt64, float64(math.MinInt64), "", "1", true, false,
		time.UnixMilli(1), time.UnixMilli(0), document.O(), document.O("a", 1), document.O("a", 1.0), document.A(), document.A(1),
	}
	for _, value := range values {
		for _, wanted := range values {
			eq := query.Must(query.CompileFilter(document.O("x", document.O("$eq", wanted))))
			in := query.Must(query.CompileFilter(document.O("x", document.O("$in", document.A("other", wanted, 77)))))
			doc := document.O("x", value)
			require.Equal(t, eq.Match(doc), in.Match(doc), "%v in %v", doc, in.Source())
		}
	}
	in := query.Must(query.CompileFilter(document.O("x", document.O("$in", document.A(1, nil)))))
	require.True(t, in.Match(document.O()))
}

func TestFilter_OfARecord(t *testing.T) {
	t.Parallel()
	values := []any{nil, int64(1), 1.0, 2.5, "a", true, document.A(1, "a"), document.A(document.A(1)), document.O("a", 1), document.A()}
	for _, asked := range []any{nil, int64(1), 2.5, "a", true} {
		for _, id := range []any{"x", int64(7)} {
			short := query.Must(query.CompileFilter(document.O("_id", id, "f", asked, "g", nil)))
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

func fieldSets() [][]query.FieldValue {
	return [][]query.FieldValue{
		{{Name: "app", Value: "a1"}},
		{{Name: "app", Value: "a1"}, {Name: "channel", Value: "c1"}},
		{{Name: "_id", Value: "m1"}, {Name: "app", Value: "a1"}},
		{{Name: "app", Value: "a1"}, {Name: "app", Value: "a2"}},
		{{Name: "app", Value: "a1"}, {Name: "0", Value: int64(1)}, {Name: "channel", Value: nil}},
	}
}

// recordsOfScopes returns documents with various values of the fields that scopes use, including arrays.
func recordsOfScopes() []document.Object {
	return []document.Object{
		document.O(),
		document.O("_id", "m1", "app", "a1", "channel", "c1", "age", 7),
		document.O("_id", "m2", "app", "a1", "channel", "c2", "age", 7),
		document.O("_id", "m3", "app", "a2", "channel", "c1"),
		document.O("_id", "m4", "app", document.A("a1", "a2"), "channel", document.A("c1"), "age", document.A(7, 8)),
		document.O("_id", "m5", "app", "a1", "0", 1),
		document.O("_id", "m1", "app", document.A("a1"), "age", 8),
	}
}

func documentOf(fields []query.FieldValue) document.Object {
	clauses := make([]any, 0, len(fields))
	for _, field := range fields {
		clauses = append(clauses, document.O(field.Name, field.Value))
	}
	return document.O("$and", document.A(clauses...))
}

func compiled(t *testing.T, source document.Object) *query.Filter {
	t.Helper()
	filter := query.Must(query.CompileFilter(source))
	return filter
}

func TestFieldsEqual_HasTheBoundsOfItsQueryDocument(t *testing.T) {
	t.Parallel()
	for _, fields := range fieldSets() {
		for _, path := range []string{"app", "channel", "_id", "0", "age"} {
			require.Equal(t, boundsOf(compiled(t, documentOf(fields)), path), boundsOf(query.FieldsEqual(fields...), path),
				"%v at %s", fields, path)
		}
	}
}

func boundsOf(filter *query.Filter, path string) []query.Bounds {
	var all []query.Bounds
	for condition := range filter.Conditions() {
		if bounds, ok := condition.Bounds(path); ok {
			all = append(all, bounds)
		}
	}
	return all
}

func TestFilterWhere_MatchesWhereBothDo(t *testing.T) {
	t.Parallel()
	sources := []document.Object{
		{},
		document.O(), document.O("_id", "m1"), document.O("_id", "m1", "age", 8), document.O("age", 7),
		document.O("age", document.O("$gt", 7)), document.O("app", "a1", "_id", document.O("$in", document.A("m1", "m2"))),
		document.O("$or", document.A(document.O("age", 7), document.O("channel", "c1"))),
	}
	for _, source := range sources {
		for _, fields := range fieldSets() {
			filter, narrow := (*query.Filter)(nil), compiled(t, documentOf(fields))
			atOnce := query.FieldsEqual(fields...)
			if !source.IsZero() {
				filter, atOnce = compiled(t, source), query.Must(query.CompileFilterWhere(source, fields...))
			}
			both := filter.Where(fields...)
			require.Equal(t, both.IsEquality(), atOnce.IsEquality(), "%v where %v", source, fields)
			twice := both.Where(query.FieldValue{Name: "app", Value: "a1"})
			again := compiled(t, both.Source())
			for _, record := range recordsOfScopes() {
				want := filter.Match(record) && narrow.Match(record)
				require.Equal(t, want, both.Match(record), "%v where %v of %v", source, fields, record)
				require.Equal(t, want, again.Match(record), "the source of %v where %v of %v", source, fields, record)
				require.Equal(t, want, atOnce.Match(record), "%v where %v of %v, compiled at once", source, fields, record)
				require.Equal(t, want, twice.Match(record), "%v where %v, twice, of %v", source, fields, record)
			}
		}
	}
}

func TestFilterWhere_NamesTheRecordThatEitherNames(t *testing.T) {
	t.Parallel()
	id := query.FieldValue{Name: "_id", Value: "m1"}
	app := query.FieldValue{Name: "app", Value: "a1"}
	for name, filter := range map[string]*query.Filter{
		"the filter": compiled(t, document.O("_id", "m1")).Where(app),
		"a field":    compiled(t, document.O("age", 7)).Where(id, app),
		"no filter":  (*query.Filter)(nil).Where(app, id),
	} {
		named, ok := filter.Equality("_id")
		require.True(t, ok, name)
		require.Equal(t, "m1", named, name)
	}
	require.Nil(t, (*query.Filter)(nil).Where())
}

func TestFilter_FieldCountOfScalarsAlone(t *testing.T) {
	t.Parallel()
	app, name := query.FieldValue{Name: "app", Value: "a"}, query.FieldValue{Name: "name", Value: "b"}
	require.Zero(t, (*query.Filter)(nil).FieldCount())
	require.Equal(t, 2, query.FieldsEqual(app, name).FieldCount())
	require.Equal(t, 1, query.FieldsEqual(app).FieldCount())
	require.Equal(t, 1, compiled(t, document.O("app", "a")).FieldCount())
	require.True(t, compiled(t, document.O("_id", "a")).IsEquality())
	require.Zero(t, compiled(t, document.O("app", document.O("name", "a"))).FieldCount(), "an object")
	require.Zero(t, compiled(t, document.O("app.name", "a")).FieldCount(), "a path")
	require.Zero(t, compiled(t, document.O("app", document.A("a"))).FieldCount(), "an array")
	larger := query.Must(query.CompileFilter(document.O("n", document.O("$gt", 1))))
	require.Zero(t, larger.FieldCount())
	require.Zero(t, larger.Where(app, name).FieldCount())
	require.Zero(t, compiled(t, document.O("app", "a", "n", document.O("$gt", 1))).FieldCount(), "a further condition")
}

func TestBitsFilter_Operators(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		filter  string
		matches []string
		others  []string
	}{
		{
			`{"$bitsAllSet":5}`,
			[]string{`5`, `7`, `-1`, `5.0`, `[1,13]`, `[[],5]`},
			[]string{`4`, `1`, `0`, `5.5`, `"5"`, `null`, `true`, `{"a":5}`, `[1,4]`, `1e19`, `-1e19`},
		},
		{`{"$bitsAllSet":[0,2]}`, []string{`5`, `7.0`}, []string{`4`, `1`}},
		{`{"$bitsAllSet":[0.0,2.0]}`, []string{`5`}, []string{`4`}},
		{`{"$bitsAllSet":[]}`, []string{`0`, `7`}, []string{`"x"`, `1.5`}},
		{`{"$bitsAllSet":0}`, []string{`0`, `-7`}, []string{`null`}},
		{`{"$bitsAllSet":[63]}`, []string{`-1`, `-9223372036854775808`}, []string{`9223372036854775807`}},
		{`{"$bitsAllSet":[1,200]}`, []string{`-1`, `-2`}, []string{`2`, `-3`}},
		{`{"$bitsAllSet":4294967296}`, []string{`4294967296`, `4294967296.0`}, []string{`1`}},
		{`{"$bitsAllClear":5}`, []string{`0`, `2`, `-6`, `[5,2]`}, []string{`4`, `1`, `-1`, `"0"`}},
		{`{"$bitsAllClear":[70]}`, []string{`0`, `9223372036854775807`}, []string{`-1`}},
		{`{"$bitsAllClear":[]}`, []string{`3`}, []string{`null`}},
		{`{"$bitsAnySet":5}`, []string{`4`, `1`, `-4`, `-1`}, []string{`2`, `0`, `10`}},
		{`{"$bitsAnySet":[]}`, nil, []string{`0`, `-1`}},
		{`{"$bitsAnyClear":[0,2]}`, []string{`4`, `0`, `-2`}, []string{`5`, `-1`}},
		{`{"$bitsAnyClear":0}`, nil, []string{`0`, `-1`}},
		{`{"$not":{"$bitsAllSet":1}}`, []string{`2`, `"x"`, `null`, `[2]`}, []string{`1`, `[2,1]`}},
		{`{"$elemMatch":{"$bitsAllSet":1,"$bitsAllClear":2}}`, []string{`[3,1]`}, []string{`1`, `[3,2]`}},
	} {
		compiled, err := query.CompileFilter(parse(t, `{"a":`+test.filter+`}`))
		require.NoError(t, err, test.filter)
		for _, value := range test.matches {
			require.True(t, compiled.Match(parse(t, `{"a":`+value+`}`)), "%s of %s", test.filter, value)
		}
		for _, value := range test.others {
			require.False(t, compiled.Match(parse(t, `{"a":`+value+`}`)), "%s of %s", test.filter, value)
		}
		require.Equal(t, test.filter[2:5] == "$no", compiled.Match(document.O("b", 1)), "%s of a missing field", test.filter)
	}
}

func TestBitsFilter_BadOperands(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear"} {
		for operand, field := range map[string]string{
			`-1`: "", `1.5`: "", `"1"`: "", `null`: "", `true`: "", `{"a":1}`: "", `1e19`: "",
			`[-1]`: "[0]", `[0,1.5]`: "[1]", `["1"]`: "[0]", `[null]`: "[0]", `[2147483648]`: "[0]", `[[1]]`: "[0]",
		} {
			requireInvalid(t, failure(query.CompileFilter(parse(t, `{"a":{"`+operator+`":`+operand+`}}`))), "a."+operator+field)
		}
	}
}

// TestSelect_WhatMatches compares Select with a call of Match for each document.
func TestSelect_WhatMatches(t *testing.T) {
	t.Parallel()
	var documents []document.Object
	for _, text := range []string{
		`{}`, `{"a":1}`, `{"a":"x"}`, `{"a":null}`, `{"a":[1,"x"]}`, `{"a":[]}`, `{"a":{"b":1}}`, `{"a":{"b":[1,2]}}`,
		`{"a":[{"b":1},{"b":"x"}]}`, `{"a":[[1]]}`, `{"a":0,"n":0}`, `{"a":0.5,"n":2}`,
	} {
		documents = append(documents, parse(t, text))
	}
	const among = 0b1011_1111_1111 // all but one
	for _, filter := range []string{
		`{}`, `{"a":1}`, `{"a":"x"}`, `{"a":null}`, `{"a":[1]}`, `{"a":{"$gt":0}}`, `{"a":{"$ne":"x"}}`, `{"a.b":1}`, `{"a.b":"x"}`,
		`{"a.b":null}`, `{"a.0":1}`, `{"a":{"$size":0}}`, `{"a":{"$exists":true}}`, `{"a":{"$elemMatch":{"b":1}}}`,
		`{"$or":[{"a":1},{"a.b":"x"}]}`, `{"$nor":[{"a":1},{"a":"x"}]}`, `{"a":{"$type":"array"},"a.b":{"$exists":false}}`,
		`{"$expr":{"$gt":[{"$divide":[1,"$n"]},0]}}`, `{"$nor":[{"$expr":{"$gt":[{"$divide":[1,"$n"]},0]}}]}`,
	} {
		f := query.Must(query.CompileFilter(parse(t, filter)))
		var want uint32
		var failure error
		for i, o := range documents {
			if among&(1<<i) == 0 || failure != nil {
				continue
			}
			var matched bool
			if matched, failure = f.Check(o); matched {
				want |= 1 << i
			}
		}
		got, err := newCall(t).Select(f, documents, among)
		require.Equal(t, failure, err, filter)
		require.Equal(t, want, got, filter)
	}
	all, err := newCall(t).Select(nil, documents, among)
	require.NoError(t, err)
	require.EqualValues(t, among, all)
}

// TestSelect_NumbersAtTheEdgesOfAnOrder compares Select with the order of values for numbers at which integers and
// doubles differ: the largest numbers, zero, and numbers next to zero. NaN is neither greater nor less than any
// number.
func TestSelect_NumbersAtTheEdgesOfAnOrder(t *testing.T) {
	t.Parallel()
	const exact = int64(document.MaxExact)
	numbers := []any{
		math.Inf(-1), -math.MaxFloat64, int64(math.MinInt64), -exact - 1, -exact, -exact + 1, float64(-exact), int64(-1),
		math.Nextafter(0, -1), math.Copysign(0, -1), int64(0), 0.0, math.Nextafter(0, 1), 0.5, int64(1), 1.0, math.Nextafter(1, 2),
		exact - 1, exact, exact + 1, float64(exact), int64(math.MaxInt64), math.MaxFloat64, math.Inf(1), math.NaN(),
	}
	documents := make([]document.Object, len(numbers))
	for i, number := range numbers {
		documents[i] = document.O("a", number)
	}
	isMeant := map[string]func(order int) bool{
		"$lt":  func(order int) bool { return order < 0 },
		"$lte": func(order int) bool { return order <= 0 },
		"$gt":  func(order int) bool { return order > 0 },
		"$gte": func(order int) bool { return order >= 0 },
	}
	for operator, isMeant := range isMeant {
		for _, operand := range numbers {
			f := query.Must(query.CompileFilter(document.O("a", document.O(operator, operand))))
			got, err := newCall(t).Select(f, documents, 1<<len(documents)-1)
			require.NoError(t, err)
			for i, number := range numbers {
				want := isNaN(number) == isNaN(operand) && isMeant(document.Compare(number, operand))
				require.Equal(t, want, got&(1<<i) != 0, "%v %s %v", number, operator, operand)
				require.Equal(t, want, f.Match(documents[i]), "%v %s %v, alone", number, operator, operand)
			}
		}
	}
}

func isNaN(value any) bool {
	number, ok := value.(float64)
	return ok && math.IsNaN(number)
}

func TestFilter_ListsThatAreNil(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"$in", "$nin", "$all"} {
		_, err := query.CompileFilter(document.O("a", document.O(operator, []string(nil))))
		requireInvalid(t, err, "a."+operator)
		require.ErrorContains(t, err, "a nil slice is null; give an empty one")
	}
}
