// Command benchmarks measures memstore, lungo (an independent implementation of
// MongoDB's language, in memory), go-memdb (immutable trees of structs, with snapshots) and
// code written by hand for the data (structs, a map and a lock: what is possible) on the same
// work, in one process, and prints tables in Markdown. The table of turns compares a whole turn of a
// bot with frameworks in JavaScript, where node and the packages in peers are there. The table of history shows
// what calls cost after many others; to compare two commits, build this folder in both and run them by turns. The table
// of scripts compares package script with goja, with moment and lodash where npm has put them into script/testdata/npm.
//
//	go run .
//	go run . -rounds 15 -slice 200ms -largest 100000
//	go run . -table go-memdb
//	go run . -table history -largest 100000
//
// The engines take turns within each row, and a row shows medians of the time of
// processors, so that what else the machine does falls little on any, and alike on all. Only ratios within a row mean
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
	// table is the name of the only table to print, empty for all.
	table string
	// probe is what to measure instead, with an argument, and print alone: another process of this program asks for it.
	probe, argument string
}

// table is one that is printed.
type table struct {
	name  string
	write func(context.Context, *strings.Builder, settings) error
}

// tables are those that there are.
var tables = []table{
	{name: "engines", write: printRatios},
	{name: "go-memdb", write: printTrees},
	{name: "memory", write: printMemory},
	{name: "growth", write: printGrowth},
	{name: "sharing", write: printSharing},
	{name: "operations", write: printOperations},
	{name: "turns", write: printTurns},
	{name: "history", write: printHistory},
	{name: "scripts", write: printScripts},
}

// tableNames lists the names of tables.
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
	flags.IntVar(&s.rounds, "rounds", 7, "how often each engine takes its turn in a row")
	flags.DurationVar(&s.slice, "slice", 50*time.Millisecond, "how long a turn takes at least")
	flags.IntVar(&s.largest, "largest", 1_000_000, "the most documents in the rows of memstore alone")
	flags.StringVar(&s.table, "table", "", "the table to print, of "+tableNames())
	flags.StringVar(&s.probe, "probe", "", "what another process of this program has this one measure: start or memory")
	flags.StringVar(&s.argument, "argument", "", "the folder of compiled code, or the script, of -probe")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if s.rounds < 1 || flags.NArg() > 0 {
		return errors.New("there must be at least one round, and there are no arguments beside the flags")
	}
	if s.probe != "" {
		return probe(ctx, s.probe, s.argument, out)
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
