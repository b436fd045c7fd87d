package query

import (
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// dateMathFunctions are the operators that count in units of time.
var dateMathFunctions = map[string]function{
	"$dateAdd":      {least: 3, names: []string{"startDate", "unit", "amount", "timezone"}, prepare: prepareZone(3), compute: dateMoved(1)},
	"$dateSubtract": {least: 3, names: []string{"startDate", "unit", "amount", "timezone"}, prepare: prepareZone(3), compute: dateMoved(-1)},
	"$dateDiff": {
		least: 3, names: []string{"startDate", "endDate", "unit", "timezone", "startOfWeek"},
		prepare: prepareZone(3), compute: datesBetween,
	},
	"$dateTrunc": {
		least: 2, names: []string{"date", "unit", "binSize", "timezone", "startOfWeek"},
		prepare: prepareZone(3), compute: dateTruncated,
	},
}

// timeUnits are the names of units, with the milliseconds of those that are always
// equally long.
var timeUnits = map[string]int64{
	"year": 0, "quarter": 0, "month": 0, "week": 0, "day": 0,
	"hour": 3_600_000, "minute": 60_000, "second": 1000, "millisecond": 1,
}

func unitOf(value any) (string, error) {
	unit, ok := value.(string)
	if _, known := timeUnits[unit]; !ok || !known {
		return "", boterr.Invalid("unit", "must be year, quarter, month, week, day, hour, minute, second or millisecond, got %s",
			document.Excerpt(value))
	}
	return unit, nil
}

// monthsIn are the months of the units that are made of them.
var monthsIn = map[string]int64{"year": 12, "quarter": 3, "month": 1}

// daysIn are the days of the units that are made of them.
var daysIn = map[string]int64{"week": 7, "day": 1}

// dateMoved makes $dateAdd and, with the sign -1, $dateSubtract.
func dateMoved(sign int64) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		if slices.ContainsFunc(arguments, isNullish) {
			return nil, nil
		}
		t, _, err := run.localDate(arguments[0], arguments[3])
		if err != nil {
			return nil, err
		}
		unit, err := unitOf(arguments[1])
		if err != nil {
			return nil, err
		}
		amount, ok := document.WholeNumber(arguments[2])
		if !ok {
			return nil, boterr.Invalid("amount", "must be a whole number, got %s", document.Excerpt(arguments[2]))
		}
		const most = latestDate - earliestDate // No date is more milliseconds from another.
		if amount < -most || amount > most {
			return nil, dateOverflow()
		}
		return dateMovedBy(t, unit, sign*amount)
	}
}

// dateMovedBy returns the date some units after another. Days and what is longer keep
// the time of day in the zone; a day that the month lacks becomes its last one.
func dateMovedBy(t time.Time, unit string, amount int64) (any, error) {
	if length := timeUnits[unit]; length > 0 {
		moved, ok := multiplyIntegers(amount, length)
		if !ok {
			return nil, dateOverflow()
		}
		return dateAfter(t.UnixMilli(), moved)
	}
	const most = (maxYear + 1) * 366
	days, months := amount*daysIn[unit], amount*monthsIn[unit]
	if max(days, -days, months, -months) > most {
		return nil, dateOverflow()
	}
	if days != 0 {
		return dateOf(t.AddDate(0, 0, int(days)).UnixMilli())
	}
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return dateOf(first.AddDate(0, 0, min(t.Day(), last)-1).UnixMilli())
}

// weekdays are the days by their names and short names.
var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// weekStart reads the day on which weeks begin, Sunday where it is absent.
func weekStart(value any) (time.Weekday, error) {
	if value == absent {
		return time.Sunday, nil
	}
	given, ok := value.(string)
	if !ok {
		return 0, boterr.PrefixField("startOfWeek", needsString(value))
	}
	name := strings.ToLower(given)
	for i, day := range weekdays {
		if name == day || name == day[:3] {
			return time.Weekday(i), nil
		}
	}
	return 0, boterr.Invalid("startOfWeek", "must be the name of a day of the week, got %s", document.Excerpt(value))
}

