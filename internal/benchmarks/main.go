// Command benchmarks measures memstore, lungo (an independent implementation of
// MongoDB's language, in memory) and code written by hand for the data (structs, a
// map and a lock: what is possible) on the same work, in one process, and prints
// tables in Markdown.
//
//	go run .
//	go run . -rounds 15 -slice 200ms -largest 100000
//
// The engines take turns within each row, and a row shows medians, so that what
// else the machine does falls on all of them. Only ratios within a row mean
// something. The same work as Go benchmarks:
//
//	go test -run '^$' -bench .
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	// rounds is how often each engine takes its turn in a row.
	rounds int
	// slice is how long a turn takes at least.
	slice time.Duration
	// largest is the most documents that memstore's own rows have.
	largest int
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	flags.IntVar(&s.rounds, "rounds", 7, "how often each engine takes its turn in a row")
	flags.DurationVar(&s.slice, "slice", 50*time.Millisecond, "how long a turn takes at least")
	flags.IntVar(&s.largest, "largest", 1_000_000, "the most documents in the rows of memstore alone")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if s.rounds < 1 || flags.NArg() > 0 {
		return errors.New("there must be at least one round, and there are no arguments beside the flags")
	}
	for _, table := range []func(context.Context, *strings.Builder, settings) error{
		printRatios, printMemory, printGrowth, printSharing,
	} {
		var text strings.Builder
		if err := table(ctx, &text, s); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, text.String()); err != nil {
			return err
		}
	}
	return nil
}
