package query

import (
	"slices"
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

// weekOf returns the number of the week in the year. Weeks begin on Sunday; days before the first Sunday are in
// week 0.
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

// localDate returns a date in a time zone. ok is false if the date or the zone is null or missing.
func (run *expressionRun) localDate(date, zone any) (t time.Time, ok bool, err error) {
	if isNullish(date) || isNullish(zone) {
		return t, false, nil
	}
	t, ok = date.(time.Time)
	if !ok {
		return t, false, aDate(date)
	}
	if err := run.limits.spend(partWork); err != nil {
		return t, false, err
	}
	location, err := run.zoneIn(zone)
	if err != nil {
		return t, false, boterr.PrefixField("timezone", err)
	}
	return t.In(location), true, nil
}

// maxZones is the maximum number of time zones that a run keeps.
const maxZones = 64

// zoneIn is like zoneOf, and counts its work. The run keeps a zone for the next documents.
func (run *expressionRun) zoneIn(value any) (*time.Location, error) {
	name, isName := value.(string)
	if !isName {
		return zoneOf(value)
	}
	if known, ok := run.zones[name]; ok {
		return known, nil
	}
	if err := run.limits.spend(zoneWork); err != nil {
		return nil, err
	}
	location, err := zoneOf(name)
	if err != nil {
		return nil, err
	}
	if run.zones == nil || len(run.zones) == maxZones {
		run.zones = map[string]*time.Location{}
	}
	run.zones[name] = location
	return location, nil
}

// prepareZone checks a constant time zone when the expression is compiled.
func prepareZone(at int) func(expressionCompiler, []expression) error {
	return func(_ expressionCompiler, arguments []expression) error {
		given, isConstant := arguments[at].(constant)
		if !isConstant || isNullish(given.value) || given.value == absent {
			return nil
		}
		location, err := zoneOf(given.value)
		arguments[at] = constant{location}
		return boterr.PrefixField("timezone", err)
	}
}

// maxZoneName is the maximum length of a time zone's name.
const maxZoneName = 64

// zoneOf reads a time zone: a name in the IANA database, or an offset from UTC such as "+02:00". Absent is UTC.
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
		if zone == "" || zone == "Local" || len(zone) > maxZoneName { // LoadLocation would take them for UTC and the zone of the machine.
			return nil, noZone(zone)
		}
		location, err := time.LoadLocation(zone)
		if err != nil {
			return nil, noZone(zone)
		}
		return location, nil
	default:
		return nil, aString(value)
	}
}

// offsetZone parses "+hh", "+hhmm" and "+hh:mm".
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
	return boterr.Invalid("", `%q is not a time zone; give a name such as "Europe/Berlin" or an offset such as "+01:00"`, zone)
}

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

// The largest year that $dateFromParts accepts, and the largest value of any other part. A part beyond its usual
// range carries over to the next larger part.
const (
	maxYear = 9999
	maxPart = 32767
)

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
			return nil, boterr.Invalid(name, "belongs to the other calendar; use month and day with year, isoWeek and isoDayOfWeek with isoWeekYear")
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
	zone, err := run.zoneIn(arguments[len(parts)])
	if err != nil {
		return nil, boterr.PrefixField("timezone", err)
	}
	if err := run.limits.spend(dateWork); err != nil {
		return nil, err
	}
	t := time.Date(parts[0], time.Month(parts[2]), parts[4], parts[6], parts[7], parts[8], 0, zone)
	if !calendar {
		monday := time.Date(parts[1], 1, 4, parts[6], parts[7], parts[8], 0, zone) // January 4 is always in week 1.
		t = monday.AddDate(0, 0, 7*(parts[3]-1)+parts[5]-isoDayOf(monday))
	}
	return dateOf(t.UnixMilli() + int64(parts[9]))
}

func datePartIn(value any, least, most int64) (int, error) {
	n, ok := document.WholeNumber(value)
	if !ok || n < least || n > most {
		return 0, boterr.Invalid("", "must be a whole number from %d to %d, got %s", least, most, document.Excerpt(value))
	}
	return int(n), nil
}

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

// timeUnit is a unit of time: a number of months, of days or of milliseconds.
type timeUnit struct{ months, days, milliseconds int64 }

var timeUnits = map[string]timeUnit{
	"year": {months: 12}, "quarter": {months: 3}, "month": {months: 1}, "week": {days: 7}, "day": {days: 1},
	"hour": {milliseconds: 3_600_000}, "minute": {milliseconds: 60_000}, "second": {milliseconds: 1000},
	"millisecond": {milliseconds: 1},
}

func unitOf(value any) (timeUnit, error) {
	name, _ := value.(string)
	unit, ok := timeUnits[name]
	if !ok {
		return unit, boterr.Invalid("unit", "must be year, quarter, month, week, day, hour, minute, second or millisecond, got %s",
			document.Excerpt(value))
	}
	return unit, nil
}

func (u timeUnit) isWeek() bool { return u.days > 1 }

