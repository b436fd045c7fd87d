package cron_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/cron"
)

// requireInvalid requires an InvalidArgument error with a field and a text.
func requireInvalid(t *testing.T, err error, field, text string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	found, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, found.Field)
	require.Contains(t, found.Message(), text)
}

// refused are patterns with the reason for which Parse refuses them.
var refused = []struct{ pattern, why string }{
	{strings.Repeat("0,", 124) + "0 * * * *", "has 257 bytes; shorten it to at most 256"},
	{strings.Repeat(" ", 1<<20), "shorten it to at most 256"},
	{"0 9 * * mоn", "is not ASCII at byte 9; write it in English letters"},
	{"０ 9 * * *", "is not ASCII at byte 0"},
	{"0 9 * * 1\x7f", "is not ASCII"},
	{"0\u00a09 * * *", "is not ASCII"},
	{"0 9 * * 1\x00", "is not one of the days of the week"},
	{"", "has 0 fields; give five"},
	{" \t ", "has 0 fields; give five"},
	{"9", "has 1 fields; give five"},
	{"0 9 * *", "has 4 fields; give five"},
	{"0 0 9 * * * * *", "has 8 fields; give five"},
	{"0 0 9 * * * * garbage", "has 8 fields; give five"},
	{"0 0 9 * * * 2026 # daily", "has 9 fields; give five"},
	{"@reboot", "use @yearly, @annually, @monthly, @weekly, @daily, @hourly"},
	{"@", "there is no macro"},
	{"@dailyish", "there is no macro"},
	{"@daily @daily", "has 2 fields"},
	{"@hourly * * * *", `"@hourly" is not one of the minutes`},
	{"5@daily", "has 1 fields"},
	{"* * * * @daily", `"@daily" is not one of the days of the week`},
	{"60 * * * *", "minutes go from 0 to 59"},
	{"-1 * * * *", `"" is not one of the minutes; minutes go from 0 to 59`},
	{"* 24 * * *", "hours go from 0 to 23"},
	{"60 * * * * * *", "seconds go from 0 to 59"},
	{"* * 0 * *", "days of the month go from 1 to 31"},
	{"* * 32 * *", "days of the month go from 1 to 31"},
	{"* * * 0 *", "months go from 1 to 12 or from jan to dec"},
	{"* * * 00 *", "months go from 1 to 12"},
	{"* * * 13 *", "months go from 1 to 12"},
	{"* * * janu *", "months go from 1 to 12"},
	{"* * * mon *", "months go from 1 to 12"},
	{"* * * * 8", "days of the week go from 0 to 7, where 0 and 7 are Sunday"},
	{"* * * * jan", "days of the week go from 0 to 7"},
	{"* * * * * 1969", "years go from 1970 to 2099"},
	{"* * * * * 2100", "years go from 1970 to 2099"},
	{"0 30 9 * * 1", `"30" is not one of the hours`},
	{"0 0 9 * * 1", "the last of six fields is the years, and seconds need seven fields"},
	{"99999999999999999999 * * * *", "minutes go from 0 to 59"},
	{"1e1 * * * *", "minutes go from 0 to 59"},
	{"+1 * * * *", "minutes go from 0 to 59"},
	{"0x1 * * * *", "minutes go from 0 to 59"},
	{"1.5 * * * *", "minutes go from 0 to 59"},
	{"? * * * *", "minutes go from 0 to 59"},
	{"** * * * *", "minutes go from 0 to 59"},
	{"H * * * *", "minutes go from 0 to 59"},
	{"~ * * * *", "minutes go from 0 to 59"},
	{"*,xyz * * * *", `"xyz" is not one of the minutes`},
	{", * * * *", "remove the extra comma"},
	{"1, * * * *", "remove the extra comma"},
	{",1 * * * *", "remove the extra comma"},
	{"1,,2 * * * *", "remove the extra comma"},
	{"30-10 * * * *", `"30-10" runs backwards; write 30-59,0-10`},
	{"* 22-06 * * *", `"22-06" runs backwards; write 22-23,0-6`},
	{"* * 31-1 * *", "runs backwards; write 31-31,1-1"},
	{"* * * nov-feb *", "runs backwards; write 11-12,1-2"},
	{"* * * * fri-sun", "runs backwards; write 5-6,0-0"},
	{"* * * * 7-3", "runs backwards; write 0-3"},
	{"* * * * * 2030-2026", "runs backwards"},
	{"1- * * * *", "minutes go from 0 to 59"},
	{"-5 * * * *", "minutes go from 0 to 59"},
	{"1-2-3 * * * *", "minutes go from 0 to 59"},
	{"*-5 * * * *", "minutes go from 0 to 59"},
	{"* * * * 5-8", "days of the week go from 0 to 7"},
	{"*/0 * * * *", "a step of the minutes is from 1 to 59"},
	{"*/60 * * * *", "a step of the minutes is from 1 to 59"},
	{"*/00 * * * *", "a step of the minutes is from 1 to 59"},
	{"*/-5 * * * *", "a step of the minutes is from 1 to 59"},
	{"*/ * * * *", "a step of the minutes is from 1 to 59"},
	{"*/5/5 * * * *", "a step of the minutes is from 1 to 59"},
	{"*/99999999999999999999 * * * *", "a step of the minutes is from 1 to 59"},
	{"0-30/0 * * * *", "a step of the minutes is from 1 to 59"},
	{"5/0 * * * *", "a step of the minutes is from 1 to 59"},
	{"* */24 * * *", "a step of the hours is from 1 to 23"},
	{"* * * * */7", "a step of the days of the week is from 1 to 6"},
	{"* * * * */mon", "a step of the days of the week is from 1 to 6"},
	{"* * * * * */1970", "a step of the years is from 1 to 59"},
	{"/5 * * * *", "minutes go from 0 to 59"},
	{"* * ?/5 * *", "days of the month go from 1 to 31"},
	{"* * W * *", "days of the month go from 1 to 31, or are L, LW or a day with W"},
	{"* * WL * *", "days of the month go from 1 to 31, or are L, LW"},
	{"* * L-3 * *", "days of the month go from 1 to 31, or are L, LW"},
	{"* * 32W * *", "days of the month go from 1 to 31"},
	{"* * 1-5W * *", "days of the month go from 1 to 31"},
	{"* * 5L * *", "days of the month go from 1 to 31"},
	{"L * * * *", "minutes go from 0 to 59"},
	{"* * * L *", "months go from 1 to 12"},
	{"* * * * L", "the last of the month such as 5L"},
	{"* * * * 8L", "the last of the month such as 5L"},
	{"* * * * 15W", "days of the week go from 0 to 7"},
	{"* * * * #2", "days of the week go from 0 to 7"},
	{"* * * * 8#1", "days of the week go from 0 to 7"},
	{"* * * * 1#0", "write 1 to 5 after #"},
	{"* * * * 1#6", "write 1 to 5 after #"},
	{"* * * * 1#", "write 1 to 5 after #"},
	{"* * * * 1#l", "days of the week go from 0 to 7"},
	{"* * * * 1#2#3", "write 1 to 5 after #"},
	{"* * * * 1-5#2", "days of the week go from 0 to 7"},
	{"0 0 30 2 *", "never fires; choose days that exist in its months and years"},
	{"0 0 31 2,4,6,9,11 *", "never fires"},
	{"0 0 31W feb ?", "never fires"},
	{"0 0 29 2 * 2026", "never fires"},
	{"0 0 29 2 * 2097-2099", "never fires"},
	{"0 0 * 2 1#5 2026", "never fires"},
	{agenda.InZone("Europe/Atlantis", "0 9 * * 1"), `"Europe/Atlantis" is not in the time-zone database; give a name such as "Europe/London"; ` +
		`if the machine has no database, import time/tzdata into the program`},
	{agenda.InZone("europe/london", "0 9 * * 1"), `must be the exact name of a zone in the IANA database, such as "Europe/London", got "europe/london"`},
	{agenda.InZone("../etc/passwd", "0 9 * * 1"), "must be the exact name of a zone in the IANA database"},
	{agenda.InZone("UTC+2", "0 9 * * 1"), `"UTC+2" is not in the time-zone database`},
	{agenda.InZone("Local", "0 9 * * 1"), "Local is the zone of the machine"},
	{agenda.InZone("", "0 9 * * 1"), `has no zone after CRON_TZ=; write "CRON_TZ=Europe/London 0 9 * * 1"`},
	{"CRON_TZ=", "has no zone"},
	{agenda.InZone(london, ""), "has 0 fields"},
	{agenda.InZone(london, agenda.InZone(newYork, "0 9 * * 1")), `has "cron_tz=america/new_york" in place of a field`},
	{"0 9 * * 1 CRON_TZ=Europe/London", "give the zone once, first and in capitals"},
	{"cron_tz=Europe/London 0 9 * * 1", `write "CRON_TZ=Europe/London 0 9 * * 1"`},
	{"TZ=Europe/London 0 9 * * 1", `first and in capitals: write "CRON_TZ=Europe/London 0 9 * * 1"`},
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range refused {
		_, err := cron.Parse(c.pattern, "")
		require.Error(t, err, "%q", c.pattern)
		requireInvalid(t, err, "pattern", c.why)
	}
}

