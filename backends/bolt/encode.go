package bolt

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/botctx/go-sdk/document"
)

// The kinds of values, each of which begins with the byte of its kind. They are those of
// format 1, and never change.
const (
	kindNull   = 0
	kindFalse  = 1
	kindTrue   = 2
	kindInt    = 3 // A varint.
	kindFloat  = 4 // Its 64 bits, the lowest byte first.
	kindString = 5 // Its length in bytes as an unsigned varint, and the bytes.
	kindTime   = 6 // Milliseconds since the Unix epoch as a varint.
	kindArray  = 7 // The number of elements as an unsigned varint, and the elements.
	kindObject = 8 // The fields, as appendObject writes them.
)

// floatSize is the number of bytes of a float64.
const floatSize = 8

// appendObject appends the number of fields as an unsigned varint, and for each its name,
// as a string without the kind, and its value.
func appendObject(text []byte, o document.Object) []byte {
	text = binary.AppendUvarint(text, uint64(o.Len()))
	for name, value := range o.All() {
		text = appendValue(appendString(text, name), value)
	}
	return text
}

func appendString(text []byte, s string) []byte {
	return append(binary.AppendUvarint(text, uint64(len(s))), s...)
}

// appendValue appends a value as package document has them.
func appendValue(text []byte, value any) []byte {
	switch v := value.(type) {
	case bool:
		if v {
			return append(text, kindTrue)
		}
		return append(text, kindFalse)
	case int64:
		return binary.AppendVarint(append(text, kindInt), v)
	case float64:
		return binary.LittleEndian.AppendUint64(append(text, kindFloat), math.Float64bits(v))
	case string:
		return appendString(append(text, kindString), v)
	case time.Time:
		return binary.AppendVarint(append(text, kindTime), v.UnixMilli())
	case document.Array:
		text = binary.AppendUvarint(append(text, kindArray), uint64(v.Len()))
		for _, element := range v.All() {
			text = appendValue(text, element)
		}
		return text
	case document.Object:
		return appendObject(append(text, kindObject), v)
	default: // There is no other value than nil.
		return append(text, kindNull)
	}
}
