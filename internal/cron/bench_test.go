package cron_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/cron"
)

var usual = []struct{ name, pattern string }{
	{"every_five_minutes", "*/5 * * * *"},
	{"daily", "0 9 * * *"},
	{"workdays", "0 9 * * 1-5"},
	{"monthly", "30 8 1 * *"},
	{"yearly", "0 0 1 1 *"},
}

// BenchmarkNext computes successive times of typical patterns.
func BenchmarkNext(b *testing.B) { benchmarkNext(b, "") }

// BenchmarkNextInAZone is BenchmarkNext in a zone whose clocks change.
func BenchmarkNextInAZone(b *testing.B) { benchmarkNext(b, newYork) }

func benchmarkNext(b *testing.B, zone string) {
	b.Helper()
	start := newYear(2026)
	for _, c := range usual {
		b.Run(c.name, func(b *testing.B) {
			pattern, err := cron.Parse(c.pattern, zone)
			require.NoError(b, err)
			b.ReportAllocs()
			at := start
			for b.Loop() {
				next, ok := pattern.Next(at)
				if at = next; !ok {
					at = start
				}
			}
		})
	}
}

// BenchmarkParse parses a pattern and computes its first time.
func BenchmarkParse(b *testing.B) {
	for _, zone := range []string{"UTC", newYork} {
		for _, c := range usual {
			b.Run(zone+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, err := cron.Parse(c.pattern, zone)
					require.NoError(b, err)
				}
			})
		}
	}
}
