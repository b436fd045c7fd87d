package query

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// typeFunctions are the operators on the types of values.
var typeFunctions = map[string]function{
	"$type":     {least: 1, most: 1, compute: typeOf},
	"$isNumber": {least: 1, most: 1, compute: isNumber},
	"$toInt":    {least: 1, most: 1, nulls: 1, compute: convertTo("int")},
	"$toLong":   {least: 1, most: 1, nulls: 1, compute: convertTo("long")},
	"$toDouble": {least: 1, most: 1, nulls: 1, compute: convertTo("double")},
	"$toString": {least: 1, most: 1, nulls: 1, compute: convertTo("string")},
	"$toBool":   {least: 1, most: 1, nulls: 1, compute: convertTo("bool")},
	"$toDate":   {least: 1, most: 1, nulls: 1, compute: convertTo("date")},
}

func typeOf(_ *expressionRun, arguments []any) (any, error) {
	return typeName(arguments[0]), nil
}

func isNumber(_ *expressionRun, arguments []any) (any, error) {
	_, ok := document.FloatNumber(arguments[0])
	return ok, nil
}

// convertTo returns a function that converts to a type.
func convertTo(name string) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		return run.convert(arguments[0], name)
	}
}

func (run *expressionRun) convert(value any, name string) (any, error) {
	work := conversionWork
	if text, ok := value.(string); ok {
		work += len(text)
		if name == "date" {
			work += dateWork
		}
	}
	if err := run.limits.spend(work); err != nil {
		return nil, err
	}
	converted, err := valueConversions[name](value)
	if err != nil {
		if err := run.limits.spend(failureWork); err != nil {
			return nil, err
		}
		return nil, boterr.Invalid("", "cannot convert %s %s to %s: %w",
			typeName(value), document.Excerpt(value), name, withoutCode(err))
	}
	return converted, nil
}

// withoutCode returns the message of an error, for use inside another one.
func withoutCode(err error) error {
	if e, ok := boterr.AsError(err); ok {
		return e.Err
	}
	return err
}

// valueConversions are the conversions by the name of the resulting type.
var valueConversions = map[string]func(value any) (any, error){
	"int":    toInt,
	"long":   toLong,
	"double": toDouble,
	"string": toText,
	"bool":   toBool,
	"date":   toDate,
}

var errNoConversion = boterr.Invalid("", "there is no such conversion")

func toInt(value any) (any, error) {
	if _, ok := value.(time.Time); ok {
		return nil, errNoConversion
	}
	n, err := toLong(value)
	if err != nil {
		return nil, err
	}
	if n := n.(int64); n != int64(int32(n)) {
		return nil, boterr.Invalid("", "it is beyond %d bits", 32)
	}
	return n, nil
}

func toLong(value any) (any, error) {
	switch v := value.(type) {
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case int64:
		return v, nil
	case float64:
		n, ok := document.WholeNumber(math.Trunc(v))
		if !ok {
			return nil, boterr.Invalid("", "it is beyond %d bits", 64)
		}
		return n, nil
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, boterr.Invalid("", "the text is not a 64-bit whole number")
		}
		return n, nil
	case time.Time:
		return v.UnixMilli(), nil
	default:
		return nil, errNoConversion
	}
}

func toDouble(value any) (any, error) {
	text, ok := value.(string)
	if !ok {
		if f, ok := value.(float64); ok {
			return f, nil
		}
		n, err := toLong(value)
		if err != nil {
			return nil, err
		}
		return float64(n.(int64)), nil
	}
	if strings.ContainsAny(text, "xXpP_") { // Go reads numbers in hexadecimal.
		return nil, boterr.Invalid("", "it is not a decimal number")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, boterr.Invalid("", "it is out of the range of doubles")
	}
	return f, nil
}

func toText(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	if text, ok := writtenOut(value); ok {
		return text, nil
	}
	return nil, errNoConversion
}

// writtenOut formats a number or a date.
func writtenOut(value any) (string, bool) {
	switch v := value.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return floatText(v), true
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z"), true
	default:
		return "", false
	}
}

