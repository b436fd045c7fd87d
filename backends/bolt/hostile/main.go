// Command hostile searches for small calls of operations that take long or much, over a store
// in memory and over one in a file. It ends with 1 where a call is beyond the bounds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/botctx/go-sdk/internal/hostile"
	"github.com/botctx/go-sdk/store"
)

func main() {
	duration := flag.Duration("for", 30*time.Second, "how long to search on each store") //nolint:mnd // A default.
	seed := flag.Uint64("seed", 1, "the seed of the search")
	flag.Parse()
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
	ctx := context.Background()
	for _, search := range []func(context.Context, uint64, time.Duration) (*hostile.Report, error){inMemory, inFile} {
		report, err := search(ctx, seed, duration)
		if err != nil {
			return false, err
		}
		isBroken = isBroken || len(report.Broken) > 0
	}
	return isBroken, nil
}

// inMemory searches on a store in memory, each change on a fork of its own.
func inMemory(ctx context.Context, seed uint64, duration time.Duration) (*hostile.Report, error) {
	filled, err := hostile.Filled(ctx)
	if err != nil {
		return nil, err
	}
	open := func(context.Context) (store.Store, error) { return filled.Fork(), nil }
	return shown("memory")(hostile.Search(ctx, open, seed, duration))
}

// inFile searches on a store in a file.
func inFile(ctx context.Context, seed uint64, duration time.Duration) (*hostile.Report, error) {
	files, err := newFiles(ctx)
	if err != nil {
		return nil, err
	}
	defer files.close()
	return shown("file")(hostile.Search(ctx, files.open, seed, duration))
}

// shown prints what was found in a store.
func shown(store string) func(*hostile.Report, error) (*hostile.Report, error) {
	return func(report *hostile.Report, err error) (*hostile.Report, error) {
		fmt.Printf("== %s: %v\n", store, report) //nolint:forbidigo // A program prints.
		return report, err
	}
}
