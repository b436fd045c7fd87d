package mongo

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

func planOf(t *testing.T, filter, update document.Object) (plan, bool) {
	t.Helper()
	f, err := query.CompileFilter(filter)
	require.NoError(t, err)
	u, err := query.CompileUpdate(update)
	require.NoError(t, err)
	return planned(f, query.Change{Update: u, Fixed: []string{"app"}, Stamps: query.Stamps{Set: document.O("etag", "x")}})
}

func TestPlan_CertainChangeIsOneStep(t *testing.T) {
	t.Parallel()
	one := document.O("n", 1)
	for name, test := range map[string]struct{ filter, update document.Object }{
		"$inc and more":  {document.O("by", nil), document.O("$inc", document.O("a.b", 1), "$set", document.O("by", "me"))},
		"$push":          {one, document.O("$push", document.O("list", document.O("a", 1)))},
		"$push of each":  {one, document.O("$push", document.O("list", document.O("$each", document.A(document.O("a", 1), 2))))},
		"another value":  {document.O("taken", false), document.O("$set", document.O("taken", true))},
		"missing":        {document.O("by", nil), document.O("$set", document.O("by", "me"))},
		"not there":      {document.O("by", document.O("$exists", false)), document.O("$set", document.O("by", "me"))},
		"removed":        {document.O("by", "me"), document.O("$unset", document.O("by", ""))},
		"beyond a range": {document.O("until", document.O("$lte", 5)), document.O("$set", document.O("until", 9))},
		"in $and":        {document.O("$and", document.A(one, document.O("taken", false))), document.O("$set", document.O("taken", true))},
		"in $or": {
			document.O("$or", document.A(document.O("until", nil), document.O("until", document.O("$lt", 5)))),
			document.O("$set", document.O("until", 9)),
		},
	} {
		p, ok := planOf(t, test.filter, test.update)
		require.True(t, ok, name)
		require.True(t, p.condition.IsZero(), name)
	}
}

func TestPlan_ConditionAndID(t *testing.T) {
	t.Parallel()
	id := document.O("_id", 1)
	for name, update := range map[string]document.Object{
		"$set":      document.O("$set", document.O("n", 1)),
		"$inc":      document.O("$inc", document.O("n", 1)),
		"$unset":    document.O("$unset", document.O("n", "")),
		"$addToSet": document.O("$addToSet", document.O("n", 1)),
		"$pull":     document.O("$pull", document.O("n", 1)),
	} {
		p, ok := planOf(t, id, update)
		require.True(t, ok, name)
		require.False(t, p.condition.IsZero(), name)
		_, ok = planOf(t, document.O("m", 1), update)
		require.False(t, ok, "%s without an _id: another document than the first might change", name)
	}
}

func TestPlan_Increment(t *testing.T) {
	t.Parallel()
	p, ok := planOf(t, document.O("_id", 1), document.O("$inc", document.O("n", 1)))
	require.True(t, ok)
	condition, err := query.CompileFilter(p.condition)
	require.NoError(t, err)
	for _, n := range []any{int64(1), int64(1 << 60), 1.5, -1e15, float64(1<<53 - 1)} {
		require.True(t, condition.Match(document.O("n", n)), "%v", n)
	}
	require.True(t, condition.Match(document.O()), "a field that is missing")
	for _, n := range []any{float64(1 << 53), -float64(1 << 53), 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		require.False(t, condition.Match(document.O("n", n)), "%v", n)
	}
}

func TestPlan_None(t *testing.T) {
	t.Parallel()
	for name, update := range map[string]document.Object{
		"a replacement":     document.O("n", 1),
		"a fixed field":     document.O("$set", document.O("app.x", 1)),
		"a stamped field":   document.O("$set", document.O("etag", 1), "$inc", document.O("n", 1)),
		"the _id":           document.O("$set", document.O("_id", 1)),
		"$max":              document.O("$max", document.O("n", 1)),
		"a conditional":     document.O("$pull", document.O("n", document.O("$gt", 1))),
		"an increment of 0": document.O("$inc", document.O("n", 0)),
		"none of each":      document.O("$push", document.O("n", document.O("$each", document.A()))),
		"each with a $":     document.O("$push", document.O("n", document.O("$each", document.A(document.O("$x", 1))))),
		"a modifier":        document.O("$push", document.O("n", document.O("$each", document.A(1), "$slice", 1))),
		"elements":          document.O("$inc", document.O("n.$[].x", 1)),
	} {
		_, ok := planOf(t, document.O("_id", 1), update)
		require.False(t, ok, name)
	}
}

