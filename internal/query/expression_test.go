package query_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// evaluate returns the value of an expression on a document, all in JSON, or "missing". The field of an error is a
// path in the expression.
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

// evaluation is an expression and its value on a table's document.
type evaluation struct{ expression, want string }

// requireValues evaluates the expressions of a table on a document.
func requireValues(t *testing.T, doc string, table []evaluation) {
	t.Helper()
	for _, test := range table {
		got, err := evaluate(t, test.expression, doc)
		require.NoError(t, err, test.expression)
		require.Equal(t, test.want, got, test.expression)
	}
}

// refusal is an expression and the field of its error on a table's document.
type refusal struct{ expression, field string }

// requireRefused evaluates the expressions of a table and requires InvalidArgument for each.
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
		{`{"$filter":{"input":"$list","cond":true,"limit":3000000000}}`, "$filter"},
		{`{"$filter":{"input":1,"cond":true}}`, "$filter"},
		{`{"$reduce":{"input":"$list","in":1}}`, "$reduce.initialValue"},
		{`{"$reduce":{"input":"$$value","initialValue":0,"in":1}}`, "$reduce.input"},
		{`{"$reduce":{"input":{},"initialValue":0,"in":1}}`, "$reduce"},
	})
}

func TestExpression_ArrayOperators(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"l":[1,2,3,4],"e":[],"z":null,"n":2,"o":{"a":1},"m":[3,null,"x",1.5,[0]],"d":[{"a":2,"b":1},{"a":1},{"a":2,"b":0}]}`
	requireValues(t, doc, []evaluation{
		{`{"$arrayElemAt":["$l",1]}`, `2`},
		{`{"$arrayElemAt":["$l",-1]}`, `4`},
		{`{"$arrayElemAt":["$l",2.0]}`, `3`},
		{`{"$arrayElemAt":["$l",4]}`, `missing`},
		{`{"$arrayElemAt":["$l",-5]}`, `missing`},
		{`{"$arrayElemAt":["$z",0]}`, `null`},
		{`{"$arrayElemAt":["$l","$none"]}`, `null`},
		{`{"$first":"$l"}`, `1`},
		{`{"$last":"$l"}`, `4`},
		{`{"$first":"$e"}`, `missing`},
		{`{"$last":"$z"}`, `null`},
		{`{"$firstN":{"n":2,"input":"$l"}}`, `[1,2]`},
		{`{"$lastN":{"n":"$n","input":"$l"}}`, `[3,4]`},
		{`{"$lastN":{"n":9,"input":"$l"}}`, `[1,2,3,4]`},
		{`{"$maxN":{"n":2,"input":"$m"}}`, `[[0],"x"]`},
		{`{"$minN":{"n":2,"input":"$m"}}`, `[1.5,3]`},
		{`{"$concatArrays":["$l","$e",[5]]}`, `[1,2,3,4,5]`},
		{`{"$concatArrays":[]}`, `[]`},
		{`{"$concatArrays":["$l","$z","x"]}`, `null`},
		{`{"$in":["$n","$l"]}`, `true`},
		{`{"$in":[2.0,"$l"]}`, `true`},
		{`{"$in":["$z","$l"]}`, `false`},
		{`{"$in":["$z","$m"]}`, `true`},
		{`{"$in":[[0],"$m"]}`, `true`},
		{`{"$indexOfArray":["$l",3]}`, `2`},
		{`{"$indexOfArray":["$l",3,3]}`, `-1`},
		{`{"$indexOfArray":["$l",3,0,2]}`, `-1`},
		{`{"$indexOfArray":["$l",1,9]}`, `-1`},
		{`{"$indexOfArray":["$z",1]}`, `null`},
		{`{"$isArray":"$l"}`, `true`},
		{`{"$isArray":["$n"]}`, `false`},
		{`{"$isArray":[["$n"]]}`, `true`},
		{`{"$size":"$l"}`, `4`},
		{`{"$size":[[]]}`, `0`},
		{`{"$range":[0,5]}`, `[0,1,2,3,4]`},
		{`{"$range":[0,5,2]}`, `[0,2,4]`},
		{`{"$range":[5,0,-2]}`, `[5,3,1]`},
		{`{"$range":[0,5,-1]}`, `[]`},
		{`{"$range":[0,6,3]}`, `[0,3]`},
		{`{"$reverseArray":"$l"}`, `[4,3,2,1]`},
		{`{"$reverseArray":"$z"}`, `null`},
		{`{"$slice":["$l",2]}`, `[1,2]`},
		{`{"$slice":["$l",-3]}`, `[2,3,4]`},
		{`{"$slice":["$l",0]}`, `[]`},
		{`{"$slice":["$l",1,2]}`, `[2,3]`},
		{`{"$slice":["$l",-2,9]}`, `[3,4]`},
		{`{"$slice":["$l",-9,1]}`, `[1]`},
		{`{"$slice":["$l",9,1]}`, `[]`},
		{`{"$slice":["$z",1]}`, `null`},
		{`{"$slice":["$l","$none"]}`, `null`},
		{`{"$sortArray":{"input":"$m","sortBy":1}}`, `[null,1.5,3,"x",[0]]`},
		{`{"$sortArray":{"input":"$l","sortBy":-1}}`, `[4,3,2,1]`},
		{`{"$sortArray":{"input":"$d","sortBy":{"a":1,"b":1}}}`, `[{"a":1},{"a":2,"b":0},{"a":2,"b":1}]`},
		{`{"$sortArray":{"input":"$z","sortBy":1}}`, `null`},
		{`{"$zip":{"inputs":["$l",["a","b"]]}}`, `[[1,"a"],[2,"b"]]`},
		{`{"$zip":{"inputs":["$l",["a"]],"useLongestLength":true}}`, `[[1,"a"],[2,null],[3,null],[4,null]]`},
		{`{"$zip":{"inputs":[[1,2],["a"]],"useLongestLength":true,"defaults":[0,"-"]}}`, `[[1,"a"],[2,"-"]]`},
		{`{"$zip":{"inputs":["$l","$z"]}}`, `null`},
		{`{"$zip":{"inputs":["$l",[]]}}`, `[]`},
	})
}

func TestExpression_ArrayOperatorsRefuse(t *testing.T) {
	t.Parallel()
	requireRefused(t, `{"_id":1,"l":[1,2,3,4],"z":null,"n":2}`, []refusal{
		{`{"$arrayElemAt":["$n",0]}`, "$arrayElemAt"},
		{`{"$arrayElemAt":["$l","0"]}`, "$arrayElemAt"},
		{`{"$arrayElemAt":["$l",0.5]}`, "$arrayElemAt"},
		{`{"$arrayElemAt":["$l",3000000000]}`, "$arrayElemAt"},
		{`{"$first":"$n"}`, "$first"},
		{`{"$firstN":{"n":0,"input":"$l"}}`, "$firstN.n"},
		{`{"$lastN":{"n":1.5,"input":"$l"}}`, "$lastN.n"},
		{`{"$maxN":{"n":1,"input":"$z"}}`, "$maxN.input"},
		{`{"$minN":{"input":"$l"}}`, "$minN.n"},
		{`{"$concatArrays":["$n","$z"]}`, "$concatArrays"},
		{`{"$in":[1,"$none"]}`, "$in"},
		{`{"$in":[1,"$n"]}`, "$in"},
		{`{"$indexOfArray":["$n",1]}`, "$indexOfArray"},
		{`{"$indexOfArray":["$l",1,-1]}`, "$indexOfArray"},
		{`{"$indexOfArray":["$l",1,"$z"]}`, "$indexOfArray"},
		{`{"$size":"$z"}`, "$size"},
		{`{"$size":"$none"}`, "$size"},
		{`{"$range":[0,5,0]}`, "$range"},
		{`{"$range":["$z",5]}`, "$range"},
		{`{"$range":[0,3000000000]}`, "$range"},
		{`{"$range":[0,1.5]}`, "$range"},
		{`{"$range":[0]}`, "$range"},
		{`{"$reverseArray":"$n"}`, "$reverseArray"},
		{`{"$slice":["$n",1]}`, "$slice"},
		{`{"$slice":["$l",1,0]}`, "$slice"},
		{`{"$slice":["$l","1"]}`, "$slice"},
		{`{"$sortArray":{"input":"$n","sortBy":1}}`, "$sortArray"},
		{`{"$sortArray":{"input":"$l","sortBy":2}}`, "$sortArray.sortBy"},
		{`{"$sortArray":{"input":"$l"}}`, "$sortArray.sortBy"},
		{`{"$zip":{"inputs":["$n"]}}`, "$zip"},
		{`{"$zip":{"inputs":"$l"}}`, "$zip.inputs"},
		{`{"$zip":{"inputs":[]}}`, "$zip.inputs"},
		{`{"$zip":{"inputs":["$l"],"defaults":[1]}}`, "$zip.defaults"},
		{`{"$zip":{"inputs":["$l"],"useLongestLength":true,"defaults":[1,2]}}`, "$zip.defaults"},
		{`{"$zip":{"inputs":["$l"],"useLongestLength":1}}`, "$zip.useLongestLength"},
	})
}

func TestExpression_SetOperators(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"a":[2,1,2],"b":[3,2.0],"e":[],"z":null,"n":1,"t":[0,null,true],"f":[0,false,null]}`
	requireValues(t, doc, []evaluation{
		{`{"$setUnion":["$a","$b"]}`, `[1,2,3]`},
		{`{"$setUnion":[]}`, `[]`},
		{`{"$setUnion":["$a","$z",1]}`, `null`},
		{`{"$setIntersection":["$a","$b"]}`, `[2]`},
		{`{"$setIntersection":["$a","$e"]}`, `[]`},
		{`{"$setIntersection":["$none","$a"]}`, `null`},
		{`{"$setIntersection":[]}`, `[]`},
		{`{"$setDifference":["$a","$b"]}`, `[1]`},
		{`{"$setDifference":[[3,1,3,2],["$n"]]}`, `[3,2]`},
		{`{"$setDifference":["$a","$z"]}`, `null`},
		{`{"$setEquals":["$a",[1,2],[2,1,1]]}`, `true`},
		{`{"$setEquals":["$a","$b"]}`, `false`},
		{`{"$setEquals":[["$n"],[[1]]]}`, `false`},
		{`{"$setIsSubset":[[2],"$a"]}`, `true`},
		{`{"$setIsSubset":["$b","$a"]}`, `false`},
		{`{"$setIsSubset":["$e","$e"]}`, `true`},
		{`{"$anyElementTrue":"$t"}`, `true`},
		{`{"$anyElementTrue":["$f"]}`, `false`},
		{`{"$anyElementTrue":["$e"]}`, `false`},
		{`{"$allElementsTrue":["$t"]}`, `false`},
		{`{"$allElementsTrue":["$a"]}`, `true`},
		{`{"$allElementsTrue":["$e"]}`, `true`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$setUnion":["$n","$z"]}`, "$setUnion"},
		{`{"$setIntersection":["$a","$n"]}`, "$setIntersection"},
		{`{"$setDifference":["$a","$n"]}`, "$setDifference"},
		{`{"$setEquals":["$a","$z"]}`, "$setEquals"},
		{`{"$setEquals":["$a"]}`, "$setEquals"},
		{`{"$setIsSubset":["$z","$a"]}`, "$setIsSubset"},
		{`{"$anyElementTrue":"$z"}`, "$anyElementTrue"},
		{`{"$allElementsTrue":["$n"]}`, "$allElementsTrue"},
	})
}

