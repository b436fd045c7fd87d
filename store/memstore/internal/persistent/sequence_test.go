package persistent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

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
