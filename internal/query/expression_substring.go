package query

import (
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// substringFunctions are the operators on places in strings, counted in bytes or in
// code points.
var substringFunctions = map[string]function{
	"$substr":       {least: 3, most: 3, compute: substringOfBytes},
	"$substrBytes":  {least: 3, most: 3, compute: substringOfBytes},
	"$substrCP":     {least: 3, most: 3, compute: substringOfCharacters},
	"$indexOfBytes": {least: 2, most: 4, compute: indexIn(func(s string) int { return len(s) }, indexOfBytes)},
	"$indexOfCP":    {least: 2, most: 4, compute: indexIn(utf8.RuneCountInString, indexOfCharacters)},
}

// substringOfBytes is $substrBytes. A negative length is that of the rest.
func substringOfBytes(run *expressionRun, arguments []any) (any, error) {
	text, err := textIn(arguments[0])
	if err != nil {
		return nil, err
	}
	start, ok1 := truncated(arguments[1])
	length, ok2 := truncated(arguments[2])
	if !ok1 || !ok2 {
		return nil, boterr.Invalid("", "needs a start and a length that are numbers")
	}
	if start < 0 {
		return nil, boterr.Invalid("", "the start must not be negative, got %d", start)
	}
	size := int64(len(text))
	if length < 0 || length > size {
		length = size
	}
	start = min(start, size)
	end := min(start+length, size)
	if !startsCharacter(text, start) || !startsCharacter(text, end) {
		return nil, boterr.Invalid("", "the range begins or ends within a character of several bytes")
	}
	return text[start:end], run.limits.text(int(end - start))
}

// startsCharacter reports whether a text can be cut before a byte.
func startsCharacter(text string, at int64) bool {
	return at >= int64(len(text)) || utf8.RuneStart(text[at])
}

// substringOfCharacters is $substrCP.
func substringOfCharacters(run *expressionRun, arguments []any) (any, error) {
	text, err := textIn(arguments[0])
	if err != nil {
		return nil, err
	}
	start, ok1 := int32Number(arguments[1])
	length, ok2 := int32Number(arguments[2])
	if !ok1 || !ok2 || start < 0 || length < 0 {
		return nil, boterr.Invalid("", "needs a start and a length that are whole numbers from 0")
	}
	first := offsetOf(text, start)
	rest := text[first:]
	return rest[:offsetOf(rest, length)], run.limits.text(len(text))
}

// offsetOf returns the byte at which a character begins, the end where there are fewer.
func offsetOf(text string, character int64) int {
	for i := range text {
		if character == 0 {
			return i
		}
		character--
	}
	return len(text)
}

// searchedText is a text and what is searched for in it.
type searchedText struct{ text, wanted string }

// indexIn makes $indexOfBytes and $indexOfCP of a function that measures a text and one that finds
// the index within bounds, -1 where there is none.
func indexIn(
	length func(string) int, find func(searchedText, searchBounds) int,
) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		if isNullish(arguments[0]) {
			return nil, nil
		}
		text, ok := arguments[0].(string)
		if !ok {
			return nil, needsString(arguments[0])
		}
		wanted, ok := arguments[1].(string)
		if !ok {
			return nil, needsString(arguments[1])
		}
		bounds, err := searchBoundsIn(arguments[2:], int64(length(text)))
		if err != nil {
			return nil, err
		}
		if err := run.limits.spend(len(text)); err != nil {
			return nil, err
		}
		if bounds.start > bounds.end {
			return int64(-1), nil
		}
		return int64(find(searchedText{text: text, wanted: wanted}, bounds)), nil
	}
}

// indexOfBytes finds what lies within the bounds.
func indexOfBytes(s searchedText, bounds searchBounds) int {
	index := strings.Index(s.text[bounds.start:bounds.end], s.wanted)
	if index < 0 {
		return -1
	}
	return int(bounds.start) + index
}

// indexOfCharacters finds what begins within the bounds, and may end behind them.
func indexOfCharacters(s searchedText, bounds searchBounds) int {
	if s.text == "" && s.wanted == "" {
		return 0
	}
	first := offsetOf(s.text, bounds.start)
	index := strings.Index(s.text[first:], s.wanted)
	if index < 0 {
		return -1
	}
	character := int(bounds.start) + utf8.RuneCountInString(s.text[first:first+index])
	if int64(character) >= bounds.end {
		return -1
	}
	return character
}

// searchBounds are the first place to search at and the one behind the last.
type searchBounds struct{ start, end int64 }

// searchBoundsIn reads the optional bounds of a search in what has a length.
func searchBoundsIn(arguments []any, length int64) (searchBounds, error) {
	bounds := searchBounds{end: length}
	for i, argument := range arguments {
		place, ok := int32Number(argument)
		if !ok || place < 0 {
			return bounds, boterr.Invalid("", "the bounds of the search must be whole numbers from 0, got %s", document.Excerpt(orNull(argument)))
		}
		if i == 0 {
			bounds.start = place
		} else {
			bounds.end = min(place, length)
		}
	}
	return bounds, nil
}
