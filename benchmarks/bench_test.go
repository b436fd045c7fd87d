package main

import (
	"errors"
	"testing"
)

func BenchmarkInsert(b *testing.B) { benchmark(b, "Insert") }

func BenchmarkByID(b *testing.B) { benchmark(b, "ByID") }

func BenchmarkIndex(b *testing.B) { benchmark(b, "Index") }

func BenchmarkScan(b *testing.B) { benchmark(b, "Scan") }

func BenchmarkFindAndModify(b *testing.B) { benchmark(b, "FindAndModify") }

func BenchmarkCount(b *testing.B) { benchmark(b, "Count") }

func BenchmarkDistinct(b *testing.B) { benchmark(b, "Distinct") }

func BenchmarkNear(b *testing.B) { benchmark(b, "Near") }

// benchmark runs the tasks of one kind of work with every engine.
func benchmark(b *testing.B, work string) {
	for _, t := range tasks {
		if t.work != work {
			continue
		}
		for _, c := range contenders {
			b.Run(t.variant+"/"+c.name, func(b *testing.B) {
				r, err := c.start(b.Context(), t)
				if err != nil {
					b.Fatal(err)
				}
				defer r.close()
				if errors.Is(r.do(0), errLacking) {
					b.Skip("not offered")
				}
				b.ReportAllocs()
				for round := 0; b.Loop(); round++ {
					if err := r.do(round); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
