package persistent_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// trieModel is a trie, and the map that it should equal.
type trieModel struct {
	trie  persistent.Trie[int]
	model map[uint64]int
}

func (m *trieModel) copy() *trieModel { return &trieModel{trie: m.trie, model: maps.Clone(m.model)} }

func (m *trieModel) requireAgreement(t *testing.T, others []uint64) {
	t.Helper()
	require.Equal(t, len(m.model), m.trie.Len())
	for _, key := range others {
		want, exists := m.model[key]
		got, ok := m.trie.Get(key)
		require.Equal(t, exists, ok, "%x", key)
		require.Equal(t, want, got, "%x", key)
	}
}

// trieKeys returns keys. Many agree in their lowest or highest bits.
func trieKeys(random *rand.Rand, count int) []uint64 {
	keys := make([]uint64, count)
	for i := range keys {
		key := random.Uint64()
		switch random.IntN(4) {
		case 0:
			key &= 0xff << 56
		case 1:
			key = key&0xf<<60 | 0x123456789
		case 2:
			key &= 0xfff
		}
		keys[i] = key
	}
	return keys
}

func TestTrie_AgreesWithAMap(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 7, 20_000} {
		random := rand.New(rand.NewPCG(8, uint64(batch)))
		keys := trieKeys(random, 3_000)
		m := &trieModel{model: map[uint64]int{}}
		var edit persistent.Edit
		for i := range 20_000 {
			if i%batch == 0 {
				edit = newEdit()
			}
			key := keys[random.IntN(len(keys))]
			if random.IntN(10) < 4 {
				_, was := m.model[key]
				delete(m.model, key)
				require.Equal(t, was, m.trie.Delete(edit, key))
			} else {
				m.trie.Set(edit, key, i)
				m.model[key] = i
			}
		}
		m.requireAgreement(t, keys)
		for key := range maps.Clone(m.model) {
			delete(m.model, key)
			require.True(t, m.trie.Delete(edit, key))
		}
		m.requireAgreement(t, keys)
	}
}

func TestTrie_VersionsStay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	keys := trieKeys(random, 400)
	m := &trieModel{model: map[uint64]int{}}
	var versions []*trieModel
	for version := range 60 {
		versions = append(versions, m.copy())
		edit := newEdit()
		for range 30 {
			key := keys[random.IntN(len(keys))]
			if random.IntN(3) == 0 {
				delete(m.model, key)
				m.trie.Delete(edit, key)
			} else {
				m.trie.Set(edit, key, version)
				m.model[key] = version
			}
		}
	}
	for _, version := range versions {
		version.requireAgreement(t, keys)
	}
}

func BenchmarkTrie(b *testing.B) {
	const size = 10_000
	random := rand.New(rand.NewPCG(1, 1))
	var trie persistent.Trie[uint64]
	keys := make([]uint64, size)
	edit := newEdit()
	for i := range keys {
		keys[i] = random.Uint64()
		trie.Set(edit, keys[i], uint64(i))
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			trie.Get(keys[i%size])
		}
	})
	b.Run("set", func(b *testing.B) {
		b.ReportAllocs()
		version := trie
		for i := 0; b.Loop(); i++ {
			version.Set(newEdit(), keys[i%size], 0)
		}
	})
}
