package query_test

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// runCase runs a case on a new collection and returns the first difference from the expected results.
func runCase(ctx context.Context, c *storetest.Case) error {
	outcome, err := c.Run(ctx, memstore.New().Collection("cases"))
	return c.Check(outcome, err)
}

// TestCases_Mongo checks small cases on which independent engines agree.
func TestCases_Mongo(t *testing.T) {
	t.Parallel()
	cases := sharedtest.Cases(t, "../../../shared/cases/mongo_cases.jsonl")
	for i := range cases {
		c := &cases[i]
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, runCase(t.Context(), c), "docs %v\nfilter %v\nupdate %v", c.Docs, c.Filter, c.Update)
		})
	}
}

// TestCases_Decided checks a case for each decision on which engines differ.
func TestCases_Decided(t *testing.T) {
	t.Parallel()
	decisions, err := os.ReadFile("../../docs/decisions/query-language.md")
	require.NoError(t, err)
	plain := strings.ReplaceAll(string(decisions), "`", "")
	cases := sharedtest.Cases(t, "testdata/decided_cases.jsonl")
	for i := range cases {
		c := &cases[i]
		require.NoError(t, runCase(t.Context(), c), c)
		require.Contains(t, plain, "**"+c.ID+".**", "docs/decisions/query-language.md has no such decision")
	}
}

// leftOut maps the ids of server cases that do not apply here to the reasons.
var leftOut = map[string]string{
	"S-01155": "look-ahead is refused",
	"S-01156": "look-behind is refused",
	"S-01169": "back-references are refused",
	"S-01171": "possessive quantifiers are refused",
	"S-01224": "\\b after (*UCP) is refused",
	"S-02720": "$where is refused: it runs code",
	"S-02721": "$jsonSchema is refused",
	"S-04113": "$jsonSchema is refused",
	"S-03497": "rests on a 2d index with bounds of its own, which the file lost: the pair is beyond those of every index here",
}

// TestCases_Server checks cases that were verified with MongoDB.
func TestCases_Server(t *testing.T) {
	t.Parallel()
	cases := sharedtest.Cases(t, "../../../shared/cases/server_cases.jsonl")
	for i := range cases {
		c := &cases[i]
		err := runCase(t.Context(), c)
		reason, left := leftOut[c.ID]
		switch {
		case left && err == nil:
			t.Errorf("%s holds; remove it from leftOut: %s", c.ID, reason)
		case err != nil && !left:
			t.Errorf("%s %s: %v\n%s", c.ID, c.Name, err, c)
		}
	}
}

func TestNumbers_EqualByWorth(t *testing.T) {
	t.Parallel()
	const beyondDoubles = int64(1)<<53 + 1
	for _, test := range []struct {
		stored, operand any
		equal           bool
	}{
		{int64(1), 1.0, true},
		{1.0, int64(1), true},
		{0.0, math.Copysign(0, -1), true},
		{int64(0), math.Copysign(0, -1), true},
		{beyondDoubles, float64(1 << 53), false},
		{int64(1) << 53, float64(1 << 53), true},
		{int64(math.MaxInt64), float64(1 << 63), false},
		{int64(math.MinInt64), -float64(1 << 63), true},
		{int64(1), "1", false},
		{int64(1), true, false},
		{math.NaN(), math.NaN(), true},
		{math.NaN(), int64(0), false},
		{math.Inf(1), math.Inf(1), true},
		{math.Inf(1), math.MaxFloat64, false},
	} {
		o := document.O("_id", 1, "a", test.stored, "l", document.A("x", test.stored))
		for _, filter := range []document.Object{
			document.O("a", test.operand), document.O("a", document.O("$in", document.A(test.operand))),
			document.O("a", document.O("$in", document.A("y", test.operand))), document.O("l", test.operand),
			document.O("l", document.O("$all", document.A(test.operand))), document.O("l.1", test.operand),
			document.O("l", document.O("$elemMatch", document.O("$eq", test.operand))),
		} {
			compiled := query.Must(query.CompileFilter(filter))
			require.Equal(t, test.equal, compiled.Match(o), "%v and %v by %v", test.stored, test.operand, filter)
		}
		after, err := changed(t, o, document.AddToSet("l", test.operand))
		require.NoError(t, err)
		require.Equal(t, test.equal, document.Get(after, "l", document.Array{}).Len() == 2, "$addToSet of %v", test.operand)
		after, err = changed(t, o, document.Pull("l", test.operand))
		require.NoError(t, err)
		require.Equal(t, test.equal, document.Get(after, "l", document.Array{}).Len() == 1, "$pull of %v", test.operand)
	}
}

