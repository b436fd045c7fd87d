package mongo

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// The hidden field of a stored document. It is in the original position of _id, because MongoDB moves _id to
// the front.
const (
	hiddenField = "_botctx"
	// orderField has the document's place in the order of insertion.
	orderField = "order"
	// revisionField gets a new value with every change. A document is only replaced if its revision is the one
	// that was read.
	revisionField = "revision"
	orderPath     = hiddenField + "." + orderField
	revisionPath  = hiddenField + "." + revisionField
)

// hidden is the content of the hidden field of a document.
type hidden struct {
	order    int64
	revision bson.ObjectID
	// isAbsent is true if there is no hidden field, because another program wrote the document.
	isAbsent bool
}

func stored(o document.Object, h hidden) (bson.Raw, error) {
	start, b := bsoncore.AppendDocumentStart(make([]byte, 0, o.Size()+128))
	id, _ := o.Field(document.IDField)
	b, err := appendValue(b, document.IDField, id)
	for key, value := range o.All() {
		if err != nil {
			return nil, err
		}
		if key == document.IDField {
			b = appendHidden(b, h)
			continue
		}
		b, err = appendValue(b, key, value)
	}
	if err != nil {
		return nil, err
	}
	return ended(b, start)
}

func appendHidden(b []byte, h hidden) []byte {
	start, b := bsoncore.AppendDocumentElementStart(b, hiddenField)
	b = bsoncore.AppendInt64Element(b, orderField, h.order)
	b = bsoncore.AppendObjectIDElement(b, revisionField, h.revision)
	b, _ = bsoncore.AppendDocumentEnd(b, start) // No error is possible: the document was started above.
	return b
}

// raw encodes an object for a command, such as a filter or a part of an update.
func raw(o document.Object) (bson.Raw, error) {
	start, b := bsoncore.AppendDocumentStart(make([]byte, 0, o.Size()+16))
	b, err := appendFields(b, o)
	if err != nil {
		return nil, err
	}
	return ended(b, start)
}

// rawValue encodes a value for a command.
func rawValue(value any) (bson.RawValue, error) {
	o, err := raw(document.O("v", value))
	if err != nil {
		return bson.RawValue{}, err
	}
	return o.Lookup("v"), nil
}

func ended(b []byte, start int32) (bson.Raw, error) {
	b, err := bsoncore.AppendDocumentEnd(b, start)
	if err != nil {
		return nil, boterr.New(boterr.Internal, "", "writing BSON: %w", err)
	}
	return b, nil
}

