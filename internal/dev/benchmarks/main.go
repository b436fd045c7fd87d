// Command benchmarks compares the SDK with other software that does the same work, and prints tables in Markdown. It
// compares memstore with go-memdb (immutable trees of structs, with snapshots), and a whole turn of a bot with
// JavaScript frameworks, if node and the frameworks are installed. Run it in this folder.
//
//	go run .
//	go run . -rounds 15 -slice 200ms -table store
//
// A row shows medians of processor time. The contestants take turns, so that other load of the machine affects all of
// them equally. Only ratios within a row are meaningful.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

type settings struct {
	// rounds is the number of turns of each contestant.
	rounds int
	// slice is the minimum duration of a turn.
	slice time.Duration
	// table is the only table to print, or "" for all tables.
	table string
	// documents is the number of documents in the table "opening".
	documents int
}

type table struct {
	name  string
	write func(context.Context, *strings.Builder, settings) error
}

var tables = []table{
	{name: "turns", write: printTurns},
	{name: "store", write: printStore},
	{name: "records", write: printRecords},
	{name: "opening", write: printOpening},
}

func tableNames() string {
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	flags.IntVar(&s.rounds, "rounds", 7, "how often each takes its turn in a row")
	flags.DurationVar(&s.slice, "slice", 50*time.Millisecond, "how long a turn takes at least")
	flags.StringVar(&s.table, "table", "", "the table to print, of "+tableNames())
	flags.IntVar(&s.documents, "documents", 100_000, "how many documents the table opening has")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if s.rounds < 1 || flags.NArg() > 0 {
		return errors.New("the number of rounds must be at least 1, and the command has no arguments besides its flags")
	}
	for _, t := range tables {
		if s.table != "" && s.table != t.name {
			continue
		}
		var text strings.Builder
		if err := t.write(ctx, &text, s); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, text.String()); err != nil {
			return err
		}
	}
	return nil
}

// timing is the processor time of one repetition of the work, in nanoseconds, including its share of garbage
// collection.
type timing float64

// String returns the timing with two significant digits and a unit.
func (t timing) String() string {
	switch {
	case t < timing(time.Microsecond):
		return shortNumber(float64(t)) + " ns"
	case t < timing(time.Millisecond):
		return shortNumber(float64(t/timing(time.Microsecond))) + " µs"
	case t < timing(time.Second):
		return shortNumber(float64(t/timing(time.Millisecond))) + " ms"
	default:
		return shortNumber(float64(t/timing(time.Second))) + " s"
	}
}

// shortNumber formats a number with two significant digits, but with all digits before the decimal point.
func shortNumber(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// medians runs each work once per round, and returns the medians of the timings.
func medians(turns []*turn, s settings) ([]timing, error) {
	for range s.rounds {
		for _, t := range turns {
			runtime.GC() //nolint:revive // No contestant cleans up after another one in its own time.
			if err := t.take(s.slice); err != nil {
				return nil, err
			}
		}
	}
	timings := make([]timing, 0, len(turns))
	for _, t := range turns {
		timings = append(timings, t.median())
	}
	return timings, nil
}

// turn is work to measure.
type turn struct {
	do func(round int) error
	// round counts the repetitions of the work.
	round   int
	timings []timing
}

// tooSlow is the duration from which work is not repeated within a turn.
const tooSlow = timing(time.Second)

// take repeats the work for a slice of time, in batches of doubling size. It records the time of one repetition.
func (t *turn) take(slice time.Duration) error {
	if len(t.timings) > 0 && t.timings[0] > tooSlow {
		return nil
	}
	begin, done := processorTime(), 0
	for bundle := 1; ; bundle *= 2 {
		for range bundle {
			if err := t.do(t.round); err != nil {
				return err
			}
			t.round++
		}
		done += bundle
		if passed := processorTime() - begin; passed >= slice {
			t.timings = append(t.timings, timing(passed)/timing(done))
			return nil
		}
	}
}

func (t *turn) median() timing {
	slices.Sort(t.timings)
	return t.timings[len(t.timings)/2]
}
