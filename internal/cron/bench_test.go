package cron_test

import (
	"testing"
	"time"

	"github.com/gorhill/cronexpr"
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

// BenchmarkNext computes successive times of typical patterns, with this package (guard) and with cronexpr
// alone.
func BenchmarkNext(b *testing.B) { benchmarkNext(b, "") }

// BenchmarkNextInAZone is BenchmarkNext in a zone whose clocks change.
func BenchmarkNextInAZone(b *testing.B) { benchmarkNext(b, newYork) }

func benchmarkNext(b *testing.B, zone string) {
	b.Helper()
	start := newYear(2026)
	for _, c := range usual {
		b.Run(c.name+"/guard", func(b *testing.B) {
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
		b.Run(c.name+"/cronexpr", func(b *testing.B) {
			expression, err := cronexpr.Parse(c.pattern)
			require.NoError(b, err)
			b.ReportAllocs()
			begin := start.In(location(b, zone))
			at := begin
			for b.Loop() {
				if at = expression.Next(at); at.IsZero() {
					at = begin
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

// BenchmarkNextFarAway computes a time decades away, across every change of the clocks.
func BenchmarkNextFarAway(b *testing.B) {
	for _, text := range []string{"0 0 1 1 * 2099", "0 0 29 2 * 1973-2095/4,2096"} {
		b.Run(text, func(b *testing.B) {
			pattern, err := cron.Parse(text, newYork)
			require.NoError(b, err)
			for b.Loop() {
				_, ok := pattern.Next(time.Time{})
				require.True(b, ok)
			}
		})
	}
}
