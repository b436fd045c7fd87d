package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// bitFunctions are the operators on the bits of integers.
var bitFunctions = map[string]function{
	"$bitAnd": {nullFirst: true, compute: bitsOfAll(-1, func(a, b int64) int64 { return a & b })},
	"$bitOr":  {nullFirst: true, compute: bitsOfAll(0, func(a, b int64) int64 { return a | b })},
	"$bitXor": {nullFirst: true, compute: bitsOfAll(0, func(a, b int64) int64 { return a ^ b })},
	"$bitNot": {least: 1, most: 1, nullFirst: true, compute: bitsTurned},
}

func bitsOfAll(start int64, join func(a, b int64) int64) func(*expressionRun, []any) (any, error) {
	return func(_ *expressionRun, arguments []any) (any, error) {
		result := start
		for _, argument := range arguments {
			n, ok := argument.(int64)
			if !ok {
				return nil, needsInteger(argument)
			}
			result = join(result, n)
		}
		return result, nil
	}
}

func bitsTurned(_ *expressionRun, arguments []any) (any, error) {
	if len(arguments) == 0 { // It is null or missing.
		return nil, nil
	}
	n, ok := arguments[0].(int64)
	if !ok {
		return nil, needsInteger(arguments[0])
	}
	return ^n, nil
}

func needsInteger(value any) error {
	return boterr.Invalid("", "needs an integer, got %s", document.TypeName(value))
}
