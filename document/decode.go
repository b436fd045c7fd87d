package document

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// ValueDecoder is implemented by types that decode themselves from documents. It takes precedence over
// json.Unmarshaler.
type ValueDecoder interface {
	// DecodeValue decodes a value as ValueOf returns it.
	DecodeValue(value any) error
}

// FieldDecoder is implemented by structs that decode some fields without reflection, in a third of the time.
// internal/generate writes the method.
type FieldDecoder interface {
	// DecodeField decodes the field with a name from a value as ValueOf returns it. It reports false for a name
	// that is not a field of a plain type; that field is then handled as if there were no such method.
	DecodeField(name string, value any) (isDecoded bool, err error)
}

// Plain is the set of field types that a FieldDecoder reads.
type Plain interface {
	string | bool | int64 | Timestamp | Object | Array
}

// DecodePlain is DecodeValue for a field of a plain type. A value of exactly this type is assigned; others
// are decoded by the rules of Decode.
func DecodePlain[T Plain](value any, into *T) error {
	if exact, ok := value.(T); ok {
		*into = exact
		return nil
	}
	if at, ok := any(into).(*Timestamp); ok {
		if milliseconds, ok := value.(int64); ok {
			*at = Timestamp(milliseconds)
			return nil
		}
	}
	return goDecoder{}.value(value, reflect.ValueOf(into).Elem())
}

// Decode reads an object into the struct or map that into points to; it is the reverse of Encode. Names match
// with exact case: a field without a tag is read from its Go name, and a key that differs from it only in
// case is InvalidArgument. So is a value of a wrong type; the Field is its path. Numbers convert if nothing
// is lost; null leaves the zero value. Unknown fields are kept if the struct is a record, and ignored
// otherwise.
//
// A field tagged `document:"anyCase"` is read from its name in lower and upper case. Several spellings in one
// object must agree; null is ignored. A field tagged `document:"listOfOne"` also accepts an array of one
// value, and a string tagged `document:"orNumber"` also a whole number. A string tagged `document:"notEmpty"` refuses "".
func Decode(o Object, into any) error { return decodeInto(goDecoder{}, o, into) }

// DecodeStrict is like Decode, but returns InvalidArgument for a field that the struct neither knows nor keeps.
func DecodeStrict(o Object, into any) error { return decodeInto(goDecoder{strict: true}, o, into) }

// DecodeValue is like Decode, for any value.
func DecodeValue(value, into any) error { return decodeInto(goDecoder{}, value, into) }

// DecodeJSON reads JSON into the variable that into points to, by the rules of Decode.
func DecodeJSON(text []byte, into any) error {
	value, err := ParseJSON(text)
	if err != nil {
		return err
	}
	return DecodeValue(value, into)
}

func decodeInto(d goDecoder, value, into any) error {
	if o, ok := value.(Object); ok && o.Err() != nil {
		return o.Err()
	}
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return boterr.New(boterr.Internal, "", "decoding needs a pointer that is not nil, got %T", into)
	}
	return d.value(value, target.Elem())
}

type goDecoder struct {
	// strict refuses unknown fields.
	strict bool
}

func (d goDecoder) value(value any, target reflect.Value) error {
	return readerOf(target.Type())(d, value, target)
}

// number reads a number into a Go number that can hold it exactly.
func number(_ goDecoder, value any, target reflect.Value) error {
	if !target.CanFloat() && !target.CanInt() && !target.CanUint() {
		return boterr.New(boterr.Internal, "", "nothing can be decoded into a %s", target.Type())
	}
	f, ok := FloatNumber(value)
	at, isTime := value.(time.Time)
	switch {
	case isTime && target.Type() == timestampType:
		target.SetInt(int64(TimestampOf(at)))
		return nil
	case !ok:
		return WrongType("number", value)
	case target.CanFloat() && (target.OverflowFloat(f) || !Equal(value, f)):
		return boterr.Invalid("", "%v is out of range", value)
	case target.CanFloat():
		target.SetFloat(f)
		return nil
	default:
		return integer(value, target)
	}
}

