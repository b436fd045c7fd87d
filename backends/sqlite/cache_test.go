package sqlite_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// heap returns the size of the memory in use.
func heap() int {
	var stats runtime.MemStats
	runtime.GC() //nolint:revive // Garbage must not count.
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// If an update makes a document smaller, the cached document must not keep the larger version in memory.
func TestCache_SmallerDocuments(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const documents, size = 20, 1 << 19
	all, err := query.CompileFilter(document.O())
	require.NoError(t, err)
	empty, err := query.CompileUpdate(document.Set("text", ""))
	require.NoError(t, err)
	for name, others := range map[string]int{"few kinds of documents": 1, "many kinds of documents": 1100} {
		stored := openQuick(t).Collection("texts")
		kinds := make([]document.Object, others)
		for i := range kinds {
			kinds[i] = document.O("_id", -1-i, strconv.Itoa(i), 1)
		}
		require.NoError(t, stored.Insert(t.Context(), kinds...))
		before := heap()
		for i := range documents {
			require.NoError(t, stored.Insert(t.Context(), document.O("_id", i, "text", strings.Repeat("x", size))))
		}
		_, err = stored.Update(t.Context(), all, query.Change{Update: empty}, store.UpdateOptions{Multi: true})
		require.NoError(t, err)
		require.NoError(t, stored.Insert(t.Context(), document.O("_id", "last")))
		require.Less(t, heap(), before+documents*size/2, name)
	}
}

// If field names are data, the names of removed documents must not stay in memory.
func TestCache_RemovedDocuments(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const documents, fields = 100, 5000
	stored := openQuick(t).Collection("counts")
	require.NoError(t, stored.Insert(t.Context(), document.O("_id", "first")))
	before := heap()
	for i := range documents {
		b := document.NewBuilder(1 + fields)
		b.Set("_id", int64(i))
		for j := range fields {
			b.Set(strconv.Itoa(i*fields+j), true)
		}
		require.NoError(t, stored.Insert(t.Context(), b.Object()))
		_, err := stored.Delete(t.Context(), sharedtest.Filter(t, "_id", i), store.DeleteOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, stored.Insert(t.Context(), document.O("_id", "last")))
	const perName = 16
	require.Less(t, heap(), before+documents*fields*perName/2)
}

// An update of one field must not copy the rest of a cached document.
func TestCache_Allocations(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const elements = 1000
	stored := openQuick(t).Collection("lists")
	items := make([]any, elements)
	for i := range items {
		items[i] = document.O("n", i)
	}
	require.NoError(t, stored.Insert(t.Context(), document.O("_id", 1, "n", 0, "items", document.ArrayOf(items))))
	byID, increment := sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$inc", document.O("n", 1))
	allocated := testing.AllocsPerRun(10, func() {
		_, err := stored.FindAndModify(t.Context(), byID, increment, store.FindAndModifyOptions{})
		require.NoError(t, err)
	})
	require.Less(t, allocated, elements/2.0)
}
