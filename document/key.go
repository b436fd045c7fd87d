package document

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// Special bytes of a key. Every value begins with its class, which is greater than KeyEnd.
const (
	// KeyEnd ends objects, arrays and strings, so that a value sorts before longer ones with the same
	// beginning.
	KeyEnd = 0x00
	// keyNUL follows a NUL inside a string, to distinguish it from the end.
	keyNUL = 0xff
)

// MaxExact is the number up to which every int64 has an exact float64.
const MaxExact = 1 << 53

// AppendKey appends to key an encoding of value that bytes.Compare orders as Compare orders the values: equal
// values, such as 1 and 1.0, have the same key. No key is a prefix of another value's key, so that
// concatenated keys of several values sort like a list of these values. No key begins with a zero byte.
func AppendKey(key []byte, value any) []byte {
	key = append(key, byte(ClassOf(value)))
	switch value.(type) {
	case Object, Array:
		// key is not passed on. Arguments of a recursive function are allocated on the heap, and the usual key,
		// of scalars, should stay on the caller's stack.
		return append(key, appendNestedKey(nil, value)...)
	default:
		return appendScalarKey(key, value)
	}
}

// appendNestedKey appends the part of any value's key that follows the class.
func appendNestedKey(key []byte, value any) []byte {
	switch v := value.(type) {
	case Object:
		return appendObjectKey(key, v)
	case Array:
		return appendArrayKey(key, v)
	default:
		return appendScalarKey(key, v)
	}
}

// appendScalarKey appends the part of a scalar's key that follows the class.
func appendScalarKey(key []byte, value any) []byte {
	switch v := value.(type) {
	case int64:
		return appendIntKey(key, v)
	case float64:
		return appendNumberKey(key, v, 0)
	case string:
		return appendStringKey(key, v)
	case bool:
		if v {
			return append(key, 1)
		}
		return append(key, 0)
	case time.Time:
		return binary.BigEndian.AppendUint64(key, uint64(v.UnixMilli())^1<<63)
	default:
		return key
	}
}

// appendStringKey writes the bytes of s, and an end that is lower than any other byte at its place.
func appendStringKey(key []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, 0)
		if i < 0 {
			return append(append(key, s...), KeyEnd, KeyEnd)
		}
		key = append(append(key, s[:i]...), 0, keyNUL)
		s = s[i+1:]
	}
}

// appendObjectKey writes, for each field, the parts that Compare compares, in order: the class of the value,
// the name, the value.
func appendObjectKey(key []byte, o Object) []byte {
	if o.node == nil {
		return append(key, KeyEnd)
	}
	for i, name := range o.node.shape.names {
		value := o.node.at(i)
		key = appendStringKey(append(key, byte(ClassOf(value))), name)
		key = appendNestedKey(key, value)
	}
	return append(key, KeyEnd)
}

func appendArrayKey(key []byte, a Array) []byte {
	for _, item := range a.Items() {
		key = appendNestedKey(append(key, byte(ClassOf(item))), item)
	}
	return append(key, KeyEnd)
}

// appendIntKey writes the float64 nearest to i, and the difference.
func appendIntKey(key []byte, i int64) []byte {
	f := float64(i)
	var rest int64
	if f == math.MaxInt64 { // As a float64, MaxInt64 is 2^63, one above the highest int64.
		rest = i - math.MaxInt64 - 1
	} else {
		rest = i - int64(f)
	}
	return appendNumberKey(key, f, rest)
}

// appendNumberKey writes the bits of f so that they sort like the numbers, followed by rest if there are
// integers between f and its neighbours.
func appendNumberKey(key []byte, f float64, rest int64) []byte {
	key = binary.BigEndian.AppendUint64(key, orderedBits(f))
	if math.Abs(f) >= MaxExact && math.Abs(f) <= math.MaxInt64 {
		const zero = 1 << 15 // The absolute value of rest is at most 512.
		key = binary.BigEndian.AppendUint16(key, uint16(zero+rest))
	}
	return key
}

// orderedBits returns the bits of f in a form that sorts like the numbers: NaN is the lowest, and both zeros
// are equal.
func orderedBits(f float64) uint64 {
	const sign = 1 << 63
	switch bits := math.Float64bits(f); {
	case math.IsNaN(f):
		return 0
	case f == 0:
		return sign
	case bits&sign != 0:
		return ^bits
	default:
		return bits | sign
	}
}
