package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/internal/pgserver"
	"github.com/botctx/go-sdk/store"
)

// lookUps is the number of documents to read before the memory of a store is measured.
const lookUps = 50_000

// printOpening writes a table of the time and memory that opening a store with many documents and two indexes takes.
func printOpening(ctx context.Context, text *strings.Builder, s settings) error {
	fmt.Fprintf(text, "%d documents\n\n| store | open and read one | memory | after %d lookups |\n|---|---|---|---|\n", s.documents, lookUps)
	for _, each := range []struct {
		name string
		with func(ctx context.Context, measure func(opener) error) error
	}{{"SQLite", withFile}, {"PostgreSQL", withServer}} {
		err := each.with(ctx, func(open opener) error {
			row, err := measureOpening(ctx, open, s)
			if err == nil {
				fmt.Fprintf(text, "| %s | %s |\n", each.name, row)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// opener opens a store for a measurement. The store need not sync its writes.
type opener func(ctx context.Context) (database store.Store, end func() error, err error)

func withFile(_ context.Context, measure func(opener) error) error {
	folder, err := os.MkdirTemp("", "opening")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return measure(func(context.Context) (store.Store, func() error, error) {
		database, err := sqlite.Open(filepath.Join(folder, "opening.db"), sqlite.WithoutSync())
		if err != nil {
			return nil, nil, err
		}
		return database, database.Close, nil
	})
}

// withServer calls measure with a store on a database server, if there is one.
func withServer(ctx context.Context, measure func(opener) error) error {
	server, err := pgserver.Start(ctx, "fsync=off", "max_wal_size=2GB")
	if err != nil || server == nil {
		return err
	}
	defer server.Stop()
	return measure(func(ctx context.Context) (store.Store, func() error, error) {
		database, err := postgres.Open(ctx, server.URL)
		if err != nil {
			return nil, nil, err
		}
		return database, func() error {
			database.Close()
			return nil
		}, nil
	})
}

// measureOpening returns the cells of the table's row for a store.
func measureOpening(ctx context.Context, open opener, s settings) (row string, err error) {
	if err := fillPlaces(ctx, open, s.documents); err != nil {
		return "", err
	}
	var times []time.Duration
	for range s.rounds {
		begin := time.Now()
		end, err := openAndGet(ctx, open, 1, s.documents)
		if err == nil {
			times = append(times, time.Since(begin))
			err = end()
		}
		if err != nil {
			return "", err
		}
	}
	slices.Sort(times)
	var memory [2]string
	for i, count := range []int{1, lookUps} {
		before, err := anonymousMemory()
		if err != nil {
			return "", err
		}
		end, err := openAndGet(ctx, open, count, s.documents)
		if err != nil {
			return "", err
		}
		after, err := anonymousMemory()
		if err != nil {
			return "", err
		}
		if err := end(); err != nil {
			return "", err
		}
		memory[i] = "under 1 MiB"
		if grown := (after - before) >> 20; grown > 0 {
			memory[i] = fmt.Sprintf("%d MiB", grown)
		}
	}
	return fmt.Sprintf("%v | %s | %s", times[len(times)/2].Round(100*time.Microsecond), memory[0], memory[1]), nil
}

// openAndGet opens a store and reads documents from it.
func openAndGet(ctx context.Context, open opener, count, documents int) (end func() error, err error) {
	database, end, err := open(ctx)
	if err != nil {
		return nil, err
	}
	places := database.Collection("places")
	for i := range count {
		if _, exists, err := places.Get(ctx, idAt(int(uint64(i)*2654435761%uint64(documents)))); err != nil || !exists {
			return nil, fmt.Errorf("a document is missing: %w", err)
		}
	}
	return end, nil
}

func fillPlaces(ctx context.Context, open opener, documents int) error {
	database, end, err := open(ctx)
	if err != nil {
		return err
	}
	places := recordSample{collection: "places", document: documentOf(placeAt(0)), indexes: []store.Index{
		store.Ascending("name"), store.Ascending("area", "price"),
	}}
	if err := places.fill(ctx, database, documents, idAt); err != nil {
		return err
	}
	return end()
}

// anonymousMemory returns this process's memory without a backing file, in bytes, after a garbage collection. Only
// Linux reports it.
func anonymousMemory() (size int64, err error) {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, found, _ := strings.Cut(string(status), "RssAnon:")
	_, err = fmt.Sscan(found, &size)
	return size << 10, err
}
