package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// dateTextFunctions are the operators that format and parse dates.
var dateTextFunctions = map[string]function{
	"$dateToString": {
		least: 1, names: []string{"date", "format", "timezone", "onNull"}, prepare: prepareZone(2), compute: dateToString,
	},
	"$dateFromString": {
		least: 1, names: []string{"dateString", "format", "timezone", "onError", "onNull"},
		prepare: prepareZone(2), compute: dateFromString,
	},
}

func dateToString(run *expressionRun, arguments []any) (any, error) {
	if isNullish(arguments[0]) {
		return givenOrNull(arguments[3]), nil
	}
	t, ok, err := run.localDate(arguments[0], arguments[2])
	if !ok || err != nil || isNullish(arguments[1]) {
		return nil, err
	}
	format := "%Y-%m-%dT%H:%M:%S.%L"
	if arguments[1] != absent {
		if format, ok = arguments[1].(string); !ok {
			return nil, boterr.PrefixField("format", aString(arguments[1]))
		}
	} else if t.Location() == time.UTC {
		format += "Z"
	}
	if err := run.limits.text(4 * len(format)); err != nil {
		return nil, err
	}
	if err := run.limits.spend(len(format) * formatWork); err != nil {
		return nil, err
	}
	return writeDate(t, format)
}

// givenOrNull returns an argument, or null if it was not given.
func givenOrNull(argument any) any {
	if argument == absent {
		return nil
	}
	return argument
}

func writeDate(t time.Time, format string) (any, error) {
	var text strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			text.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) {
			return nil, boterr.Invalid("format", "ends in a single %%; write %%%% for a percent sign")
		}
		part, ok := datePartText(t, format[i])
		if !ok {
			return nil, boterr.Invalid("format", "there is no specifier %%%c", format[i])
		}
		text.WriteString(part)
	}
	return text.String(), nil
}

func datePartText(t time.Time, letter byte) (string, bool) {
	switch letter {
	case '%':
		return "%", true
	case 'b':
		return t.Month().String()[:3], true
	case 'B':
		return t.Month().String(), true
	case 'z':
		return t.Format("-0700"), true
	case 'Z':
		_, offset := t.Zone()
		return fmt.Sprintf("%+04d", offset/60), true
	}
	number, ok := datePartNumbers[letter]
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%0*d", number.width, number.of(t)), true
}

// datePartNumbers are the format letters for numbers.
var datePartNumbers = map[byte]struct {
	width int
	of    func(time.Time) int
}{
	'Y': {4, time.Time.Year},
	'G': {4, isoYearOf},
	'm': {2, func(t time.Time) int { return int(t.Month()) }},
	'd': {2, time.Time.Day},
	'H': {2, time.Time.Hour},
	'M': {2, time.Time.Minute},
	'S': {2, time.Time.Second},
	'L': {3, millisecondOf},
	'j': {3, time.Time.YearDay},
	'U': {2, weekOf},
	'V': {2, isoWeekOf},
	'u': {1, isoDayOf},
	'w': {1, func(t time.Time) int { return int(t.Weekday()) + 1 }},
}

func dateFromString(run *expressionRun, arguments []any) (any, error) {
	text, format, zone := arguments[0], arguments[1], arguments[2]
	if isNullish(text) {
		return givenOrNull(arguments[4]), nil
	}
	if isNullish(zone) || isNullish(format) {
		return nil, nil
	}
	location, err := run.zoneIn(zone)
	if err != nil {
		return nil, boterr.PrefixField("timezone", err)
	}
	layout, ok := format.(string)
	if !ok && format != absent {
		return nil, boterr.PrefixField("format", aString(format))
	}
	source, ok := text.(string)
	if err = aString(text); ok {
		if err := run.limits.spend(dateWork + len(source) + len(layout)); err != nil {
			return nil, err
		}
		var date any
		if date, err = readDateAs(source, layout, location, zone != absent); err == nil {
			return date, nil
		}
	}
	if arguments[3] != absent {
		return arguments[3], nil
	}
	return nil, boterr.PrefixField("dateString", err)
}

// readDateAs reads a date in a format; an empty format means the usual notations. A text with a zone cannot be
// combined with another zone.
func readDateAs(text, format string, zone *time.Location, zoneGiven bool) (any, error) {
	var t time.Time
	var hasZone bool
	var err error
	if format == "" {
		t, hasZone, err = readUsualDate(text, zone)
	} else {
		t, hasZone, err = readFormattedDate(text, format, zone)
	}
	switch {
	case err != nil:
		return nil, err
	case hasZone && zoneGiven:
		return nil, boterr.Invalid("", "%q contains a time zone, and another one was given; give only one", text)
	default:
		return dateOf(t.UnixMilli())
	}
}

func readDate(text string, zone *time.Location) (any, error) {
	t, _, err := readUsualDate(text, zone)
	if err != nil {
		return nil, err
	}
	return dateOf(t.UnixMilli())
}

// maxDateLength is the maximum length of a text that is parsed as a date.
const maxDateLength = 64

// readUsualDate reads a date in ISO 8601, with or without a time and a zone, and reports whether it has a zone.
func readUsualDate(text string, zone *time.Location) (time.Time, bool, error) {
	if len(text) <= maxDateLength {
		for _, notation := range usualDates {
			if t, err := time.ParseInLocation(notation.layout, text, zone); err == nil {
				return t, notation.zoned, nil
			}
		}
	}
	return time.Time{}, false, boterr.Invalid("", "%s is not a date in ISO 8601, such as 2006-01-02T15:04:05Z", document.Excerpt(text))
}

type dateNotation struct {
	layout string
	zoned  bool
}

