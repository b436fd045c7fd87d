package cron

import (
	"errors"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// maxPatternLength is the length in bytes that a pattern may have.
const maxPatternLength = 256

// fields are the seven fields of a pattern, from seconds to years.
type fields [7]fieldText

// fieldText is a field in the notation that cronexpr reads as it is meant: in numbers without
// leading zeros, in ranges that run forward, and with 0 for Sunday.
type fieldText struct {
	text string
	// wildcard is set where the field is or holds "*" or "*/n".
	wildcard bool
}

// String returns the fields as one pattern.
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

// macros are patterns that have a name, in seven fields.
var macros = map[string]string{
	"@yearly":   "0 0 0 1 1 * *",
	"@annually": "0 0 0 1 1 * *",
	"@monthly":  "0 0 0 1 * * *",
	"@weekly":   "0 0 0 * * 0 *",
	"@daily":    "0 0 0 * * * *",
	"@hourly":   "0 0 * * * * *",
}

// parseFields reads a pattern. Its errors lack the name of the parameter.
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

// explained adds to an error of a pattern of six fields what they are, since others begin them with
// seconds.
func explained(err error, text string) error {
	if len(strings.Fields(text)) != 6 {
		return err
	}
	return boterr.Invalid("", "%w; six fields begin with minutes and end with years: with seconds in front, give seven", errors.Unwrap(err))
}

// splitFields splits a pattern into seven fields in lower case, and adds those that it left out.
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
		return nil, boterr.Invalid("", "%q has %q where a field is; a zone is named once, in front and in capitals: write %q",
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

// isMisplacedZone reports whether a word in small letters is meant to name a zone.
func isMisplacedZone(word string) bool {
	return strings.HasPrefix(word, "cron_tz=") || strings.HasPrefix(word, "tz=")
}
