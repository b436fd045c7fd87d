package query

import (
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// regexCall is $regexMatch, $regexFind and $regexFindAll.
type regexCall struct {
	name  string
	input expression
	// pattern and options are compiled once where they are constants.
	pattern, options expression
	compiled         *pattern
}

// regex compiles the operators with patterns.
func (c expressionCompiler) regex(name string, operand any) (expression, error) {
	source, ok := operand.(document.Object)
	if !ok {
		return nil, document.WrongType("object", operand)
	}
	arguments, err := c.named(source, []string{"input", "regex", "options"}, 2)
	if err != nil {
		return nil, err
	}
	e := &regexCall{name: name, input: arguments[0], pattern: arguments[1], options: arguments[2]}
	pattern, ok1 := arguments[1].(constant)
	options, ok2 := arguments[2].(constant)
	if ok1 && ok2 {
		if e.compiled, err = patternOf(pattern.value, options.value); err != nil {
			return nil, boterr.PrefixField("regex", err)
		}
		if err = countInstructions(c.instructions, e.compiled); err != nil {
			return nil, boterr.PrefixField("regex", err)
		}
	}
	return folded(e, arguments...)
}

// patternOf compiles a pattern with options; nil where it is null or missing.
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
		return nil, needsString(pattern)
	}
	return compilePattern(text, flags)
}

func (e *regexCall) evaluate(run *expressionRun) (any, error) {
	input, err := e.input.evaluate(run)
	if err != nil {
		return nil, err
	}
	pattern, err := e.patternFor(run)
	if err != nil {
		return nil, err
	}
	text, ok := input.(string)
	if !ok && !isNullish(input) {
		return nil, boterr.PrefixField(e.name, needsString(input))
	}
	if !ok || pattern == nil {
		return nothingFound[e.name], nil
	}
	if err := run.limits.spend(stepWork + len(text)); err != nil {
		return nil, boterr.PrefixField(e.name, err)
	}
	result, err := e.search(run, pattern, text)
	return result, boterr.PrefixField(e.name, err)
}

// search looks for the pattern in a text.
func (e *regexCall) search(run *expressionRun, pattern *pattern, text string) (any, error) {
	switch e.name {
	case "$regexMatch":
		return pattern.match(text, run.limits.spend)
	case "$regexFindAll":
		return findAll(run, pattern, text)
	}
	match, err := pattern.find(text, 0, run.limits.spend)
	if match == nil || err != nil {
		return nil, err
	}
	return foundAt(text, match, utf8.RuneCountInString(text[:match[0]])), nil
}

// nothingFound is the result where the text or the pattern is null or missing.
var nothingFound = map[string]any{"$regexMatch": false, "$regexFindAll": document.A()}

// patternFor returns the pattern of a run; nil where it is null or missing.
func (e *regexCall) patternFor(run *expressionRun) (*pattern, error) {
	if e.compiled != nil {
		return e.compiled, nil
	}
	pattern, err := e.pattern.evaluate(run)
	if err != nil {
		return nil, err
	}
	options, err := e.options.evaluate(run)
	if err != nil {
		return nil, err
	}
	compiled, err := run.compilePattern(patternSource{pattern: pattern, options: options})
	return compiled, boterr.PrefixField(e.name, err)
}

// patternSource is a pattern with its options, as they were evaluated.
type patternSource struct{ pattern, options any }

// The work that compiling a pattern counts as, in all, for each byte and for each of its
// instructions.
const (
	patternWork            = 1 << 16
	patternByteWork        = 1 << 6
	patternInstructionWork = 1 << 8
)

// compilePattern compiles a pattern, unless it is the one that came last.
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
	return compiled, run.limits.spend(patternInstructionWork * compiled.size)
}

// findAll returns every match. As on MongoDB, each begins where the one before it ended, or
// a character later where that was empty, and none begins behind the last character.
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

// afterMatch returns where the match after another one may begin.
func afterMatch(text string, match []int) int {
	if match[1] > match[0] {
		return match[1]
	}
	_, length := utf8.DecodeRuneInString(text[match[1]:])
	return match[1] + max(length, 1)
}

// maxMatches is the number of matches that $regexFindAll can return.
const maxMatches = 100_000

// foundAt returns the object of a match: the text, its index in code points, and what
// the groups caught.
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