func TestParse_FiresOnlyWhereClocksSkip(t *testing.T) {
	t.Parallel()
	_, err := cron.Parse("0 * 30 12 * 2011", apia)
	requireInvalid(t, err, "pattern", "never fires")
	_, err = cron.Parse("0 * 30 12 * 2011", "")
	require.NoError(t, err)
}

// TestParse_SameMeaning compares each notation with an equivalent one that cronexpr reads directly.
func TestParse_SameMeaning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, same string }{
		{"0 9 * * 5-7", "0 9 * * 0,5,6"},
		{"0 9 * * fri-7", "0 9 * * 0,5,6"},
		{"0 9 * * 0-7", "0 9 * * 0,1,2,3,4,5,6"},
		{"0 9 * * 1-7/2", "0 9 * * 0,1,3,5"},
		{"0 9 * * 1-7/3", "0 9 * * 0,1,4"},
		{"0 9 * * 7-7", "0 9 * * 0"},
		{"0 9 * * 7", "0 9 * * 0"},
		{"0 9 * * 007", "0 9 * * 0"},
		{"0 9 * * 7/2", "0 9 * * 0,2,4,6"},
		{"0 9 * * 5/1", "0 9 * * 5,6"},
		{"0 9 * * 7L", "0 9 * * 0L"},
		{"0 9 * * Sunday#02", "0 9 * * 0#2"},
		{"0 9 1 01 *", "0 9 1 1 *"},
		{"0 9 * * 05", "0 9 * * 5"},
		{"0 9 * 01 0-07", "0 9 * 1 0,1,2,3,4,5,6"},
		{"00000 0009 015W 0001-0012/003 *", "0 9 15w 1,4,7,10 *"},
		{"  0\t9\n*\r*\v*\f", "0 9 * * *"},
		{"0 9 ? * MON", "0 9 * * 1"},
		{"0 9 15 JAN ?", "0 9 15 1 *"},
		{"0 9 lW * *", "0 9 LW * *"},
		{"*/15 9 * * *", "0,15,30,45 9 * * *"},
		{"7/20 9 * * *", "7,27,47 9 * * *"},
		{"*,5 9 * * *", "* 9 * * *"},
		{"0 0 29 2 * 2024-2096/4", "0 0 29 2 *"},
		{"30 0 9 * * * *", "30 0 9 * * ? *"},
		{"0 9 * * * *", "0 9 * * *"},
		{"@yearly", "0 0 1 1 *"},
		{"@annually", "0 0 1 1 *"},
		{"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * 0"},
		{" @Daily ", "0 0 * * *"},
		{"@hourly", "0 * * * *"},
	} {
		one, err := cron.Parse(c.pattern, "")
		require.NoError(t, err)
		other, err := cron.Parse(c.same, "")
		require.NoError(t, err)
		at := newYear(2026)
		for range 100 {
			next, ok := one.Next(at)
			same, fires := other.Next(at)
			require.Equal(t, fires, ok, "%q", c.pattern)
			require.Equal(t, same, next, "%q and %q after %s", c.pattern, c.same, at)
			if !ok {
				break
			}
			at = next
		}
	}
}

