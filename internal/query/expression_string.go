package query

import (
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// stringFunctions are the operators that make and measure strings.
var stringFunctions = map[string]function{
	"$concat":     {nullFirst: true, compute: concatenatedTexts},
	"$toLower":    {least: 1, most: 1, compute: ofText(lowered)},
	"$toUpper":    {least: 1, most: 1, compute: ofText(raised)},
	"$strcasecmp": {least: 2, most: 2, compute: comparedWithoutCase},
	"$strLenCP":   {least: 1, most: 1, compute: lengthOf(utf8.RuneCountInString)},
	"$strLenBytes": {least: 1, most: 1, compute: lengthOf(func(s string) int {
		return len(s)
	})},
	"$binarySize": {least: 1, most: 1, nullFirst: true, compute: bytesOf},
	"$split":      {least: 2, most: 2, compute: split},
	"$trim":       {least: 1, names: []string{"input", "chars"}, compute: trimmed(strings.TrimLeftFunc, strings.TrimRightFunc)},
	"$ltrim":      {least: 1, names: []string{"input", "chars"}, compute: trimmed(strings.TrimLeftFunc)},
	"$rtrim":      {least: 1, names: []string{"input", "chars"}, compute: trimmed(strings.TrimRightFunc)},
	"$replaceOne": {least: 3, names: []string{"input", "find", "replacement"}, compute: replaced(1)},
	"$replaceAll": {least: 3, names: []string{"input", "find", "replacement"}, compute: replaced(-1)},
}

func needsString(value any) error {
	return boterr.Invalid("", "needs a string, got %s", document.TypeName(value))
}

// textIn returns a value as the text that string operators see: numbers and dates are
// written out, null and missing are empty.
func textIn(value any) (string, error) {
	switch v := value.(type) {
	case nil, document.MissingValue:
		return "", nil
	case string:
		return v, nil
	}
	if text, ok := writtenOut(value); ok {
		return text, nil
	}
	return "", boterr.Invalid("", "needs a string, a number or a date, got %s", document.TypeName(value))
}

// ofText is a function of one text.
func ofText(compute func(string) string) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		text, err := textIn(arguments[0])
		if err != nil {
			return nil, err
		}
		if err := run.limits.text(len(text)); err != nil {
			return nil, err
		}
		return compute(text), nil
	}
}

// lowered and raised change the letters of ASCII only, as MongoDB does.
func lowered(text string) string {
	return mapASCII(text, 'A', 'Z', 'a'-'A')
}

func raised(text string) string {
	return mapASCII(text, 'a', 'z', 'A'-'a')
}

func mapASCII(text string, first, last byte, distance int) string {
	changed := []byte(text)
	for i, b := range changed {
		if b >= first && b <= last {
			changed[i] = byte(int(b) + distance)
		}
	}
	return string(changed)
}

func concatenatedTexts(run *expressionRun, arguments []any) (any, error) {
	length := 0
	for _, argument := range arguments {
		s, ok := argument.(string)
		if !ok {
			return nil, needsString(argument)
		}
		length += len(s)
	}
	if err := run.limits.text(length); err != nil {
		return nil, err
	}
	var text strings.Builder
	text.Grow(length)
	for _, argument := range arguments {
		text.WriteString(argument.(string))
	}
	return text.String(), nil
}

func comparedWithoutCase(run *expressionRun, arguments []any) (any, error) {
	var texts [2]string
	for i := range texts {
		text, err := textIn(arguments[i])
		if err != nil {
			return nil, err
		}
		if err := run.limits.text(len(text)); err != nil {
			return nil, err
		}
		texts[i] = raised(text)
	}
	return int64(strings.Compare(texts[0], texts[1])), nil
}

func lengthOf(count func(string) int) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		text, ok := arguments[0].(string)
		if !ok {
			return nil, needsString(arguments[0])
		}
		return int64(count(text)), run.limits.spend(len(text))
	}
}

// bytesOf is $binarySize, of strings, since there is no binary data.
func bytesOf(_ *expressionRun, arguments []any) (any, error) {
	if len(arguments) == 0 { // It is null or missing.
		return nil, nil
	}
	text, ok := arguments[0].(string)
	if !ok {
		return nil, needsString(arguments[0])
	}
	return int64(len(text)), nil
}

// split is $split.
func split(run *expressionRun, arguments []any) (any, error) {
	if isNullish(arguments[0]) || isNullish(arguments[1]) {
		return nil, nil
	}
	text, ok := arguments[0].(string)
	if !ok {
		return nil, needsString(arguments[0])
	}
	separator, ok := arguments[1].(string)
	if !ok {
		return nil, needsString(arguments[1])
	}
	if separator == "" {
		return nil, boterr.Invalid("", "needs a separator that is not empty")
	}
	if err := run.limits.spend(len(text)); err != nil {
		return nil, err
	}
	count := strings.Count(text, separator) + 1
	if err := run.limits.items(count); err != nil {
		return nil, err
	}
	items := make([]any, 0, count)
	for part := range strings.SplitSeq(text, separator) {
		items = append(items, part)
	}
	return run.limits.array(items)
}

// blanks is what the trimming operators cut off where they are not told: white space,
// and NUL.
const blanks = "\x00 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

// trimmed makes $trim, $ltrim and $rtrim of functions that each cut characters off one end of a
// text.
func trimmed(ends ...func(string, func(rune) bool) string) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		if isNullish(arguments[0]) {
			return nil, nil
		}
		text, ok := arguments[0].(string)
		if !ok {
			return nil, needsString(arguments[0])
		}
		characters := blanks
		if arguments[1] != absent {
			if isNullish(arguments[1]) {
				return nil, nil
			}
			if characters, ok = arguments[1].(string); !ok {
				return nil, boterr.PrefixField("chars", needsString(arguments[1]))
			}
		}
		if err := run.limits.spend(len(text) + len(characters)*keyWork); err != nil {
			return nil, err
		}
		isCut, rest := amongCharacters(characters), text
		for _, cut := range ends {
			rest = cut(rest, isCut)
		}
		return rest, run.limits.steps(len(text) - len(rest))
	}
}

// amongCharacters returns the condition to be one of the characters.
func amongCharacters(characters string) func(rune) bool {
	set := map[rune]struct{}{}
	for _, r := range characters {
		set[r] = struct{}{}
	}
	return func(r rune) bool {
		_, ok := set[r]
		return ok
	}
}

// replaced makes $replaceOne and $replaceAll. count is the most that is replaced.
func replaced(count int) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		var texts [3]string
		null := false
		for i, argument := range arguments {
			text, ok := argument.(string)
			if !ok && !isNullish(argument) {
				return nil, needsString(argument)
			}
			null = null || !ok
			texts[i] = text
		}
		if null {
			return nil, nil
		}
		input, find, replacement := texts[0], texts[1], texts[2]
		found := strings.Count(input, find)
		if count > 0 {
			found = min(found, count)
		}
		if err := run.limits.text(len(input) + found*(len(replacement)-len(find))); err != nil {
			return nil, err
		}
		if err := run.limits.spend(len(input) + found*2*stepWork); err != nil { // It looks for each twice.
			return nil, err
		}
		return strings.Replace(input, find, replacement, count), nil
	}
}
