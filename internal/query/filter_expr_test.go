package query_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
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
		_, err = compiled.Check(document.O("n", 0))
		requireInvalid(t, err, "$expr.$divide")
		require.False(t, compiled.Match(document.O("n", 0)), filter)
		_, err = query.And(nil, compiled, compiled).Check(document.O("n", 0))
		require.ErrorIs(t, err, boterr.InvalidArgument)
		matched, err := compiled.Check(document.O("n", 2))
		require.NoError(t, err)
		require.Equal(t, compiled.Match(document.O("n", 2)), matched)
	}
}

func TestExpr_SeesWhatOthersLeave(t *testing.T) {
	t.Parallel()
	compiled, err := query.CompileFilter(parse(t, `{"$expr":{"$eq":[{"$divide":[4,"$n"]},2]},"n":{"$ne":0}}`))
	require.NoError(t, err)
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
		_, err := query.CompileFilter(parse(t, filter))
		requireInvalid(t, err, field)
	}
	_, err := query.CompileUpdate(parse(t, `{"$pull":{"a":{"$expr":true}}}`))
	requireInvalid(t, err, "$pull.a.$expr")
	_, err = query.CompileUpdate(parse(t, `{"$set":{"a.$[x]":1}}`), parse(t, `{"x":1,"$expr":true}`))
	requireInvalid(t, err, "arrayFilters[0].$expr")
}

func TestFilter_UnsupportedOperators(t *testing.T) {
	t.Parallel()
	for filter, field := range map[string]string{
		`{"$where":"true"}`:            "$where",
		`{"$text":{"$search":"x"}}`:    "$text",
		`{"$or":[{"$jsonSchema":{}}]}`: "$or[0].$jsonSchema",
	} {
		_, err := query.CompileFilter(parse(t, filter))
		require.ErrorIs(t, err, boterr.InvalidArgument, filter)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}

func TestFilter_TimeIsGiven(t *testing.T) {
	t.Parallel()
	filter, err := query.CompileFilter(parse(t, `{"$nor":[{"$expr":{"$lt":[{"$toDate":"$at"},"$$NOW"]}}]}`))
	require.NoError(t, err)
	require.True(t, filter.UsesNow())
	doc := document.O("at", now.UnixMilli())
	_, err = filter.Check(doc)
	requireInvalid(t, err, "$expr")
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
	_, err = filter.Check(doc)
	require.Error(t, err, "the filter itself has no time still")

	without, err := query.CompileFilter(parse(t, `{"$expr":{"$eq":["$a",1]}}`))
	require.NoError(t, err)
	require.False(t, without.UsesNow())
	require.Same(t, without, without.At(now))
	var none *query.Filter
	require.Nil(t, none.At(now))
}