func TestPattern_TextAndZone(t *testing.T) {
	t.Parallel()
	pattern, err := cron.Parse(" @Daily", london)
	require.NoError(t, err)
	require.Equal(t, " @Daily", pattern.String())
	require.Equal(t, london, pattern.Zone())
	pattern, err = cron.Parse("@daily", "")
	require.NoError(t, err)
	require.Equal(t, "UTC", pattern.Zone())
}

func TestPatternNext_StrictlyLater(t *testing.T) {
	t.Parallel()
	pattern, err := cron.Parse("0 9 * * *", "")
	require.NoError(t, err)
	for after, want := range map[string]string{
		"2026-05-04T08:59:59.999999999Z": "2026-05-04T09:00:00Z",
		"2026-05-04T09:00:00Z":           "2026-05-05T09:00:00Z",
		"2026-05-04T09:00:00.000000001Z": "2026-05-05T09:00:00Z",
		"2026-05-04T11:00:00+02:00":      "2026-05-05T09:00:00Z",
	} {
		next, ok := pattern.Next(instant(t, after))
		require.True(t, ok)
		require.Equal(t, instant(t, want).UTC(), next)
	}
}

func TestPatternNext_EndsOfTime(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"", "Pacific/Kiritimati", "Etc/GMT+12"} {
		pattern, err := cron.Parse("0 0 1 1 *", zone)
		require.NoError(t, err)
		first := wallClock(newYear(1970), location(t, zone))
		for _, start := range []time.Time{{}, time.Unix(-1<<62, 0), time.Unix(0, 0).AddDate(-2000, 0, 0)} {
			next, ok := pattern.Next(start)
			require.True(t, ok)
			require.Equal(t, newYear(1970), wallClock(next, location(t, zone)), "%s, %s", first, start)
		}
		next, ok := pattern.Next(newYear(2098).AddDate(0, 6, 0))
		require.True(t, ok)
		require.Equal(t, newYear(2099), wallClock(next, location(t, zone)))
		for _, start := range []time.Time{next, newYear(2100), newYear(9999), time.Unix(1<<61, 0)} {
			_, ok = pattern.Next(start)
			require.False(t, ok, "%s", start)
		}
	}
}

