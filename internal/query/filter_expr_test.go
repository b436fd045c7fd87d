package query_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
)

func TestExpr_ComparesFields(t *testing.T) {
	t.Parallel()
	doc := parse(t, `{"_id":1,"spent":120,"budget":100,"items":[{"n":1},{"n":2}],"nothing":null}`)
	for filter, want := range map[string]bool{
		`{"$expr":{"$gt":["$spent","$budget"]}}`:                           true,
		`{"$expr":{"$gt":["$budget","$spent"]}}`:                           false,
		`{"$expr":{"$eq":["$items.n",[1,2]]}}`:                             true,
		`{"$expr":{"$eq":["$items.0.n",[]]}}`:                              true,
		`{"$expr":{"$eq":["$none",null]}}`:                                 false,
		`{"$expr":{"$lt":["$none",null]}}`:                                 true,
		`{"$expr":{"$eq":["$nothing",null]}}`:                              true,
		`{"$expr":"$spent"}`:                                               true,
		`{"$expr":"$none"}`:                                                false,
		`{"$expr":null}`:                                                   false,
		`{"$expr":{}}`:                                                     true,
		`{"$expr":[]}`:                                                     true,
		`{"spent":120,"$expr":{"$eq":["$$ROOT._id",1]}}`:                   true,
		`{"$or":[{"spent":1},{"$expr":{"$eq":["$$CURRENT.budget",100]}}]}`: true,
		`{"$nor":[{"$expr":{"$gt":["$spent","$budget"]}}]}`:                false,
		`{"$and":[{"$expr":{"$lte":["$budget",100.0]}},{"_id":1}]}`:        true,
	} {
		compiled, err := query.CompileFilter(parse(t, filter))
		require.NoError(t, err, filter)
		matched, err := compiled.Check(doc)
		require.NoError(t, err, filter)
		require.Equal(t, want, matched, filter)
		require.Equal(t, want, compiled.Match(doc), filter)
	}
}

func TestExpr_FailsTheCheck(t *testing.T) {
	t.Parallel()
	const division = `{"$expr":{"$gt":[{"$divide":[1,"$n"]},0]}}`
	for _, filter := range []string{
		division, `{"$nor":[` + division + `]}`, `{"$or":[` + division + `,{"n":0}]}`, `{"$and":[` + division + `]}`,
		`{"$nor":[{"$nor":[` + division + `]}]}`,
	} {
		compiled, err := query.CompileFilter(parse(t, filter))
		require.NoError(t, err, filter)
		requireInvalid(t, failure(compiled.Check(document.O("n", 0))), "$expr.$divide")
		require.False(t, compiled.Match(document.O("n", 0)), filter)
		require.ErrorIs(t, failure(query.And(nil, compiled, compiled).Check(document.O("n", 0))), boterr.InvalidArgument)
		matched, err := compiled.Check(document.O("n", 2))
		require.NoError(t, err)
		require.Equal(t, compiled.Match(document.O("n", 2)), matched)
	}
}

func TestExpr_SeesWhatOthersLeave(t *testing.T) {
	t.Parallel()
	compiled := query.Must(query.CompileFilter(parse(t, `{"$expr":{"$eq":[{"$divide":[4,"$n"]},2]},"n":{"$ne":0}}`)))
	matched, err := compiled.Check(document.O("n", 0))
	require.NoError(t, err)
	require.False(t, matched)
	matched, err = compiled.Check(document.O("n", 2))
	require.NoError(t, err)
	require.True(t, matched)
}

