package query_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// holds reports whether one of the ranges holds a key of the values at a path.
func holds(ranges []query.KeyRange, o document.Object, path string) bool {
	values := query.Values(o, path)
	if len(values) == 0 {
		values = []any{nil}
	}
	return slices.ContainsFunc(values, func(value any) bool {
		key := document.AppendKey(nil, value)
		return slices.ContainsFunc(ranges, func(r query.KeyRange) bool {
			return bytes.Compare(r.From, key) <= 0 && bytes.Compare(key, r.To) < 0
		})
	})
}

// operands are values of all types, next to each other in their order.
var operands = []any{
	nil, math.NaN(), math.Inf(-1), -1, 0, 0.5, 1, int64(1) << 53, int64(1)<<53 + 1, math.Inf(1),
	"", "a", "ab", "b", "b\x00c", document.O(), document.O("a", 1), document.O("b", 1), false, true,
}

// conditions are one of each kind that has bounds, for two operands.
func conditions(a, b any) []any {
	o, list := document.O, document.A
	return []any{
		a, o("$eq", a), o("$gt", a), o("$gte", a), o("$lt", a), o("$lte", a),
		o("$in", list(a, b)), o("$elemMatch", o("$gte", a, "$lt", b)), o("$all", list(a)), o("$all", list(a, b)),
		o("$exists", false), o("$in", list(a, o("$regex", "^a"), o("$regex", "^b"))), o("$all", list(o("$regex", "^a"), b)),
	}
}

func TestBounds_HoldWhatMatches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	pick := func() any { return operands[random.IntN(len(operands))] }
	checked, exact := 0, 0
	for range 400 {
		for _, condition := range conditions(pick(), pick()) {
			f, err := query.CompileFilter(document.O("x.y", condition))
			require.NoError(t, err)
			for c := range f.Conditions() {
				bounds, ok := c.Bounds("x.y")
				require.True(t, ok, "%v", condition)
				for range 20 {
					doc := document.O("x", document.O("y", []any{pick(), document.A(pick(), pick()), document.A()}[random.IntN(3)]))
					if without := []any{document.O(), document.A(document.O()), nil, 7}; random.IntN(4) == 0 {
						doc = document.O("x", without[random.IntN(len(without))])
					}
					held := holds(bounds.Ranges, doc, "x.y")
					alone := len(slices.Collect(f.Conditions())) == 1
					switch {
					case alone && bounds.Exact:
						exact++
						require.Equal(t, f.Match(doc), held, "%v in %v", condition, doc)
					case f.Match(doc):
						checked++
						require.True(t, held, "%v in %v", condition, doc)
					}
				}
			}
		}
	}
	require.Greater(t, checked, 100)
	require.Greater(t, exact, 10_000)
}

func TestBounds_NoneWithoutUse(t *testing.T) {
	t.Parallel()
	o, a := document.O, document.A
	for name, filter := range map[string]document.Object{
		"another path":             o("b", 1),
		"not equal":                o("a", o("$ne", 1)),
		"not in":                   o("a", o("$nin", a(1))),
		"nor":                      o("$nor", a(o("a", 1))),
		"exists":                   o("a", o("$exists", true)),
		"a whole array":            o("a", a(1)),
		"an array in a list":       o("a", o("$in", a(1, a(1)))),
		"a pattern in a list":      o("a", o("$in", a("x", o("$regex", "x")))),
		"a pattern in no list":     o("a", o("$nin", a(o("$regex", "^x")))),
		"a pattern in a long list": o("a", o("$in", numbers(0, 20).Append(o("$regex", "^x", "$options", "i")))),
		"an or of two paths":       o("$or", a(o("a", 1), o("b", 1))),
		"a pattern in the middle":  o("a", o("$regex", "x")),
		"a pattern without case":   o("a", o("$regex", "^x", "$options", "i")),
		"a pattern for every line": o("a", o("$regex", "^x", "$options", "m")),
		"a pattern with a choice":  o("a", o("$regex", "^x|y")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := query.CompileFilter(filter)
			require.NoError(t, err)
			for condition := range f.Conditions() {
				_, ok := condition.Bounds("a")
				require.False(t, ok)
			}
		})
	}
}