// dateMoved returns the function for $dateAdd, or for $dateSubtract with the sign -1.
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
		const most = latestDate - earliestDate // No two dates are further apart.
		if amount < -most || amount > most {
			return nil, errDateOverflow
		}
		return dateMovedBy(t, unit, sign*amount)
	}
}

// dateMovedBy returns the date amount units after t. Days and longer units keep the time of day in the zone. A
// day that the month lacks becomes the last day of the month.
func dateMovedBy(t time.Time, unit timeUnit, amount int64) (any, error) {
	if unit.milliseconds > 0 {
		moved, ok := multiplyIntegers(amount, unit.milliseconds)
		if !ok {
			return nil, errDateOverflow
		}
		return dateAfter(t.UnixMilli(), moved)
	}
	const most = (maxYear + 1) * 366
	days, months := amount*unit.days, amount*unit.months
	if max(days, -days, months, -months) > most {
		return nil, errDateOverflow
	}
	if days != 0 {
		return dateOf(t.AddDate(0, 0, int(days)).UnixMilli())
	}
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return dateOf(first.AddDate(0, 0, min(t.Day(), last)-1).UnixMilli())
}

// weekdays are the names of the days. Their first three letters are the short names.
var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// unitCount returns the number of the unit in which a date lies, counted from a fixed start.
func unitCount(t time.Time, unit timeUnit, start time.Weekday) int64 {
	switch {
	case unit.months > 0:
		return floorDivided(int64(t.Year())*12+int64(t.Month())-1, unit.months)
	case unit.isWeek():
		return floorDivided(dayCount(t)+4-int64(start), unit.days) // 1 January 1970 was a Thursday.
	case unit.days > 0:
		return dayCount(t)
	}
	_, offset := t.Zone()
	within := int64(offset) * 1000 % timeUnits["hour"].milliseconds // Offsets may include half an hour.
	return floorDivided(t.UnixMilli()+within, unit.milliseconds)
}

// dayCount returns the number of days from 1 January 1970 to a date in its zone.
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

// unitAndWeek returns a unit and, for weeks, the day on which they start, which is Sunday by default. The unit is
// zero if that day is null.
func unitAndWeek(given, start any) (unit timeUnit, first time.Weekday, err error) {
	unit, err = unitOf(given)
	switch {
	case err != nil || !unit.isWeek() || start == absent:
		return unit, time.Sunday, err
	case isNullish(start):
		return timeUnit{}, first, nil
	}
	name, ok := start.(string)
	if !ok {
		return unit, first, boterr.PrefixField("startOfWeek", aString(start))
	}
	name = strings.ToLower(name)
	for i, day := range weekdays {
		if name == day || name == day[:3] {
			return unit, time.Weekday(i), nil
		}
	}
	return unit, first, boterr.Invalid("startOfWeek", "must be the name of a day of the week, got %s", document.Excerpt(start))
}

// datesBetween is $dateDiff. It returns how many units start between two dates.
func datesBetween(run *expressionRun, arguments []any) (any, error) {
	start, end, unit, zone := arguments[0], arguments[1], arguments[2], arguments[3]
	if isNullish(start) || isNullish(end) || isNullish(unit) || isNullish(zone) {
		return nil, nil
	}
	counted, first, err := unitAndWeek(unit, arguments[4])
	if err != nil || counted == (timeUnit{}) {
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
	return unitCount(to, counted, first) - unitCount(from, counted, first), nil
}

// dateTruncated is $dateTrunc. It returns the start of the bin that contains a date. Bins are counted from the start
// of the year 2000.
func dateTruncated(run *expressionRun, arguments []any) (any, error) {
	date, unit, size, zone := arguments[0], arguments[1], arguments[2], arguments[3]
	if isNullish(date) || isNullish(unit) || isNullish(size) || isNullish(zone) {
		return nil, nil
	}
	counted, first, err := unitAndWeek(unit, arguments[4])
	if err != nil || counted == (timeUnit{}) {
		return nil, err
	}
	bin := int64(1)
	if size != absent {
		var ok bool
		if bin, ok = document.WholeNumber(size); !ok || bin < 1 {
			return nil, boterr.Invalid("binSize", "must be a whole number of at least 1, got %s", document.Excerpt(size))
		}
	}
	t, _, err := run.localDate(date, zone)
	if err != nil {
		return nil, err
	}
	return binStart(t, counted, bin, first)
}

// binStart returns the beginning of the bin that contains t. A bin is a number of units.
func binStart(t time.Time, unit timeUnit, bin int64, first time.Weekday) (any, error) {
	reference := time.Date(2000, 1, 1, 0, 0, 0, 0, t.Location())
	if unit.isWeek() {
		days := (int(first) - int(reference.Weekday()) + 7) % 7
		reference = reference.AddDate(0, 0, days)
	}
	if unit.milliseconds > 0 {
		size, ok := multiplyIntegers(bin, unit.milliseconds)
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
