package bolt

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

// BenchmarkOpen opens stores of small documents, and measures what one takes on disk and in
// memory.
func BenchmarkOpen(b *testing.B) {
	for _, count := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d documents", count), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "store.db")
			fillStore(b, path, count)
			info, err := os.Stat(path)
			require.NoError(b, err)
			before := heap()
			var held float64
			for b.Loop() {
				store, err := Open(path)
				require.NoError(b, err)
				b.StopTimer()
				held = float64(heap()-before) / float64(count)
				require.NoError(b, store.Close())
				b.StartTimer()
			}
			b.ReportMetric(held, "heap-bytes/document")
			b.ReportMetric(float64(info.Size())/float64(count), "file-bytes/document")
		})
	}
}

// fillStore makes a store of that many small documents.
func fillStore(b *testing.B, path string, count int) {
	b.Helper()
	store, err := Open(path, WithoutSync())
	require.NoError(b, err)
	const chunk = 10_000
	documents := make([]document.Object, chunk)
	for done := 0; done < count; done += chunk {
		for i := range documents {
			documents[i] = benchEntry(done + i)
		}
		require.NoError(b, store.Collection("entries").Insert(b.Context(), documents...))
	}
	require.NoError(b, store.Compact(b.Context()))
	require.NoError(b, store.Close())
}

// heap returns how many bytes of memory are in use.
func heap() uint64 {
	runtime.GC() //nolint:revive // What it leaves is the question.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
