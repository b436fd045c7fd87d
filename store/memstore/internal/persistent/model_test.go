package persistent_test

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// collection is the common part of a *Sequence, *Tree and *Trie.
type collection[K any] interface {
	Len() int
	Get(key K) (int, bool)
	Set(edit persistent.Edit, key K, value int)
	Delete(edit persistent.Edit, key K) bool
}

// model is a collection and the map that it should equal.
type model[K cmp.Ordered, C any, P interface {
	*C
	collection[K]
}] struct {
	// keys are all keys that the collection may have.
	keys []K
	made C
	want map[K]int
}

func (m *model[K, C, P]) set(edit persistent.Edit, key K, value int) {
	P(&m.made).Set(edit, key, value)
	m.want[key] = value
}

// delete reports whether collection and map agree that there was a value.
func (m *model[K, C, P]) delete(edit persistent.Edit, key K) bool {
	_, was := m.want[key]
	delete(m.want, key)
	return P(&m.made).Delete(edit, key) == was
}

func (m *model[K, C, P]) copy() *model[K, C, P] {
	return &model[K, C, P]{keys: m.keys, made: m.made, want: maps.Clone(m.want)}
}

func (m *model[K, C, P]) requireAgreement(t *testing.T) {
	t.Helper()
	require.Equal(t, len(m.want), P(&m.made).Len())
	for _, key := range m.keys {
		want, exists := m.want[key]
		if got, ok := P(&m.made).Get(key); ok != exists || got != want {
			require.Fail(t, "a value is wrong", "%v: want %d, %t, got %d, %t", key, want, exists, got, ok)
		}
	}
	if ordered, ok := any(&m.made).(interface{ All() iter.Seq2[K, int] }); ok {
		require.True(t, slices.Equal(slices.Sorted(maps.Keys(m.want)), keysOf(ordered.All())))
		require.True(t, maps.Equal(m.want, maps.Collect(ordered.All())))
	}
}

// keysOf collects keys. Without keys it returns nil, like slices.Sorted.
func keysOf[K, V any](pairs iter.Seq2[K, V]) []K {
	var keys []K
	for key := range pairs {
		keys = append(keys, key)
	}
	return keys
}

// testModel compares a collection with a map while it changes, and then versions of it with their maps. deletes is the
// number of deletions in 10 changes. batch is the number of changes in an edit.
func testModel[K cmp.Ordered, C any, P interface {
	*C
	collection[K]
}](t *testing.T, keys []K, deletes, batch int,
) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(len(keys))))
	m := &model[K, C, P]{keys: keys, want: map[K]int{}}
	var edit persistent.Edit
	change := func(i int) {
		if key := keys[random.IntN(len(keys))]; random.IntN(10) < deletes {
			require.True(t, m.delete(edit, key))
		} else {
			m.set(edit, key, i)
		}
	}
	for i := range 20_000 {
		if i%batch == 0 {
			edit = newEdit()
		}
		change(i)
		if i%2_000 == 0 {
			m.requireAgreement(t)
		}
	}
	var versions []*model[K, C, P]
	for range 20 {
		versions = append(versions, m.copy())
		edit = newEdit()
		for i := range 100 {
			change(i)
		}
	}
	for _, version := range versions {
		version.requireAgreement(t)
	}
	for key := range maps.Clone(m.want) {
		require.True(t, m.delete(edit, key))
	}
	m.requireAgreement(t)
	m.set(edit, keys[0], 7)
	m.requireAgreement(t)
}

// newEdit returns an edit that no other batch has.
func newEdit() persistent.Edit { return persistent.Edit(rand.Uint64()) }

// made returns keys that a function makes of the numbers from 0.
func made[K any](count int, of func(i int) K) []K {
	keys := make([]K, count)
	for i := range keys {
		keys[i] = of(i)
	}
	return keys
}

func TestSequence_AgreesWithAMap(t *testing.T) {
	t.Parallel()
	position := func(i int) uint64 { return uint64(i) }
	random := rand.New(rand.NewPCG(2, 2))
	for name, test := range map[string]struct {
		positions      []uint64
		deletes, batch int
	}{
		"one leaf":   {made(32, position), 5, 1},
		"two levels": {made(1_000, position), 4, 5},
		"sparse":     {append(made(3_000, func(int) uint64 { return random.Uint64() }), 0, 31, 32, 1<<40, math.MaxUint64), 3, 1},
		"one edit":   {made(5_000, position), 4, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testModel[uint64, persistent.Sequence[int]](t, test.positions, test.deletes, test.batch)
		})
	}
}

func TestTree_AgreesWithAMap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ keys, deletes, batch int }{
		"few keys":  {40, 5, 1},
		"growing":   {10_000, 2, 7},
		"shrinking": {3_000, 6, 1},
		"one edit":  {3_000, 4, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testModel[string, persistent.Tree[string, int]](t, made(test.keys, strconv.Itoa), test.deletes, test.batch)
		})
	}
}

func TestTrie_AgreesWithAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 8))
	keys := made(3_000, func(int) uint64 { // Many keys agree in their lowest or highest bits.
		key := random.Uint64()
		return []uint64{key, key & (0xff << 56), key&0xf<<60 | 0x123456789, key & 0xfff}[random.IntN(4)]
	})
	for _, batch := range []int{1, 7, 20_000} {
		testModel[uint64, persistent.Trie[int]](t, keys, 4, batch)
	}
}

func BenchmarkTree(b *testing.B) { benchmark[persistent.Tree[uint64, int]](b) }

func BenchmarkTrie(b *testing.B) { benchmark[persistent.Trie[int]](b) }

// benchmark reads and changes a collection of 10,000 random keys.
func benchmark[C any, P interface {
	*C
	collection[uint64]
}](b *testing.B,
) {
	b.Helper()
	random := rand.New(rand.NewPCG(7, 8))
	keys := made(10_000, func(int) uint64 { return random.Uint64() })
	var made C
	edit := newEdit()
	for i, key := range keys {
		P(&made).Set(edit, key, i)
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			P(&made).Get(keys[i%len(keys)])
		}
	})
	b.Run("set", func(b *testing.B) {
		b.ReportAllocs()
		version := made
		for i := 0; b.Loop(); i++ {
			P(&version).Set(newEdit(), keys[i%len(keys)], 0)
		}
	})
}
