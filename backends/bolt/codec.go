package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// The kinds of values. A value begins with the byte of its kind. The kinds belong to format 1, and never
// change.
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

// A file of format 1 has these buckets:
//
//	botctx             "format": the number of the format in decimal, and "commit": the number
//	                   of the newest commit, eight bytes, the highest first
//	indexes            a position in the order of making: the definition of an index
//	documents:NAME     a position in the order of insertion: a document of the collection
//
// A position is a key of eight bytes, the highest first. Definitions and documents are values as appendSealed
// writes them. The sequence number of a bucket, which bbolt keeps for other purposes, is the sum of the seals
// in it; the sequence number of botctx is the sum of the names of the other buckets. A lost page or bucket
// changes the sum.
const (
	format = 1

	formatBucket    = "botctx"
	formatKey       = "format"
	commitKey       = "commit"
	indexesBucket   = "indexes"
	documentsPrefix = "documents:"

	positionSize = 8
	checksumSize = 4
)

// writeFormat makes a new file one of this format.
func writeFormat(tx *bbolt.Tx) error {
	b, err := tx.CreateBucket([]byte(formatBucket))
	if err != nil {
		return err
	}
	return b.Put([]byte(formatKey), strconv.AppendInt(nil, format, 10))
}

// checkFormat refuses a file that is not one of this format.
func (f *file) checkFormat() error {
	return f.read(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(formatBucket))
		if b == nil {
			return noFormat(tx)
		}
		text := string(b.Get([]byte(formatKey)))
		found, err := strconv.Atoi(text)
		switch {
		case err != nil || found < 1:
			return damaged("its format is %q", text)
		case found > format:
			return boterr.New(boterr.FailedPrecondition, "",
				"the file has format %d and this version reads up to %d; open it with the version that wrote it, or a later one", found, format)
		default:
			return nil
		}
	})
}

// noFormat is the error for a file without the bucket of the format.
func noFormat(tx *bbolt.Tx) error {
	ours := tx.Bucket([]byte(indexesBucket)) != nil
	_ = tx.ForEach(func(name []byte, _ *bbolt.Bucket) error { // There is no error to pass on.
		ours = ours || bytes.HasPrefix(name, []byte(documentsPrefix))
		return nil
	})
	if ours {
		return damaged("the bucket %q is lost", formatBucket)
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the file is a database of another program, for which the store needs a path of its own, "+
			"or it is damaged in the bucket %q and needs a backup in its place", formatBucket)
}

// castagnoli is the polynomial for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of the value of a key in a bucket, whose name has a separate checksum.
func checksum(ofName uint32, key, value []byte) uint32 {
	return crc32.Update(crc32.Update(ofName, castagnoli, key), castagnoli, value)
}

func checksumOfName(bucket string) uint32 { return crc32.Checksum([]byte(bucket), castagnoli) }

// seal returns what a value adds to the sum of its bucket: a number that looks like a
// random one, so that no likely damage leaves the sum as it was.
func seal(key []byte, checksum uint32) uint64 {
	return mixed(binary.BigEndian.Uint64(key)<<32 ^ binary.BigEndian.Uint64(key)>>32 ^ uint64(checksum))
}

// nameSeal returns what a bucket adds to the sum of buckets.
func nameSeal(bucket string) uint64 {
	return mixed(uint64(checksumOfName(bucket)))
}

// mixed spreads the bits of a number as the last step of SplitMix64 does.
func mixed(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func appendPosition(key []byte, position uint64) []byte {
	return binary.BigEndian.AppendUint64(key, position)
}
