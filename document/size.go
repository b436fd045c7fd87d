package document

import (
	"math"
	"time"
)

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
