package query

import (
	"math"
	"math/big"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

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