func TestExpr_WholeDocumentOnly(t *testing.T) {
	t.Parallel()
	for filter, field := range map[string]string{
		`{"a":{"$elemMatch":{"b":1,"$expr":true}}}`:     "a.$elemMatch.$expr",
		`{"a":{"$elemMatch":{"$or":[{"$expr":true}]}}}`: "a.$elemMatch.$or[0].$expr",
		`{"a":{"$elemMatch":{"$expr":true}}}`:           "a.$elemMatch.$expr",
		`{"a":{"$expr":true}}`:                          "a.$expr",
		`{"a":{"$not":{"$expr":true}}}`:                 "a.$not.$expr",
		`{"$expr":{"$eq":["$a","$$mine"]}}`:             "$expr.$eq[1]",
		`{"$and":[{"$expr":{"$eq":["$a"]}}]}`:           "$and[0].$expr.$eq",
		`{"$expr":{"$divide":[1,0]}}`:                   "$expr.$divide",
		`{"$expr":{"a":1,"b":{"$nothing":1}}}`:          "$expr.b.$nothing",
		`{"$expr":{"$gt":[1,2],"$lt":[1,2]}}`:           "$expr.$gt",
		`{"$expr":"$"}`:                                 "$expr",
		`{"$expr":"$$"}`:                                "$expr",
		`{"$expr":"$a..b"}`:                             "$expr",
		`{"$expr":"$a.$b"}`:                             "$expr",
		`{"$expr":{"a.b":1}}`:                           "$expr.a.b",
	} {
		requireInvalid(t, failure(query.CompileFilter(parse(t, filter))), field)
	}
	requireInvalid(t, failure(query.CompileUpdate(parse(t, `{"$pull":{"a":{"$expr":true}}}`))), "$pull.a.$expr")
	_, err := query.CompileUpdate(parse(t, `{"$set":{"a.$[x]":1}}`), parse(t, `{"x":1,"$expr":true}`))
	requireInvalid(t, err, "arrayFilters[0].$expr")
}

func TestFilter_TimeIsGiven(t *testing.T) {
	t.Parallel()
	filter := query.Must(query.CompileFilter(parse(t, `{"$nor":[{"$expr":{"$lt":[{"$toDate":"$at"},"$$NOW"]}}]}`)))
	require.True(t, filter.UsesNow())
	doc := document.O("at", now.UnixMilli())
	requireInvalid(t, failure(filter.Check(doc)), "$expr")
	require.False(t, filter.Match(doc))
	for _, test := range []struct {
		at   time.Time
		want bool
	}{{now, true}, {now.Add(time.Second), false}, {now.Add(-time.Hour), true}} {
		matched, err := filter.At(test.at).Check(doc)
		require.NoError(t, err)
		require.Equal(t, test.want, matched, test.at)
		matched, err = query.And(filter.At(test.at), filter.At(test.at)).Check(doc)
		require.NoError(t, err)
		require.Equal(t, test.want, matched, test.at)
	}
	_, err := filter.Check(doc)
	require.Error(t, err, "the original filter still has no time")

	without := query.Must(query.CompileFilter(parse(t, `{"$expr":{"$eq":["$a",1]}}`)))
	require.False(t, without.UsesNow())
	require.Same(t, without, without.At(now))
	var none *query.Filter
	require.Nil(t, none.At(now))
}

// TestFilter_PatternsInListsAsAlone compares a list of patterns with separate conditions for its elements.
func TestFilter_PatternsInListsAsAlone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 9))
	elements := append([]any{
		document.O("$regex", "^a"), document.O("$regex", "b"), document.O("$regex", "^A", "$options", "i"), document.O("$regex", ""),
	}, operands...)
	pick := func(from []any) any { return from[random.IntN(len(from))] }
	matched, tries := 0, rounds.Of(t, 300, 3_000)
	for range tries {
		list := make([]any, 1+random.IntN(25))
		each := make([]any, len(list))
		for i := range list {
			list[i] = pick(elements)
			each[i] = document.O("x", list[i])
		}
		doc := document.O("x", pick([]any{pick(operands), document.A(pick(operands), pick(operands)), document.A()}))
		if random.IntN(10) == 0 {
			doc = document.O()
		}
		matches := func(filter document.Object) bool {
			compiled := query.Must(query.CompileFilter(filter))
			return compiled.Match(doc)
		}
		one := slices.ContainsFunc(each, func(clause any) bool { return matches(clause.(document.Object)) })
		all := !slices.ContainsFunc(each, func(clause any) bool { return !matches(clause.(document.Object)) })
		require.Equal(t, one, matches(document.O("x", document.O("$in", list))), "%v in %v", doc, list)
		require.Equal(t, !one, matches(document.O("x", document.O("$nin", list))), "%v not in %v", doc, list)
		require.Equal(t, all, matches(document.O("x", document.O("$all", list))), "%v with all of %v", doc, list)
		if one {
			matched++
		}
	}
	require.Greater(t, matched, tries/10)
}

