// Package document implements the values in records, filters and messages: null, bool, int64, float64,
// string, time, arrays and objects, with their order and paths, and their conversion to and from JSON and Go
// structs.
//
//   - To make values, use [O] and [A]; [Set], [Inc] and [Push] make the most common patches.
//   - To read a path, use [Get]; to change one, [Object.Set].
//   - To read a value as a struct, use [As]; to change it as one, [Change].
//
// Values are immutable. An Object or an Array never changes, even if several readers share it: Object.Set
// gives the variable a new version, and other variables keep the old one. So values need not be copied
// between a caller, a store and its readers, and no caller can change another's values.
//
// Encode and Decode convert between objects and structs. Shape, Builder and Edit are for code that makes or
// changes many objects, such as the query engine.
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
	if _, isDouble := value.(float64); isDouble {
		return "double"
	}
	return classNames[ClassOf(value)]
}

var classNames = [...]string{
	ClassMissing: "missing", ClassNull: "null", ClassNumber: "long", ClassString: "string", ClassObject: "object",
	ClassArray: "array", ClassBool: "bool", ClassDate: "date",
}

func invalidType(t reflect.Type) error {
	return boterr.Invalid("", "a %s is not a JSON-like value", t)
}

// Sizes in BSON, the format in which MongoDB stores documents.
const (
	// emptySize is the size of an empty object or array.
	emptySize = 5
	// largestSize is the limit for adding sizes: values that share parts many times may count for more bytes
	// than there is memory.
	largestSize = math.MaxInt32
)

// Size returns the number of bytes that MongoDB would need for o. Beyond 2 GiB it is
// not exact.
func (o Object) Size() int {
	if o.node == nil {
		return emptySize
	}
	return int(o.node.size)
}

// fieldSize returns the size that a field adds to an object: a byte for its type, its name with a terminator,
// and its value.
func fieldSize(key string, value any) int { return len(key) + 2 + SizeOf(value) }

// SizeOf returns the number of bytes that MongoDB would need for a value.
func SizeOf(value any) int {
	switch v := value.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case string:
		return len(v) + 5 //nolint:mnd // Four bytes of length and an end.
	case int64:
		if v == int64(int32(v)) {
			return 4 //nolint:mnd // An int, as drivers write it.
		}
		return 8 //nolint:mnd // A long.
	case float64, time.Time:
		return 8 //nolint:mnd // They have 64 bits.
	case Object:
		return v.Size()
	case Array:
		return v.Size()
	}
	return emptySize
}

func addSizes(a, b int) int { return min(a+b, largestSize) }

// IDField is the name of the field that identifies a document in its collection.
const IDField = "_id"

// CheckInsert returns InvalidArgument for a document that Collection.Insert refuses in every store: one that
// is absent, carries an error (see Object.Err), is larger than MaxSize or nested deeper than MaxDepth, or
// whose _id is missing, an array, or an object with a field that begins with "$". Elsewhere in a document
// MongoDB accepts such names, from version 5.0 on.
func CheckInsert(o Object) error {
	if err := o.Err(); err != nil {
		return err
	}
	if o.IsZero() {
		return boterr.Invalid("", "the document is absent")
	}
	if err := CheckExtent(o, MaxSize); err != nil {
		return err
	}
	id, ok := o.Field(IDField)
	if !ok {
		return boterr.Invalid(IDField, "the document has no _id")
	}
	switch id := id.(type) {
	case Array:
		return boterr.Invalid(IDField, "an array cannot be an _id")
	case Object:
		for name := range id.All() {
			if strings.HasPrefix(name, "$") {
				return boterr.Invalid(IDField+"."+name, "a field of an _id cannot begin with $")
			}
		}
	}
	return nil
}

// CheckExtent returns InvalidArgument for a document of more than most bytes or more than MaxDepth levels.
// most is MaxSize less the size of a store's own additions to the document.
func CheckExtent(o Object, most int) error {
	if o.Depth() > MaxDepth {
		return boterr.Invalid("", "the document is nested deeper than %d levels", MaxDepth)
	}
	if size := o.Size(); size > most {
		return boterr.Invalid("", "the document has %d bytes, at most %d are allowed; split it or store less in it", size, most)
	}
	return nil
}
