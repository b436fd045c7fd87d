package persistent_test

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// treeModel is a tree and the map that it should equal.
type treeModel struct {
	tree  persistent.Tree[string, int]
	model map[string]int
}

func (m *treeModel) set(edit persistent.Edit, key string, value int) {
	m.tree.Set(edit, key, value)
	m.model[key] = value
}

func (m *treeModel) delete(edit persistent.Edit, key string) bool {
	_, was := m.model[key]
	delete(m.model, key)
	return m.tree.Delete(edit, key) == was
}

func (m *treeModel) copy() *treeModel {
	return &treeModel{tree: m.tree, model: maps.Clone(m.model)}
}

func (m *treeModel) requireAgreement(t *testing.T) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(m.model))
	require.Equal(t, len(keys), m.tree.Len())
	require.Equal(t, keys, keysOf(m.tree.All()))
	for _, key := range keys {
		value, ok := m.tree.Get(key)
		require.True(t, ok)
		require.Equal(t, m.model[key], value)
	}
	slices.Reverse(keys)
	require.Equal(t, keys, keysOf(m.tree.Before("\xff")))
}

// keysOf collects keys. Without keys it returns nil, like slices.Sorted.
func keysOf[V any](pairs iter.Seq2[string, V]) []string {
	var keys []string
	for key := range pairs {
		keys = append(keys, key)
	}
	return keys
}

func TestTree_AgreesWithAMap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// keys is the number of different keys. deletes is the number of deletions in 10 changes. batch is
		// the number of changes in an edit.
		keys, deletes, batch int
	}{
		{name: "few keys", keys: 40, deletes: 5, batch: 1},
		{name: "growing", keys: 100_000, deletes: 2, batch: 7},
		{name: "shrinking", keys: 3_000, deletes: 6, batch: 1},
		{name: "one edit", keys: 3_000, deletes: 4, batch: 20_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, uint64(test.keys)))
			m := &treeModel{model: map[string]int{}}
			var edit persistent.Edit
			for i := range 20_000 {
				if i%test.batch == 0 {
					edit = newEdit()
				}
				key := strconv.Itoa(random.IntN(test.keys))
				if random.IntN(10) < test.deletes {
					require.True(t, m.delete(edit, key))
				} else {
					m.set(edit, key, i)
				}
				if i%1_000 == 0 {
					m.requireAgreement(t)
				}
			}
			m.requireAgreement(t)
			for key := range maps.Clone(m.model) {
				require.True(t, m.delete(edit, key))
			}
			m.requireAgreement(t)
		})
	}
}

func TestTree_VersionsStay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	m := &treeModel{model: map[string]int{}}
	var versions []*treeModel
	for range 50 {
		versions = append(versions, m.copy())
		edit := newEdit()
		for i := range 100 {
			if key := strconv.Itoa(random.IntN(1_000)); random.IntN(3) == 0 {
				m.delete(edit, key)
			} else {
				m.set(edit, key, i)
			}
		}
	}
	for _, version := range versions {
		version.requireAgreement(t)
	}
}

func TestTree_BranchesOffAnyVersion(t *testing.T) {
	t.Parallel()
	trunk := &treeModel{model: map[string]int{}}
	edit := newEdit()
	for i := range 2_000 {
		trunk.set(edit, strconv.Itoa(i), i)
	}
	left, right := trunk.copy(), trunk.copy()
	for i := range 2_000 {
		left.set(newEdit(), strconv.Itoa(i), -i)
		right.delete(newEdit(), strconv.Itoa(i*2))
	}
	left.requireAgreement(t)
	right.requireAgreement(t)
	trunk.requireAgreement(t)
}

func TestTree_RangeBeginsAtAKey(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	m := &treeModel{model: map[string]int{}}
	edit := newEdit()
	for range 3_000 {
		key := strconv.Itoa(random.IntN(10_000))
		m.set(edit, key, 0)
		m.delete(edit, strconv.Itoa(random.IntN(10_000)))
	}
	sorted := slices.Sorted(maps.Keys(m.model))
	for range 500 {
		bound := strconv.Itoa(random.IntN(10_000))
		at, _ := slices.BinarySearch(sorted, bound)
		require.Equal(t, sorted[at:], keysOf(m.tree.From(bound)))

		below := slices.Clone(sorted[:at])
		slices.Reverse(below)
		require.Equal(t, below, slices.Clip(keysOf(m.tree.Before(bound))))
	}
}

func TestTree_RangeStopsWhenAsked(t *testing.T) {
	t.Parallel()
	var tree persistent.Tree[uint64, string]
	edit := newEdit()
	for i := range uint64(5_000) {
		tree.Set(edit, i, "")
	}
	for name, keys := range map[string]iter.Seq2[uint64, string]{
		"All": tree.All(), "From": tree.From(100), "Before": tree.Before(4_900),
	} {
		seen := 0
		for range keys {
			seen++
			if seen == 2_000 {
				break
			}
		}
		require.Equal(t, 2_000, seen, name)
	}
}

func TestTree_Empty(t *testing.T) {
	t.Parallel()
	var tree persistent.Tree[string, int]
	_, ok := tree.Get("a")
	require.False(t, ok)
	require.False(t, tree.Delete(newEdit(), "a"))
	require.Empty(t, keysOf(tree.All()))
	require.Empty(t, keysOf(tree.From("")))
	require.Empty(t, keysOf(tree.Before("z")))
}

// newEdit returns an edit that no other batch has.
func newEdit() persistent.Edit { return persistent.Edit(rand.Uint64()) }

func BenchmarkTree(b *testing.B) {
	const size = 10_000
	var tree persistent.Tree[uint64, uint64]
	random := rand.New(rand.NewPCG(7, 8))
	edit := newEdit()
	keys := make([]uint64, size)
	for i := range keys {
		keys[i] = random.Uint64()
		tree.Set(edit, keys[i], uint64(i))
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			tree.Get(keys[i%size])
		}
	})
	b.Run("set", func(b *testing.B) {
		b.ReportAllocs()
		version := tree
		for i := 0; b.Loop(); i++ {
			version.Set(newEdit(), keys[i%size], 0)
		}
	})
}
