package cron_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/cron"
	"github.com/botctx/go-sdk/internal/rounds"
)

// oracle decides for each minute whether a pattern fires, directly from the definitions of the fields. It shares no
// code with the package.
type oracle struct {
	seconds, minutes, hours, months, years []bool
	// daysOfMonth and daysOfWeek have a test for each entry. They are empty if every day matches.
	daysOfMonth, daysOfWeek []dayTest
	// fixedHours is true if the hours are not a wildcard. fixedTime is true if hours, minutes and seconds are not.
	fixedHours, fixedTime bool
}

// dayTest reports whether an entry matches a day.
type dayTest func(day time.Time) bool

// macros are the macros of crontab(5).
var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
	"@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@hourly": "0 * * * *",
}

func newOracle(t *testing.T, pattern string) *oracle {
	t.Helper()
	fields := strings.Fields(strings.ToLower(pattern))
	if len(fields) == 1 {
		fields = strings.Fields(macros[fields[0]])
	}
	if len(fields) == 5 {
		fields = append(fields, "*")
	}
	if len(fields) == 6 {
		fields = append([]string{"0"}, fields...)
	}
	require.Len(t, fields, 7, "%s", pattern)
	return &oracle{
		seconds:     values(t, fields[0], 0, 59),
		minutes:     values(t, fields[1], 0, 59),
		hours:       values(t, fields[2], 0, 23),
		daysOfMonth: dayTests(t, fields[3], dayOfMonth),
		months:      values(t, fields[4], 1, 12),
		daysOfWeek:  dayTests(t, fields[5], dayOfWeek),
		years:       values(t, fields[6], 1970, 2099),
		fixedHours:  !strings.Contains(fields[2], "*"),
		fixedTime:   !strings.Contains(fields[0]+fields[1]+fields[2], "*"),
	}
}

// names maps months and days to their numbers.
var names = map[string]int{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
	"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6,
}

func parseValue(t *testing.T, text string) int {
	t.Helper()
	if value, ok := names[text[:min(3, len(text))]]; ok {
		return value
	}
	value, err := strconv.Atoi(text)
	require.NoError(t, err)
	return value
}

// values returns the values of a field with ordinary entries. The result has one element more than last, because 7 is
// Sunday.
func values(t *testing.T, field string, first, last int) []bool {
	t.Helper()
	found := make([]bool, last+2)
	for entry := range strings.SplitSeq(field, ",") {
		span, step, hasStep := strings.Cut(entry, "/")
		from, to, isRange := strings.Cut(span, "-")
		start, end, stride := first, last, 1
		if span != "*" && span != "?" {
			start = parseValue(t, from)
			end = start
		}
		if isRange {
			end = parseValue(t, to)
		}
		if hasStep {
			stride = parseValue(t, step)
			if !isRange {
				end = last
			}
		}
		for value := start; value <= end; value += stride {
			found[value] = true
		}
	}
	return found
}

// at reports whether the pattern matches a wall clock time.
func (o *oracle) at(wall time.Time) bool {
	return o.seconds[wall.Second()] && o.minutes[wall.Minute()] && o.hours[wall.Hour()] && o.on(wall)
}

// on reports whether the pattern matches a day. If both day fields are restricted, one match is enough.
func (o *oracle) on(day time.Time) bool {
	if !o.months[int(day.Month())] || !o.years[day.Year()] {
		return false
	}
	if o.daysOfMonth == nil && o.daysOfWeek == nil {
		return true
	}
	names := func(entry dayTest) bool { return entry(day) }
	return slices.ContainsFunc(o.daysOfMonth, names) || slices.ContainsFunc(o.daysOfWeek, names)
}

// dayTests reads a field of days. It returns nil for an unrestricted field.
func dayTests(t *testing.T, field string, read func(t *testing.T, entry string) dayTest) []dayTest {
	t.Helper()
	var tests []dayTest
	for entry := range strings.SplitSeq(field, ",") {
		if entry == "*" || entry == "?" {
			return nil
		}
		tests = append(tests, read(t, entry))
	}
	return tests
}

