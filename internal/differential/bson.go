package differential

import (
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"github.com/botctx/go-sdk/document"
)

// insertedID is the _id that stands for one that an engine made itself.
const insertedID = "inserted"

// toBSON returns a value in the driver's types. An integer that fits 32 bits is an
// int32, as drivers write it, so that $type agrees.
func toBSON(value any) any {
	switch v := value.(type) {
	case document.Object:
		return objectToBSON(v)
	case document.Array:
		return arrayToBSON(v)
	case int64:
		if v >= math.MinInt32 && v <= math.MaxInt32 {
			return int32(v)
		}
		return v
	case time.Time:
		return primitive.NewDateTimeFromTime(v)
	default:
		return v
	}
}

func objectToBSON(o document.Object) bson.D {
	fields := make(bson.D, 0, o.Len())
	for key, value := range o.All() {
		fields = append(fields, bson.E{Key: key, Value: toBSON(value)})
	}
	return fields
}

func arrayToBSON(a document.Array) bson.A {
	items := make(bson.A, 0, a.Len())
	for _, item := range a.All() {
		items = append(items, toBSON(item))
	}
	return items
}

// fromBSON is the way back.
func fromBSON(value any) (any, error) {
	switch v := value.(type) {
	case bson.D:
		return objectFromBSON(v)
	case bson.A:
		items := make([]any, 0, len(v))
		for _, item := range v {
			converted, err := fromBSON(item)
			if err != nil {
				return nil, err
			}
			items = append(items, converted)
		}
		return document.A(items...), nil
	case int32:
		return int64(v), nil
	case nil, bool, int64, float64, string:
		return v, nil
	case primitive.ObjectID:
		return insertedID, nil
	case primitive.DateTime:
		return v.Time().UTC(), nil
	default:
		return nil, fmt.Errorf("lungo gave a %T", value)
	}
}

func objectFromBSON(fields bson.D) (document.Object, error) {
	o := document.O()
	for _, field := range fields {
		value, err := fromBSON(field.Value)
		if err != nil {
			return o, err
		}
		o = o.With(field.Key, value)
	}
	return o, o.Err()
}

func objectsFromBSON(list []bson.D) ([]document.Object, error) {
	objects := make([]document.Object, 0, len(list))
	for _, fields := range list {
		o, err := objectFromBSON(fields)
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}