// unitCount returns the number of a date's unit, counted from a fixed one.
func unitCount(t time.Time, unit string, start time.Weekday) int64 {
	switch unit {
	case "year":
		return int64(t.Year())
	case "quarter", "month":
		return (int64(t.Year())*12 + int64(t.Month()) - 1) / monthsIn[unit]
	case "week":
		return floorDivided(dayCount(t)+4-int64(start), 7) // 1970 began on a Thursday.
	case "day":
		return dayCount(t)
	}
	_, offset := t.Zone()
	within := int64(offset) * 1000 % timeUnits["hour"] // Zones may be off by half an hour.
	return floorDivided(t.UnixMilli()+within, timeUnits[unit])
}

// dayCount returns the number of days from 1970 to a date in its zone.
func dayCount(t time.Time) int64 {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

func floorDivided(a, b int64) int64 {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}

// weekStartOf returns the day on which weeks start, which counts where the unit is the week. It
// is not known where it is null.
func weekStartOf(unit string, start any) (first time.Weekday, isKnown bool, err error) {
	if unit != "week" {
		return time.Sunday, true, nil
	}
	if isNullish(start) {
		return first, false, nil
	}
	first, err = weekStart(start)
	return first, true, err
}

// datesBetween is $dateDiff: how many units begin between two dates.
func datesBetween(run *expressionRun, arguments []any) (any, error) {
	start, end, unit, zone := arguments[0], arguments[1], arguments[2], arguments[3]
	if isNullish(start) || isNullish(end) || isNullish(unit) || isNullish(zone) {
		return nil, nil
	}
	name, err := unitOf(unit)
	if err != nil {
		return nil, err
	}
	first, isKnown, err := weekStartOf(name, arguments[4])
	if err != nil || !isKnown {
		return nil, err
	}
	from, _, err := run.localDate(start, zone)
	if err != nil {
		return nil, err
	}
	to, _, err := run.localDate(end, zone)
	if err != nil {
		return nil, err
	}
	return unitCount(to, name, first) - unitCount(from, name, first), nil
}

// dateTruncated is $dateTrunc: the beginning of the bin in which a date lies. Bins are
// counted from the beginning of the year 2000.
func dateTruncated(run *expressionRun, arguments []any) (any, error) {
	date, unit, size, zone := arguments[0], arguments[1], arguments[2], arguments[3]
	if isNullish(date) || isNullish(unit) || isNullish(size) || isNullish(zone) {
		return nil, nil
	}
	name, err := unitOf(unit)
	if err != nil {
		return nil, err
	}
	first, isKnown, err := weekStartOf(name, arguments[4])
	if err != nil || !isKnown {
		return nil, err
	}
	bin := int64(1)
	if size != absent {
		var ok bool
		if bin, ok = document.WholeNumber(size); !ok || bin < 1 {
			return nil, boterr.Invalid("binSize", "must be a whole number from 1, got %s", document.Excerpt(size))
		}
	}
	t, _, err := run.localDate(date, zone)
	if err != nil {
		return nil, err
	}
	return binStart(t, name, bin, first)
}

// binStart returns the beginning of the bin of some units in which a date lies.
func binStart(t time.Time, unit string, bin int64, first time.Weekday) (any, error) {
	reference := time.Date(2000, 1, 1, 0, 0, 0, 0, t.Location())
	if unit == "week" {
		days := (int(first) - int(reference.Weekday()) + 7) % 7
		reference = reference.AddDate(0, 0, days)
	}
	if length := timeUnits[unit]; length > 0 {
		size, ok := multiplyIntegers(bin, length)
		if !ok {
			return nil, boterr.Invalid("binSize", "is too large, got %d", bin)
		}
		distance := t.UnixMilli() - reference.UnixMilli()
		return dateOf(reference.UnixMilli() + floorDivided(distance, size.(int64))*size.(int64))
	}
	distance := unitCount(t, unit, first) - unitCount(reference, unit, first)
	if bin > latestDate {
		return nil, boterr.Invalid("binSize", "is too large, got %d", bin)
	}
	return dateMovedBy(reference, unit, floorDivided(distance, bin)*bin)
}
