package query

import (
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// stringFunctions are the operators that create and measure strings.
var stringFunctions = map[string]function{
	"$concat":     {nullFirst: true, all: aString, compute: concatenatedTexts},
	"$toLower":    {least: 1, most: 1, compute: ofText(lowered)},
	"$toUpper":    {least: 1, most: 1, compute: ofText(raised)},
	"$strcasecmp": {least: 2, most: 2, compute: comparedWithoutCase},
	"$strLenCP":   {least: 1, most: 1, all: aString, compute: lengthOf(utf8.RuneCountInString)},
	"$strLenBytes": {least: 1, most: 1, all: aString, compute: lengthOf(func(s string) int {
		return len(s)
	})},
	"$binarySize": {least: 1, most: 1, nulls: 1, all: aString, compute: bytesOf},
	"$split":      {least: 2, most: 2, nulls: 2, all: aString, compute: split},
	"$trim":       trimming(strings.TrimLeftFunc, strings.TrimRightFunc),
	"$ltrim":      trimming(strings.TrimLeftFunc),
	"$rtrim":      trimming(strings.TrimRightFunc),
	"$replaceOne": {least: 3, names: []string{"input", "find", "replacement"}, compute: replaced(1)},
	"$replaceAll": {least: 3, names: []string{"input", "find", "replacement"}, compute: replaced(-1)},
}

// textIn converts a value to text, as string operators do: it formats numbers and dates; null and missing become "".
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

// lowered and raised only change ASCII letters, as MongoDB does.
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
		length += len(argument.(string))
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
		text := arguments[0].(string)
		return int64(count(text)), run.limits.spend(len(text))
	}
}

// bytesOf is $binarySize. It only accepts strings, because there is no binary data.
func bytesOf(_ *expressionRun, arguments []any) (any, error) {
	return int64(len(arguments[0].(string))), nil
}

