package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// regexCondition compiles $regex with the $options beside it.
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
