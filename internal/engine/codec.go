package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/botctx/go-sdk/document"
)

// The kinds of values. An encoded value begins with its kind. Stored data depends on these numbers, so they
// must never change.
const (
	kindNull   = 0
	kindFalse  = 1
	kindTrue   = 2
	kindInt    = 3 // a varint
	kindFloat  = 4 // 64 bits, lowest byte first
	kindString = 5 // the length in bytes as an unsigned varint, then the bytes
	kindTime   = 6 // milliseconds since the Unix epoch as a varint
	kindArray  = 7 // the number of elements as an unsigned varint, then the elements
	kindObject = 8 // the fields, as AppendDocument writes them
)

const floatSize = 8

// AppendDocument appends a document in the binary form that databases store. The form keeps the order of fields
// and the types of values. It is the number of fields as an unsigned varint, then for each field its name, as a
// string without the kind, and its value.
func AppendDocument(text []byte, o document.Object) []byte {
	text = binary.AppendUvarint(text, uint64(o.Len()))
	for name, value := range o.All() {
		text = appendValue(appendString(text, name), value)
	}
	return text
}

func appendString(text []byte, s string) []byte {
	return append(binary.AppendUvarint(text, uint64(len(s))), s...)
}

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
		return AppendDocument(append(text, kindObject), v)
	default: // Only nil is left.
		return append(text, kindNull)
	}
}

// Decoder reads documents that AppendDocument wrote. It is not safe for concurrent use.
type Decoder struct {
	text []byte
	// at is the number of bytes read.
	at int
	// names interns field names as values, so that documents share them.
	names map[string]any
}

// maxNames bounds the names that a decoder interns, since some documents have data as field names.
const maxNames = 1 << 12

// NewDecoder returns a new decoder.
func NewDecoder() *Decoder { return &Decoder{names: map[string]any{}} }

// Document decodes the document in text. It does not retain text.
func (d *Decoder) Document(text []byte) (document.Object, error) {
	d.text, d.at = text, 0
	o, err := d.object(1)
	if err == nil && d.at < len(text) {
		err = d.wrong("%d bytes follow the document", len(text)-d.at)
	}
	if err != nil {
		return document.Object{}, err
	}
	return o, nil
}

// wrong returns the error for malformed data.
func (d *Decoder) wrong(format string, args ...any) error {
	return fmt.Errorf("at byte %d of %d: %w", d.at, len(d.text), fmt.Errorf(format, args...))
}

// object reads an object at a level of nesting, starting with 1.
func (d *Decoder) object(level int) (document.Object, error) {
	const smallestField = 2
	count, err := d.count("fields", smallestField, level)
	if err != nil {
		return document.Object{}, err
	}
	var room [16]any
	pairs := room[:0]
	for range count {
		name, err := d.name()
		if err != nil {
			return document.Object{}, err
		}
		value, err := d.value(level)
		if err != nil {
			return document.Object{}, err
		}
		pairs = append(pairs, name, value)
	}
	o := document.O(pairs...)
	if err := o.Err(); err != nil {
		return o, d.wrong("the object before it is invalid: %w", err)
	}
	if o.Len() != count {
		return o, d.wrong("the object before it has a field twice")
	}
	return o, nil
}

func (d *Decoder) name() (any, error) {
	text, err := d.bytes()
	if err != nil {
		return nil, err
	}
	if known, ok := d.names[string(text)]; ok {
		return known, nil
	}
	name := string(text)
	if len(d.names) < maxNames {
		d.names[name] = name
	}
	return name, nil
}

// value reads a value within an object or array at a level.
func (d *Decoder) value(level int) (any, error) {
	if d.at == len(d.text) {
		return nil, d.wrong("a value is missing")
	}
	kind := d.text[d.at]
	d.at++
	switch kind {
	case kindNull:
		return nil, nil //nolint:nilnil // This nil is the value null.
	case kindFalse, kindTrue:
		return kind == kindTrue, nil
	case kindInt:
		return d.varint()
	case kindFloat:
		return d.float()
	case kindString:
		text, err := d.bytes()
		return string(text), err
	case kindTime:
		milliseconds, err := d.varint()
		return time.UnixMilli(milliseconds).UTC(), err
	case kindArray:
		return d.array(level + 1)
	case kindObject:
		return d.object(level + 1)
	default:
		d.at--
		return nil, d.wrong("there is no value of the kind %d", kind)
	}
}

func (d *Decoder) array(level int) (document.Array, error) {
	count, err := d.count("elements", 1, level)
	if err != nil {
		return document.Array{}, err
	}
	elements := make([]any, count)
	for i := range elements {
		if elements[i], err = d.value(level); err != nil {
			return document.Array{}, err
		}
	}
	a := document.A(elements...)
	if err := a.Err(); err != nil {
		return a, d.wrong("the array before it is invalid: %w", err)
	}
	return a, nil
}

// count reads the number of parts of an object or array. It returns an error if the level is too deep, or if the
// remaining data is too short for that many parts of at least smallest bytes.
func (d *Decoder) count(parts string, smallest, level int) (int, error) {
	if level > document.MaxDepth {
		return 0, d.wrong("values are nested deeper than %d levels", document.MaxDepth)
	}
	count, err := d.uvarint()
	if err != nil {
		return 0, err
	}
	if most := (len(d.text) - d.at) / smallest; count > uint64(most) {
		return 0, d.wrong("the data is too short for %d %s", count, parts)
	}
	return int(count), nil
}

// bytes reads a length and as many bytes.
func (d *Decoder) bytes() ([]byte, error) {
	length, err := d.uvarint()
	if err != nil {
		return nil, err
	}
	if left := len(d.text) - d.at; length > uint64(left) {
		return nil, d.wrong("the data is too short for a string of %d bytes", length)
	}
	begin := d.at
	d.at += int(length)
	return d.text[begin:d.at], nil
}

func (d *Decoder) uvarint() (uint64, error) {
	n, size := binary.Uvarint(d.text[d.at:])
	if size <= 0 {
		return 0, d.wrong("a length is cut off or too large")
	}
	d.at += size
	return n, nil
}

func (d *Decoder) varint() (int64, error) {
	n, size := binary.Varint(d.text[d.at:])
	if size <= 0 {
		return 0, d.wrong("a number is cut off or too large")
	}
	d.at += size
	return n, nil
}

func (d *Decoder) float() (float64, error) {
	if len(d.text)-d.at < floatSize {
		return 0, d.wrong("a number is cut off")
	}
	bits := binary.LittleEndian.Uint64(d.text[d.at:])
	d.at += floatSize
	return math.Float64frombits(bits), nil
}
