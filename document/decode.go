package document

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// ValueDecoder is implemented by types that say how they are read from documents.
// It goes before json.Unmarshaler.
type ValueDecoder interface {
	// DecodeValue is given a value as ValueOf returns it.
	DecodeValue(value any) error
}

// Decode reads an object into the struct or map that into points to, the way back
// from Encode. Names match with exact case. A value of another type is
// InvalidArgument; its Field is the path. Numbers convert where nothing is lost;
// null leaves the zero value. A field that the struct does not know is kept where
// it is a record, and ignored otherwise.
//
// A field that is tagged `document:"anyCase"` is read from its name in small and in capital
// letters. Several spellings at once must say the same; null says nothing. One that is tagged
// `document:"listOfOne"` is read from an array of one value, too.
func Decode(o Object, into any) error { return decodeInto(goDecoder{}, o, into) }

// DecodeStrict is Decode, and InvalidArgument for a field that the struct does not
// know and does not keep.
func DecodeStrict(o Object, into any) error { return decodeInto(goDecoder{strict: true}, o, into) }

// DecodeValue is Decode for any value.
func DecodeValue(value, into any) error { return decodeInto(goDecoder{}, value, into) }

// DecodeJSON reads JSON into what into points to, by the rules of Decode.
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

// goDecoder is one walk through a value.
type goDecoder struct {
	// strict refuses fields that nothing knows.
	strict bool
}

// The interfaces that decode by themselves.
var (
	decoderType         = reflect.TypeFor[ValueDecoder]()
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// value reads a value into a settable target.
func (d goDecoder) value(value any, target reflect.Value) error {
	switch target.Type() {
	case objectType:
		return assign[Object](value, target)
	case arrayType:
		return assign[Array](value, target)
	case timeType:
		return assignTime(value, target)
	}
	has := methodsOf(target.Type())
	if value == nil && !has.decodes {
		target.SetZero()
		return nil
	}
	if target.Kind() == reflect.Pointer {
		if target.IsNil() {
			target.Set(reflect.New(target.Type().Elem()))
		}
		return d.value(value, target.Elem())
	}
	if done, err := d.own(value, target, has); done {
		return err
	}
	return d.kind(value, target)
}

// own decodes by the target's own method, where it has one.
func (d goDecoder) own(value any, target reflect.Value, has typeMethods) (bool, error) {
	switch {
	case has.decodes:
		return true, target.Addr().Interface().(ValueDecoder).DecodeValue(value)
	case isRecord(target.Type()):
		return false, nil
	case has.unmarshals:
		text, err := AppendJSON(nil, value)
		if err != nil {
			return true, err
		}
		return true, asInvalid(target.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text))
	case has.unmarshalsText:
		s, ok := value.(string)
		if !ok {
			return true, WrongType("string", value)
		}
		return true, asInvalid(target.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)))
	default:
		return false, nil
	}
}

// asInvalid gives the error of a foreign decoder a code.
func asInvalid(err error) error {
	if _, ok := boterr.AsError(err); err == nil || ok {
		return err
	}
	return boterr.Invalid("", "%w", err)
}

// assign sets a target of exactly the type T.
func assign[T any](value any, target reflect.Value) error {
	var zero T
	if value == nil {
		target.SetZero()
		return nil
	}
	if _, ok := value.(T); !ok {
		return WrongType(TypeName(any(zero)), value)
	}
	target.Set(reflect.ValueOf(value))
	return nil
}

// assignTime reads a time, which JSON holds as text.
func assignTime(value any, target reflect.Value) error {
	text, ok := value.(string)
	if !ok {
		return assign[time.Time](value, target)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return boterr.Invalid("", "must be a time such as 2006-01-02T15:04:05.000Z: %w", err)
	}
	target.Set(reflect.ValueOf(t.UTC()))
	return nil
}

// kind decodes by the kind of the target.
func (d goDecoder) kind(value any, target reflect.Value) error {
	switch target.Kind() {
	case reflect.Interface:
		return assignInterface(value, target)
	case reflect.Bool:
		b, ok := value.(bool)
		if !ok {
			return WrongType("bool", value)
		}
		target.SetBool(b)
		return nil
	case reflect.String:
		s, ok := value.(string)
		if !ok {
			return WrongType("string", value)
		}
		target.SetString(s)
		return nil
	case reflect.Slice:
		return d.slice(value, target)
	case reflect.Map:
		return d.mapping(value, target)
	case reflect.Struct:
		return d.structure(value, target)
	default:
		return number(value, target)
	}
}

func assignInterface(value any, target reflect.Value) error {
	if !reflect.TypeOf(value).AssignableTo(target.Type()) {
		return boterr.Invalid("", "a %s cannot be a %s", TypeName(value), target.Type())
	}
	target.Set(reflect.ValueOf(value))
	return nil
}

// number reads a number into a Go number that can hold it exactly.
func number(value any, target reflect.Value) error {
	if !target.CanFloat() && !target.CanInt() && !target.CanUint() {
		return boterr.New(boterr.Internal, "", "nothing can be decoded into a %s", target.Type())
	}
	f, ok := FloatNumber(value)
	switch {
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

// integer reads a number into a Go integer that can hold it exactly. Of a Timestamp, what is
// below a millisecond is cut off.
func integer(value any, target reflect.Value) error {
	whole, ok := WholeNumber(value)
	f, _ := FloatNumber(value)
	switch {
	case !ok && f == math.Trunc(f):
		return boterr.Invalid("", "%v is out of range", value)
	case !ok && target.Type() == reflect.TypeFor[Timestamp]() && math.Abs(f) < 1<<53:
		target.SetInt(int64(f)) // As At does.
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
			return boterr.In(boterr.Index(i), err)
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
			return boterr.In(key, err)
		}
		fields.SetMapIndex(reflect.ValueOf(key).Convert(target.Type().Key()), field)
	}
	target.Set(fields)
	return nil
}

func (d goDecoder) structure(value any, target reflect.Value) error {
	o, ok := value.(Object)
	if !ok {
		return WrongType("object", value)
	}
	plan := planOf(target.Type())
	var unknown Builder
	for key, value := range o.All() {
		at, known := plan.find(key)
		if !known {
			unknown.Set(key, value)
			continue
		}
		field := &plan.fields[at]
		value, err := field.spelled(o, value)
		if err == nil {
			err = d.field(field, value, target.FieldByIndex(field.index))
		}
		if err != nil {
			return boterr.In(field.name, err)
		}
	}
	return d.leftOver(&unknown, plan, target)
}

// field reads the value of a field.
func (d goDecoder) field(f *fieldPlan, value any, target reflect.Value) error {
	array, isArray := value.(Array)
	switch {
	case !f.listOfOne || !isArray:
		return d.value(value, target)
	case array.Len() != 1:
		return boterr.Invalid("", "has %d elements: give one", array.Len())
	}
	err := d.value(array.At(0), target)
	if err == nil && target.IsZero() {
		err = boterr.Invalid("", "is empty") // Not the same as leaving the field out.
	}
	return boterr.In(boterr.Index(0), err)
}

// spelled returns the value of a field that an object has in one spelling or in several: the
// one that is not null.
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
			return nil, boterr.Invalid("", "has two values, as %.40s and as %.40s; give one", first, key)
		}
	}
	return value, nil
}

// leftOver keeps the fields that the struct does not know, or refuses them.
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
