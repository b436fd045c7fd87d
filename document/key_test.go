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
)

// edgeValues are values at which encodings of keys tend to go wrong.
func edgeValues() []any {
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

// randomValue draws a value nested at most depth levels. Few different scalars
// are drawn, so that values with common beginnings are frequent.
func randomValue(random *rand.Rand, depth int) any {
	kinds := 2
	if depth > 0 {
		kinds = 4
	}
	switch random.IntN(kinds) {
	case 0:
		edges := edgeValues()
		return edges[random.IntN(len(edges))]
	case 1:
		return []any{
			int64(random.Uint64()) >> random.IntN(64), math.Float64frombits(random.Uint64()),
			float64(int64(random.Uint64()) >> random.IntN(64)), time.UnixMilli(random.Int64N(1 << 50)).UTC(),
			[]string{"a", "b", "a\x00", "ab"}[random.IntN(4)],
		}[random.IntN(5)]
	case 2:
		o := document.O()
		for range random.IntN(4) {
			o = o.With([]string{"a", "b", "a\x01", ""}[random.IntN(4)], randomValue(random, depth-1))
		}
		return o
	default:
		a := document.A()
		for range random.IntN(4) {
			a = a.Append(randomValue(random, depth-1))
		}
		return a
	}
}

// requireKeysAgree checks that keys order a and b as Compare does.
func requireKeysAgree(t *testing.T, a, b any) {
	t.Helper()
	keyA, keyB := document.AppendKey(nil, a), document.AppendKey(nil, b)
	require.Equal(t, document.Compare(a, b), bytes.Compare(keyA, keyB), "%#v and %#v have keys %x and %x", a, b, keyA, keyB)
	if document.Compare(a, b) != 0 {
		require.False(t, bytes.HasPrefix(keyA, keyB), "the key of %#v begins with that of %#v", a, b)
	}
}

func TestAppendKeyOrdersAsCompareDoes(t *testing.T) {
	t.Parallel()

	t.Run("edge values", func(t *testing.T) {
		t.Parallel()
		for _, a := range edgeValues() {
			for _, b := range edgeValues() {
				requireKeysAgree(t, a, b)
			}
		}
	})

	t.Run("random values", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(1, 2))
		for range 20_000 {
			requireKeysAgree(t, randomValue(random, 4), randomValue(random, 4))
		}
	})

	t.Run("neighbouring integers and doubles", func(t *testing.T) {
		t.Parallel()
		random := rand.New(rand.NewPCG(3, 4))
		for range 20_000 {
			i := int64(random.Uint64()) >> random.IntN(12)
			near := float64(i)
			for _, f := range []float64{near, math.Nextafter(near, 0), math.Nextafter(near, math.Inf(1))} {
				requireKeysAgree(t, i, f)
				requireKeysAgree(t, f, i+1)
			}
		}
	})
}

func TestAppendKeyOfListsOrdersAsTheirElementsDo(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	list := func() (values []any, key []byte) {
		for range 3 {
			v := randomValue(random, 1)
			values, key = append(values, v), document.AppendKey(key, v)
		}
		return values, key
	}
	for range 20_000 {
		a, keyA := list()
		b, keyB := list()
		require.Equal(t, slices.CompareFunc(a, b, document.Compare), bytes.Compare(keyA, keyB), "%v and %v", a, b)
	}
}

func TestAppendKeyAppends(t *testing.T) {
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
