package sqlite_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// A document that an update makes smaller must not keep its earlier version in the memory of the cache.
func TestCache_SmallerDocuments(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const documents, size = 20, 1 << 19
	heap := func() int {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int(stats.HeapAlloc)
	}
	all, err := query.CompileFilter(document.O())
	require.NoError(t, err)
	empty, err := query.CompileUpdate(document.Set("text", ""))
	require.NoError(t, err)
	stored := open(t, newPath(t)).Collection("texts")
	require.NoError(t, stored.Insert(t.Context(), document.O("_id", "first")))
	before := heap()
	for i := range documents {
		require.NoError(t, stored.Insert(t.Context(), document.O("_id", i, "text", strings.Repeat("x", size))))
	}
	_, err = stored.Update(t.Context(), all, query.Change{Update: empty}, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	require.NoError(t, stored.Insert(t.Context(), document.O("_id", "last")))
	require.Less(t, heap(), before+documents*size/2)
}
