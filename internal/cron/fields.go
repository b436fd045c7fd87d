package cron

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// maxPatternLength is the maximum length of a pattern in bytes.
const maxPatternLength = 256

// fields are the seven fields of a pattern, from seconds to years.
type fields [7]fieldText

// fieldText is a field in a notation that cronexpr parses correctly: numbers without leading zeros, ascending ranges,
// and 0 for Sunday.
type fieldText struct {
	text string
	// wildcard is true if the field is or contains "*" or "*/n".
	wildcard bool
}

func (f *fields) String() string {
	texts := make([]string, len(f))
	for i := range f {
		texts[i] = f[i].text
	}
	return strings.Join(texts, " ")
}

func (f *fields) seconds() fieldText { return f[0] }
func (f *fields) minutes() fieldText { return f[1] }
func (f *fields) hours() fieldText   { return f[2] }

// macros maps names to patterns of seven fields.
var macros = map[string]string{
	"@yearly":   "0 0 0 1 1 * *",
	"@annually": "0 0 0 1 1 * *",
	"@monthly":  "0 0 0 1 * * *",
	"@weekly":   "0 0 0 * * 0 *",
	"@daily":    "0 0 0 * * * *",
	"@hourly":   "0 0 * * * * *",
}

// parseFields parses a pattern. Its errors have no field.
func parseFields(text string) (*fields, error) {
	words, err := splitFields(text)
	if err != nil {
		return nil, err
	}
	parsed := new(fields)
	for i := range parsed {
		parsed[i], err = fieldKinds[i].parse(words[i])
		if err != nil {
			return nil, explained(err, text)
		}
	}
	return parsed, nil
}

// explained adds to the error of a pattern with six fields which fields these are, because other
// implementations begin six fields with seconds.
func explained(err error, text string) error {
	if len(strings.Fields(text)) != 6 {
		return err
	}
	return boterr.Invalid("", "%w; six fields begin with minutes and end with years; to begin with seconds, give seven", errors.Unwrap(err))
}

