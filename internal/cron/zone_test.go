package cron_test

import (
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // independent of the machine's time zones

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/cron"
	"github.com/botctx/go-sdk/internal/rounds"
)

// Zones, with some changes of their clocks. "2:00 becomes 3:00" skips an hour.
const (
	newYork  = "America/New_York"    // 2:00 becomes 3:00 on 8 March 2026, 1:00 on 1 November.
	london   = "Europe/London"       // 1:00 becomes 2:00 on 29 March 2026; 2:00 becomes 1:00 on 25 October.
	havana   = "America/Havana"      // 0:00 becomes 1:00 on 8 March 2026; 1:00 becomes 0:00 on 1 November.
	lordHowe = "Australia/Lord_Howe" // 2:00 becomes 1:30 on 5 April 2026, 2:30 on 4 October.
	apia     = "Pacific/Apia"        // 30 December 2011 was skipped; 4:00 became 3:00 on 4 April 2021.
)

// clockChanges are successive times at which patterns fire after a time. "" means that a pattern never fires
// again. TestPattern_EveryChangeOfClocks has more changes.
var clockChanges = []struct {
	zone, rule, pattern, after string
	want                       []string
}{
	{
		newYork, "a fixed time in the gap fires at the first instant after it", "30 2 * * *", "2026-03-07T02:30:00-05:00",
		[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"},
	},
	{
		newYork, "a fixed time that is the first instant of the gap", "0 2 * * *", "2026-03-08T01:59:59-05:00",
		[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"},
	},
	{
		newYork, "the first instant after the gap fires once for all the times in the gap", "*/10 2 * * *", "2026-03-07T02:50:00-05:00",
		[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"},
	},
	{
		newYork, "the first instant after the gap fires once where it fires anyway", "0,30 2,3 * * *", "2026-03-08T01:00:00-05:00",
		[]string{"2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00", "2026-03-09T02:00:00-04:00"},
	},
	{
		newYork, "a fixed time beside the gap stays where it is", "59 1,3 * * *", "2026-03-08T01:00:00-05:00",
		[]string{"2026-03-08T01:59:00-05:00", "2026-03-08T03:59:00-04:00"},
	},
	{
		newYork, "wildcard hours have nothing in the gap", "30 * * * *", "2026-03-08T01:29:00-05:00",
		[]string{"2026-03-08T01:30:00-05:00", "2026-03-08T03:30:00-04:00"},
	},
	{
		newYork, "wildcard hours with a step have nothing in the gap", "30 */2 * * *", "2026-03-08T00:29:00-05:00",
		[]string{"2026-03-08T00:30:00-05:00", "2026-03-08T04:30:00-04:00"},
	},
	{
		newYork, "a range of hours is none of wildcards", "30 0-23 * * *", "2026-03-08T01:29:00-05:00",
		[]string{"2026-03-08T01:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00"},
	},
	{
		newYork, "the gap comes on the day that it names only", "30 2 9 3 *", "2026-03-08T01:00:00-05:00",
		[]string{"2026-03-09T02:30:00-04:00"},
	},
	{
		newYork, "a fixed time in the overlap fires once", "30 1 * * *", "2026-10-31T01:30:00-04:00",
		[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"},
	},
	{
		newYork, "a fixed time in the overlap does not fire from a start in the second pass", "30 1 * * *", "2026-11-01T01:10:00-05:00",
		[]string{"2026-11-02T01:30:00-05:00"},
	},
	{
		newYork, "a fixed time behind the overlap fires from a start in the second pass", "0 2 * * *", "2026-11-01T01:10:00-05:00",
		[]string{"2026-11-01T02:00:00-05:00", "2026-11-02T02:00:00-05:00"},
	},
	{
		newYork, "wildcard minutes fire in both passes",
		"*/30 1 * * *", "2026-11-01T00:59:00-04:00",
		[]string{
			"2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T01:30:00-05:00",
			"2026-11-02T01:00:00-05:00",
		},
	},
	{
		newYork, "wildcard hours fire in both passes", "15 * * * *", "2026-11-01T00:30:00-04:00",
		[]string{"2026-11-01T01:15:00-04:00", "2026-11-01T01:15:00-05:00", "2026-11-01T02:15:00-05:00"},
	},
	{
		newYork, "wildcard seconds fire in both passes", "*/30 59 1 * * * *", "2026-11-01T01:59:00-04:00",
		[]string{"2026-11-01T01:59:30-04:00", "2026-11-01T01:59:00-05:00", "2026-11-01T01:59:30-05:00", "2026-11-02T01:59:00-05:00"},
	},
	{
		london, "the last times of all are in the second pass", "*/30 1 25 10 * 2026", "2026-10-25T01:00:00+01:00",
		[]string{"2026-10-25T01:30:00+01:00", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", ""},
	},
	{
		havana, "a midnight in the gap fires at one o'clock", "0 0 * * *", "2026-03-07T00:00:00-05:00",
		[]string{"2026-03-08T01:00:00-04:00", "2026-03-09T00:00:00-04:00"},
	},
	{
		lordHowe, "an overlap of half an hour, for a fixed time", "45 1 * * *", "2026-04-04T01:45:00+11:00",
		[]string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"},
	},
	{
		apia, "a day that there is not", "0 9 30 12 *", "2011-01-01T00:00:00-10:00",
		[]string{"2011-12-31T00:00:00+14:00", "2012-12-30T09:00:00+14:00"},
	},
	{
		apia, "a day that there is not, for a daily pattern", "0 9 * * *", "2011-12-29T08:00:00-10:00",
		[]string{"2011-12-29T09:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T09:00:00+14:00"},
	},
	{newYork, "the last day of a leap year", "0 */12 * * *", "2040-12-30T12:00:00-05:00", []string{
		"2040-12-31T00:00:00-05:00", "2040-12-31T12:00:00-05:00", "2041-01-01T00:00:00-05:00", "2041-01-01T12:00:00-05:00",
	}},
}

func TestPattern_ClocksChange(t *testing.T) {
	t.Parallel()
	for _, c := range clockChanges {
		pattern, err := cron.Parse(c.pattern, c.zone)
		require.NoError(t, err)
		last := instant(t, c.after)
		for _, want := range c.want {
			next, ok := pattern.Next(last)
			require.Equal(t, want != "", ok)
			if ok {
				require.Equal(t, instant(t, want).UTC(), next, "%s: %q after %s", c.rule, c.pattern, last.In(location(t, c.zone)))
			}
			last = next
		}
	}
}

func instant(tb testing.TB, text string) time.Time {
	tb.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(tb, err)
	return at
}

func location(tb testing.TB, zone string) *time.Location {
	tb.Helper()
	location, err := time.LoadLocation(zone)
	require.NoError(tb, err)
	return location
}

// changes are instants at which clocks change.
var changes = []struct{ zone, at string }{
	{newYork, "2026-03-08T02:00:00-05:00"},
	{newYork, "2026-11-01T02:00:00-04:00"},
	{london, "2026-03-29T01:00:00Z"},
	{london, "2026-10-25T02:00:00+01:00"},
	{havana, "2026-03-08T00:00:00-05:00"},
	{havana, "2026-11-01T01:00:00-04:00"},
	{lordHowe, "2026-04-05T02:00:00+11:00"},
	{lordHowe, "2026-10-04T02:00:00+10:30"},
	{apia, "2011-12-30T00:00:00-10:00"},
	{apia, "2021-04-04T04:00:00+14:00"},
	{"Antarctica/Casey", "2023-03-09T03:00:00+11:00"},  // by three hours
	{"Antarctica/Vostok", "1994-02-01T00:00:00+07:00"}, // by seven hours
	{"Pacific/Kwajalein", "1993-08-21T00:00:00-12:00"}, // by a whole day
	{"Africa/Casablanca", "2026-02-15T03:00:00+01:00"}, // Summer time counts as standard time.
	{newYork, "2099-11-01T02:00:00-04:00"},
}

// TestPattern_EveryChangeOfClocks compares random patterns with the oracle around changes of clocks.
func TestPattern_EveryChangeOfClocks(t *testing.T) {
	t.Parallel()
	count := rounds.Of(t, 12, 60)
	for _, c := range changes {
		t.Run(c.zone+" "+c.at, func(t *testing.T) {
			t.Parallel()
			zone, change := location(t, c.zone), instant(t, c.at)
			_, before := change.Add(-time.Second).In(zone).Zone()
			_, after := change.In(zone).Zone()
			require.NotEqual(t, before, after, "the clocks change")

			random := patterns{rand.New(rand.NewPCG(uint64(change.Unix()), 2))}
			for range count {
				text := random.timeOfDay()
				compareInZone(t, text, zone, change.Add(-26*time.Hour), change.Add(26*time.Hour))
			}
		})
	}
}

// timeOfDay returns a pattern that fires on most days.
func (p patterns) timeOfDay() string {
	return p.list(3, func() string { return p.entry(0, 59) }) + " " +
		p.list(3, func() string { return p.entry(0, 23) }) + p.oneOf(" * * *", " * * *", " * * *", " * * 1-5", " 1-31/2 * *")
}

// compareInZone compares all times between two instants with the oracle.
func compareInZone(t *testing.T, text string, zone *time.Location, start, end time.Time) {
	t.Helper()
	pattern, err := cron.Parse(text, zone.String())
	require.NoError(t, err)
	rules := newOracle(t, text)
	last := start
	fired := map[time.Time]bool{}
	before := wallClock(start, zone)
	for at := start.Add(time.Minute); at.Before(end); at = at.Add(time.Minute) {
		wall := wallClock(at, zone)
		named := rules.at(wall)
		fires := named && !(rules.fixedTime && fired[wall])
		for gone := before.Add(time.Minute); rules.fixedHours && gone.Before(wall); gone = gone.Add(time.Minute) {
			fires = fires || rules.at(gone)
		}
		before = wall
		if !fires {
			continue
		}
		fired[wall] = named
		next, ok := pattern.Next(last)
		require.True(t, ok)
		if !next.Equal(at) {
			require.Fail(t, "another time", "%q fires after %s at %s, not at %s", text, last.In(zone), next.In(zone), at.In(zone))
		}
		last = next
	}
	next, ok := pattern.Next(last)
	require.True(t, !ok || !next.Before(end), "%q fires after %s at %s", text, last, next)
}

// wallClock returns the wall clock time in a zone, represented in UTC.
func wallClock(at time.Time, zone *time.Location) time.Time {
	local := at.In(zone)
	return time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
}

func TestParse_ZoneIsAName(t *testing.T) {
	t.Parallel()
	for zone, why := range map[string]string{
		"Local":             "Local is the zone of the machine; name one",
		"local":             "must be the exact name of a zone in the IANA database",
		"localtime":         "must be the exact name of a zone in the IANA database",
		"right/UTC":         "must be the exact name of a zone in the IANA database",
		"posixrules":        "must be the exact name of a zone in the IANA database",
		"../Europe/London":  "must be the exact name of a zone in the IANA database",
		"/etc/localtime":    "must be the exact name of a zone in the IANA database",
		" ":                 "must be the exact name of a zone in the IANA database",
		"+02:00":            "must be the exact name of a zone in the IANA database",
		"Europe/Nowhere":    "is not in the time-zone database",
		"Europe":            "is not in the time-zone database",
		"Europe/../Etc/UTC": "is not in the time-zone database",
		"E\x00":             "is not in the time-zone database",
		"CEST":              "is not in the time-zone database",
	} {
		_, err := cron.Parse("0 9 * * *", zone)
		requireInvalid(t, err, "zone", why)
	}
	_, err := cron.Parse("0 9 * * *", "E"+string(make([]byte, 100_000)))
	requireInvalid(t, err, "zone", "must be the exact name of a zone in the IANA database")
}
