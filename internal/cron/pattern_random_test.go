package cron_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/cron"
	"github.com/botctx/go-sdk/internal/rounds"
)

// patterns writes random patterns.
type patterns struct{ *rand.Rand }

// oneOf returns one of some texts.
func (p patterns) oneOf(texts ...string) string { return texts[p.IntN(len(texts))] }

// between returns a number from first to last, at times with a leading zero.
func (p patterns) between(first, last int) string {
	number := strconv.Itoa(first + p.IntN(last-first+1))
	if p.IntN(8) == 0 {
		return "0" + number
	}
	return number
}

// entry returns an entry of a list of values from first to last, in the common forms.
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

// list returns a field: a wildcard as often as open out of ten times, else some entries.
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

// pattern returns a pattern that fires in the year, or almost always does.
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

// TestPattern_FiresWhenItsFieldsSay goes through a year with each of many patterns, and for those that fire
// more often than a walk is long, through parts of it.
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

// firing returns a pattern that ParsePattern takes. One that it does not take is one that never fires.
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

// walk compares what fires after a start and before an end, and returns how often that is, at most longest times.
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
