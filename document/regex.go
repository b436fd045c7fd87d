package document

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// maxPattern is the longest pattern in bytes, as in MongoDB.
const maxPattern = 32764

// maxProgram is the most instructions that a compiled pattern may have, and maxPrograms
// the most that those of a filter may have together, which take about 10 MiB.
const (
	maxProgram  = 5000
	maxPrograms = 100_000
)

// compiledPattern is a pattern and the number of its instructions.
type compiledPattern struct {
	*regexp.Regexp

	instructions int
}

// work is that of a match for each byte of the text.
func (p compiledPattern) work() int {
	const least, alike = 4, 4 // Of all instructions few are at work at once.
	return least + p.instructions/alike
}

// regexCondition compiles $regex with the $options beside it. Patterns are those
// of Go's regexp package (RE2), which matches in linear time.
func (c filterCompiler) regexCondition(operand any, beside Object) ([]fieldCondition, error) {
	pattern, ok := operand.(string)
	if !ok {
		return nil, wrongType("string", operand)
	}
	options := ""
	if given, ok := beside.Field("$options"); ok {
		if options, ok = given.(string); !ok {
			return nil, boterr.Invalid("", "$options must be a string, got %s", textOf(given))
		}
	}
	compiled, err := compilePattern(pattern, options)
	if err != nil {
		return nil, err
	}
	if err := c.countInstructions(compiled.instructions); err != nil {
		return nil, err
	}
	return one(likePattern{pattern: compiled.Regexp, work: compiled.work()}), nil
}

// optionsCondition checks that $options has a $regex, which reads it.
func optionsCondition(beside Object) ([]fieldCondition, error) {
	if _, ok := beside.Field("$regex"); !ok {
		return nil, boterr.Invalid("", "$options needs a $regex beside it")
	}
	return nil, nil
}

func compilePattern(pattern, options string) (compiledPattern, error) {
	if len(pattern) > maxPattern {
		return compiledPattern{}, boterr.Invalid("", "the pattern has %d bytes, at most %d are allowed", len(pattern), maxPattern)
	}
	if strings.ContainsRune(pattern, 0) {
		return compiledPattern{}, boterr.Invalid("", "the pattern holds a NUL byte")
	}
	var flags strings.Builder
	for _, option := range options {
		switch option {
		case 'i', 'm', 's':
			flags.WriteRune(option)
		case 'x', 'u': // x is the translator's, and patterns are UTF-8 always.
		default:
			return compiledPattern{}, boterr.Invalid("", "%q is no option; i, m, s, x and u are", option)
		}
	}
	pattern, err := translatePattern(pattern, options)
	if err != nil {
		return compiledPattern{}, err
	}
	if flags.String() != "" {
		pattern = "(?" + flags.String() + ")" + pattern
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return compiledPattern{}, boterr.Invalid("", "patterns are RE2, without back-references and look-around: %w", err)
	}
	instructions, err := countProgram(pattern)
	return compiledPattern{Regexp: compiled, instructions: instructions}, err
}

// countProgram returns the instructions of a pattern, and refuses one that stands for a
// large program, such as one with repetitions of repetitions: a match takes up to that
// many steps for each character.
func countProgram(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, boterr.Invalid("", "%w", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, boterr.Invalid("", "%w", err)
	}
	if len(program.Inst) > maxProgram {
		return 0, boterr.Invalid("", "the pattern needs %d steps for a character, at most %d are allowed: repeat less",
			len(program.Inst), maxProgram)
	}
	return len(program.Inst), nil
}

// countInstructions adds a pattern to those of the filter, and refuses too many.
func (c filterCompiler) countInstructions(count int) error {
	if c.instructions == nil {
		return nil
	}
	if *c.instructions += count; *c.instructions > maxPrograms {
		return boterr.Invalid("", "the patterns of the filter need more than %d steps for a character: use fewer", maxPrograms)
	}
	return nil
}
