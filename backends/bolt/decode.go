package bolt

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/botctx/go-sdk/document"
)

// decoder reads what appendObject wrote.
type decoder struct {
	text []byte
	// at is the number of bytes that were read.
	at int
	// names are the names of earlier fields, as values, so that documents with the same fields
	// share them.
	names map[string]any
}

// maxNames bounds the names that a decoder remembers, for documents whose names are
// data.
const maxNames = 1 << 12

func newDecoder() *decoder { return &decoder{names: map[string]any{}} }

// document reads the one document that a text holds. It keeps nothing of the text.
func (d *decoder) document(text []byte) (document.Object, error) {
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

// wrong is the error for what no encoder wrote.
func (d *decoder) wrong(format string, args ...any) error {
	return fmt.Errorf("at byte %d of %d: %w", d.at, len(d.text), fmt.Errorf(format, args...))
}

// object reads an object that stands on a level of nesting, counted from 1.
func (d *decoder) object(level int) (document.Object, error) {
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

// name reads the name of a field.
func (d *decoder) name() (any, error) {
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

// value reads a value inside an object or array of a level.
func (d *decoder) value(level int) (any, error) {
	if d.at == len(d.text) {
		return nil, d.wrong("a value is missing")
	}
	kind := d.text[d.at]
	d.at++
	switch kind {
	case kindNull:
		return nil, nil //nolint:nilnil // The value null is meant.
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

func (d *decoder) array(level int) (document.Array, error) {
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

// count reads the number of an object's or array's parts, which have a smallest size in
// bytes, and checks its level.
func (d *decoder) count(parts string, smallest, level int) (int, error) {
	if level > document.MaxDepth {
		return 0, d.wrong("values are nested deeper than %d levels", document.MaxDepth)
	}
	count, err := d.uvarint()
	if err != nil {
		return 0, err
	}
	if most := (len(d.text) - d.at) / smallest; count > uint64(most) {
		return 0, d.wrong("there cannot be %d %s", count, parts)
	}
	return int(count), nil
}

// bytes reads a length and so many bytes.
func (d *decoder) bytes() ([]byte, error) {
	length, err := d.uvarint()
	if err != nil {
		return nil, err
	}
	if left := len(d.text) - d.at; length > uint64(left) {
		return nil, d.wrong("a text of %d bytes cannot stand here", length)
	}
	begin := d.at
	d.at += int(length)
	return d.text[begin:d.at], nil
}

func (d *decoder) uvarint() (uint64, error) {
	n, size := binary.Uvarint(d.text[d.at:])
	if size <= 0 {
		return 0, d.wrong("a length is cut off or too large")
	}
	d.at += size
	return n, nil
}

func (d *decoder) varint() (int64, error) {
	n, size := binary.Varint(d.text[d.at:])
	if size <= 0 {
		return 0, d.wrong("a number is cut off or too large")
	}
	d.at += size
	return n, nil
}

func (d *decoder) float() (float64, error) {
	if len(d.text)-d.at < floatSize {
		return 0, d.wrong("a number is cut off")
	}
	bits := binary.LittleEndian.Uint64(d.text[d.at:])
	d.at += floatSize
	return math.Float64frombits(bits), nil
}