func TestFilter_PatternsInListsAreRegularExpressions(t *testing.T) {
	t.Parallel()
	o, a := document.O, document.A
	pattern := o("$regex", "^a", "$options", "xi")
	for name, test := range map[string]struct {
		filter document.Object
		want   string
	}{
		"of $in":   {o("a", o("$in", a(1, pattern))), `{"a": {"$in": [1,R]}}`},
		"of $nin":  {o("a", o("$not", o("$nin", a(pattern)))), `{"a": {"$not": {"$nin": [R]}}}`},
		"of $all":  {o("a", o("$all", a("b", pattern))), `{"a": {"$all": ["b",R]}}`},
		"in $or":   {o("$or", a(o("a", o("$in", a(pattern))))), `{"$or": [{"a": {"$in": [R]}}]}`},
		"elements": {o("a", o("$elemMatch", o("b", o("$in", a(pattern))))), `{"a": {"$elemMatch": {"b": {"$in": [R]}}}}`},
		"in both": {
			o("a", o("$all", a(o("$elemMatch", o("$in", a(pattern)))))), `{"a": {"$all": [{"$elemMatch": {"$in": [R]}}]}}`,
		},
		"on a field": {o("a", o("$regex", "^a")), `{"a": {"$regex": "^a"}}`},
		"a value":    {o("a", o("b", o("$in", a(o("$regex", "x"))))), `{"a": {"b": {"$in": [{"$regex": "x"}]}}}`},
		"a value of $eq": {
			o("a", o("$eq", o("$in", a(o("$regex", "x"))))), `{"a": {"$eq": {"$in": [{"$regex": "x"}]}}}`,
		},
		"a value of $in": {
			o("a", o("$in", a(o("b", o("$in", a(o("$regex", "x"))))))), `{"a": {"$in": [{"b": {"$in": [{"$regex": "x"}]}}]}}`,
		},
		"a literal": {
			o("$expr", o("$eq", a("$a", o("$literal", o("$in", a(o("$regex", "x"))))))),
			`{"$expr": {"$eq": ["$a",{"$literal": {"$in": [{"$regex": "x"}]}}]}}`,
		},
	} {
		f, err := query.CompileFilter(test.filter)
		require.NoError(t, err, name)
		got, err := queryOf(f)
		require.NoError(t, err, name)
		want := strings.ReplaceAll(test.want, "R", `{"$regularExpression":{"pattern":"^a","options":"ix"}}`)
		canonical, err := bson.MarshalExtJSON(got, false, false)
		require.NoError(t, err, name)
		require.JSONEq(t, want, string(canonical), name)
	}
}

func TestFilter_HiddenFieldIsRefused(t *testing.T) {
	t.Parallel()
	for _, source := range []document.Object{
		document.O("_botctx", nil),
		document.O("$or", document.A(document.O("_botctx.order", 1))),
		document.O("$expr", document.O("$gt", document.A("$_botctx.order", 1))),
		document.O("$expr", document.O("$gt", document.A("$$ROOT._botctx.order", 1))),
	} {
		f, err := query.CompileFilter(source)
		require.NoError(t, err)
		_, err = queryOf(f)
		require.ErrorIs(t, err, boterr.InvalidArgument, source.String())
	}
	f, err := query.CompileFilter(document.O("$expr", document.O("$eq", document.A("$$ROOT", document.O("_id", 1)))))
	require.NoError(t, err)
	o, err := queried(f)
	require.NoError(t, err)
	require.Contains(t, o.String(), `{"$unsetField":{"field":"_botctx","input":"$$ROOT"}}`)
}
