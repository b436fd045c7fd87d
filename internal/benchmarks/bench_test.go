package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkInsert(b *testing.B) { benchmark(b, "Insert") }

func BenchmarkByID(b *testing.B) { benchmark(b, "ByID") }

func BenchmarkIndex(b *testing.B) { benchmark(b, "Index") }

func BenchmarkScan(b *testing.B) { benchmark(b, "Scan") }

func BenchmarkFindAndModify(b *testing.B) { benchmark(b, "FindAndModify") }

func BenchmarkCount(b *testing.B) { benchmark(b, "Count") }

func BenchmarkDistinct(b *testing.B) { benchmark(b, "Distinct") }

func BenchmarkNear(b *testing.B) { benchmark(b, "Near") }

func BenchmarkSnapshot(b *testing.B) { benchmark(b, "Snapshot") }

// benchmark runs the tasks of one kind of work with every engine.
func benchmark(b *testing.B, work string) {
	b.Helper()
	for _, t := range tasks {
		if t.work != work {
			continue
		}
		for _, c := range contenders {
			b.Run(t.variant+"/"+c.name, func(b *testing.B) { benchmarkTask(b, c, t) })
		}
	}
}

func benchmarkTask(b *testing.B, c contender, t task) {
	b.Helper()
	started, err := c.start(b.Context(), t)
	require.NoError(b, err)
	defer started.close()
	measureRounds(b, started.do)
}

// benchmarkWork measures work of memstore alone, made for a size.
func benchmarkWork(b *testing.B, size int, prepare func(context.Context, int) (func(int) error, error)) {
	b.Helper()
	do, err := prepare(b.Context(), size)
	require.NoError(b, err)
	measureRounds(b, do)
}

func measureRounds(b *testing.B, do func(round int) error) {
	b.Helper()
	if errors.Is(do(0), errLacking) {
		b.Skip("the engine does not offer this")
	}
	b.ReportAllocs()
	for round := 0; b.Loop(); round++ {
		if err := do(round); err != nil {
			b.Fatal(err)
		}
	}
}
