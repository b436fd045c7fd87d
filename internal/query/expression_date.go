package query

import (
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// dateFunctions are the operators that read the parts of a date.
var dateFunctions = map[string]function{
	"$year":         datePart(func(t time.Time) int { return t.Year() }),
	"$month":        datePart(func(t time.Time) int { return int(t.Month()) }),
	"$dayOfMonth":   datePart(func(t time.Time) int { return t.Day() }),
	"$dayOfYear":    datePart(func(t time.Time) int { return t.YearDay() }),
	"$dayOfWeek":    datePart(func(t time.Time) int { return int(t.Weekday()) + 1 }),
	"$week":         datePart(weekOf),
	"$hour":         datePart(func(t time.Time) int { return t.Hour() }),
	"$minute":       datePart(func(t time.Time) int { return t.Minute() }),
	"$second":       datePart(func(t time.Time) int { return t.Second() }),
	"$millisecond":  datePart(millisecondOf),
	"$isoDayOfWeek": datePart(isoDayOf),
	"$isoWeek":      datePart(isoWeekOf),
	"$isoWeekYear":  datePart(isoYearOf),
	"$dateToParts": {
		least: 1, names: []string{"date", "timezone", "iso8601"}, prepare: prepareZone(1), compute: dateParts,
	},
	"$dateFromParts": {names: datePartNames, prepare: prepareZone(len(datePartNames) - 1), compute: dateOfParts},
}

func millisecondOf(t time.Time) int { return t.Nanosecond() / int(time.Millisecond) }

// weekOf returns the number of the week in the year. Weeks begin on Sunday; what is
// before the first one is week 0.
func weekOf(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }

// isoDayOf returns the day of the week: 1 for Monday to 7 for Sunday.
func isoDayOf(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

func isoWeekOf(t time.Time) int {
	_, week := t.ISOWeek()
	return week
}

func isoYearOf(t time.Time) int {
	year, _ := t.ISOWeek()
	return year
}

// datePart is a function of a date and a time zone.
func datePart(part func(time.Time) int) function {
	return function{
		least: 1, most: 1, names: []string{"date", "timezone"}, prepare: prepareZone(1),
		compute: func(run *expressionRun, arguments []any) (any, error) {
			t, ok, err := run.localDate(arguments[0], arguments[1])
			if !ok || err != nil {
				return nil, err
			}
			return int64(part(t)), nil
		},
	}
}

// localDate returns a date in a time zone; ok is false where one of them is null or
// missing.
func (run *expressionRun) localDate(date, zone any) (t time.Time, ok bool, err error) {
	if isNullish(date) || isNullish(zone) {
		return t, false, nil
	}
	t, ok = date.(time.Time)
	if !ok {
		return t, false, needsDate(date)
	}
	if err := run.limits.spend(partWork); err != nil {
		return t, false, err
	}
	location, err := run.zone(zone)
	if err != nil {
		return t, false, boterr.PrefixField("timezone", err)
	}
	return t.In(location), true, nil
}

// zone is zoneOf, and counts the work.
func (run *expressionRun) zone(value any) (*time.Location, error) {
	if _, isName := value.(string); isName {
		if err := run.limits.spend(zoneWork); err != nil {
			return nil, err
		}
	}
	return zoneOf(value)
}

func needsDate(value any) error {
	return boterr.Invalid("", "needs a date, got %s", document.TypeName(value))
}

// prepareZone reads a time zone that is a constant once.
func prepareZone(at int) func(arguments []expression) error {
	return func(arguments []expression) error {
		given, ok := arguments[at].(constant)
		if !ok || isNullish(given.value) || given.value == absent {
			return nil
		}
		location, err := zoneOf(given.value)
		arguments[at] = constant{location}
		return boterr.PrefixField("timezone", err)
	}
}

// zoneOf reads a time zone: the name of one in the IANA database, or an offset from UTC
// such as "+02:00". Absent is UTC.
func zoneOf(value any) (*time.Location, error) {
	switch zone := value.(type) {
	case absentArgument:
		return time.UTC, nil
	case *time.Location:
		return zone, nil
	case string:
		if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") {
			return offsetZone(zone)
		}
		if zone == "" || zone == "Local" { // They mean the zone of the machine, or none.
			return nil, noZone(zone)
		}
		location, err := time.LoadLocation(zone)
		if err != nil {
			return nil, noZone(zone)
		}
		return location, nil
	default:
		return nil, needsString(value)
	}
}

// offsetZone reads "+hh", "+hhmm" and "+hh:mm".
func offsetZone(text string) (*time.Location, error) {
	digits := text[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) == 2 {
		digits += "00"
	}
	number, ok := digitsIn(digits)
	if !ok || len(digits) != 4 {
		return nil, noZone(text)
	}
	seconds := (number/100*60 + number%100) * 60
	if text[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(text, seconds), nil
}

// digitsIn reads a short text of digits alone.
func digitsIn(text string) (int, bool) {
	number := 0
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
		number = number*10 + int(r-'0')
	}
	return number, text != ""
}

func noZone(zone string) error {
	return boterr.Invalid("", `%q is no time zone; give a name such as "Europe/Berlin" or an offset such as "+01:00"`, zone)
}

// dateParts is $dateToParts.
func dateParts(run *expressionRun, arguments []any) (any, error) {
	iso := arguments[2] != absent
	if isNullish(arguments[2]) {
		return nil, nil
	}
	if iso {
		var ok bool
		if iso, ok = arguments[2].(bool); !ok {
			return nil, boterr.PrefixField("iso8601", document.WrongType("bool", arguments[2]))
		}
	}
	t, ok, err := run.localDate(arguments[0], arguments[1])
	if !ok || err != nil {
		return nil, err
	}
	names, values := []string{"year", "month", "day"}, []int{t.Year(), int(t.Month()), t.Day()}
	if iso {
		names = []string{"isoWeekYear", "isoWeek", "isoDayOfWeek"}
		values = []int{isoYearOf(t), isoWeekOf(t), isoDayOf(t)}
	}
	names = append(names, "hour", "minute", "second", "millisecond")
	values = append(values, t.Hour(), t.Minute(), t.Second(), millisecondOf(t))
	b := document.NewBuilder(len(names))
	for i, name := range names {
		b.Set(name, int64(values[i]))
	}
	return run.limits.object(b.Object())
}

// datePartNames are the arguments of $dateFromParts.
var datePartNames = []string{
	"year", "isoWeekYear", "month", "isoWeek", "day", "isoDayOfWeek", "hour", "minute", "second", "millisecond", "timezone",
}

// The largest year, and the largest value of another part, that $dateFromParts takes.
// What is above the number of a part's units carries over.
const (
	maxYear = 9999
	maxPart = 32767
)

// dateOfParts is $dateFromParts.
func dateOfParts(run *expressionRun, arguments []any) (any, error) {
	calendar := arguments[0] != absent
	if calendar == (arguments[1] != absent) {
		return nil, boterr.Invalid("", "needs either year or isoWeekYear")
	}
	parts := [10]int{2: 1, 3: 1, 4: 1, 5: 1}
	for i, argument := range arguments[:len(parts)] {
		if argument == absent {
			continue
		}
		if isNullish(argument) {
			return nil, nil
		}
		name := datePartNames[i]
		if ofISO := strings.HasPrefix(name, "iso"); i < 6 && ofISO == calendar {
			return nil, boterr.Invalid(name, "cannot stand beside the year of the other calendar")
		}
		least, most := int64(-maxPart-1), int64(maxPart)
		if i < 2 {
			least, most = 1, maxYear
		}
		part, err := datePartIn(argument, least, most)
		if err != nil {
			return nil, boterr.PrefixField(name, err)
		}
		parts[i] = part
	}
	if isNullish(arguments[len(parts)]) {
		return nil, nil
	}
	zone, err := run.zone(arguments[len(parts)])
	if err != nil {
		return nil, boterr.PrefixField("timezone", err)
	}
	if err := run.limits.spend(dateWork); err != nil {
		return nil, err
	}
	t := time.Date(parts[0], time.Month(parts[2]), parts[4], parts[6], parts[7], parts[8], 0, zone)
	if !calendar {
		monday := time.Date(parts[1], 1, 4, parts[6], parts[7], parts[8], 0, zone) // Is in week 1.
		t = monday.AddDate(0, 0, 7*(parts[3]-1)+parts[5]-isoDayOf(monday))
	}
	return dateOf(t.UnixMilli() + int64(parts[9]))
}

// datePartIn reads one part of a date.
func datePartIn(value any, least, most int64) (int, error) {
	n, ok := document.WholeNumber(value)
	if !ok || n < least || n > most {
		return 0, boterr.Invalid("", "must be a whole number from %d to %d, got %s", least, most, document.Excerpt(value))
	}
	return int(n), nil
}
