package memstore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// entry is a document of eight fields; one in twenty has a given area.
func entry(i int) document.Object {
	return document.O(
		"_id", fmt.Sprintf("entry-%06d", i), "name", fmt.Sprintf("Place %d", i), "area", fmt.Sprintf("area-%d", i%20),
		"stars", i%5, "price", float64(i%97)+0.5, "open", i%3 != 0, "tags", document.A("a", fmt.Sprintf("t%d", i%7)),
		"address", document.O("street", fmt.Sprintf("Street %d", i%100), "number", i%50),
	)
}

func entries(count int) []document.Object {
	documents := make([]document.Object, count)
	for i := range documents {
		documents[i] = entry(i)
	}
	return documents
}

// filled returns a collection with entries, in a new store.
func filled(tb testing.TB, count int) (*memstore.Store, store.Collection) {
	tb.Helper()
	store := memstore.New()
	c := store.Collection("entries")
	require.NoError(tb, c.Insert(tb.Context(), entries(count)...))
	return store, c
}

func BenchmarkInsert(b *testing.B) {
	documents := entries(10_000)
	b.Run("10000 at once", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, memstore.New().Collection("c").Insert(b.Context(), documents...))
		}
	})
	b.Run("10000 one by one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := memstore.New().Collection("c")
			for _, o := range documents {
				if err := c.Insert(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkGetByID(b *testing.B) {
	const count = 10_000
	_, c := filled(b, count)
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("entry-%06d", i)
	}
	get := func(ctx context.Context, i int) bool {
		_, exists, err := c.Get(ctx, ids[i%count])
		return err == nil && exists
	}
	b.Run("one reader", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if !get(b.Context(), i) {
				b.Fatal("not found")
			}
		}
	})
	b.Run("parallel readers", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for i := 0; p.Next(); i++ {
				if !get(b.Context(), i) {
					b.Error("not found")
				}
			}
		})
	})
}

func BenchmarkScan(b *testing.B) {
	for _, count := range []int{10_000, 100_000} {
		_, c := filled(b, count)
		for name, f := range map[string]*query.Filter{
			"equality": sharedtest.Filter(b, "area", "area-7"),
			"two":      sharedtest.Filter(b, "area", "area-7", "stars", document.O("$gte", 2)),
			"nested":   sharedtest.Filter(b, "address.street", "Street 7"),
			"array":    sharedtest.Filter(b, "tags", "t3"),
		} {
			b.Run(fmt.Sprintf("%d/%s", count, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					found, err := c.Find(b.Context(), f, store.FindOptions{})
					if err != nil || len(found) == 0 {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkFindOnIndex(b *testing.B) {
	_, c := filled(b, 10_000)
	index := store.Index{Keys: []store.IndexKey{{Path: "name", Kind: query.Ascending}}}
	require.NoError(b, c.EnsureIndex(b.Context(), index))
	f := sharedtest.Filter(b, "name", "Place 777")
	b.ReportAllocs()
	for b.Loop() {
		found, err := c.Find(b.Context(), f, store.FindOptions{})
		if err != nil || len(found) != 1 {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindSortedPage(b *testing.B) {
	_, c := filled(b, 10_000)
	options := store.FindOptions{Sort: sharedtest.Sort(b, "price", -1, "name", 1), Limit: 20}
	b.ReportAllocs()
	for b.Loop() {
		found, err := c.Find(b.Context(), nil, options)
		if err != nil || len(found) != 20 {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindAndModify(b *testing.B) {
	for name, test := range map[string]struct {
		filter *query.Filter
		sort   *query.Sort
	}{
		"by id":              {filter: sharedtest.Filter(b, "_id", "entry-004242")},
		"by filter and sort": {filter: sharedtest.Filter(b, "area", "area-7"), sort: sharedtest.Sort(b, "price", 1)},
	} {
		b.Run(name, func(b *testing.B) {
			_, c := filled(b, 10_000)
			change := sharedtest.Change(b, "$inc", document.O("stars", 1))
			b.ReportAllocs()
			for b.Loop() {
				result, err := c.FindAndModify(b.Context(), test.filter, change, store.FindAndModifyOptions{Sort: test.sort})
				if err != nil || !result.Modified {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUpdateAll(b *testing.B) {
	_, c := filled(b, 10_000)
	change := sharedtest.Change(b, "$inc", document.O("stars", 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Update(b.Context(), nil, change, store.UpdateOptions{Multi: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	_, c := filled(b, 10_000)
	f := sharedtest.Filter(b, "open", true)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := c.Count(b.Context(), f); err != nil || n == 0 {
			b.Fatal(err)
		}
	}
}

func BenchmarkDistinct(b *testing.B) {
	_, c := filled(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if values, err := c.Distinct(b.Context(), "area", nil); err != nil || len(values) != 20 {
			b.Fatal(err)
		}
	}
}

func BenchmarkFork(b *testing.B) {
	for _, count := range []int{10, 100_000} {
		b.Run(fmt.Sprintf("%d documents", count), func(b *testing.B) {
			store, _ := filled(b, count)
			b.ReportAllocs()
			for b.Loop() {
				store.Fork()
			}
		})
	}
}

func BenchmarkSetOneField(b *testing.B) {
	for _, width := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("%d fields", width), func(b *testing.B) {
			c := memstore.New().Collection("c")
			o := document.O("_id", 1)
			for i := range width {
				o = o.With(fmt.Sprintf("f%d", i), i)
			}
			require.NoError(b, c.Insert(b.Context(), o))
			byID := sharedtest.Filter(b, "_id", 1)
			changes := []query.Change{sharedtest.Change(b, "$set", document.O("f7", "x")), sharedtest.Change(b, "$set", document.O("f7", "y"))}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				result, err := c.Update(b.Context(), byID, changes[i%2], store.UpdateOptions{})
				if err != nil || result.Modified != 1 {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFindSorted(b *testing.B) {
	for _, count := range []int{10, 1_000, 100_000} {
		_, c := filled(b, count)
		for name, options := range map[string]store.FindOptions{
			"text":     {Sort: sharedtest.Sort(b, "address.street", 1)},
			"number":   {Sort: sharedtest.Sort(b, "price", -1)},
			"several":  {Sort: sharedtest.Sort(b, "open", 1, "stars", -1, "area", 1, "name", 1)},
			"one page": {Sort: sharedtest.Sort(b, "price", -1, "name", 1), Limit: int64(count) / 5},
		} {
			b.Run(fmt.Sprintf("%d/%s", count, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Find(b.Context(), nil, options); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