func TestFilter_PatternInAListIsNoEquality(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"$in", "$all"} {
		filter := query.Must(query.CompileFilter(document.O("a", document.O(operator, document.A(document.O("$regex", "x"))))))
		_, ok := filter.Equality("a")
		require.False(t, ok, operator)
		update := query.Must(query.CompileUpdate(document.Set("b", 1)))
		inserted, err := newCall(t).Insert(query.Change{Update: update}, filter)
		require.NoError(t, err)
		require.False(t, inserted.Has("a"), operator)
	}
}

func TestUpdate_PositionOfAPatternInAList(t *testing.T) {
	t.Parallel()
	update := query.Must(query.CompileUpdate(document.Set("l.$", "X")))
	for condition, want := range map[string]string{
		`{"$in":["z",{"$regex":"^b"}]}`:                                              `["a","X","c"]`,
		`{"$in":[{"$regex":"^c"}]}`:                                                  `["a","b","X"]`,
		`{"$all":[{"$regex":"^c"},"a"]}`:                                             `["a","b","X"]`,
		`{"$all":[{"$regex":"^c"},{"$regex":"^b"}]}`:                                 `["a","X","c"]`,
		`{"$in":[{"$regex":"^c"}],"$gte":"a"}`:                                       `["a","b","X"]`,
		`{"$in":[{"$regex":"^c"},1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"$gt":"a"}`: `["a","b","X"]`,
	} {
		filter, err := query.CompileFilter(parse(t, `{"l":`+condition+`}`))
		require.NoError(t, err, condition)
		o := document.O("l", document.A("a", "b", "c"))
		after, _, err := newCall(t).Change(query.Change{Update: update}, filter, o)
		require.NoError(t, err, condition)
		require.JSONEq(t, `{"l":`+want+`}`, after.String(), condition)
	}
}

func TestUpdate_PatternsInConditions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ before, update, arrayFilter, after string }{
		{`{"l":["ab","b",1,null]}`, `{"$pull":{"l":{"$in":[{"$regex":"^A","$options":"i"},1]}}}`, ``, `{"l":["b",null]}`},
		{`{"l":["ab","b",1]}`, `{"$pull":{"l":{"$nin":[{"$regex":"^a"},1]}}}`, ``, `{"l":["ab",1]}`},
		{`{"l":["ab","b",1]}`, `{"$pull":{"l":{"$regex":"^a"}}}`, ``, `{"l":["b",1]}`},
		{`{"l":["ab","b",1]}`, `{"$pull":{"l":{"$not":{"$regex":"^a"}}}}`, ``, `{"l":["ab"]}`},
		{`{"l":["ab",["a","b"],["a"]]}`, `{"$pull":{"l":{"$all":[{"$regex":"a"},"b"]}}}`, ``, `{"l":["ab",["a"]]}`},
		{`{"l":[{"k":"ab"},{"k":"b"}]}`, `{"$pull":{"l":{"k":{"$in":[{"$regex":"^a"}]}}}}`, ``, `{"l":[{"k":"b"}]}`},
		{`{"l":["ab","b"]}`, `{"$set":{"l.$[e]":0}}`, `{"e":{"$in":[{"$regex":"^a"}]}}`, `{"l":[0,"b"]}`},
	} {
		var filters []document.Object
		if test.arrayFilter != "" {
			filters = append(filters, parse(t, test.arrayFilter))
		}
		after, err := changed(t, parse(t, test.before), parse(t, test.update), filters...)
		require.NoError(t, err, test.update)
		require.JSONEq(t, test.after, after.String(), test.update)
	}
}

func TestFilter_MisspeltOperator(t *testing.T) {
	t.Parallel()
	for meant, filter := range map[string]document.Object{
		"$gt":         document.O("age", document.O("$gtt", 18)),
		"$elemMatch":  document.O("items", document.O("$elementMatch", document.O("n", 1))),
		"$nin":        document.O("state", document.O("$notin", document.A("done"))),
		"$exists":     document.O("name", document.O("$exist", true)),
		"$regex":      document.O("name", document.O("$regexp", "^A")),
		"$nearSphere": document.O("at", document.O("$nearsphere", document.A(1, 2))),
		"$or":         document.O("$OR", document.A(document.O("n", 1))),
		"$and":        document.O("$ands", document.A(document.O("n", 1))),
	} {
		_, err := query.CompileFilter(filter)
		require.ErrorContains(t, err, ": did you mean "+meant+"?", filter)
	}
}
