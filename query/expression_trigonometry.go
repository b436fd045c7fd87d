package query

import (
	"math"

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
