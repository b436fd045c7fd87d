package document_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
)

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
		for range 20_000 {
			requireKeysAgree(t, arbitrary.Value(random, 4), arbitrary.Value(random, 4))
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
	for range 20_000 {
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
