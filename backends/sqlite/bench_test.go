package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// entry returns a small document with eight fields.
func entry(i int) document.Object {
	return document.O(
		"_id", fmt.Sprintf("entry-%07d", i), "name", fmt.Sprintf("Place %d", i), "area", fmt.Sprintf("area-%d", i%1000),
		"stars", i%5, "price", float64(i%97)+0.5, "open", i%3 != 0, "tags", document.A("a", fmt.Sprintf("t%d", i%7)),
		"due", i,
	)
}

// entries creates a file with count entries and two indexes. It returns the path.
func entries(b *testing.B, count int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "store.db")
	database, err := sqlite.Open(path, sqlite.WithoutSync())
	require.NoError(b, err)
	c := database.Collection("entries")
	require.NoError(b, c.EnsureIndex(b.Context(), store.Ascending("area", "price")))
	require.NoError(b, c.EnsureIndex(b.Context(), store.Ascending("due")))
	for from := 0; from < count; from += 1_000 {
		var documents []document.Object
		for i := from; i < min(from+1_000, count); i++ {
			documents = append(documents, entry(i))
		}
		require.NoError(b, c.Insert(b.Context(), documents...))
	}
	require.NoError(b, database.Close())
	return path
}

// BenchmarkGrowth shows which operations become slower with more documents. Only the depth of index trees
// should matter.
func BenchmarkGrowth(b *testing.B) {
	for _, count := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) { benchmarkCount(b, count) })
	}
}

func benchmarkCount(b *testing.B, count int) {
	b.Helper()
	path := entries(b, count)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			database, err := sqlite.Open(path)
			require.NoError(b, err)
			require.NoError(b, database.Close())
		}
	})
	database, err := sqlite.Open(path)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, database.Close()) })
	c := database.Collection("entries")
	var next atomic.Int64
	pick := func() int { return int(uint64(next.Add(1)) * 2654435761 % uint64(count)) }
	compiled := func(pairs ...any) *query.Filter { return sharedtest.Filter(b, pairs...) }
	sort := sharedtest.Sort(b, "price", 1)
	byDue := sharedtest.Sort(b, "due", 1)
	claim := query.Change{Update: sharedtest.Change(b, "$inc", document.O("due", 10*count)).Update}
	star := sharedtest.Change(b, "$inc", document.O("stars", 1))
	for _, call := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"get", func(ctx context.Context) error {
			_, _, err := c.Get(ctx, fmt.Sprintf("entry-%07d", pick()))
			return err
		}},
		{"page", func(ctx context.Context) error {
			_, err := c.Find(ctx, compiled("area", fmt.Sprintf("area-%d", pick()%1000)), store.FindOptions{Sort: sort, Limit: 10})
			return err
		}},
		{"insert", func(ctx context.Context) error { return c.Insert(ctx, entry(10_000_000+int(next.Add(1)))) }},
		{"findAndModify", func(ctx context.Context) error {
			_, err := c.FindAndModify(ctx, compiled("_id", fmt.Sprintf("entry-%07d", pick())), star, store.FindAndModifyOptions{})
			return err
		}},
		{"claim", func(ctx context.Context) error {
			_, err := c.FindAndModify(ctx, compiled("due", document.O("$lt", 9*count)), claim, store.FindAndModifyOptions{Sort: byDue})
			return err
		}},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.SetParallelism(16)
			b.RunParallel(func(each *testing.PB) {
				for each.Next() {
					if err := call.call(b.Context()); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
	var memory runtime.MemStats
	runtime.GC() //nolint:revive // The figure is the remaining memory.
	runtime.ReadMemStats(&memory)
	b.Logf("%d documents: %d MiB of memory, %d bytes each in the file", count, memory.HeapAlloc>>20, database.Stats().Size/int64(count))
}
