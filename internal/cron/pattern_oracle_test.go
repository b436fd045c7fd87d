package cron_test

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// oracle tells by the definitions of the fields alone, one minute after the other, when a
// pattern fires. It shares no code with the package.
type oracle struct {
	seconds, minutes, hours, months, years []bool
	// daysOfMonth and daysOfWeek are the entries of their fields; there are none where any day will do.
	daysOfMonth, daysOfWeek []dayTest
	// fixedHours and fixedTime tell whether hours, or any part of the time, are a wildcard.
	fixedHours, fixedTime bool
}

// dayTest reports whether an entry names a day.
type dayTest func(day time.Time) bool

// macros are what crontab(5) says of them.
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

// names are the numbers of months and days.
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

// values returns which values a field has, whose entries are all of the common forms. There is room for one
// value behind the last, for 7 is Sunday.
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

// at reports whether the pattern names a time of the wall clock.
func (o *oracle) at(wall time.Time) bool {
	return o.seconds[wall.Second()] && o.minutes[wall.Minute()] && o.hours[wall.Hour()] && o.on(wall)
}

// on reports whether the pattern names a day. Where both fields of days are restricted, either is enough.
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

// dayTests reads a field of days. It returns nil for one that is open.
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

// nearestWeekday looks ever farther on both sides of a day for a weekday of its month.
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

// between goes through the times later than start and before end, which is a midnight.
func (o *oracle) between(start, end time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for day := start.Truncate(24 * time.Hour); day.Before(end); day = day.AddDate(0, 0, 1) {
			if o.on(day) && !o.within(day, start, yield) {
				return
			}
		}
	}
}

// within goes through the times of a day that are later than start.
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