// floatText formats a double with up to 16 digits, as MongoDB does.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	default:
		return strconv.FormatFloat(f, 'g', 16, 64)
	}
}

func toBool(value any) (any, error) { return isTruthy(value), nil }

func toDate(value any) (any, error) {
	switch v := value.(type) {
	case time.Time:
		return v, nil
	case float64:
		n, ok := document.WholeNumber(math.Trunc(v))
		if !ok {
			return nil, errDateOverflow
		}
		return dateOf(n)
	case int64:
		if v == int64(int32(v)) {
			return nil, boterr.Invalid("", "there is no such conversion; add the milliseconds to a date with $add")
		}
		return dateOf(v)
	case string:
		t, err := readDate(v, time.UTC)
		return t, err
	default:
		return nil, errNoConversion
	}
}

type conversion struct{ input, to, onError, onNull expression }

func (c expressionCompiler) convert(operand any) (expression, error) {
	parts, err := c.named(operand, []string{"input", "to", "onError", "onNull"}, 2)
	if err != nil {
		return nil, err
	}
	e := &conversion{input: parts[0], to: parts[1], onError: parts[2], onNull: parts[3]}
	if to, ok := e.to.(constant); ok && !isNullish(to.value) {
		if _, err := conversionTo(to.value); err != nil {
			return nil, boterr.PrefixField("to", err)
		}
	}
	return c.folded(e, parts...)
}

// conversionTo returns the target type for its name or number.
func conversionTo(to any) (string, error) {
	if o, ok := to.(document.Object); ok {
		given, _ := o.Field("type")
		return conversionTo(given)
	}
	names, err := typesOf(to)
	if err != nil {
		return "", err
	}
	if _, ok := valueConversions[names[0]]; !ok || len(names) > 1 {
		return "", boterr.Invalid("", "conversion to %s is not supported", document.Excerpt(to))
	}
	return names[0], nil
}

func (e *conversion) evaluate(run *expressionRun) (any, error) {
	to, err := e.to.evaluate(run)
	if err != nil {
		return nil, err
	}
	input, err := e.input.evaluate(run)
	switch {
	case err != nil:
		return nil, err
	case isNullish(input):
		value, err := e.onNull.evaluate(run)
		return givenOrNull(value), err
	case isNullish(to):
		return nil, nil
	}
	name, err := conversionTo(to)
	if err != nil {
		return nil, boterr.PrefixField("$convert", boterr.PrefixField("to", err))
	}
	converted, err := run.convert(input, name)
	if err != nil && e.onError != (constant{absent}) {
		return e.onError.evaluate(run)
	}
	return converted, boterr.PrefixField("$convert", err)
}

// argumentType checks the type of an argument. It returns an error for a value of any other type.
type argumentType func(value any) error

func anArray(value any) error   { return typed[document.Array](value, "an array") }
func anObject(value any) error  { return typed[document.Object](value, "an object") }
func aString(value any) error   { return typed[string](value, "a string") }
func anInteger(value any) error { return typed[int64](value, "an integer") }
func aDate(value any) error     { return typed[time.Time](value, "a date") }

func aNumber(value any) error {
	if _, ok := document.FloatNumber(value); !ok {
		return boterr.Invalid("", "needs a number, got %s", document.TypeName(value))
	}
	return nil
}

func typed[T any](value any, needed string) error {
	if _, ok := value.(T); !ok {
		return boterr.Invalid("", "needs %s, got %s", needed, document.TypeName(value))
	}
	return nil
}

// check returns an error for arguments of the wrong type. isNull is true if one of them makes the result null.
func (f *function) check(arguments []any) (isNull bool, err error) {
	if slices.ContainsFunc(arguments[:min(f.nulls, len(arguments))], isNullish) {
		return true, nil
	}
	for i, argument := range arguments {
		is := f.all
		if i < len(f.takes) {
			is = f.takes[i]
		}
		if is == nil {
			continue
		}
		if err := is(argument); err != nil {
			return false, err
		}
	}
	return false, nil
}