// integer reads a number into a Go integer that can hold it exactly. Timestamps lose fractions of a
// millisecond.
func integer(value any, target reflect.Value) error {
	whole, ok := WholeNumber(value)
	f, _ := FloatNumber(value)
	switch {
	case !ok && f == math.Trunc(f):
		return boterr.Invalid("", "%v is out of range", value)
	case !ok && target.Type() == timestampType && math.Abs(f) < 1<<53:
		target.SetInt(int64(f)) // Timestamps lose fractions of a millisecond.
	case !ok:
		return boterr.Invalid("", "must be a whole number, got %s", Excerpt(value))
	case target.CanInt() && !target.OverflowInt(whole):
		target.SetInt(whole)
	case target.CanUint() && whole >= 0 && !target.OverflowUint(uint64(whole)):
		target.SetUint(uint64(whole))
	default:
		return boterr.Invalid("", "%d is out of range", whole)
	}
	return nil
}

func (d goDecoder) slice(value any, target reflect.Value) error {
	array, ok := value.(Array)
	if !ok {
		return WrongType("array", value)
	}
	items := reflect.MakeSlice(target.Type(), array.Len(), array.Len())
	for i, item := range array.All() {
		if err := d.value(item, items.Index(i)); err != nil {
			return boterr.PrefixField(boterr.Index(i), err)
		}
	}
	target.Set(items)
	return nil
}

func (d goDecoder) mapping(value any, target reflect.Value) error {
	o, ok := value.(Object)
	if !ok {
		return WrongType("object", value)
	}
	if target.Type().Key().Kind() != reflect.String {
		return boterr.New(boterr.Internal, "", "nothing can be decoded into a %s", target.Type())
	}
	fields := reflect.MakeMapWithSize(target.Type(), o.Len())
	for key, value := range o.All() {
		field := reflect.New(target.Type().Elem()).Elem()
		if err := d.value(value, field); err != nil {
			return boterr.PrefixField(key, err)
		}
		fields.SetMapIndex(reflect.ValueOf(key).Convert(target.Type().Key()), field)
	}
	target.Set(fields)
	return nil
}

func (d goDecoder) structure(plan *structPlan, value any, target reflect.Value) error {
	o, ok := value.(Object)
	if !ok {
		return WrongType("object", value)
	}
	var fields FieldDecoder
	if plan.decodesFields {
		fields = target.Addr().Interface().(FieldDecoder)
	}
	var unknown Builder
	next := 0
	for key, value := range o.All() {
		if fields != nil {
			if isDecoded, err := fields.DecodeField(key, value); err != nil {
				return boterr.PrefixField(key, err)
			} else if isDecoded {
				continue
			}
		}
		at, known := plan.find(key, next)
		if !known {
			if err := plan.checkUnread(key, o); err != nil {
				return err
			}
			unknown.Set(key, value)
			continue
		}
		next = at + 1
		field := &plan.fields[at]
		value, err := field.spelled(o, value)
		if err == nil {
			err = field.read(d, value, target.FieldByIndex(field.index))
		}
		if err != nil {
			return boterr.PrefixField(field.name, err)
		}
	}
	return d.leftOver(&unknown, plan, target)
}

// spelled returns the value of a field that an object may contain in several spellings. It ignores null, and
// returns an error if two spellings have different values.
func (f *fieldPlan) spelled(o Object, value any) (any, error) {
	if !f.anyCase || o.Len() == 1 {
		return value, nil
	}
	first := ""
	for key, other := range o.All() {
		switch {
		case other == nil || !strings.EqualFold(key, f.name):
		case first == "":
			first, value = key, other
		case !Equal(value, other):
			return nil, boterr.Invalid("", "has two values, %.40s and %.40s; give one", first, key)
		}
	}
	return value, nil
}

// leftOver keeps unknown fields, or refuses them.
func (d goDecoder) leftOver(unknown *Builder, plan *structPlan, target reflect.Value) error {
	switch {
	case len(unknown.names()) == 0:
		return nil
	case plan.unknown != nil:
		target.FieldByIndex(plan.unknown).Set(reflect.ValueOf(unknown.Object()))
		return nil
	case d.strict:
		return boterr.Invalid(unknown.names()[0], "there is no such field")
	default:
		return nil
	}
}
