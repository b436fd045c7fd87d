// Command hostile searches for small calls of operations that take long or much, over a store
// in memory and over one in a file. It ends with 1 where a call is beyond the bounds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/hostile"
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
	filled, err := hostile.Filled(ctx)
	if err != nil {
		return false, err
	}
	files, err := newFiles(ctx, filled)
	if err != nil {
		return false, err
	}
	defer files.close()
	for _, store := range []struct {
		name string
		open hostile.Opener
	}{
		{"memory", func() (document.Store, error) { return filled.Fork(), nil }},
		{"file", files.open},
	} {
		within, cancel := context.WithTimeout(ctx, duration)
		report, err := hostile.Search(within, store.open, seed)
		cancel()
		fmt.Printf("== %s: %v\n", store.name, report) //nolint:forbidigo // A program prints.
		if err != nil {
			return false, err
		}
		isBroken = isBroken || len(report.Broken) > 0
	}
	return isBroken, nil
}
