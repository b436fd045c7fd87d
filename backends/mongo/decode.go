package mongo

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// found is a document that the server gave.
type found struct {
	document document.Object
	hidden   hidden
}

// read returns a stored document as its caller wrote it.
func read(b []byte) (found, error) {
	result := found{hidden: hidden{isAbsent: true}}
	pairs := make([]any, 0, 32)
	err := eachElement(b, func(key string, value bsoncore.Value) error {
		if key == hiddenField && value.Type == bsoncore.TypeEmbeddedDocument {
			result.hidden = hiddenOf(value.Document())
			if result.hidden.order != 0 && len(pairs) > 2 && pairs[0] == document.IDField { // Where the _id stood.
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

// eachElement calls visit for the fields of a document or the elements of an array.
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
	return boterr.New(boterr.Internal, "", "the server sent BSON that cannot be read")
}

// valueOf returns a value of BSON as one of package document. The 32-bit integers of
// other writers are integers here.
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
			"another program stored a %s here, which a document cannot hold; convert it to a string, a number or a date", value.Type)
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
