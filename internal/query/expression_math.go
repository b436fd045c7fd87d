package query

import (
	"math"
	"math/big"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// trigonometricFunctions are the operators on angles in radians.
var trigonometricFunctions = map[string]function{
	"$sin":              {least: 1, most: 1, compute: ofNumber(withFloat(math.Sin, finite))},
	"$cos":              {least: 1, most: 1, compute: ofNumber(withFloat(math.Cos, finite))},
	"$tan":              {least: 1, most: 1, compute: ofNumber(withFloat(math.Tan, finite))},
	"$asin":             {least: 1, most: 1, compute: ofNumber(withFloat(math.Asin, within(-1, 1)))},
	"$acos":             {least: 1, most: 1, compute: ofNumber(withFloat(math.Acos, within(-1, 1)))},
	"$atan":             {least: 1, most: 1, compute: ofNumber(withFloat(math.Atan, nil))},
	"$sinh":             {least: 1, most: 1, compute: ofNumber(withFloat(math.Sinh, nil))},
	"$cosh":             {least: 1, most: 1, compute: ofNumber(withFloat(math.Cosh, nil))},
	"$tanh":             {least: 1, most: 1, compute: ofNumber(withFloat(math.Tanh, nil))},
	"$asinh":            {least: 1, most: 1, compute: ofNumber(withFloat(math.Asinh, nil))},
	"$acosh":            {least: 1, most: 1, compute: ofNumber(withFloat(math.Acosh, within(1, math.Inf(1))))},
	"$atanh":            {least: 1, most: 1, compute: ofNumber(withFloat(math.Atanh, within(-1, 1)))},
	"$atan2":            {least: 2, most: 2, compute: ofTwoNumbers(angleOf)},
	"$degreesToRadians": {least: 1, most: 1, compute: ofNumber(withFloat(radians, nil))},
	"$radiansToDegrees": {least: 1, most: 1, compute: ofNumber(withFloat(degrees, nil))},
}

const halfCircle = 180 // degrees

func radians(f float64) float64 { return f * (math.Pi / halfCircle) }

func degrees(f float64) float64 { return f * (halfCircle / math.Pi) }

func finite(f float64) error {
	if math.IsInf(f, 0) {
		return boterr.Invalid("", "needs a finite number, got %v", f)
	}
	return nil
}

func within(least, most float64) func(float64) error {
	return func(f float64) error {
		if f < least || f > most {
			return boterr.Invalid("", "needs a number from %v to %v, got %v", least, most, f)
		}
		return nil
	}
}

func angleOf(y, x any) (any, error) {
	f, _ := document.FloatNumber(y)
	g, _ := document.FloatNumber(x)
	return math.Atan2(f, g), nil
}

// roundingFunctions are $round, which rounds half to even, and $trunc. Both take the
// number of decimal places, which counts places before the point where it is negative.
var roundingFunctions = map[string]function{
	"$round": {least: 1, most: 2, compute: toPlaces(math.RoundToEven, halfToEven)},
	"$trunc": {least: 1, most: 2, compute: toPlaces(math.Trunc, towardsZero)},
}

// The range of decimal places.
const (
	leastPlaces = -20
	maxPlaces   = 100
)

// toPlaces makes a function of a number and of places. whole is the rounding of doubles
// to integers, divide that of a quotient.
func toPlaces(
	whole func(float64) float64, divide func(dividend, divisor *big.Int) *big.Int,
) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		if isNullish(arguments[0]) || len(arguments) > 1 && isNullish(arguments[1]) {
			return nil, nil
		}
		if _, ok := document.FloatNumber(arguments[0]); !ok {
			return nil, needsNumber(arguments[0])
		}
		places := int64(0)
		if len(arguments) > 1 {
			var ok bool
			if places, ok = document.WholeNumber(arguments[1]); !ok || places < leastPlaces || places > maxPlaces {
				return nil, boterr.Invalid("", "the places must be a whole number from %d to %d, got %s",
					leastPlaces, maxPlaces, document.Excerpt(arguments[1]))
			}
		}
		if places != 0 {
			if err := run.limits.spend(roundingWork); err != nil {
				return nil, err
			}
		}
		if f, ok := arguments[0].(float64); ok {
			return floatToPlaces(f, places, whole, divide), nil
		}
		return integerToPlaces(arguments[0].(int64), places, divide)
	}
}

func integerToPlaces(n, places int64, divide func(dividend, divisor *big.Int) *big.Int) (any, error) {
	if places >= 0 {
		return n, nil
	}
	unit := powerOfTen(-places)
	rounded := divide(big.NewInt(n), unit)
	rounded.Mul(rounded, unit)
	if !rounded.IsInt64() {
		return nil, boterr.Invalid("", "%d rounded to %d places is beyond the range of integers", n, places)
	}
	return rounded.Int64(), nil
}

func floatToPlaces(
	f float64, places int64, whole func(float64) float64, divide func(dividend, divisor *big.Int) *big.Int,
) any {
	const exact = 1 << 52 // A double from here on has no fraction.
	switch {
	case math.IsNaN(f), math.IsInf(f, 0), places >= 0 && math.Abs(f) >= exact:
		return f
	case places == 0:
		return whole(f)
	}
	exactly := new(big.Rat).SetFloat64(f)
	unit := new(big.Rat).SetInt(powerOfTen(max(places, -places)))
	if places < 0 {
		unit.Inv(unit)
	}
	exactly.Mul(exactly, unit)
	rounded := new(big.Rat).SetInt(divide(exactly.Num(), exactly.Denom()))
	result, _ := rounded.Quo(rounded, unit).Float64()
	return math.Copysign(result, f)
}

func powerOfTen(exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil)
}

// towardsZero divides and cuts the fraction off.
func towardsZero(dividend, divisor *big.Int) *big.Int { return new(big.Int).Quo(dividend, divisor) }

// halfToEven divides and rounds to the nearest integer, of two the even one.
func halfToEven(dividend, divisor *big.Int) *big.Int {
	quotient, rest := new(big.Int).QuoRem(dividend, divisor, new(big.Int))
	twice := rest.Lsh(rest.Abs(rest), 1)
	order := twice.Cmp(divisor)
	if order > 0 || order == 0 && quotient.Bit(0) == 1 {
		quotient.Add(quotient, big.NewInt(int64(dividend.Sign())))
	}
	return quotient
}

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
