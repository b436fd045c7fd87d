package document

import (
	"reflect"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// As returns a value as a T, by the rules of Decode: an object as a struct, an array of objects as a slice of
// structs. The value may be anything that ValueOf accepts, such as the entries of a data source:
//
//	progress, err := document.As[Progress](bot.Member.Meta)
//	places, err := document.As[[]Place](near.Entries)
//
// A missing or null value gives the zero value; fields unknown to T are ignored. Fields are named by json
// tags, and match with exact case. InvalidArgument: a value does not fit, or a key differs only in case from
// a field without a tag, such as price from Price; Field is its path, such as "[2].price".
func As[T any](value any) (T, error) {
	var v, none T
	plain, err := ValueOf(value)
	if err == nil {
		err = DecodeValue(plain, &v)
	}
	if err != nil {
		return none, err
	}
	return v, nil
}

// Change reads an object as a struct T, calls change with it, and sets the changed values in the object:
//
//	err := document.Change(&bot.Member.Meta, func(p *Progress) { p.Step++ })
//
// Keys unknown to T are kept, and so are keys that change did not modify, also in nested objects. A key that
// T omits afterwards, because of omitempty or omitzero, is removed. Arrays are replaced as a whole.
//
// InvalidArgument: the object does not fit T, or T contains something that is not a value; Field is the path,
// and the object is unchanged.
func Change[T any](o *Object, change func(*T)) error {
	v, err := As[T](*o)
	if err != nil {
		return err
	}
	before, err := Encode(v)
	if err != nil {
		return err
	}
	change(&v)
	after, err := Encode(v)
	if err == nil {
		err = after.Err()
	}
	if err != nil {
		return err
	}
	*o = o.withChanges(before, after)
	return nil
}

// withChanges returns o with the differences between two objects applied.
func (o Object) withChanges(before, after Object) Object {
	for key := range before.All() {
		if _, stays := after.Field(key); !stays {
			o = o.Without(key)
		}
	}
	for key, value := range after.All() {
		if old := before.Value(key); !Identical(old, value) {
			o = o.Put(key, changed(o.Value(key), old, value))
		}
	}
	return o
}

// changed returns the replacement for a value, given the difference between before and after.
func changed(value, before, after any) any {
	inner, isObject := value.(Object)
	from, wasObject := before.(Object)
	to, becomesObject := after.(Object)
	if isObject && wasObject && becomesObject {
		return inner.withChanges(from, to)
	}
	return after
}

// OneOrMany is a parameter that accepts one T or an array of them. In Go it is a slice. It is read from
// either form in JSON, and written as an array.
type OneOrMany[T any] []T

// One returns a OneOrMany of the values given. Without values it is empty but present, so that an operation does not
// take its default instead.
func One[T any](values ...T) OneOrMany[T] {
	if values == nil {
		return OneOrMany[T]{}
	}
	return values
}

// DecodeValue reads one value or an array of them. null gives nil.
func (m *OneOrMany[T]) DecodeValue(value any) error {
	array, ok := value.(Array)
	if !ok {
		if value == nil {
			*m = nil
			return nil
		}
		var one T
		if err := DecodeValue(value, &one); err != nil {
			return err
		}
		*m = OneOrMany[T]{one}
		return nil
	}
	many := make(OneOrMany[T], array.Len())
	for i, item := range array.All() {
		if err := (goDecoder{}).value(item, reflect.ValueOf(&many[i]).Elem()); err != nil {
			return boterr.PrefixField(boterr.Index(i), err)
		}
	}
	*m = many
	return nil
}

// UnmarshalJSON reads one value or an array of them.
func (m *OneOrMany[T]) UnmarshalJSON(text []byte) error {
	value, err := ParseJSON(text)
	if err != nil {
		return err
	}
	return m.DecodeValue(value)
}

// Timestamp is a time as records store it: milliseconds since the Unix epoch. Zero counts as absent.
type Timestamp int64

// TimestampOf returns t as a Timestamp, without fractions of a millisecond.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixMilli()) }

// Time returns the Timestamp as a time in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// IsZero reports whether t is absent.
func (t Timestamp) IsZero() bool { return t == 0 }

// String returns t as JSON shows it, "2026-01-02T00:00:00.000Z", or "0" if it is absent.
func (t Timestamp) String() string {
	if t == 0 {
		return "0"
	}
	return t.Time().Format(timeLayout)
}

// GoString returns the number, followed by the result of String, so that test failures are readable.
func (t Timestamp) GoString() string {
	if t == 0 {
		return "0"
	}
	return strconv.FormatInt(int64(t), 10) + " /* " + t.String() + " */"
}