func dayOfMonth(t *testing.T, entry string) dayTest {
	t.Helper()
	if entry == "l" {
		return func(day time.Time) bool { return day.AddDate(0, 0, 1).Day() == 1 }
	}
	if entry == "lw" {
		return func(day time.Time) bool { return isWeekday(day) && !hasWeekdayBehind(day) }
	}
	if text, ok := strings.CutSuffix(entry, "w"); ok {
		number := parseValue(t, text)
		return func(day time.Time) bool {
			target := day.AddDate(0, 0, number-day.Day())
			return target.Month() == day.Month() && day.Day() == nearestWeekday(target)
		}
	}
	named := values(t, entry, 1, 31)
	return func(day time.Time) bool { return named[day.Day()] }
}

func isWeekday(day time.Time) bool {
	return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday
}

// hasWeekdayBehind reports whether there is a weekday between a day and the end of its month.
func hasWeekdayBehind(day time.Time) bool {
	for next := day.AddDate(0, 0, 1); next.Month() == day.Month(); next = next.AddDate(0, 0, 1) {
		if isWeekday(next) {
			return true
		}
	}
	return false
}

// nearestWeekday returns the day of the weekday in target's month that is nearest to target.
func nearestWeekday(target time.Time) int {
	for _, distance := range []int{0, -1, 1, -2, 2} {
		day := target.AddDate(0, 0, distance)
		if isWeekday(day) && day.Month() == target.Month() {
			return day.Day()
		}
	}
	return 0
}

func dayOfWeek(t *testing.T, entry string) dayTest {
	t.Helper()
	if text, ok := strings.CutSuffix(entry, "l"); ok {
		last := parseValue(t, text) % 7
		return func(day time.Time) bool {
			return last == int(day.Weekday()) && day.AddDate(0, 0, 7).Month() != day.Month()
		}
	}
	if text, week, ok := strings.Cut(entry, "#"); ok {
		weekday, number := parseValue(t, text)%7, parseValue(t, week)
		return func(day time.Time) bool { return weekday == int(day.Weekday()) && (day.Day()-1)/7+1 == number }
	}
	named := values(t, entry, 0, 6)
	return func(day time.Time) bool {
		return named[int(day.Weekday())] || named[7] && day.Weekday() == time.Sunday
	}
}

// between yields the matching times after start and before end, which must be midnight.
func (o *oracle) between(start, end time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for day := start.Truncate(24 * time.Hour); day.Before(end); day = day.AddDate(0, 0, 1) {
			if o.on(day) && !o.within(day, start, yield) {
				return
			}
		}
	}
}

// within yields the matching times of a day after start.
func (o *oracle) within(day, start time.Time, yield func(time.Time) bool) bool {
	for minute := range 24 * 60 {
		if !o.hours[minute/60] || !o.minutes[minute%60] {
			continue
		}
		for second, named := range o.seconds {
			if !named {
				continue
			}
			at := day.Add(time.Duration(minute*60+second) * time.Second)
			if at.After(start) && !yield(at) {
				return false
			}
		}
	}
	return true
}

// patterns generates random patterns.
type patterns struct{ *rand.Rand }

func (p patterns) oneOf(texts ...string) string { return texts[p.IntN(len(texts))] }

// between returns a number from first to last, sometimes with a leading zero.
func (p patterns) between(first, last int) string {
	number := strconv.Itoa(first + p.IntN(last-first+1))
	if p.IntN(8) == 0 {
		return "0" + number
	}
	return number
}

// entry returns an ordinary entry with values from first to last.
func (p patterns) entry(first, last int) string {
	middle := first + p.IntN(last-first+1)
	switch p.IntN(8) {
	case 0:
		return p.between(first, middle) + "-" + p.between(middle, last)
	case 1:
		return p.between(first, middle) + "-" + p.between(middle, last) + "/" + p.between(1, min(last, 30))
	case 2:
		return p.between(first, last) + "/" + p.between(1, min(last, 30))
	case 3:
		return "*/" + p.between(1, min(last, 30))
	default:
		return p.between(first, last)
	}
}

// list returns a field: a wildcard in open of ten cases, otherwise some entries.
func (p patterns) list(open int, entry func() string) string {
	if p.IntN(10) < open {
		return "*"
	}
	entries := make([]string, 1+p.IntN(3)*p.IntN(2))
	for i := range entries {
		entries[i] = entry()
	}
	return strings.Join(entries, ",")
}

func (p patterns) dayOfMonth() string {
	switch p.IntN(8) {
	case 0:
		return p.oneOf("L", "l", "LW", "lw", "?")
	case 1:
		return p.between(1, 31) + p.oneOf("W", "w")
	default:
		return p.entry(1, 31)
	}
}