func appendFields(b []byte, o document.Object) (_ []byte, err error) {
	for key, value := range o.All() {
		if b, err = appendValue(b, key, value); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendValue appends a field. It returns InvalidArgument for a name with a NUL byte, which BSON does not
// support.
func appendValue(b []byte, key string, value any) (_ []byte, err error) {
	if strings.IndexByte(key, 0) >= 0 {
		return nil, boterr.Invalid(key, "the name %q contains a NUL byte, which MongoDB cannot store", key)
	}
	switch v := value.(type) {
	case nil:
		return bsoncore.AppendNullElement(b, key), nil
	case bool:
		return bsoncore.AppendBooleanElement(b, key, v), nil
	case int64:
		return appendWhole(b, key, v), nil
	case float64:
		return bsoncore.AppendDoubleElement(b, key, v), nil
	case string:
		return bsoncore.AppendStringElement(b, key, v), nil
	case time.Time:
		return bsoncore.AppendDateTimeElement(b, key, v.UnixMilli()), nil
	case document.Object:
		return appendObject(b, key, v)
	case document.Array:
		return appendArray(b, key, v)
	default:
		return nil, boterr.Invalid(key, "a %T cannot be stored in a document", value)
	}
}

// appendWhole appends an integer in 32 bits if possible, and otherwise in 64 bits. The server's $type is then
// "int" or "long", as in package query.
func appendWhole(b []byte, key string, number int64) []byte {
	if number >= math.MinInt32 && number <= math.MaxInt32 {
		return bsoncore.AppendInt32Element(b, key, int32(number))
	}
	return bsoncore.AppendInt64Element(b, key, number)
}

func appendObject(b []byte, key string, o document.Object) ([]byte, error) {
	start, b := bsoncore.AppendDocumentElementStart(b, key)
	b, err := appendFields(b, o)
	if err != nil {
		return nil, boterr.PrefixField(key, err)
	}
	return bsoncore.AppendDocumentEnd(b, start)
}

func appendArray(b []byte, key string, a document.Array) (_ []byte, err error) {
	start, b := bsoncore.AppendArrayElementStart(b, key)
	for i, item := range a.All() {
		if b, err = appendValue(b, strconv.Itoa(i), item); err != nil {
			return nil, boterr.PrefixField(key, err)
		}
	}
	return bsoncore.AppendArrayEnd(b, start)
}

// found is a document from the server.
type found struct {
	document document.Object
	hidden   hidden
}

// read decodes a stored document and removes the hidden field.
func read(b []byte) (found, error) {
	result := found{hidden: hidden{isAbsent: true}}
	pairs := make([]any, 0, 32)
	err := eachElement(b, func(key string, value bsoncore.Value) error {
		if key == hiddenField && value.Type == bsoncore.TypeEmbeddedDocument {
			result.hidden = hiddenOf(value.Document())
			if result.hidden.order != 0 && len(pairs) > 2 && pairs[0] == document.IDField { // Move _id back to its original position.
				pairs = slices.Concat(pairs[2:], pairs[:2])
			}
			return nil
		}
		v, err := valueOf(value)
		pairs = append(pairs, key, v)
		return boterr.PrefixField(key, err)
	})
	if err != nil {
		return result, err
	}
	result.document = document.O(pairs...)
	return result, result.document.Err()
}

func hiddenOf(b bsoncore.Document) hidden {
	order, _ := b.Lookup(orderField).AsInt64OK()
	revision, ok := b.Lookup(revisionField).ObjectIDOK()
	return hidden{order: order, revision: revision, isAbsent: !ok}
}

// eachElement calls visit for every field of a document, or every element of an array.
func eachElement(b []byte, visit func(key string, value bsoncore.Value) error) error {
	length, rest, ok := bsoncore.ReadLength(b)
	if !ok || int(length) > len(b) || length < 5 {
		return malformed()
	}
	for rest = rest[:length-4]; len(rest) > 1; {
		element, after, ok := bsoncore.ReadElement(rest)
		if !ok {
			return malformed()
		}
		key, err := element.KeyErr()
		if err != nil {
			return malformed()
		}
		value, err := element.ValueErr()
		if err != nil {
			return malformed()
		}
		if err := visit(key, value); err != nil {
			return err
		}
		rest = after
	}
	return nil
}

func malformed() error {
	return boterr.New(boterr.Internal, "", "the server sent malformed BSON")
}

// valueOf converts a BSON value to a value of package document. Integers of 32 bits become int64.
func valueOf(value bsoncore.Value) (any, error) {
	switch value.Type {
	case bsoncore.TypeNull, bsoncore.TypeUndefined:
		return nil, nil
	case bsoncore.TypeBoolean:
		return value.Boolean(), nil
	case bsoncore.TypeInt32:
		return int64(value.Int32()), nil
	case bsoncore.TypeInt64:
		return value.Int64(), nil
	case bsoncore.TypeDouble:
		return value.Double(), nil
	case bsoncore.TypeString:
		return value.StringValue(), nil
	case bsoncore.TypeDateTime:
		return time.UnixMilli(value.DateTime()).UTC(), nil
	case bsoncore.TypeEmbeddedDocument:
		return objectOf(value.Data)
	case bsoncore.TypeArray:
		return arrayOf(value.Data)
	default:
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"another program stored a %s here, a type that documents cannot contain; convert it to a string, a number or a date", value.Type)
	}
}

func objectOf(b []byte) (any, error) {
	pairs := make([]any, 0, 16)
	err := eachElement(b, func(key string, value bsoncore.Value) error {
		v, err := valueOf(value)
		pairs = append(pairs, key, v)
		return boterr.PrefixField(key, err)
	})
	if err != nil {
		return nil, err
	}
	o := document.O(pairs...)
	return o, o.Err()
}

func arrayOf(b []byte) (any, error) {
	items := make([]any, 0, 16)
	err := eachElement(b, func(key string, value bsoncore.Value) error {
		v, err := valueOf(value)
		items = append(items, v)
		return boterr.PrefixField(key, err)
	})
	if err != nil {
		return nil, err
	}
	a := document.A(items...)
	return a, a.Err()
}

// maxName is the longest name of a collection, in bytes. Together with the longest name of a database it stays
// within MongoDB's limit of 255 bytes.
const maxName = 190

// escapes replaces characters that MongoDB does not allow, and the escape character.
var escapes = strings.NewReplacer("%", "%25", "$", "%24")

// storedName returns a collection's name on the server. It escapes "$", "%" and a leading dot. If the name is
// too long, its end is replaced by a hash of the whole name.
func storedName(name string) string {
	stored := escapes.Replace(name)
	if strings.HasPrefix(stored, ".") {
		stored = "%2E" + stored[1:]
	}
	return shortened(stored, maxName)
}

// shortened replaces the end of a name that is too long by a hash of the whole name.
func shortened(name string, longest int) string {
	if len(name) <= longest {
		return name
	}
	hash := sha256.Sum256([]byte(name))
	end := "%h" + hex.EncodeToString(hash[:])
	return strings.ToValidUTF8(name[:longest-len(end)], "") + end
}
