package document

import (
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

// ValueOf turns v into a value: nil, bool, int64, float64, string, time.Time in UTC with milliseconds, Array
// or Object.
//
// It accepts these, every other number type, pointers, slices, maps with string keys (whose keys are sorted,
// since a map has no order), structs by their JSON tags as EncodeJSON does, so that secrets stay hidden, and
// json.RawMessage and json.Number. Anything else, including an unsigned number beyond int64, is
// InvalidArgument.
func ValueOf(v any) (any, error) {
	switch given := v.(type) {
	case nil, bool, int64, float64:
		return v, nil
	case string:
		if utf8.ValidString(given) {
			return v, nil
		}
		return validText(given), nil
	case int:
		return int64(given), nil
	case Object:
		return presentObject(given)
	case Array:
		return presentArray(given)
	case time.Time:
		return dateValue(given)
	}
	return goEncoder{forReader: true}.value(reflect.ValueOf(v))
}

// validText returns a text as UTF-8, which stores and JSON require: invalid bytes become U+FFFD, as in
// encoding/json.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// dateValue returns a time as a value. A time whose milliseconds do not fit into an int64 is InvalidArgument.
func dateValue(t time.Time) (any, error) {
	const most = math.MaxInt64 / 1000
	if seconds := t.Unix(); seconds < -most || seconds > most {
		return nil, boterr.Invalid("", "the date is too far away to be counted in milliseconds")
	}
	return t.UTC().Truncate(time.Millisecond), nil
}

// presentObject returns an object as a value inside another one: null for the zero Object, and an error for
// an object that carries one.
func presentObject(o Object) (any, error) {
	if o.node == nil {
		return nil, nil //nolint:nilnil // It is the value null.
	}
	return o, o.node.err()
}

func presentArray(a Array) (any, error) {
	if a.node == nil {
		return nil, nil //nolint:nilnil // It is the value null.
	}
	return a, a.node.err
}

// depthOf returns the number of levels of nesting in a value: 0 for a scalar.
func depthOf(value any) int {
	switch v := value.(type) {
	case Object:
		if v.node != nil {
			return int(v.node.depth)
		}
	case Array:
		if v.node != nil {
			return v.node.depth
		}
	}
	return 0
}

func errOf(value any) error {
	switch v := value.(type) {
	case Object:
		return v.Err()
	case Array:
		return v.Err()
	default:
		return nil
	}
}

// WholeNumber returns a number as an integer, and reports whether it is one.
func WholeNumber(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		// 2^63 is a float64 but not an int64; -2^63 is both.
		if n == math.Trunc(n) && n >= math.MinInt64 && n < math.MaxInt64 {
			return int64(n), true
		}
	}
	return 0, false
}

// FloatNumber returns a number as a float64, and reports whether value is a number.
func FloatNumber(value any) (float64, bool) {
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	default:
		return 0, false
	}
}

// TypeName returns MongoDB's name for the type of a value: "null", "bool", "long", "double",
// "string", "date", "array" or "object"; "missing" for anything else.
func TypeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case int64:
		return "long"
	case float64:
		return "double"
	case string:
		return "string"
	case time.Time:
		return "date"
	case Array:
		return "array"
	case Object:
		return "object"
	default:
		return "missing"
	}
}

// invalidType returns the error for a value of a type that cannot be encoded.
func invalidType(t reflect.Type) error {
	return boterr.Invalid("", "a %s is not a JSON-like value", t)
}
