package query

import (
	"math"
	"math/big"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

var arithmeticFunctions = map[string]function{
	"$add":      {nullFirst: true, compute: add},
	"$multiply": {nullFirst: true, all: aNumber, compute: multiply},
	"$subtract": {least: 2, most: 2, nulls: 2, compute: subtract},
	"$divide":   ofTwoNumbers(divide),
	"$mod":      ofTwoNumbers(modulo),
	"$pow":      ofTwoNumbers(power),
	"$log":      ofTwoNumbers(logarithm),
	"$abs":      ofNumber(absolute),
	"$ceil":     ofNumber(toWhole(math.Ceil)),
	"$floor":    ofNumber(toWhole(math.Floor)),
	"$sqrt":     ofFloat(math.Sqrt, notNegative),
	"$exp":      ofFloat(math.Exp, nil),
	"$ln":       ofFloat(math.Log, positive),
	"$log10":    ofFloat(math.Log10, positive),
}

// ofNumber returns a function of one number.
func ofNumber(compute func(number any) (any, error)) function {
	return function{least: 1, most: 1, nulls: 1, all: aNumber, compute: func(_ *expressionRun, arguments []any) (any, error) {
		return compute(arguments[0])
	}}
}

// ofFloat returns a function of one double, which accepts integers, too. check, if not nil, returns an error for a
// number outside the domain.
func ofFloat(compute func(float64) float64, check func(float64) error) function {
	return ofNumber(func(number any) (any, error) {
		f, _ := document.FloatNumber(number)
		if check != nil && !math.IsNaN(f) {
			if err := check(f); err != nil {
				return nil, err
			}
		}
		return compute(f), nil
	})
}

// toWhole adapts a function that rounds doubles. Integers stay as they are.
func toWhole(compute func(float64) float64) func(any) (any, error) {
	return func(number any) (any, error) {
		if f, ok := number.(float64); ok {
			return compute(f), nil
		}
		return number, nil
	}
}

func notNegative(f float64) error {
	if f < 0 {
		return boterr.Invalid("", "needs a number of at least 0, got %v", f)
	}
	return nil
}

func positive(f float64) error {
	if f <= 0 {
		return boterr.Invalid("", "needs a number above 0, got %v", f)
	}
	return nil
}

func absolute(number any) (any, error) {
	switch n := number.(type) {
	case int64:
		if n == math.MinInt64 {
			return nil, boterr.Invalid("", "the absolute value of %d is beyond the range of integers", n)
		}
		return max(n, -n), nil
	default:
		return math.Abs(number.(float64)), nil
	}
}

// add is $add, of numbers and at most one date, to which the numbers are added as milliseconds. If integers
// overflow, the sum is a double.
func add(_ *expressionRun, arguments []any) (any, error) {
	var sum any = int64(0)
	isDate := false
	for _, argument := range arguments {
		number, ok := addend(argument)
		if !ok {
			return nil, boterr.Invalid("", "needs numbers or a date, got %s", document.TypeName(argument))
		}
		if _, ok := argument.(time.Time); ok {
			if isDate {
				return nil, boterr.Invalid("", "takes one date only")
			}
			isDate = true
		}
		next, ok := addNumbers(sum, number)
		if !ok {
			f, _ := document.FloatNumber(sum)
			g, _ := document.FloatNumber(number)
			next = f + g
		}
		sum = next
	}
	if isDate {
		return dateAfter(0, sum)
	}
	return sum, nil
}

// addend returns a number unchanged, and a date as milliseconds since 1970.
func addend(value any) (any, bool) {
	if t, ok := value.(time.Time); ok {
		return t.UnixMilli(), true
	}
	_, ok := document.FloatNumber(value)
	return value, ok
}

// dateAfter adds milliseconds to a date and rounds to whole milliseconds.
func dateAfter(start int64, milliseconds any) (any, error) {
	if f, ok := milliseconds.(float64); ok {
		milliseconds, ok = document.WholeNumber(math.Round(f))
		if !ok {
			return nil, errDateOverflow
		}
	}
	sum, ok := addNumbers(start, milliseconds)
	if !ok {
		return nil, errDateOverflow
	}
	return dateOf(sum.(int64))
}

// Dates are limited to the years that JSON times can have.
const (
	earliestDate = -62135596800000 - 366*24*3600*1000 // The year 0.
	latestDate   = 253402300799999                    // The year 9999.
)

func dateOf(milliseconds int64) (any, error) {
	if milliseconds < earliestDate || milliseconds > latestDate {
		return nil, errDateOverflow
	}
	return time.UnixMilli(milliseconds).UTC(), nil
}

var errDateOverflow = boterr.Invalid("", "the date is beyond the years 0 to 9999")

// subtract is $subtract. It subtracts numbers, dates, and milliseconds from a date.
func subtract(_ *expressionRun, arguments []any) (any, error) {
	a, b := arguments[0], arguments[1]
	_, aIsNumber := document.FloatNumber(a)
	_, bIsNumber := document.FloatNumber(b)
	date, aIsDate := a.(time.Time)
	other, bIsDate := b.(time.Time)
	switch {
	case aIsNumber && bIsNumber:
		return difference(a, b), nil
	case aIsDate && bIsDate:
		return date.UnixMilli() - other.UnixMilli(), nil
	case aIsDate && bIsNumber:
		return dateAfter(date.UnixMilli(), difference(int64(0), b))
	default:
		return nil, boterr.Invalid("", "cannot subtract %s from %s", document.TypeName(b), document.TypeName(a))
	}
}

// difference returns a - b, as a double if integers overflow.
func difference(a, b any) any {
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		if d := i - j; (d < i) == (j > 0) {
			return d
		}
	}
	f, _ := document.FloatNumber(a)
	g, _ := document.FloatNumber(b)
	return f - g
}