func (p patterns) month() string {
	if p.IntN(3) > 0 {
		return p.entry(1, 12)
	}
	return p.oneOf("JAN", "feb", "March", "apr-Sep", "june-DEC", "oct", "NOV-nov", "jul-AUGUST/2")
}

func (p patterns) dayOfWeek() string {
	switch p.IntN(6) {
	case 0:
		return p.oneOf("SUN", "mon", "Tuesday", "wed-FRI", "thu", "sunday-SAT/2", "mon-7", "?")
	case 1:
		return p.between(0, 6) + "-" + p.oneOf("7", "07", "7/2", "7/03")
	case 2:
		return p.oneOf("0", "1", "5", "7", "06", "fri", "SUNDAY") + p.oneOf("L", "l")
	case 3:
		return p.oneOf("0", "2", "7", "04", "mon", "SAT") + "#" + p.between(1, 5)
	case 4:
		return "7"
	default:
		return p.entry(0, 6)
	}
}

// pattern returns a pattern that almost certainly fires in the given year.
func (p patterns) pattern(year int) string {
	fields := []string{
		p.list(2, func() string { return p.entry(0, 59) }),
		p.list(3, func() string { return p.entry(0, 23) }),
		p.list(6, p.dayOfMonth),
		p.list(6, p.month),
		p.list(6, p.dayOfWeek),
	}
	count := 5 + p.IntN(3)
	if count > 5 {
		fields = append(fields, p.oneOf("*", strconv.Itoa(year), fmt.Sprintf("%d-%d/2", year-2, year+4), fmt.Sprintf("1999,%d/3", year)))
	}
	if count > 6 {
		fields = append([]string{p.list(1, func() string { return p.entry(0, 59) })}, fields...)
	}
	return strings.Join(fields, p.oneOf(" ", "  ", "\t"))
}

// TestPattern_FiresWhenItsFieldsSay compares many patterns with the oracle over a year, or over parts of it if a
// pattern fires often.
func TestPattern_FiresWhenItsFieldsSay(t *testing.T) {
	t.Parallel()
	const (
		parts   = 50
		longest = 300
	)
	count := rounds.Of(t, 500, 5_000)
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			random := patterns{rand.New(rand.NewPCG(uint64(part), 1))}
			for range count / parts {
				year := 2019 + random.IntN(15)
				text := random.firing(t, year)
				if walk(t, text, newYear(year).Add(-time.Second), newYear(year+1), longest) < longest {
					continue
				}
				for range 4 {
					start := newYear(year).Add(time.Duration(random.Int64N(int64(365 * 24 * time.Hour))))
					walk(t, text, start, newYear(year+1), longest/8)
				}
			}
		})
	}
}

// firing returns a pattern that Parse accepts. Parse refuses patterns that never fire.
func (p patterns) firing(t *testing.T, year int) string {
	t.Helper()
	for {
		text := p.pattern(year)
		_, err := cron.Parse(text, "")
		if err == nil {
			return text
		}
		require.ErrorContains(t, err, "never fires", "%s", text)
		for at := range newOracle(t, text).between(newYear(1970).Add(-1), newYear(2100)) {
			require.Fail(t, "it fires", "%s at %s", text, at)
		}
	}
}

func newYear(year int) time.Time { return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC) }

// walk compares at most longest times between start and end with the oracle. It returns their number.
func walk(t *testing.T, text string, start, end time.Time, longest int) int {
	t.Helper()
	pattern, err := cron.Parse(text, "")
	require.NoError(t, err)
	fired, last := 0, start
	for want := range newOracle(t, text).between(start, end) {
		next, ok := pattern.Next(last)
		if !ok || !next.Equal(want) {
			require.Fail(t, "another time", "%q fires after %s at %s (%t), not at %s", text, last, next, ok, want)
		}
		last = next
		fired++
		if fired == longest {
			return fired
		}
	}
	next, ok := pattern.Next(last)
	require.True(t, !ok || !next.Before(end), "%q fires after %s at %s", text, last, next)
	return fired
}

// FuzzPattern checks for panics, for hangs, for times that are not after their start, and for times that the pattern
// does not match.
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

// requireNamed fails unless the pattern matches a time that the clocks show or have just skipped.
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
