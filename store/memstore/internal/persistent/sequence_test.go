package persistent_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// sequenceModel is a sequence and the map that it should equal.
type sequenceModel struct {
	sequence persistent.Sequence[int]
	model    map[uint64]int
}

func (m *sequenceModel) set(edit persistent.Edit, position uint64, value int) {
	m.sequence.Set(edit, position, value)
	m.model[position] = value
}

// delete reports whether sequence and model agree that there was a value.
func (m *sequenceModel) delete(edit persistent.Edit, position uint64) bool {
	_, was := m.model[position]
	delete(m.model, position)
	return m.sequence.Delete(edit, position) == was
}

func (m *sequenceModel) copy() *sequenceModel {
	return &sequenceModel{sequence: m.sequence, model: maps.Clone(m.model)}
}

func (m *sequenceModel) requireAgreement(t *testing.T) {
	t.Helper()
	require.Equal(t, len(m.model), m.sequence.Len())
	expected := slices.Sorted(maps.Keys(m.model))
	var positions []uint64
	for position, value := range m.sequence.All() {
		positions = append(positions, position)
		require.Equal(t, m.model[position], value)
		got, ok := m.sequence.Get(position)
		require.True(t, ok)
		require.Equal(t, value, got)
	}
	require.Equal(t, expected, positions)
}

func TestSequence_AgreesWithAMap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// positions is the number of different positions. deletes is the number of deletions in 10 changes.
		// batch is the number of changes in an edit.
		positions, deletes, batch int
	}{
		{name: "one leaf", positions: 32, deletes: 5, batch: 1},
		{name: "two levels", positions: 1_000, deletes: 4, batch: 5},
		{name: "sparse", positions: math.MaxInt, deletes: 3, batch: 1},
		{name: "one edit", positions: 5_000, deletes: 4, batch: 20_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, uint64(test.positions)))
			m := &sequenceModel{model: map[uint64]int{}}
			var edit persistent.Edit
			for i := range 20_000 {
				if i%test.batch == 0 {
					edit = newEdit()
				}
				position := uint64(random.IntN(test.positions))
				if random.IntN(10) < test.deletes {
					require.True(t, m.delete(edit, position))
				} else {
					m.set(edit, position, i)
				}
			}
			m.requireAgreement(t)
			for position := range maps.Clone(m.model) {
				require.True(t, m.delete(edit, position))
			}
			m.requireAgreement(t)
			m.set(edit, 7, 7)
			m.requireAgreement(t)
		})
	}
}

func TestSequence_VersionsStay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	m := &sequenceModel{model: map[uint64]int{}}
	var versions []*sequenceModel
	for version := range 50 {
		versions = append(versions, m.copy())
		edit := newEdit()
		for i := range 100 {
			m.set(edit, uint64(version*100+i), i)
			m.set(edit, random.Uint64N(5_000), -i)
			m.delete(edit, random.Uint64N(5_000))
		}
	}
	for _, version := range versions {
		version.requireAgreement(t)
	}
}

func TestSequence_HighestPosition(t *testing.T) {
	t.Parallel()
	m := &sequenceModel{model: map[uint64]int{}}
	for i, position := range []uint64{0, 31, 32, 1 << 40, math.MaxUint64} {
		_, ok := m.sequence.Get(position)
		require.False(t, ok)
		m.set(newEdit(), position, i)
	}
	m.requireAgreement(t)
}

func TestSequence_StopsWhenAsked(t *testing.T) {
	t.Parallel()
	var sequence persistent.Sequence[int]
	edit := newEdit()
	for i := range uint64(2_000) {
		sequence.Set(edit, i, 0)
	}
	var last uint64
	for position := range sequence.All() {
		if last = position; position == 1_500 {
			break
		}
	}
	require.Equal(t, uint64(1_500), last)
}

func BenchmarkSequence(b *testing.B) {
	const size = 10_000
	var sequence persistent.Sequence[*int]
	edit := newEdit()
	for i := range uint64(size) {
		sequence.Set(edit, i, nil)
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for i := uint64(0); b.Loop(); i++ {
			sequence.Get(i % size)
		}
	})
	b.Run("set", func(b *testing.B) {
		b.ReportAllocs()
		version := sequence
		for i := uint64(0); b.Loop(); i++ {
			version.Set(newEdit(), i%size, nil)
		}
	})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			count := 0
			for range sequence.All() {
				count++
			}
			if count != size {
				b.Fatal(count)
			}
		}
	})
}