// multiply is $multiply. If integers overflow, the product is a double.
func multiply(_ *expressionRun, arguments []any) (any, error) {
	product, float := int64(1), 1.0
	whole := true
	for _, argument := range arguments {
		f, _ := document.FloatNumber(argument)
		float *= f
		n, ok := argument.(int64)
		if whole = whole && ok; !whole {
			continue
		}
		next, ok := multiplyIntegers(product, n)
		if whole = ok; whole {
			product = next.(int64)
		}
	}
	if whole {
		return product, nil
	}
	return float, nil
}

// ofTwoNumbers returns a function of two numbers.
func ofTwoNumbers(compute func(a, b any) (any, error)) function {
	return function{least: 2, most: 2, nulls: 2, all: aNumber, compute: func(_ *expressionRun, arguments []any) (any, error) {
		return compute(arguments[0], arguments[1])
	}}
}

func divide(a, b any) (any, error) {
	dividend, _ := document.FloatNumber(a)
	divisor, _ := document.FloatNumber(b)
	if divisor == 0 {
		return nil, boterr.Invalid("", "cannot divide by zero")
	}
	return dividend / divisor, nil
}

// modulo is $mod. The result has the sign of the dividend.
func modulo(a, b any) (any, error) {
	dividend, _ := document.FloatNumber(a)
	divisor, _ := document.FloatNumber(b)
	if divisor == 0 {
		return nil, boterr.Invalid("", "cannot divide by zero")
	}
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	switch {
	case !ok1 || !ok2:
		return math.Mod(dividend, divisor), nil
	case j == -1: // The quotient of the least int64 overflows.
		return int64(0), nil
	default:
		return i % j, nil
	}
}

// power is $pow. The result is an integer if both operands are integers and it fits.
func power(a, b any) (any, error) {
	base, _ := document.FloatNumber(a)
	exponent, _ := document.FloatNumber(b)
	if base == 0 && exponent < 0 {
		return nil, boterr.Invalid("", "cannot raise 0 to a negative exponent")
	}
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		if result, ok := wholePower(i, j); ok {
			return result, nil
		}
	}
	return math.Pow(base, exponent), nil
}

func wholePower(base, exponent int64) (int64, bool) {
	switch {
	case base == 1 || exponent == 0:
		return 1, true
	case base == -1:
		return 1 - 2*(exponent&1), true
	case exponent < 0:
		return 0, false
	case base == 0:
		return 0, true
	}
	result := int64(1)
	for ; exponent > 0; exponent-- { // At most 63 steps, since |base| is at least 2.
		next, ok := multiplyIntegers(result, base)
		if !ok {
			return 0, false
		}
		result = next.(int64)
	}
	return result, true
}

func logarithm(number, of any) (any, error) {
	f, _ := document.FloatNumber(number)
	base, _ := document.FloatNumber(of)
	if f <= 0 {
		return nil, positive(f)
	}
	if base <= 0 || base == 1 {
		return nil, boterr.Invalid("", "the base must be above 0 and not 1, got %v", base)
	}
	return math.Log(f) / math.Log(base), nil
}