func TestExpression_ObjectOperators(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"o":{"a":1,"b":{"c":2}},"p":{"b":3,"d":4},"z":null,"n":1,"l":[{"k":"x","v":1}],"odd":{"a.b":1,"$c":2}}`
	requireValues(t, doc, []evaluation{
		{`{"$mergeObjects":["$o","$p"]}`, `{"a":1,"b":3,"d":4}`},
		{`{"$mergeObjects":["$z","$none","$p"]}`, `{"b":3,"d":4}`},
		{`{"$mergeObjects":[]}`, `{}`},
		{`{"$mergeObjects":"$p"}`, `{"b":3,"d":4}`},
		{`{"$objectToArray":"$p"}`, `[{"k":"b","v":3},{"k":"d","v":4}]`},
		{`{"$objectToArray":"$z"}`, `null`},
		{`{"$arrayToObject":"$l"}`, `{"x":1}`},
		{`{"$arrayToObject":[[["a",1],["b",2],["a",3]]]}`, `{"a":3,"b":2}`},
		{`{"$arrayToObject":{"$literal":[]}}`, `{}`},
		{`{"$arrayToObject":"$none"}`, `null`},
		{`{"$arrayToObject":{"$objectToArray":"$o"}}`, `{"a":1,"b":{"c":2}}`},
		{`{"$getField":"n"}`, `1`},
		{`{"$getField":{"field":"a.b","input":"$odd"}}`, `1`},
		{`{"$getField":{"field":{"$literal":"$c"},"input":"$odd"}}`, `2`},
		{`{"$getField":{"$concat":["","n"]}}`, `1`},
		{`{"$getField":{"field":"a","input":"$z"}}`, `null`},
		{`{"$getField":{"field":"a","input":"$none"}}`, `missing`},
		{`{"$getField":{"field":"a","input":"$n"}}`, `missing`},
		{`{"$setField":{"field":"a","input":"$p","value":"$n"}}`, `{"b":3,"d":4,"a":1}`},
		{`{"$setField":{"field":"b.x","input":"$p","value":1}}`, `{"b":3,"d":4,"b.x":1}`},
		{`{"$setField":{"field":"b","input":"$p","value":"$$REMOVE"}}`, `{"d":4}`},
		{`{"$setField":{"field":"b","input":"$z","value":1}}`, `null`},
		{`{"$unsetField":{"field":"b","input":"$p"}}`, `{"d":4}`},
		{`{"$unsetField":{"field":"none","input":"$p"}}`, `{"b":3,"d":4}`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$mergeObjects":["$o","$n"]}`, "$mergeObjects"},
		{`{"$mergeObjects":"$l"}`, "$mergeObjects"},
		{`{"$objectToArray":"$l"}`, "$objectToArray"},
		{`{"$arrayToObject":"$o"}`, "$arrayToObject"},
		{`{"$arrayToObject":[["a",1]]}`, "$arrayToObject[0]"},
		{`{"$arrayToObject":[[["a",1],{"k":"b","v":1}]]}`, "$arrayToObject[1]"},
		{`{"$arrayToObject":[[{"k":"a","v":1,"w":2}]]}`, "$arrayToObject[0]"},
		{`{"$arrayToObject":[[{"k":"a","w":2}]]}`, "$arrayToObject[0]"},
		{`{"$arrayToObject":[[[1,1]]]}`, "$arrayToObject[0]"},
		{`{"$getField":"$n"}`, "$getField"},
		{`{"$getField":1}`, "$getField.field"},
		{`{"$getField":{"field":"a"}}`, "$getField.input"},
		{`{"$setField":{"field":"$n","input":"$o","value":1}}`, "$setField.field"},
		{`{"$setField":{"field":1,"input":"$o","value":1}}`, "$setField.field"},
		{`{"$setField":{"field":"a","input":"$n","value":1}}`, "$setField"},
		{`{"$setField":{"field":"a","input":"$o"}}`, "$setField.value"},
		{`{"$unsetField":{"field":"a","input":"$l"}}`, "$unsetField"},
	})
}

