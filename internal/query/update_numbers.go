package query

import (
	"math"
	"math/bits"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// arithmetic is $inc and $mul.
type arithmetic struct {
	pathRequired
	operator string
	operand  any
	compute  func(a, b any) (any, bool)
}

// compileArithmetic returns the compiler of an operator that computes with numbers.
// compute returns false where the result is beyond int64.
func compileArithmetic(operator string, compute func(a, b any) (any, bool)) operationCompiler {
	return func(_ string, argument any) (operation, error) {
		if _, ok := document.FloatNumber(argument); !ok {
			return nil, document.WrongType("number", argument)
		}
		return &arithmetic{operator: operator, operand: argument, compute: compute}, nil
	}
}

func (a *arithmetic) apply(value any, _ *updateRun) (any, error) {
	if value == document.Missing {
		value = int64(0)
		if _, ok := a.operand.(float64); ok {
			value = 0.0
		}
	}
	if _, ok := document.FloatNumber(value); !ok {
		return nil, boterr.Invalid("", "%s needs a number, the field holds a %s", a.operator, document.TypeName(value))
	}
	result, ok := a.compute(value, a.operand)
	if !ok || isFinite(value) && isFinite(a.operand) && !isFinite(result) {
		return nil, boterr.Invalid("", "%s of %s to %s is beyond the range of numbers",
			a.operator, document.Excerpt(a.operand), document.Excerpt(value))
	}
	return result, nil
}

// isFinite reports whether a value is a number and neither NaN nor infinite.
func isFinite(value any) bool {
	f, ok := document.FloatNumber(value)
	return ok && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// addNumbers adds as MongoDB does: integers stay integers.
func addNumbers(a, b any) (any, bool) {
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		sum := i + j
		return sum, (sum > i) == (j > 0)
	}
	f, _ := document.FloatNumber(a)
	g, _ := document.FloatNumber(b)
	return f + g, true
}

// multiplyNumbers multiplies as MongoDB does: integers stay integers.
func multiplyNumbers(a, b any) (any, bool) {
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		return multiplyIntegers(i, j)
	}
	f, _ := document.FloatNumber(a)
	g, _ := document.FloatNumber(b)
	return f * g, true
}

func multiplyIntegers(i, j int64) (any, bool) {
	high, low := bits.Mul64(magnitude(i), magnitude(j))
	negative := (i < 0) != (j < 0)
	switch {
	case high != 0:
		return nil, false
	case negative && low <= 1<<63:
		return -int64(low), true
	case !negative && low <= math.MaxInt64:
		return int64(low), true
	default:
		return nil, false
	}
}

// magnitude returns the absolute value, which for the least int64 no int64 holds.
func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// extreme is $min and $max.
type extreme struct {
	pathRequired
	operand any
	// sign is -1 for the lesser value, 1 for the greater.
	sign int
}

func compileExtreme(sign int) operationCompiler {
	return func(_ string, argument any) (operation, error) {
		return &extreme{operand: argument, sign: sign}, nil
	}
}

func (e *extreme) apply(value any, run *updateRun) (any, error) {
	if !run.call.comparing(e.operand, value) {
		return nil, run.call.budget.failure
	}
	if value == document.Missing || document.Compare(e.operand, value)*e.sign > 0 {
		return e.operand, nil
	}
	return value, nil
}

// bitwise is $bit: and, or, xor in the order given.
type bitwise struct {
	pathRequired
	steps []bitStep
}

// bitStep is one operation of $bit.
type bitStep struct {
	name string
	mask int64
}

func compileBit(_ string, argument any) (operation, error) {
	operations, ok := argument.(document.Object)
	if !ok || operations.Len() == 0 {
		return nil, boterr.Invalid("", "must be an object of and, or, xor, got %s", document.Excerpt(argument))
	}
	b := &bitwise{}
	for name, operand := range operations.All() {
		mask, ok := operand.(int64)
		if !ok {
			return nil, boterr.PrefixField(name, document.WrongType("long", operand))
		}
		if name != "and" && name != "or" && name != "xor" {
			return nil, boterr.Invalid(name, "must be and, or, xor")
		}
		b.steps = append(b.steps, bitStep{name: name, mask: mask})
	}
	return b, nil
}

func (b *bitwise) apply(value any, run *updateRun) (any, error) {
	if err := run.steps(len(b.steps)); err != nil {
		return nil, err
	}
	if value == document.Missing {
		value = int64(0)
	}
	n, ok := value.(int64)
	if !ok {
		return nil, boterr.Invalid("", "$bit needs an integer, the field holds a %s", document.TypeName(value))
	}
	for _, step := range b.steps {
		switch step.name {
		case "and":
			n &= step.mask
		case "or":
			n |= step.mask
		default:
			n ^= step.mask
		}
	}
	return n, nil
}