// trigonometricFunctions are the operators on angles in radians.
var trigonometricFunctions = map[string]function{
	"$sin":              ofFloat(math.Sin, finite),
	"$cos":              ofFloat(math.Cos, finite),
	"$tan":              ofFloat(math.Tan, finite),
	"$asin":             ofFloat(math.Asin, within(-1, 1)),
	"$acos":             ofFloat(math.Acos, within(-1, 1)),
	"$atan":             ofFloat(math.Atan, nil),
	"$sinh":             ofFloat(math.Sinh, nil),
	"$cosh":             ofFloat(math.Cosh, nil),
	"$tanh":             ofFloat(math.Tanh, nil),
	"$asinh":            ofFloat(math.Asinh, nil),
	"$acosh":            ofFloat(math.Acosh, within(1, math.Inf(1))),
	"$atanh":            ofFloat(math.Atanh, within(-1, 1)),
	"$atan2":            ofTwoNumbers(angleOf),
	"$degreesToRadians": ofFloat(radians, nil),
	"$radiansToDegrees": ofFloat(degrees, nil),
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

// roundingFunctions are $round, which rounds half to even, and $trunc. Both take the number of decimal places,
// which is negative for places before the decimal point.
var roundingFunctions = map[string]function{
	"$round": {least: 1, most: 2, nulls: 2, takes: []argumentType{aNumber}, compute: toPlaces(math.RoundToEven, halfToEven)},
	"$trunc": {least: 1, most: 2, nulls: 2, takes: []argumentType{aNumber}, compute: toPlaces(math.Trunc, towardsZero)},
}

// The range of decimal places.
const (
	leastPlaces = -20
	maxPlaces   = 100
)

// toPlaces returns a function that rounds a number to decimal places. whole rounds a double to a whole number; divide
// divides integers and rounds the quotient.
func toPlaces(
	whole func(float64) float64, divide func(dividend, divisor *big.Int) *big.Int,
) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
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
	const exact = 1 << 52 // No double from here on has a fraction.
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

func towardsZero(dividend, divisor *big.Int) *big.Int { return new(big.Int).Quo(dividend, divisor) }

// halfToEven divides and rounds to the nearest integer, and ties to the even one.
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
	"$bitAnd": {nullFirst: true, all: anInteger, compute: bitsOfAll(-1, func(a, b int64) int64 { return a & b })},
	"$bitOr":  {nullFirst: true, all: anInteger, compute: bitsOfAll(0, func(a, b int64) int64 { return a | b })},
	"$bitXor": {nullFirst: true, all: anInteger, compute: bitsOfAll(0, func(a, b int64) int64 { return a ^ b })},
	"$bitNot": {least: 1, most: 1, nulls: 1, all: anInteger, compute: bitsTurned},
}

func bitsOfAll(start int64, join func(a, b int64) int64) func(*expressionRun, []any) (any, error) {
	return func(_ *expressionRun, arguments []any) (any, error) {
		result := start
		for _, argument := range arguments {
			result = join(result, argument.(int64))
		}
		return result, nil
	}
}

func bitsTurned(_ *expressionRun, arguments []any) (any, error) {
	return ^arguments[0].(int64), nil
}

// comparisons are the operators that compare two values of any types in the order of Compare, in which missing is below
// null. Each has a result for less, equal and greater.
var comparisons = map[string][3]any{
	"$eq":  {false, true, false},
	"$ne":  {true, false, true},
	"$gt":  {false, false, true},
	"$gte": {false, true, true},
	"$lt":  {true, false, false},
	"$lte": {true, true, false},
	"$cmp": {int64(-1), int64(0), int64(1)},
}

type comparison struct {
	left, right expression
	results     [3]any
}

func (c expressionCompiler) comparison(results [3]any, operand any) (expression, error) {
	sides, err := c.positional(operand, 2, 2)
	if err != nil {
		return nil, err
	}
	return c.folded(&comparison{left: sides[0], right: sides[1], results: results}, sides...)
}

func (e *comparison) evaluate(run *expressionRun) (any, error) {
	a, err := e.left.evaluate(run)
	if err != nil {
		return nil, err
	}
	b, err := e.right.evaluate(run)
	if err != nil {
		return nil, err
	}
	if err := run.limits.comparing(a, b); err != nil {
		return nil, err
	}
	return e.results[1+document.Compare(a, b)], nil
}
