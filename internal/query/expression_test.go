package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// evaluate returns the value of an expression over a document, all in JSON; "missing"
// where there is none. The field of an error is a path in the expression.
func evaluate(t *testing.T, expression, doc string) (string, error) {
	t.Helper()
	source, ok := parse(t, `{"e":`+expression+`}`).Field("e")
	require.True(t, ok)
	value, ok, err := query.EvaluateExpression(source, parse(t, doc), now)
	if err != nil {
		return "", err
	}
	if !ok {
		return "missing", nil
	}
	text, err := document.AppendJSON(nil, value)
	require.NoError(t, err)
	return string(text), nil
}

// evaluation is an expression over the document of a table, and its value.
type evaluation struct{ expression, want string }

// requireValues evaluates the expressions of a table over a document.
func requireValues(t *testing.T, doc string, table []evaluation) {
	t.Helper()
	for _, test := range table {
		got, err := evaluate(t, test.expression, doc)
		require.NoError(t, err, test.expression)
		require.Equal(t, test.want, got, test.expression)
	}
}

// refusal is an expression over the document of a table, and the field of its error.
type refusal struct{ expression, field string }

// requireRefused evaluates the expressions of a table, all of which are InvalidArgument.
func requireRefused(t *testing.T, doc string, table []refusal) {
	t.Helper()
	for _, test := range table {
		got, err := evaluate(t, test.expression, doc)
		require.ErrorIs(t, err, boterr.InvalidArgument, "%s gives %s", test.expression, got)
		e, _ := boterr.AsError(err)
		require.Equal(t, test.field, e.Field, "%s: %v", test.expression, err)
	}
}

func TestExpression_PathsThroughArrays(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"a":{"b":[{"c":1},2,{"d":3},{"c":[4]},[{"c":5}]]},"l":[[{"c":6}],{"0":"zero"}],"n":null}`
	requireValues(t, doc, []evaluation{
		{`"$a.b.c"`, `[1,[4]]`},
		{`"$a.b.d"`, `[3]`},
		{`"$a.b.none"`, `[]`},
		{`"$a.none.c"`, `missing`},
		{`"$n.c"`, `missing`},
		{`"$l.c"`, `[]`},
		{`"$l.0"`, `["zero"]`},
		{`"$n"`, `null`},
		{`"$$ROOT._id"`, `1`},
		{`"$$CURRENT.a.b.d"`, `[3]`},
		{`"$$NOW"`, `"2023-11-14T22:13:20.000Z"`},
		{`"$$REMOVE"`, `missing`},
		{`"$$NOW.year"`, `missing`},
		{`["$n","$none",{"x":"$none","y":"$n"}]`, `[null,null,{"y":null}]`},
		{`{"$literal":"$a"}`, `"$a"`},
		{`{"$literal":{"$add":[1,2]}}`, `{"$add":[1,2]}`},
		{`{"$literal":{}}`, `{}`},
		{`"plain"`, `"plain"`},
		{`{"$eq":[{"a":{"b":1}},{"a":{"b":1}}]}`, `true`},
	})
}

func TestExpression_RefusesWithPlace(t *testing.T) {
	t.Parallel()
	requireRefused(t, `{"_id":1}`, []refusal{
		{`{"$frobnicate":1}`, "$frobnicate"},
		{`{"$add":[1,{"$frobnicate":1}]}`, "$add[1].$frobnicate"},
		{`{"$add":[1],"$subtract":[1,2]}`, "$add"},
		{`{"$add":[1],"x":2}`, "$add"},
		{`{"a":1,"$add":[1,2]}`, "$add"},
		{`[{"a.b":1}]`, "[0].a.b"},
		{`[{"":1}]`, "[0]"},
		{`"$"`, ""},
		{`"$a."`, ""},
		{`"$.a"`, ""},
		{`"$a.$b"`, ""},
		{`"$$"`, ""},
		{`"$$unknown"`, ""},
		{`"$$1"`, ""},
		{`"$$a-b"`, ""},
		{`"$$ROOT."`, ""},
		{`{"$abs":[1,2]}`, "$abs"},
		{`{"$abs":[]}`, "$abs"},
		{`{"$divide":[1]}`, "$divide"},
		{`{"$divide":4}`, "$divide"},
		{`{"$arrayElemAt":[[1],0,0]}`, "$arrayElemAt"},
		{`{"$slice":[[1],0,0,0]}`, "$slice"},
		{`{"$ifNull":[1]}`, "$ifNull"},
	})
}

func TestExpression_UnsupportedOperators(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ expression, field, text string }{
		{`{"$rand":{}}`, "$rand", "chance"},
		{`{"$function":{"body":"x"}}`, "$function", "JavaScript"},
		{`{"$accumulator":{}}`, "$accumulator", "JavaScript"},
		{`{"$where":"x"}`, "$where", "JavaScript"},
		{`{"$toDecimal":1}`, "$toDecimal", "$toDouble"},
		{`{"$cond":[true,{"$toObjectId":1},1]}`, "$cond[1].$toObjectId", "not supported"},
		{`"$$CLUSTER_TIME"`, "", "not supported"},
		{`{"$convert":{"input":1,"to":"decimal"}}`, "$convert.to", "not supported"},
	} {
		_, err := evaluate(t, test.expression, `{"_id":1}`)
		requireInvalid(t, err, test.field)
		require.ErrorContains(t, err, test.text)
	}
}

func TestExpression_ComparesAllTypes(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":5,"f":5.0,"s":"x","l":[1,2],"z":null}`
	requireValues(t, doc, []evaluation{
		{`{"$eq":["$n","$f"]}`, `true`},
		{`{"$eq":["$z","$none"]}`, `false`},
		{`{"$eq":["$none","$nothing"]}`, `true`},
		{`{"$ne":["$n",5]}`, `false`},
		{`{"$gt":["$z","$none"]}`, `true`},
		{`{"$gt":["$n","$z"]}`, `true`},
		{`{"$gt":["$s","$n"]}`, `true`},
		{`{"$lt":["$s",{}]}`, `true`},
		{`{"$lt":["$l",true]}`, `true`},
		{`{"$lt":[true,"$$NOW"]}`, `true`},
		{`{"$gte":["$l",[1,2]]}`, `true`},
		{`{"$lte":["$l",[1]]}`, `false`},
		{`{"$eq":["$l",1]}`, `false`},
		{`{"$cmp":["$n",4]}`, `1`},
		{`{"$cmp":["$n","5"]}`, `-1`},
		{`{"$cmp":["$none",null]}`, `-1`},
		{`{"$cmp":[1,1.0]}`, `0`},
	})
}

