package document_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

// ascending has values in MongoDB's order; values in one row are equal.
var ascending = [][]any{
	{nil},
	{math.NaN()},
	{math.Inf(-1)},
	{-1e300},
	{int64(math.MinInt64), float64(math.MinInt64)},
	{int64(math.MinInt64 + 1)},
	{-1.5},
	{int64(0), 0.0, math.Copysign(0, -1)},
	{0.5},
	{int64(1), 1.0},
	{int64(1 << 53), float64(1 << 53)},
	{int64(1<<53 + 1)},
	{int64(math.MaxInt64)},
	{float64(1 << 63)},
	{math.Inf(1)},
	{""},
	{"B"},
	{"a"},
	{"ab"},
	{"é"},
	{document.O()},
	{document.O("a", 2, "b", 1), document.O("a", 2.0, "b", 1)},
	{document.O("b", 1)},
	{document.O("b", 2)},
	{document.O("a", "")},
	{document.A()},
	{document.A(nil)},
	{document.A(1), document.A(1.0)},
	{document.A(1, 2)},
	{document.A(2)},
	{false},
	{true},
	{time.UnixMilli(-1)},
	{time.UnixMilli(0), time.UnixMilli(0).UTC()},
}

func TestCompare_OrderOfMongoDB(t *testing.T) {
	t.Parallel()
	for i, row := range ascending {
		for j, other := range ascending {
			for _, a := range row {
				for _, b := range other {
					order := document.Compare(a, b)
					switch {
					case i < j:
						require.Negative(t, order, "%v < %v", a, b)
					case i > j:
						require.Positive(t, order, "%v > %v", a, b)
					default:
						require.Zero(t, order, "%v = %v", a, b)
					}
					require.Equal(t, order == 0, document.Equal(a, b))
				}
			}
		}
	}
}
