// Package arbitrary draws random values for property tests.
package arbitrary

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
)

// EdgeValues returns values that encodings of keys often get wrong.
func EdgeValues() []any {
	const twoTo53 = int64(1) << 53
	return []any{
		nil, false, true,
		math.NaN(), math.Inf(-1), math.Inf(1), -math.MaxFloat64, math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0.0, 0.5, -0.5, 1.0, 1e300,
		int64(0), int64(1), int64(-1), int64(math.MaxInt64), int64(math.MaxInt64 - 1), int64(math.MinInt64),
		int64(math.MinInt64 + 1), twoTo53 - 1, twoTo53, twoTo53 + 1, -twoTo53 - 1, -twoTo53, twoTo53<<9 + 1,
		float64(twoTo53), float64(twoTo53 + 2), float64(-twoTo53), float64(1 << 63), -float64(1 << 63), float64(1 << 62),
		int64(1<<62 + 1), int64(1<<62 - 1), int64(1<<62 + 512), int64(1<<62 + 513),
		"", "\x00", "\x00\x00", "\x00\x01", "\x00\u00ff", "\x01", "a", "a\x00", "a\x00b", "a\x01", "ab", "\u00ff", "é", "😀",
		time.UnixMilli(0).UTC(), time.UnixMilli(-1).UTC(), time.UnixMilli(1_700_000_000_123).UTC(),
		document.O(), document.O("", nil), document.O("a", 1), document.O("a", 1.0), document.O("a", "1"),
		document.O("a", 1, "b", 2), document.O("b", 2, "a", 1), document.O("a", nil), document.O("a\x01", 1),
		document.O("b", nil), document.O("a", document.O()), document.O("a", document.A()),
		document.A(), document.A(nil), document.A(document.A()), document.A(1, 2), document.A(1, 2, 3), document.A(2),
		document.A("a", "b"), document.A("a\x00b"), document.A(document.O("a", 1)),
	}
}

// edges saves making the values for each draw.
var edges = sync.OnceValue(EdgeValues)

// Value draws a value with at most depth levels of nesting. Many strings and names of fields come from short
// lists, so values often share prefixes.
func Value(random *rand.Rand, depth int) any {
	kinds := 2
	if depth > 0 {
		kinds = 4
	}
	switch random.IntN(kinds) {
	case 0:
		return edges()[random.IntN(len(edges()))]
	case 1:
		return []any{
			int64(random.Uint64()) >> random.IntN(64), math.Float64frombits(random.Uint64()),
			float64(int64(random.Uint64()) >> random.IntN(64)), time.UnixMilli(random.Int64N(1 << 50)).UTC(),
			[]string{"a", "b", "a\x00", "ab"}[random.IntN(4)],
		}[random.IntN(5)]
	case 2:
		o := document.O()
		for range random.IntN(4) {
			o = o.With([]string{"a", "b", "a\x01", ""}[random.IntN(4)], Value(random, depth-1))
		}
		return o
	default:
		a := document.A()
		for range random.IntN(4) {
			a = a.Append(Value(random, depth-1))
		}
		return a
	}
}
