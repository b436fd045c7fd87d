package document_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/rounds"
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

// requireKeysAgree checks that the keys of a and b sort as Compare orders the values.
func requireKeysAgree(t *testing.T, a, b any) {
	t.Helper()
	keyA, keyB := document.AppendKey(nil, a), document.AppendKey(nil, b)
	require.Equal(t, document.Compare(a, b), bytes.Compare(keyA, keyB), "%#v and %#v have keys %x and %x", a, b, keyA, keyB)
	if document.Compare(a, b) != 0 {
		require.False(t, bytes.HasPrefix(keyA, keyB), "the key of %#v begins with the key of %#v", a, b)
	}
}

func TestAppendKey_OrdersLikeCompare(t *testing.T) {
	t.Parallel()

	t.Run("edge values", func(t *testing.T) {
		t.Parallel()
		for _, a := range arbitrary.EdgeValues() {
			for _, b := range arbitrary.EdgeValues() {
				requireKeysAgree(t, a, b)
			}
		}
	})

	t.Run("random values", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(1, 2))
		for range rounds.Of(t, 2_000, 100_000) {
			requireKeysAgree(t, arbitrary.Value(random, 4), arbitrary.Value(random, 4))
		}
	})

	t.Run("neighbouring integers and doubles", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(3, 4))
		for range rounds.Of(t, 2_000, 100_000) {
			i := int64(random.Uint64()) >> random.IntN(12)
			near := float64(i)
			for _, f := range []float64{near, math.Nextafter(near, 0), math.Nextafter(near, math.Inf(1))} {
				requireKeysAgree(t, i, f)
				requireKeysAgree(t, f, i+1)
			}
		}
	})
}

func TestAppendKey_Lists(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	list := func() (values []any, key []byte) {
		for range 3 {
			v := arbitrary.Value(random, 1)
			values, key = append(values, v), document.AppendKey(key, v)
		}
		return values, key
	}
	for range rounds.Of(t, 2_000, 100_000) {
		a, keyA := list()
		b, keyB := list()
		require.Equal(t, slices.CompareFunc(a, b, document.Compare), bytes.Compare(keyA, keyB), "%v and %v", a, b)
	}
}

func TestAppendKey_Appends(t *testing.T) {
	t.Parallel()
	key := document.AppendKey([]byte("before"), "value")
	require.True(t, bytes.HasPrefix(key, []byte("before")))
	require.Equal(t, document.AppendKey(nil, "value"), key[len("before"):])
}

func FuzzAppendKey(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5,null,"x"]}`), []byte(`{"a":[1,2.5,null,"x\u0000"]}`))
	f.Add([]byte(`9007199254740993`), []byte(`9007199254740992.0`))
	f.Add([]byte(`[[],{},""]`), []byte(`[[],{},"",false]`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, err := document.ParseJSON(first)
		if err != nil {
			return
		}
		b, err := document.ParseJSON(second)
		if err != nil {
			return
		}
		requireKeysAgree(t, a, b)
	})
}