func TestPatternNext_RareDays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, zone, after, want string }{
		{"0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 0 29 2 1", "", "2026-02-28T00:00:00Z", "2027-02-01T00:00:00Z"},
		{"0 0 * 2 1#5", "", "2025-01-01T00:00:00Z", "2044-02-29T00:00:00Z"},
		{"0 0 29 2 *", newYork, "2096-03-01T00:00:00Z", ""},
		{"* * 29 2 * 2096", newYork, "1970-03-01T00:00:00Z", "2096-02-29T00:00:00-05:00"},
		{"0 12 31 12 * 2099", apia, "1970-03-01T00:00:00Z", "2099-12-31T12:00:00+13:00"},
		{"59 59 23 31 12 ? 2099", "Etc/GMT+12", "2026-03-01T00:00:00Z", "2099-12-31T23:59:59-12:00"},
	} {
		pattern, err := cron.Parse(c.pattern, c.zone)
		require.NoError(t, err)
		next, ok := pattern.Next(instant(t, c.after))
		require.Equal(t, c.want != "", ok, "%q", c.pattern)
		if ok {
			require.Equal(t, instant(t, c.want).UTC(), next, "%q", c.pattern)
		}
	}
}

func TestPattern_ConcurrentUse(t *testing.T) {
	t.Parallel()
	pattern, err := cron.Parse("*/20 9-17 LW,15W,3 * 1-7/2", newYork)
	require.NoError(t, err)
	run := func() []time.Time {
		times := make([]time.Time, 500)
		at := newYear(2026)
		for i := range times {
			next, ok := pattern.Next(at)
			if !ok {
				return nil
			}
			times[i], at = next, next
		}
		return times
	}
	want := run()
	results := make([][]time.Time, 16)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = run() })
	}
	group.Wait()
	for _, times := range results {
		require.Equal(t, want, times)
	}
}

func TestInZone_IsReadInThatZone(t *testing.T) {
	t.Parallel()
	require.Equal(t, "CRON_TZ=America/New_York 0 9 * * 1", agenda.InZone(newYork, "0 9 * * 1"))
	for _, text := range []string{
		agenda.InZone(newYork, "0 9 * * 1"), "  CRON_TZ=America/New_York\t0 9  * * 1", agenda.InZone(newYork, "0 0 9 * * 1 *"),
	} {
		pattern, err := cron.Parse(text, london)
		require.NoError(t, err, text)
		require.Equal(t, newYork, pattern.Zone(), "the pattern names its own zone")
		require.Equal(t, text, pattern.String())
		next, ok := pattern.Next(instant(t, "2026-03-02T14:00:00Z"))
		require.True(t, ok)
		require.Equal(t, instant(t, "2026-03-09T09:00:00-04:00").UTC(), next, "the clocks there have changed on 8 March")
	}
	daily, err := cron.Parse(agenda.InZone(london, "@daily"), "")
	require.NoError(t, err)
	require.Equal(t, london, daily.Zone())
}