func TestExpression_Truth(t *testing.T) {
	t.Parallel()
	requireValues(t, `{"_id":1,"zero":0,"empty":"","list":[],"no":false,"null":null,"nan":0}`, []evaluation{
		{`{"$and":[]}`, `true`},
		{`{"$or":[]}`, `false`},
		{`{"$and":["$empty","$list",{}]}`, `true`},
		{`{"$and":[1,"$zero"]}`, `false`},
		{`{"$and":["$none"]}`, `false`},
		{`{"$or":["$zero","$no","$null","$none",0.0]}`, `false`},
		{`{"$or":["$zero","$empty"]}`, `true`},
		{`{"$and":"$zero"}`, `false`},
		{`{"$not":["$null"]}`, `true`},
		{`{"$not":"$list"}`, `false`},
		{`{"$not":[[false]]}`, `false`},
		{`{"$and":["$no",{"$divide":[1,"$zero"]}]}`, `false`},
		{`{"$or":[1,{"$divide":[1,"$zero"]}]}`, `true`},
	})
}

func TestExpression_LazyBranches(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":5,"zero":0,"z":null}`
	requireValues(t, doc, []evaluation{
		{`{"$cond":["$n","yes","no"]}`, `"yes"`},
		{`{"$cond":{"if":"$none","then":"yes","else":"no"}}`, `"no"`},
		{`{"$cond":["$zero",{"$divide":[1,"$zero"]},"$n"]}`, `5`},
		{`{"$cond":[true,"$none",1]}`, `missing`},
		{`{"$ifNull":["$z","$none","$n"]}`, `5`},
		{`{"$ifNull":["$z","$none"]}`, `missing`},
		{`{"$ifNull":["$none","$z"]}`, `null`},
		{`{"$ifNull":["$n",{"$divide":[1,"$zero"]}]}`, `5`},
		{`{"$switch":{"branches":[{"case":"$zero","then":1},{"case":{"$eq":["$n",5]},"then":"five"}]}}`, `"five"`},
		{`{"$switch":{"branches":[{"case":false,"then":1}],"default":"$n"}}`, `5`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$switch":{"branches":[{"case":"$zero","then":1}]}}`, "$switch"},
		{`{"$switch":{"branches":[]}}`, "$switch.branches"},
		{`{"$switch":{"branches":[{"case":1}]}}`, "$switch.branches[0].then"},
		{`{"$switch":{"branches":[1]}}`, "$switch.branches[0]"},
		{`{"$switch":{"branches":1}}`, "$switch.branches"},
		{`{"$switch":{"cases":1}}`, "$switch.cases"},
		{`{"$switch":1}`, "$switch"},
		{`{"$cond":[1,2]}`, "$cond"},
		{`{"$cond":{"if":1,"then":2}}`, "$cond.else"},
		{`{"$cond":{"if":1,"then":2,"else":3,"other":4}}`, "$cond.other"},
	})
}

func TestExpression_Variables(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":5,"list":[1,2,3],"o":[{"k":1},{"k":2}],"z":null}`
	requireValues(t, doc, []evaluation{
		{`{"$let":{"vars":{"a":"$n","b":2},"in":{"$multiply":["$$a","$$b"]}}}`, `10`},
		{`{"$let":{"vars":{"a":1},"in":{"$let":{"vars":{"a":2,"b":"$$a"},"in":["$$a","$$b"]}}}}`, `[2,1]`},
		{`{"$let":{"vars":{"a":{"$let":{"vars":{"x":7},"in":"$$x"}},"b":{"$let":{"vars":{"x":8},"in":"$$x"}}},"in":["$$a","$$b"]}}`, `[7,8]`},
		{`{"$let":{"vars":{"CURRENT":{"n":1}},"in":"$n"}}`, `1`},
		{`{"$let":{"vars":{"gone":"$none"},"in":"$$gone"}}`, `missing`},
		{`{"$let":{"vars":{"d":"$$ROOT"},"in":"$$d.o.k"}}`, `[1,2]`},
		{`{"$map":{"input":"$list","in":{"$add":["$$this","$n"]}}}`, `[6,7,8]`},
		{`{"$map":{"input":"$o","as":"item","in":"$$item.k"}}`, `[1,2]`},
		{`{"$map":{"input":"$list","in":"$none"}}`, `[null,null,null]`},
		{`{"$map":{"input":"$z","in":1}}`, `null`},
		{`{"$map":{"input":"$none","in":1}}`, `null`},
		{`{"$map":{"input":"$list","as":"x","in":{"$map":{"input":"$list","as":"y","in":{"$multiply":["$$x","$$y"]}}}}}`, `[[1,2,3],[2,4,6],[3,6,9]]`},
		{`{"$filter":{"input":"$list","cond":{"$gt":["$$this",1]}}}`, `[2,3]`},
		{`{"$filter":{"input":"$list","as":"x","cond":{"$gt":["$$x",0]},"limit":2}}`, `[1,2]`},
		{`{"$filter":{"input":"$list","cond":true,"limit":null}}`, `[1,2,3]`},
		{`{"$filter":{"input":"$z","cond":true}}`, `null`},
		{`{"$reduce":{"input":"$list","initialValue":0,"in":{"$add":["$$value","$$this"]}}}`, `6`},
		{`{"$reduce":{"input":[],"initialValue":"$n","in":1}}`, `5`},
		{`{"$reduce":{"input":"$z","initialValue":0,"in":1}}`, `null`},
		{`{"$reduce":{"input":"$list","initialValue":[],"in":{"$concatArrays":[["$$this"],"$$value"]}}}`, `[3,2,1]`},
		{`{"$reduce":{"input":{"$map":{"input":"$list","in":{"$add":["$$this",1]}}},"initialValue":0,"in":{"$max":["$$this","$$value"]}}}`, `4`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$let":{"vars":{"A":1},"in":1}}`, "$let.vars"},
		{`{"$let":{"vars":{"a-b":1},"in":1}}`, "$let.vars"},
		{`{"$let":{"vars":{"a":"$$b","b":1},"in":1}}`, "$let.vars.a"},
		{`{"$let":{"vars":1,"in":1}}`, "$let.vars"},
		{`{"$let":{"in":1}}`, "$let.vars"},
		{`{"$let":{"vars":{},"in":"$$a"}}`, "$let.in"},
		{`{"$map":{"input":"$list"}}`, "$map.in"},
		{`{"$map":{"input":"$n","in":1}}`, "$map"},
		{`{"$map":{"input":"$list","in":1,"over":2}}`, "$map.over"},
		{`{"$map":{"input":"$list","as":1,"in":1}}`, "$map.as"},
		{`{"$map":{"input":"$$this","in":1}}`, "$map.input"},
		{`{"$map":[1,2]}`, "$map"},
		{`{"$filter":{"input":"$list","cond":true,"limit":0}}`, "$filter"},
		{`{"$filter":{"input":"$list","cond":true,"limit":1.5}}`, "$filter"},
		{`{"$filter":{"input":1,"cond":true}}`, "$filter"},
		{`{"$reduce":{"input":"$list","in":1}}`, "$reduce.initialValue"},
		{`{"$reduce":{"input":"$$value","initialValue":0,"in":1}}`, "$reduce.input"},
		{`{"$reduce":{"input":{},"initialValue":0,"in":1}}`, "$reduce"},
	})
}
