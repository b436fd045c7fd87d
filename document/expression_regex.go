package document

import (
	"regexp"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

// regexCall is $regexMatch, $regexFind and $regexFindAll.
type regexCall struct {
	name  string
	input expression
	// pattern and options are compiled once where they are constants.
	pattern, options expression
	compiled         *regexp.Regexp
}

// regex compiles the operators with patterns.
func (c expressionCompiler) regex(name string, operand any) (expression, error) {
	source, ok := operand.(Object)
	if !ok {
		return nil, wrongType("object", operand)
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
			return nil, boterr.In("regex", err)
		}
	}
	return folded(e, arguments...)
}

// patternOf compiles a pattern with options; nil where it is null or missing.
func patternOf(pattern, options any) (*regexp.Regexp, error) {
	flags := ""
	if !isNullish(options) && options != absent {
		var ok bool
		if flags, ok = options.(string); !ok {
			return nil, boterr.Invalid("", "the options must be a string, got %s", TypeName(options))
		}
	}
	if isNullish(pattern) {
		return nil, nil
	}
	text, ok := pattern.(string)
	if !ok {
		return nil, needsString(pattern)
	}
	compiled, err := compilePattern(text, flags)
	return compiled.Regexp, err
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
		return nil, boterr.In(e.name, needsString(input))
	}
	if !ok || pattern == nil {
		return nothingFound[e.name], nil
	}
	const alike = 64 // So many bytes of a pattern may double the work for a byte of the text.
	if err := run.limits.spend(stepWork + len(text)*(1+len(pattern.String())/alike)); err != nil {
		return nil, boterr.In(e.name, err)
	}
	switch e.name {
	case "$regexMatch":
		return pattern.MatchString(text), nil
	case "$regexFindAll":
		return e.findAll(run, pattern, text)
	}
	if match := pattern.FindStringSubmatchIndex(text); match != nil {
		return foundAt(text, match, utf8.RuneCountInString(text[:match[0]])), nil
	}
	return nil, nil
}

// nothingFound is the result where the text or the pattern is null or missing.
var nothingFound = map[string]any{"$regexMatch": false, "$regexFindAll": A()}

// patternFor returns the pattern of a run; nil where it is null or missing.
func (e *regexCall) patternFor(run *expressionRun) (*regexp.Regexp, error) {
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
	return compiled, boterr.In(e.name, err)
}

// patternSource is a pattern with its options, as they were evaluated.
type patternSource struct{ pattern, options any }

// The work that compiling a pattern counts as, in all and for each byte.
const (
	patternWork     = 1 << 16
	patternByteWork = 1 << 6
)

// compilePattern compiles a pattern, unless it is the one that came last.
func (run *expressionRun) compilePattern(source patternSource) (*regexp.Regexp, error) {
	if source == run.pattern.source {
		return run.pattern.compiled, nil
	}
	if err := run.limits.spend(patternWork + patternByteWork*valueSize(source.pattern)); err != nil {
		return nil, err
	}
	compiled, err := patternOf(source.pattern, source.options)
	if err == nil {
		run.pattern.source, run.pattern.compiled = source, compiled
	}
	return compiled, err
}

// findAll returns every match.
func (e *regexCall) findAll(run *expressionRun, pattern *regexp.Regexp, text string) (any, error) {
	items := []any{}
	matches := pattern.FindAllStringSubmatchIndex(text, mostMatches+1)
	if len(matches) > mostMatches {
		return nil, boterr.Invalid(e.name, "there are more than %d matches", mostMatches)
	}
	before, index := 0, 0
	for _, match := range matches {
		if match[0] == len(text) && text != "" {
			break // MongoDB looks for no match behind the last character.
		}
		index += utf8.RuneCountInString(text[before:match[0]])
		before = match[0]
		items = append(items, foundAt(text, match, index))
	}
	return run.limits.array(items)
}

// mostMatches is the number of matches that $regexFindAll can return.
const mostMatches = 100_000

// foundAt returns the object of a match: the text, its index in code points, and what
// the groups caught.
func foundAt(text string, match []int, index int) Object {
	captures := []any{}
	for i := 2; i < len(match); i += 2 {
		if match[i] < 0 {
			captures = append(captures, nil)
		} else {
			captures = append(captures, text[match[i]:match[i+1]])
		}
	}
	b := newObjectBuilder(3)
	b.set("match", text[match[0]:match[1]])
	b.set("idx", int64(index))
	b.set("captures", arrayOf(captures))
	return b.object()
}
