package main

import (
	"fmt"
	"testing"
)

func BenchmarkFork(b *testing.B) {
	for _, count := range []int{10, 1_000_000} {
		b.Run(fmt.Sprintf("%d documents", count), func(b *testing.B) { benchmarkWork(b, count, forking) })
	}
}

func BenchmarkSetOneField(b *testing.B) {
	for _, fields := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("of %d fields", fields), func(b *testing.B) { benchmarkWork(b, fields, setting) })
	}
}

func BenchmarkGrowth(b *testing.B) {
	for _, t := range growing {
		for t.documents = 1_000; t.documents <= 1_000_000; t.documents *= 10 {
			b.Run(fmt.Sprintf("%s/%d", t.title, t.documents), func(b *testing.B) {
				benchmarkTask(b, contenders[compiledColumn], t)
			})
		}
	}
}
