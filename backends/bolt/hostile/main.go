// Command hostile searches for small calls of operations that take long or much, over a store
// in memory and over one in a file. It ends with 1 where a call is beyond the bounds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/memstore"
	"github.com/botctx/go-sdk/internal/hostile"
)

func main() {
	duration := flag.Duration("for", 30*time.Second, "how long to search on each store, beside the known calls") //nolint:mnd // A default.
	seed := flag.Uint64("seed", 1, "the seed of the search")
	flag.Parse()
	// Memory that waits to be collected counts, so that it is collected often.
	debug.SetGCPercent(20) //nolint:mnd // A fifth of what is in use.
	isBroken, err := run(*duration, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || isBroken {
		os.Exit(1)
	}
}

// run searches on both stores, and reports whether a call is beyond the bounds.
func run(duration time.Duration, seed uint64) (isBroken bool, err error) {
	folder, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	files := &files{folder: folder}
	defer files.close()
	for _, store := range []struct {
		name string
		open func() document.Store
	}{
		{"memory", func() document.Store { return memstore.New() }},
		{"file", files.open},
	} {
		report, err := hostile.Search(context.Background(), store.open, seed, duration)
		fmt.Printf("== %s: %v\n", store.name, report)
		if err != nil {
			return false, err
		}
		isBroken = isBroken || len(report.Broken) > 0
	}
	return isBroken, nil
}

// files opens one file after the other.
type files struct {
	folder string
	number int
	store  *bolt.Store
}

// open opens the next file, and closes and removes the one before.
func (f *files) open() document.Store {
	f.close()
	f.number++
	store, err := bolt.Open(filepath.Join(f.folder, fmt.Sprint(f.number)))
	if err != nil {
		panic(err)
	}
	f.store = store
	return store
}

func (f *files) close() {
	if f.store == nil {
		return
	}
	_ = f.store.Close()
	_ = os.Remove(filepath.Join(f.folder, fmt.Sprint(f.number)))
	f.store = nil
}