// randomScalar returns a number or a string.
func randomScalar(r *rand.Rand) any {
	switch r.IntN(3) {
	case 0:
		return int64(r.IntN(7) - 3)
	case 1:
		return float64(r.IntN(13)-6) / 2
	default:
		return []string{"", "a", "b", "ab"}[r.IntN(4)]
	}
}

func TestExpr_AgreesWithFilter(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		operator := []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}[r.IntN(6)]
		value, operand := randomScalar(r), randomScalar(r)
		_, isText := value.(string)
		if _, operandIsText := operand.(string); isText != operandIsText {
			continue
		}
		plain := query.Must(query.CompileFilter(document.O("a", document.O(operator, operand))))
		expr := query.Must(query.CompileFilter(document.O("$expr", document.O(operator, document.A("$a", document.O("$literal", operand))))))
		doc := document.O("a", value)
		require.Equal(t, plain.Match(doc), expr.Match(doc), "%s %v of %v", operator, operand, value)
	}
}

func TestExpression_ComparesLikeCompare(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	values := []any{nil, true, "x", int64(1), 1.5, document.A(1, "x"), document.O("a", 1), document.A(), document.O(), now}
	filter, err := query.CompileFilter(document.O("$expr", document.O("$eq", document.A(
		document.O("$cmp", document.A("$a", "$b")), "$order",
	))))
	require.NoError(t, err)
	for range 500 {
		a, b := values[r.IntN(len(values))], values[r.IntN(len(values))]
		require.True(t, filter.Match(document.O("a", a, "b", b, "order", document.Compare(a, b))), "%v and %v", a, b)
	}
}
