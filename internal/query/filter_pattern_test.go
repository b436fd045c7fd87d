package query_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func TestFilter_PatternsInLists(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"name":"Ann","n":5,"null":null,"tags":["alpha","beta",["gamma"]],"o":{"$regex":"^A"},
		"items":[{"sku":"A-1"},{"sku":"B-2"}]}`
	for filter, want := range map[string]bool{
		`{"name":{"$in":[{"$regex":"^a"}]}}`:                                             false,
		`{"name":{"$in":[{"$regex":"^a","$options":"i"}]}}`:                              true,
		`{"name":{"$in":[{"$options":"i","$regex":"^a"}]}}`:                              true,
		`{"name":{"$in":["x",null,{"$regex":"^A"}]}}`:                                    true,
		`{"name":{"$in":[{"$regex":"^x"},"Ann"]}}`:                                       true,
		`{"name":{"$in":[{"$regex":"^x"},{"$regex":"n$"}]}}`:                             true,
		`{"name":{"$in":[{"$regex":"^x"},{"$regex":"^y"},7]}}`:                           false,
		`{"name":{"$in":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,{"$regex":"^A"}]}}`:   true,
		`{"none":{"$in":[{"$regex":""}]}}`:                                               false,
		`{"none":{"$in":[{"$regex":""},null]}}`:                                          true,
		`{"null":{"$in":[{"$regex":""}]}}`:                                               false,
		`{"n":{"$in":[{"$regex":"5"}]}}`:                                                 false,
		`{"o":{"$in":[{"$regex":"^A"}]}}`:                                                false,
		`{"tags":{"$in":[{"$regex":"^b"}]}}`:                                             true,
		`{"tags":{"$in":[{"$regex":"^g"}]}}`:                                             false,
		`{"items.sku":{"$in":[{"$regex":"^B"},"x"]}}`:                                    true,
		`{"name":{"$nin":[{"$regex":"^A"}]}}`:                                            false,
		`{"name":{"$nin":["x",{"$regex":"^a"}]}}`:                                        true,
		`{"none":{"$nin":[{"$regex":""}]}}`:                                              true,
		`{"tags":{"$nin":[{"$regex":"^b"},7]}}`:                                          false,
		`{"tags":{"$all":[{"$regex":"^a"},"beta"]}}`:                                     true,
		`{"tags":{"$all":[{"$regex":"^a"},{"$regex":"^b"}]}}`:                            true,
		`{"tags":{"$all":[{"$regex":"^a"},{"$regex":"^c"}]}}`:                            false,
		`{"name":{"$all":[{"$regex":"^A"},{"$regex":"n$"}]}}`:                            true,
		`{"tags":{"$elemMatch":{"$in":["x",{"$regex":"ta$"}]}}}`:                         true,
		`{"tags":{"$elemMatch":{"$nin":["alpha","beta",{"$regex":""}]}}}`:                true,
		`{"tags":{"$elemMatch":{"$all":[{"$regex":"^a"},{"$regex":"^b"}]}}}`:             false,
		`{"items":{"$elemMatch":{"sku":{"$in":[{"$regex":"^b","$options":"i"}]}}}}`:      true,
		`{"name":{"$not":{"$regex":"^a","$options":"i"}}}`:                               false,
		`{"name":{"$not":{"$regex":"^a"}}}`:                                              true,
		`{"none":{"$not":{"$regex":"^a"}}}`:                                              true,
		`{"tags":{"$not":{"$regex":"^b"}}}`:                                              false,
		`{"name":{"$not":{"$in":[{"$regex":"^A"}]}}}`:                                    false,
		`{"name":{"$not":{"$nin":[{"$regex":"^A"}]}}}`:                                   true,
		`{"$or":[{"name":{"$in":[{"$regex":"^x"}]}},{"name":"x"},{"name":{"$in":[8]}}]}`: false,
		`{"$or":[{"name":{"$in":[{"$regex":"^A"}]}},{"name":"x"}]}`:                      true,
	} {
		compiled, err := query.CompileFilter(parse(t, filter))
		require.NoError(t, err, filter)
		require.Equal(t, want, compiled.Match(parse(t, doc)), filter)
	}
}

// TestFilter_PatternsInListsAsAlone compares lists that hold patterns with conditions for each.
func TestFilter_PatternsInListsAsAlone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 9))
	elements := append([]any{
		document.O("$regex", "^a"), document.O("$regex", "b"), document.O("$regex", "^A", "$options", "i"), document.O("$regex", ""),
	}, operands...)
	pick := func(from []any) any { return from[random.IntN(len(from))] }
	matched := 0
	for range 3_000 {
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
			compiled, err := query.CompileFilter(filter)
			require.NoError(t, err)
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
	require.Greater(t, matched, 300)
}

func TestFilter_PatternInAListIsNoEquality(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"$in", "$all"} {
		filter, err := query.CompileFilter(document.O("a", document.O(operator, document.A(document.O("$regex", "x")))))
		require.NoError(t, err)
		_, ok := filter.Equality("a")
		require.False(t, ok, operator)
		update, err := query.CompileUpdate(document.Set("b", 1))
		require.NoError(t, err)
		inserted, err := query.Change{Update: update}.Insert(filter)
		require.NoError(t, err)
		require.False(t, inserted.Has("a"), operator)
	}
}

func TestUpdate_PositionOfAPatternInAList(t *testing.T) {
	t.Parallel()
	update, err := query.CompileUpdate(document.Set("l.$", "X"))
	require.NoError(t, err)
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
		after, _, err := query.Change{Update: update}.Apply(filter, o)
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
