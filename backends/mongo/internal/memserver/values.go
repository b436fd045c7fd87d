package memserver

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/document"
)

// idPrefix marks the texts that stand for object ids, which package document does not have.
const idPrefix = "\x00ObjectID "

// valueOf returns a value of BSON as one of package document.
func valueOf(value any) any {
	switch v := value.(type) {
	case bson.D:
		return objectOf(v)
	case bson.A:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = valueOf(item)
		}
		return document.A(items...)
	case bson.ObjectID:
		return idPrefix + v.Hex()
	case bson.DateTime:
		return v.Time()
	case bson.Regex:
		return document.O("$regex", v.Pattern, "$options", v.Options)
	case int32:
		return int64(v)
	case int64:
		if v == int64(int32(v)) {
			return float64(v) // MongoDB's $type tells it from an int, and package document does not.
		}
		return v
	default:
		return v
	}
}

func objectOf(d bson.D) document.Object {
	pairs := make([]any, 0, 2*len(d))
	for _, e := range d {
		pairs = append(pairs, e.Key, valueOf(e.Value))
	}
	return document.O(pairs...)
}

// bsonOf is the way back from valueOf. Whole numbers are as short as they can be, as those
// of a client should be.
func bsonOf(value any) any {
	switch v := value.(type) {
	case document.Object:
		return documentOf(v)
	case document.Array:
		items := make(bson.A, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, bsonOf(item))
		}
		return items
	case string:
		if hex, ok := strings.CutPrefix(v, idPrefix); ok {
			if id, err := bson.ObjectIDFromHex(hex); err == nil {
				return id
			}
		}
		return v
	case time.Time:
		return bson.NewDateTimeFromTime(v)
	case int64:
		if short := int32(v); int64(short) == v {
			return short
		}
		return v
	default:
		return v
	}
}

func documentOf(o document.Object) bson.D {
	d := make(bson.D, 0, o.Len())
	for key, value := range o.All() {
		d = append(d, bson.E{Key: key, Value: bsonOf(value)})
	}
	return d
}

// fieldOf returns a field of a document, absent where it is missing or of another type.
func fieldOf[T any](d bson.D, key string) (value T, ok bool) {
	for _, e := range d {
		if e.Key == key {
			value, ok = e.Value.(T)
			return value, ok
		}
	}
	return value, false
}

// numberOf returns a whole number of a document, 0 where there is none.
func numberOf(d bson.D, key string) int64 {
	if short, ok := fieldOf[int32](d, key); ok {
		return int64(short)
	}
	long, _ := fieldOf[int64](d, key)
	return long
}

// truthOf returns a truth of a document, false where there is none.
func truthOf(d bson.D, key string) bool {
	truth, _ := fieldOf[bool](d, key)
	return truth
}
