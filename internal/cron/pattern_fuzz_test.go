package cron_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/cron"
)

// FuzzPattern looks for a panic, a hang, a time that is not later than its start, and a time that the pattern
// does not name.
func FuzzPattern(f *testing.F) {
	for i, text := range []string{
		"*/5 * * * *", "0 9 * * 1-5", "30 2 * * *", "0 0 LW * ?", "0 0 15W,L 2,feb-apr/2 *", "59 59 23 31 12 ? 2099",
		"0 9 * * 5-7", "0 9 1 01 0-07", "0 9 * * 5L,1#2", "0 0 29 2 1 2026-2096/7", "@daily", "* * 30 2 *", "30-10 * * * *",
	} {
		change := changes[i%len(changes)]
		f.Add(text, change.zone, instant(f, change.at).Unix(), int64(i))
		f.Add(text, "", instant(f, change.at).Unix(), int64(i))
	}
	f.Fuzz(func(t *testing.T, text, zone string, seconds, nanoseconds int64) {
		pattern, err := cron.Parse(text, zone)
		if err != nil {
			require.ErrorIs(t, err, boterr.InvalidArgument)
			found, _ := boterr.AsError(err)
			require.Contains(t, []string{"pattern", "zone"}, found.Field)
			require.NotEmpty(t, found.Message())
			return
		}
		at := time.Unix(seconds, nanoseconds)
		for range 6 {
			next, ok := pattern.Next(at)
			if !ok {
				return
			}
			require.True(t, next.After(at), "%q in %q fires at %s after %s", text, zone, next, at)
			require.Zero(t, next.Nanosecond())
			require.Equal(t, time.UTC, next.Location())
			requireNamed(t, pattern, next)
			at = next
		}
	})
}

// requireNamed fails where a pattern names neither what the clocks show at a time nor what they just skipped.
func requireNamed(t *testing.T, pattern *cron.Pattern, next time.Time) {
	t.Helper()
	rules := newOracle(t, pattern.String())
	zone := location(t, pattern.Zone())
	wall := wallClock(next, zone)
	named := rules.at(wall)
	skipped := wallClock(next.Add(-time.Second), zone).Add(time.Second)
	for ; rules.fixedHours && !named && skipped.Before(wall); skipped = skipped.Add(time.Second) {
		named = rules.at(skipped)
	}
	require.True(t, named, "%q does not name %s", pattern, wall)
}
