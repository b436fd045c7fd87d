package conversation

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// units are those of durations, the longest first.
var units = []struct {
	name  string
	short string
	of    time.Duration
}{
	{"week", "w", 7 * 24 * time.Hour},
	{"day", "d", 24 * time.Hour},
	{"hour", "h", time.Hour},
	{"minute", "m", time.Minute},
	{"second", "s", time.Second},
	{"millisecond", "ms", time.Millisecond},
	{"microsecond", "us", time.Microsecond},
	{"nanosecond", "ns", time.Nanosecond},
}

// durationText returns a duration in words, such as "1 day 2 hours". Weeks are days.
func durationText(d time.Duration) string {
	var parts []string
	for _, unit := range units[1:] {
		n := d / unit.of
		d %= unit.of
		switch {
		case n == 1:
			parts = append(parts, "1 "+unit.name)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, unit.name))
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

// amount is one part of a duration.
var amount = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*([a-z]+)(?:\s*,)?(?:\s+and\s+|\s*)`)

// Duration reads a duration such as "2 days", "1 hour 30 minutes", "1d12h" or "90m".
func Duration(text string) (time.Duration, error) {
	rest := strings.TrimSpace(text)
	if strings.HasPrefix(rest, "-") {
		return 0, errors.New("time does not go back: give how much is to pass, such as 24h")
	}
	sum := time.Duration(0)
	for isFirst := true; isFirst || rest != ""; isFirst = false {
		found := amount.FindStringSubmatch(rest)
		if found == nil {
			return 0, fmt.Errorf("%q is no time: give one such as 24h, 2 days, 1 hour 30 minutes or 90m", text)
		}
		part, err := amountOf(found[1], found[2])
		if err != nil {
			return 0, err
		}
		if sum += part; sum < 0 {
			return 0, fmt.Errorf("%q is too long a time: give less than 200 years", text)
		}
		rest = rest[len(found[0]):]
	}
	return sum, nil
}

// amountOf returns so many of a unit.
func amountOf(number, unit string) (time.Duration, error) {
	for _, one := range units {
		if unit != one.short && unit != one.name && unit != one.name+"s" {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n*float64(one.of) >= float64(1<<63-1) {
			return 0, fmt.Errorf("%s %s is too long a time: give less than 200 years", number, unit)
		}
		if whole, err := strconv.ParseInt(number, 10, 64); err == nil {
			return time.Duration(whole) * one.of, nil
		}
		return time.Duration(n * float64(one.of)), nil
	}
	return 0, fmt.Errorf("%q is no unit of time: give weeks, days, hours, minutes or seconds", unit)
}