func split(run *expressionRun, arguments []any) (any, error) {
	text, separator := arguments[0].(string), arguments[1].(string)
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

// blanks are the characters that $trim and its variants remove by default: white space and NUL.
const blanks = "\x00 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

// trimming returns the function for $trim, $ltrim or $rtrim from functions that each trim one end of a text.
func trimming(ends ...func(string, func(rune) bool) string) function {
	return function{least: 1, names: []string{"input", "chars"}, nulls: 1, takes: []argumentType{aString}, compute: trimmed(ends)}
}

func trimmed(ends []func(string, func(rune) bool) string) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		text, characters := arguments[0].(string), blanks
		if arguments[1] != absent {
			if isNullish(arguments[1]) {
				return nil, nil
			}
			var ok bool
			if characters, ok = arguments[1].(string); !ok {
				return nil, boterr.PrefixField("chars", aString(arguments[1]))
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

// replaced returns the function for $replaceOne or $replaceAll. count is the maximum number of replacements.
func replaced(count int) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		var texts [3]string
		null := false
		for i, argument := range arguments {
			text, ok := argument.(string)
			if !ok && !isNullish(argument) {
				return nil, aString(argument)
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
		if err := run.limits.spend(len(input) + found*2*stepWork); err != nil { // Count and Replace each search for every match.
			return nil, err
		}
		return strings.Replace(input, find, replacement, count), nil
	}
}

// substringFunctions are the operators on positions in strings, counted in bytes or in code points.
var substringFunctions = map[string]function{
	"$substr":      {least: 3, most: 3, compute: substringOfBytes},
	"$substrBytes": {least: 3, most: 3, compute: substringOfBytes},
	"$substrCP":    {least: 3, most: 3, compute: substringOfCharacters},
	"$indexOfBytes": {
		least: 2, most: 4, nulls: 1, takes: []argumentType{aString, aString},
		compute: indexIn(func(s string) int { return len(s) }, indexOfBytes),
	},
	"$indexOfCP": {
		least: 2, most: 4, nulls: 1, takes: []argumentType{aString, aString},
		compute: indexIn(utf8.RuneCountInString, indexOfCharacters),
	},
}

// substringOfBytes is $substrBytes. A negative length means the rest.
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
		return nil, boterr.Invalid("", "the range begins or ends inside a multi-byte character")
	}
	return text[start:end], run.limits.text(int(end - start))
}

func startsCharacter(text string, at int64) bool {
	return at >= int64(len(text)) || utf8.RuneStart(text[at])
}

func substringOfCharacters(run *expressionRun, arguments []any) (any, error) {
	text, err := textIn(arguments[0])
	if err != nil {
		return nil, err
	}
	start, ok1 := int32Number(arguments[1])
	length, ok2 := int32Number(arguments[2])
	if !ok1 || !ok2 || start < 0 || length < 0 {
		return nil, boterr.Invalid("", "needs a start and a length that are whole numbers of at least 0")
	}
	first := offsetOf(text, start)
	rest := text[first:]
	return rest[:offsetOf(rest, length)], run.limits.text(len(text))
}

// offsetOf returns the byte offset of a character, or the length of the text if it has fewer characters.
func offsetOf(text string, character int64) int {
	for i := range text {
		if character == 0 {
			return i
		}
		character--
	}
	return len(text)
}

type searchedText struct{ text, wanted string }

// indexIn makes $indexOfBytes and $indexOfCP. length measures a text; find returns the index within bounds, or
// -1.
func indexIn(
	length func(string) int, find func(searchedText, searchBounds) int,
) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		text, wanted := arguments[0].(string), arguments[1].(string)
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

// indexOfBytes finds a match within the bounds.
func indexOfBytes(s searchedText, bounds searchBounds) int {
	index := strings.Index(s.text[bounds.start:bounds.end], s.wanted)
	if index < 0 {
		return -1
	}
	return int(bounds.start) + index
}

// indexOfCharacters finds matches that begin within the bounds, and may end after them.
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

// searchBounds is the range of positions to search, without end itself.
type searchBounds struct{ start, end int64 }

// searchBoundsIn returns the optional bounds of a search in a text or an array.
func searchBoundsIn(arguments []any, length int64) (searchBounds, error) {
	bounds := searchBounds{end: length}
	for i, argument := range arguments {
		place, ok := int32Number(argument)
		if !ok || place < 0 {
			return bounds, boterr.Invalid("",
				"the bounds of the search must be whole numbers of at least 0, got %s", document.Excerpt(orNull(argument)))
		}
		if i == 0 {
			bounds.start = place
		} else {
			bounds.end = min(place, length)
		}
	}
	return bounds, nil
}

// patternFunctions are the operators that search with a pattern.
var patternFunctions = map[string]function{
	"$regexMatch": searching(false, func(run *expressionRun, p *pattern, text string) (any, error) {
		return p.match(text, run.limits.spend)
	}),
	"$regexFind":    searching(nil, findFirst),
	"$regexFindAll": searching(document.A(), findAll),
}

// searching returns a function that searches for a pattern in a text. nothing is the result if one of them is null or
// missing.
func searching(nothing any, search func(run *expressionRun, p *pattern, text string) (any, error)) function {
	compute := func(run *expressionRun, arguments []any) (any, error) {
		compiled, ok := arguments[1].(*pattern)
		if !ok {
			var err error
			if compiled, err = run.compilePattern(patternSource{pattern: arguments[1], options: arguments[2]}); err != nil {
				return nil, err
			}
		}
		text, ok := arguments[0].(string)
		if !ok && !isNullish(arguments[0]) {
			return nil, aString(arguments[0])
		}
		if !ok || compiled == nil {
			return nothing, nil
		}
		if err := run.limits.spend(stepWork + len(text)); err != nil {
			return nil, err
		}
		return search(run, compiled, text)
	}
	return function{least: 2, names: []string{"input", "regex", "options"}, prepare: preparePattern, compute: compute}
}

// preparePattern compiles a constant pattern.
func preparePattern(c expressionCompiler, arguments []expression) error {
	source, ok1 := arguments[1].(constant)
	options, ok2 := arguments[2].(constant)
	if !ok1 || !ok2 {
		return nil
	}
	compiled, err := patternOf(source.value, options.value)
	if err == nil && compiled != nil {
		err = countInstructions(c.costs, compiled)
		arguments[1] = constant{compiled}
	}
	return boterr.PrefixField("regex", err)
}

// patternOf compiles a pattern with options. It returns nil if the pattern is null or missing.
func patternOf(pattern, options any) (*pattern, error) {
	flags := ""
	if !isNullish(options) && options != absent {
		var ok bool
		if flags, ok = options.(string); !ok {
			return nil, boterr.Invalid("", "the options must be a string, got %s", document.TypeName(options))
		}
	}
	if isNullish(pattern) {
		return nil, nil
	}
	text, ok := pattern.(string)
	if !ok {
		return nil, aString(pattern)
	}
	return compilePattern(text, flags)
}

func findFirst(run *expressionRun, pattern *pattern, text string) (any, error) {
	match, err := pattern.find(text, 0, run.limits.spend)
	if match == nil || err != nil {
		return nil, err
	}
	return foundAt(text, match, utf8.RuneCountInString(text[:match[0]])), nil
}

type patternSource struct{ pattern, options any }

// The work of compiling a pattern consists of a base, and work per byte and per instruction.
const (
	patternWork            = 1 << 16
	patternByteWork        = 1 << 6
	patternInstructionWork = 1 << 8
)

// compilePattern compiles a pattern, unless it is the most recently compiled one.
func (run *expressionRun) compilePattern(source patternSource) (*pattern, error) {
	if source == run.pattern.source {
		return run.pattern.compiled, nil
	}
	if err := run.limits.spend(patternWork + patternByteWork*document.SizeOf(source.pattern)); err != nil {
		return nil, err
	}
	compiled, err := patternOf(source.pattern, source.options)
	if err != nil {
		return nil, err
	}
	run.pattern.source, run.pattern.compiled = source, compiled
	if compiled == nil {
		return nil, nil
	}
	return compiled, run.limits.spend(patternInstructionWork * compiled.compileSize)
}

// findAll returns every match, as MongoDB does. A search starts at the end of the previous match, or a
// character later if that match was empty. No match begins after the last character.
func findAll(run *expressionRun, pattern *pattern, text string) (any, error) {
	items := []any{}
	counted, index := 0, 0
	for from := 0; from < len(text) || len(items) == 0 && from == 0; {
		match, err := pattern.find(text, from, run.limits.spend)
		if err != nil {
			return nil, err
		}
		if match == nil {
			break
		}
		if match[0] == len(text) && text != "" {
			break
		}
		if len(items) == maxMatches {
			return nil, boterr.Invalid("", "there are more than %d matches", maxMatches)
		}
		if err := run.limits.spend(matchWork + len(match)*stepWork); err != nil {
			return nil, err
		}
		index += utf8.RuneCountInString(text[counted:match[0]])
		counted = match[0]
		items = append(items, foundAt(text, match, index))
		from = afterMatch(text, match)
	}
	return run.limits.array(items)
}

// afterMatch returns the position at which the next search starts.
func afterMatch(text string, match []int) int {
	if match[1] > match[0] {
		return match[1]
	}
	_, length := utf8.DecodeRuneInString(text[match[1]:])
	return match[1] + max(length, 1)
}

// maxMatches is the maximum number of matches that $regexFindAll returns.
const maxMatches = 100_000

// foundAt returns the object of a match: the text, its index in code points, and the captured groups.
func foundAt(text string, match []int, index int) document.Object {
	captures := []any{}
	for i := 2; i < len(match); i += 2 {
		if match[i] < 0 {
			captures = append(captures, nil)
		} else {
			captures = append(captures, text[match[i]:match[i+1]])
		}
	}
	b := document.NewBuilder(3)
	b.Set("match", text[match[0]:match[1]])
	b.Set("idx", int64(index))
	b.Set("captures", document.ArrayOf(captures))
	return b.Object()
}
