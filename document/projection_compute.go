package document

import (
	"github.com/botctx/go-sdk/boterr"
)

// literal is a field of a projection that has the same value in every document.
type literal struct{ value any }

func (l literal) compute(Object) (any, error) { return l.value, nil }

// compileComputation compiles what a projection computes.
func compileComputation(operand any) (computation, error) {
	if err := checkLiteral(operand); err != nil {
		return nil, err
	}
	return literal{value: operand}, nil
}

// checkLiteral refuses expressions.
func checkLiteral(operand any) error {
	switch v := operand.(type) {
	case string:
		if isOperator(v) {
			return boterr.Invalid("", "the expression %q is not supported in a projection", v)
		}
	case Object:
		for key, value := range v.All() {
			if isOperator(key) {
				return boterr.Invalid("", "the expression %s is not supported in a projection", key)
			}
			if err := checkLiteral(value); err != nil {
				return boterr.In(key, err)
			}
		}
	case Array:
		for i, item := range v.All() {
			if err := checkLiteral(item); err != nil {
				return boterr.In(indexField(i), err)
			}
		}
	}
	return nil
}