func TestNumbers_NaNAndInfinities(t *testing.T) {
	t.Parallel()
	ascending := []any{
		math.NaN(), math.Inf(-1), -math.MaxFloat64, int64(math.MinInt64), int64(-1), 0.5, int64(math.MaxInt64), math.MaxFloat64,
		math.Inf(1),
	}
	require.True(t, slices.IsSortedFunc(ascending, document.Compare))
	for i, stored := range ascending {
		for j, operand := range ascending {
			isNaN, nanOperand := i == 0, j == 0
			alike := isNaN == nanOperand // In filters, NaN is neither above nor below a number.
			for operator, want := range map[string]bool{
				"$lt": alike && i < j, "$lte": alike && i <= j, "$gt": alike && i > j, "$gte": alike && i >= j,
			} {
				filter := query.Must(query.CompileFilter(document.O("a", document.O(operator, operand))))
				require.Equal(t, want, filter.Match(document.O("a", stored)), "%v %s %v", stored, operator, operand)
			}
			least, err := changed(t, document.O("_id", 1, "a", stored), document.O("$min", document.O("a", operand)))
			require.NoError(t, err)
			got, _ := least.Field("a")
			require.True(t, document.Equal(ascending[min(i, j)], got), "$min of %v and %v", stored, operand)
		}
	}
}

func TestNumbers_Types(t *testing.T) {
	t.Parallel()
	for alias, values := range map[string][]any{
		"int":    {int64(0), int64(math.MaxInt32), int64(math.MinInt32)},
		"long":   {int64(math.MaxInt32) + 1, int64(math.MinInt32) - 1, int64(math.MaxInt64)},
		"double": {0.0, 1.5, math.NaN(), math.Inf(-1), 1e300},
	} {
		for _, value := range values {
			for _, asked := range []string{"int", "long", "double", "number", "decimal"} {
				filter := query.Must(query.CompileFilter(document.O("a", document.O("$type", asked))))
				require.Equal(t, asked == alias || asked == "number", filter.Match(document.O("a", value)), "%v is a %s", value, asked)
			}
		}
	}
}

func TestNumbers_IntegersStay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before   any
		operator string
		by, want any
	}{
		{int64(1), "$inc", int64(2), int64(3)},
		{int64(1), "$inc", 2.0, 3.0},
		{1.0, "$inc", int64(2), 3.0},
		{0.1, "$inc", 0.2, 0.30000000000000004},
		{int64(math.MaxInt32), "$inc", int64(1), int64(math.MaxInt32) + 1},
		{int64(math.MaxInt64 - 1), "$inc", int64(1), int64(math.MaxInt64)},
		{int64(math.MinInt64), "$inc", int64(math.MaxInt64), int64(-1)},
		{int64(math.MaxInt64), "$inc", 1.0, float64(1 << 63)},
		{int64(3), "$mul", int64(-2), int64(-6)},
		{int64(3), "$mul", 2.0, 6.0},
		{int64(3), "$mul", int64(0), int64(0)},
		{int64(math.MinInt64), "$mul", int64(1), int64(math.MinInt64)},
		{nil, "$inc", int64(5), int64(5)},
		{nil, "$inc", 5.0, 5.0},
		{nil, "$mul", int64(5), int64(0)},
		{nil, "$mul", 5.0, 0.0},
		{math.NaN(), "$inc", int64(1), math.NaN()},
		{math.Inf(1), "$inc", int64(1), math.Inf(1)},
	} {
		o := document.O("_id", 1)
		if test.before != nil {
			o = o.With("a", test.before)
		}
		after, err := changed(t, o, document.O(test.operator, document.O("a", test.by)))
		require.NoError(t, err)
		got, _ := after.Field("a")
		require.IsType(t, test.want, got, "%v %s %v", test.before, test.operator, test.by)
		require.True(t, document.Equal(test.want, got), "%v %s %v: %v", test.before, test.operator, test.by, got)
	}
}

func TestNumbers_Overflow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before   int64
		operator string
		by       int64
	}{
		{math.MaxInt64, "$inc", 1},
		{math.MinInt64, "$inc", -1},
		{1, "$inc", math.MaxInt64},
		{-2, "$inc", math.MinInt64},
		{math.MaxInt64, "$mul", 2},
		{math.MinInt64, "$mul", -1},
		{-1, "$mul", math.MinInt64},
		{1 << 32, "$mul", 1 << 31},
		{math.MaxInt64, "$mul", math.MaxInt64},
		{math.MinInt64, "$mul", math.MinInt64},
	} {
		before := document.O("_id", 1, "a", test.before, "b", 1)
		_, err := changed(t, before, document.O("$inc", document.O("b", 1)).With(test.operator, document.O("a", test.by)))
		requireInvalid(t, err, "update.a")
		require.ErrorContains(t, err, "beyond the range")
	}
}