// usualDates are the formats of ISO 8601, and similar ones.
var usualDates = makeUsualDates()

func makeUsualDates() []dateNotation {
	var notations []dateNotation
	for _, day := range []string{"2006-1-2", "2006/1/2", "20060102"} {
		for _, clock := range []string{"T15:04:05", " 15:04:05", "T15:04", " 15:04", "T150405"} {
			for _, offset := range []string{"Z07:00", "Z0700", "Z07", " Z07:00", " Z0700", ""} {
				notations = append(notations, dateNotation{layout: day + clock + offset, zoned: offset != ""})
			}
		}
		notations = append(notations, dateNotation{layout: day})
	}
	return notations
}

type formattedDate struct {
	parts  map[byte]int
	zone   *time.Location
	zoned  bool
	text   string
	offset int
}

func readFormattedDate(text, format string, zone *time.Location) (time.Time, bool, error) {
	d := &formattedDate{parts: map[byte]int{}, zone: zone, text: text}
	for i := 0; i < len(format); i++ {
		letter := byte(0)
		if format[i] == '%' && i+1 < len(format) {
			i++
			letter = format[i]
		}
		if !d.read(letter, format[i]) {
			return time.Time{}, false, boterr.Invalid("", "%s is not a date in the format %s", document.Excerpt(text), document.Excerpt(format))
		}
	}
	t, ok := d.time()
	if !ok || d.offset != len(text) {
		return time.Time{}, false, boterr.Invalid("", "%s is not a complete date in the format %s",
			document.Excerpt(text), document.Excerpt(format))
	}
	return t, d.zoned, nil
}

// read parses a part of a date. If letter is 0 or '%', it reads a literal byte.
func (d *formattedDate) read(letter, plain byte) bool {
	rest := d.text[d.offset:]
	switch letter {
	case 0, '%':
		d.offset++
		return rest != "" && rest[0] == plain
	case 'b':
		return d.readMonth(rest, func(m time.Month) string { return m.String()[:3] })
	case 'B':
		return d.readMonth(rest, time.Month.String)
	case 'z':
		return d.readZone(rest, offsetZone)
	case 'Z':
		return d.readZone(rest, minutesZone)
	default:
		return d.readNumber(rest, letter)
	}
}

// readNumber reads the digits of a part. Years must have all their digits.
func (d *formattedDate) readNumber(rest string, letter byte) bool {
	number, ok := datePartNumbers[letter]
	if !ok || letter == 'U' || letter == 'w' {
		return false
	}
	length := 0
	for length < number.width && length < len(rest) && rest[length] >= '0' && rest[length] <= '9' {
		length++
	}
	value, ok := digitsIn(rest[:length])
	d.parts[letter] = value
	d.offset += length
	return ok && (letter != 'Y' && letter != 'G' || length == number.width)
}

func (d *formattedDate) readMonth(rest string, nameOf func(time.Month) string) bool {
	for month := time.January; month <= time.December; month++ {
		name := nameOf(month)
		if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			d.parts['m'] = int(month)
			d.offset += len(name)
			return true
		}
	}
	return false
}

// readZone parses an offset from UTC, or Z.
func (d *formattedDate) readZone(rest string, zoneOf func(string) (*time.Location, error)) bool {
	end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("+-:0123456789Z", r) })
	if end < 0 {
		end = len(rest)
	}
	d.offset += end
	d.zoned = true
	d.zone = time.UTC
	if rest[:end] == "Z" {
		return true
	}
	if !strings.HasPrefix(rest, "+") && !strings.HasPrefix(rest, "-") {
		return false
	}
	zone, err := zoneOf(rest[:end])
	d.zone = zone
	return err == nil
}

// minutesZone parses an offset in minutes, such as "+120".
func minutesZone(text string) (*time.Location, error) {
	const longest = 5
	minutes, ok := digitsIn(text[1:])
	if !ok || len(text) > longest {
		return nil, noZone(text)
	}
	if text[0] == '-' {
		minutes = -minutes
	}
	return time.FixedZone(text, minutes*60), nil
}

// time returns the date of the parsed parts, and whether it exists.
func (d *formattedDate) time() (time.Time, bool) {
	hour, minute, second := d.parts['H'], d.parts['M'], d.parts['S']
	if hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	date := []any{absent, absent, absent, absent, absent, absent}
	for i, letter := range []byte{'Y', 'G', 'm', 'V', 'd', 'u'} {
		if value, ok := d.parts[letter]; ok {
			date[i] = int64(value)
		}
	}
	if day, ok := d.parts['j']; ok {
		date[4] = int64(day)
	} else if !slices.Contains(date, any(absent)) || d.isIncomplete() {
		return time.Time{}, false
	}
	date = append(date, int64(hour), int64(minute), int64(second), int64(d.parts['L']), d.zone)
	made, err := dateOfParts(&expressionRun{}, date)
	if err != nil {
		return time.Time{}, false
	}
	t, ok := made.(time.Time)
	return t, ok && d.agrees(t.In(d.zone))
}

func (d *formattedDate) isIncomplete() bool {
	needed := "Ymd"
	if _, iso := d.parts['G']; iso {
		needed = "GVu"
	}
	for i := range needed {
		if _, ok := d.parts[needed[i]]; !ok {
			return true
		}
	}
	return false
}

// agrees reports whether a date has the parts that were read. A part beyond its range has carried over: February 30,
// for example, has become a day in March.
func (d *formattedDate) agrees(t time.Time) bool {
	for letter, value := range d.parts {
		if number := datePartNumbers[letter]; number.of(t) != value {
			return false
		}
	}
	return true
}