// splitFields splits a pattern into fields in lower case, and adds missing ones to make seven.
func splitFields(text string) ([]string, error) {
	if len(text) > maxPatternLength {
		return nil, boterr.Invalid("", "the pattern has %d bytes; shorten it to at most %d", len(text), maxPatternLength)
	}
	for i := range len(text) {
		if text[i] > '~' {
			return nil, boterr.Invalid("", "%q is not ASCII at byte %d; write it in English letters, digits and the signs * / , - # ?", text, i)
		}
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 1 && strings.HasPrefix(words[0], "@") {
		macro, ok := macros[words[0]]
		if !ok {
			return nil, boterr.Invalid("",
				"there is no macro %q; use @yearly, @annually, @monthly, @weekly, @daily, @hourly or the fields of a pattern", text)
		}
		words = strings.Fields(macro)
	}
	if i := slices.IndexFunc(words, isMisplacedZone); i >= 0 {
		return nil, boterr.Invalid("", "%q has %q in place of a field; give the zone once, first and in capitals: write %q",
			text, words[i], exampleInZone)
	}
	switch len(words) {
	case 5:
		return append([]string{"0"}, append(words, "*")...), nil
	case 6:
		return append([]string{"0"}, words...), nil
	case 7:
		return words, nil
	default:
		return nil, boterr.Invalid("",
			"%q has %d fields; give five (minutes, hours, days of the month, months, days of the week), "+
				"six with years at the end, or seven with seconds in front as well", text, len(words))
	}
}

// isMisplacedZone reports whether a lower-case word could be a zone.
func isMisplacedZone(word string) bool {
	return strings.HasPrefix(word, "cron_tz=") || strings.HasPrefix(word, "tz=")
}

// fieldKind describes one of the seven fields and its values.
type fieldKind struct {
	// name is the plural name of the values.
	name string
	// first and last are the limits of "*".
	first, last int
	// maxStep is the maximum step that cronexpr accepts.
	maxStep int
	// hint describes the allowed values in errors.
	hint string
	// names are the names of the values from first on. Three letters of a name are enough.
	names []string
	// special parses an entry that only this field can have. ok is false for other entries.
	special func(kind *fieldKind, entry string) (text string, ok bool, err error)
}

var fieldKinds = [len(fields{})]*fieldKind{
	{name: "seconds", first: 0, last: 59, maxStep: 59, hint: "seconds go from 0 to 59"},
	{name: "minutes", first: 0, last: 59, maxStep: 59, hint: "minutes go from 0 to 59"},
	{name: "hours", first: 0, last: 23, maxStep: 23, hint: "hours go from 0 to 23"},
	{
		name: "days of the month", first: 1, last: 31, maxStep: 31,
		hint:    "days of the month go from 1 to 31, or are L, LW or a day with W such as 15W",
		special: specialDayOfMonth,
	},
	{
		name: "months", first: 1, last: 12, maxStep: 12,
		hint: "months go from 1 to 12 or from jan to dec",
		names: []string{
			"january", "february", "march", "april", "may", "june",
			"july", "august", "september", "october", "november", "december",
		},
	},
	{
		name: "days of the week", first: 0, last: 6, maxStep: 6,
		hint: "days of the week go from 0 to 7, where 0 and 7 are Sunday, or from sun to sat, " +
			"or are the last of the month such as 5L or the second such as 5#2",
		names:   []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"},
		special: specialDayOfWeek,
	},
	{
		name: "years", first: 1970, last: 2099, maxStep: 59,
		hint: "years go from 1970 to 2099; the last of six fields is the years, and seconds need seven fields",
	},
}

// sunday is the second number of Sunday, as the end of ranges.
const sunday = 7

func (k *fieldKind) parse(text string) (fieldText, error) {
	var parsed fieldText
	entries := strings.Split(text, ",")
	for i, entry := range entries {
		normal, err := k.entry(entry)
		if err != nil {
			return fieldText{}, err
		}
		entries[i] = normal
		parsed.wildcard = parsed.wildcard || normal[0] == '*'
	}
	parsed.text = strings.Join(entries, ",")
	return parsed, nil
}

// entry parses one entry of a field's list.
func (k *fieldKind) entry(text string) (string, error) {
	if text == "" {
		return "", boterr.Invalid("", "an entry of the %s is empty; remove the extra comma", k.name)
	}
	if k.special != nil {
		if normal, ok, err := k.special(k, text); ok || err != nil {
			return normal, err
		}
	}
	values, step, err := k.cutStep(text)
	if err != nil {
		return "", err
	}
	if values == "*" {
		return withStep("*", step), nil
	}
	from, to, isRange := strings.Cut(values, "-")
	first, err := k.value(from)
	if err != nil {
		return "", err
	}
	if isRange {
		return k.span(text, first, to, step)
	}
	first = k.normal(first)
	if step == 0 {
		return strconv.Itoa(first), nil
	}
	return withStep(fmt.Sprintf("%d-%d", first, k.last), step), nil
}

// cutStep splits an entry into values and step. A missing step is 0.
func (k *fieldKind) cutStep(text string) (values string, step int, err error) {
	values, stepText, hasStep := strings.Cut(text, "/")
	if !hasStep {
		return values, 0, nil
	}
	step, ok := number(stepText)
	if !ok || step < 1 || step > k.maxStep {
		return "", 0, boterr.Invalid("", "%q has an invalid step; a step of the %s is from 1 to %d", text, k.name, k.maxStep)
	}
	return values, step, nil
}

// withStep joins values and step. A step of 0 is left out.
func withStep(values string, step int) string {
	if step == 0 {
		return values
	}
	return values + "/" + strconv.Itoa(step)
}

// span parses the rest of a range. cronexpr would take a 7 at the end for 0, so a range of days that ends with 7 is
// written as single days.
func (k *fieldKind) span(text string, first int, to string, step int) (string, error) {
	last, err := k.value(to)
	if err != nil {
		return "", err
	}
	if first > last {
		return "", boterr.Invalid("", "%q runs backwards; write %s", text, k.forward(first, last))
	}
	if last <= k.last {
		return withStep(fmt.Sprintf("%d-%d", first, last), step), nil
	}
	var days []string
	for day := first; day <= last; day += max(step, 1) {
		days = append(days, strconv.Itoa(k.normal(day)))
	}
	return strings.Join(days, ","), nil
}

// forward returns the range that was probably meant by a descending range.
func (k *fieldKind) forward(first, last int) string {
	if start := k.normal(first); start <= last {
		return fmt.Sprintf("%d-%d", start, last)
	}
	return fmt.Sprintf("%d-%d,%d-%d", first, k.last, k.first, last)
}

// value parses a number or a name.
func (k *fieldKind) value(text string) (int, error) {
	value, ok := number(text)
	for i, name := range k.names {
		if text == name || text == name[:3] {
			value, ok = k.first+i, true
		}
	}
	if !ok || k.normal(value) < k.first || k.normal(value) > k.last {
		return 0, boterr.Invalid("", "%q is not one of the %s; %s", text, k.name, k.hint)
	}
	return value, nil
}

// normal returns the canonical number for a value: 0 for Sunday.
func (k *fieldKind) normal(value int) int {
	if value == sunday && k.last == sunday-1 {
		return 0
	}
	return value
}

// number parses a number of at most four digits after leading zeros.
func number(text string) (int, bool) {
	digits := strings.TrimLeft(text, "0")
	if digits == "" {
		return 0, text != ""
	}
	if len(digits) > 4 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	value, err := strconv.Atoi(digits)
	return value, err == nil
}

// specialDayOfMonth parses L, LW and 15W.
func specialDayOfMonth(kind *fieldKind, entry string) (text string, ok bool, err error) {
	if entry == "?" {
		return "*", true, nil
	}
	if entry == "l" || entry == "lw" {
		return entry, true, nil
	}
	dayText, ok := strings.CutSuffix(entry, "w")
	if !ok {
		return "", false, nil
	}
	day, err := kind.value(dayText)
	if err != nil {
		return "", true, err
	}
	return strconv.Itoa(day) + "w", true, nil
}

// specialDayOfWeek parses 5L and 5#2.
func specialDayOfWeek(kind *fieldKind, entry string) (text string, ok bool, err error) {
	if entry == "?" {
		return "*", true, nil
	}
	dayText, isLast := strings.CutSuffix(entry, "l")
	dayText, weekText, isCounted := strings.Cut(dayText, "#")
	if isLast == isCounted {
		return "", false, nil
	}
	day, err := kind.value(dayText)
	if err != nil {
		return "", true, err
	}
	if isLast {
		return strconv.Itoa(kind.normal(day)) + "l", true, nil
	}
	week, ok := number(weekText)
	if !ok || week < 1 || week > 5 {
		return "", true, boterr.Invalid("", "%q is not a week of a month; write 1 to 5 after #", entry)
	}
	return fmt.Sprintf("%d#%d", kind.normal(day), week), true, nil
}
