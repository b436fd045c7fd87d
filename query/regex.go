package query

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query/internal/pcre"
)

// maxPattern is the longest pattern in bytes, as in MongoDB.
const maxPattern = 32764

// maxInstructions is the most instructions that the patterns of a filter, or of the expressions
// of a projection, may have together, which take about 20 MiB.
const maxInstructions = 200_000

// regexCondition compiles $regex with the $options beside it. Patterns are those of PCRE2,
// as MongoDB takes them.
func (c filterCompiler) regexCondition(operand any, beside document.Object) ([]fieldCondition, error) {
	pattern, ok := operand.(string)
	if !ok {
		return nil, document.WrongType("string", operand)
	}
	options := ""
	if given, ok := beside.Field("$options"); ok {
		if options, ok = given.(string); !ok {
			return nil, boterr.Invalid("", "$options must be a string, got %s", document.Excerpt(given))
		}
	}
	compiled, err := compilePattern(pattern, options)
	if err != nil {
		return nil, err
	}
	if err := countInstructions(c.instructions, compiled); err != nil {
		return nil, err
	}
	return one(likePattern{compiled}), nil
}

// optionsCondition checks that $options has a $regex, which reads it.
func optionsCondition(beside document.Object) ([]fieldCondition, error) {
	if _, ok := beside.Field("$regex"); !ok {
		return nil, boterr.Invalid("", "$options needs a $regex beside it")
	}
	return nil, nil
}

func compilePattern(pattern, options string) (*pcre.Pattern, error) {
	if len(pattern) > maxPattern {
		return nil, boterr.Invalid("", "the pattern has %d bytes, at most %d are allowed", len(pattern), maxPattern)
	}
	if strings.ContainsRune(pattern, 0) {
		return nil, boterr.Invalid("", "the pattern holds a NUL byte")
	}
	const known = "imsxu" // Patterns are UTF-8 always, which u asks for.
	if strange := strings.Trim(options, known); strange != "" {
		return nil, boterr.Invalid("", "%q is no option; i, m, s, x and u are", strange)
	}
	return pcre.Compile(pattern, options)
}

// countInstructions adds a pattern to those of the filter or the expressions, and refuses
// too many.
func countInstructions(counted *int, pattern *pcre.Pattern) error {
	if counted == nil || pattern == nil {
		return nil
	}
	if *counted += pattern.Size(); *counted > maxInstructions {
		return boterr.Invalid("", "the patterns need more than %d instructions together: use fewer", maxInstructions)
	}
	return nil
}
