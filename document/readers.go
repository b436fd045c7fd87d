package document

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// The interfaces of types that decode themselves.
var (
	decoderType         = reflect.TypeFor[ValueDecoder]()
	fieldDecoderType    = reflect.TypeFor[FieldDecoder]()
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

type reader func(d goDecoder, value any, target reflect.Value) error

// readers caches the reader of each type. Its content depends only on types.
var readers sync.Map //nolint:gochecknoglobals // A cache of reflection, like plans.

func readerOf(t reflect.Type) reader {
	if known, ok := readers.Load(t); ok {
		return known.(reader)
	}
	known, _ := readers.LoadOrStore(t, newReader(t))
	return known.(reader)
}

// newReader returns the reader for values of a type: its own method, if it has one, or else a reader for its
// kind. A record keeps unknown fields, which json.Unmarshaler would lose.
func newReader(t reflect.Type) reader {
	pointer := reflect.PointerTo(t)
	switch {
	case t == objectType:
		return assign[Object]
	case t == arrayType:
		return assign[Array]
	case t == timeType:
		return assignTime
	case pointer.Implements(decoderType):
		return assignByDecoder
	case t.Kind() == reflect.Pointer:
		return orZero(assignPointer)
	case isRecord(t):
		return orZero(structureReader(t))
	case pointer.Implements(unmarshalerType):
		return orZero(assignByJSON)
	case pointer.Implements(textUnmarshalerType):
		return orZero(assignByText)
	default:
		return orZero(readerOfKind(t))
	}
}

// readerOfKind returns the reader for types without a method for decoding.
func readerOfKind(t reflect.Type) reader {
	switch t.Kind() {
	case reflect.Interface:
		return assignInterface
	case reflect.Bool:
		return assignBool
	case reflect.String:
		return assignString
	case reflect.Slice:
		return goDecoder.slice
	case reflect.Map:
		return goDecoder.mapping
	case reflect.Struct:
		return structureReader(t)
	default:
		return number
	}
}

// structureReader returns the reader of a struct. Its plan is made on first use, because a struct may refer
// to its own type through a pointer or a list.
func structureReader(t reflect.Type) reader {
	plan := sync.OnceValue(func() *structPlan { return planOf(t) })
	return func(d goDecoder, value any, target reflect.Value) error {
		return d.structure(plan(), value, target)
	}
}

// orZero wraps a reader to read null as the zero value.
func orZero(read reader) reader {
	return func(d goDecoder, value any, target reflect.Value) error {
		if value == nil {
			target.SetZero()
			return nil
		}
		return read(d, value, target)
	}
}

func assignPointer(d goDecoder, value any, target reflect.Value) error {
	if target.IsNil() {
		target.Set(reflect.New(target.Type().Elem()))
	}
	return d.value(value, target.Elem())
}

// orListOfOne returns a reader that also accepts an array of one value.
func orListOfOne(read reader) reader {
	return func(d goDecoder, value any, target reflect.Value) error {
		array, isArray := value.(Array)
		switch {
		case !isArray:
			return read(d, value, target)
		case array.Len() != 1:
			return boterr.Invalid("", "has %d elements: give one", array.Len())
		}
		err := read(d, array.At(0), target)
		if err == nil && target.IsZero() {
			err = boterr.Invalid("", "is empty") // The target would look as if the field were missing.
		}
		return boterr.PrefixField(boterr.Index(0), err)
	}
}

// orNumber returns a reader of a text that also accepts a whole number, unless it may have been rounded.
func orNumber(read reader) reader {
	return func(d goDecoder, value any, target reflect.Value) error {
		whole, isWhole := WholeNumber(value)
		if _, isFloat := value.(float64); isWhole && (!isFloat || -MaxExact <= whole && whole <= MaxExact) {
			value = strconv.FormatInt(whole, 10)
		}
		return read(d, value, target)
	}
}

// unlessEmpty returns a reader that refuses "".
func unlessEmpty(read reader) reader {
	return func(d goDecoder, value any, target reflect.Value) error {
		if value == "" {
			return boterr.Invalid("", "is empty; give a value, or leave it out to select more")
		}
		return read(d, value, target)
	}
}

func assignByDecoder(_ goDecoder, value any, target reflect.Value) error {
	return target.Addr().Interface().(ValueDecoder).DecodeValue(value)
}

func assignByJSON(_ goDecoder, value any, target reflect.Value) error {
	text, err := AppendJSON(nil, value)
	if err != nil {
		return err
	}
	return asInvalid(target.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text))
}

func assignByText(_ goDecoder, value any, target reflect.Value) error {
	s, ok := value.(string)
	if !ok {
		return WrongType("string", value)
	}
	return asInvalid(target.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)))
}

// asInvalid makes an error without a code, such as of a json.Unmarshaler, InvalidArgument.
func asInvalid(err error) error {
	if _, ok := boterr.AsError(err); err == nil || ok {
		return err
	}
	return boterr.Invalid("", "%w", err)
}

// assign sets a target of exactly the type T.
func assign[T any](_ goDecoder, value any, target reflect.Value) error {
	typed, ok := value.(T)
	if !ok && value != nil {
		return WrongType(JSONType(any(typed)), value)
	}
	*target.Addr().Interface().(*T) = typed
	return nil
}

// assignTime reads a time. JSON represents it as text.
func assignTime(d goDecoder, value any, target reflect.Value) error {
	text, ok := value.(string)
	if !ok {
		return assign[time.Time](d, value, target)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return boterr.Invalid("", "must be a time such as 2006-01-02T15:04:05.000Z: %w", err)
	}
	target.Set(reflect.ValueOf(t.UTC()))
	return nil
}

func assignBool(_ goDecoder, value any, target reflect.Value) error {
	b, ok := value.(bool)
	if !ok {
		return WrongType("boolean", value)
	}
	target.SetBool(b)
	return nil
}

func assignString(_ goDecoder, value any, target reflect.Value) error {
	s, ok := value.(string)
	if !ok {
		return WrongType("string", value)
	}
	target.SetString(s)
	return nil
}

func assignInterface(_ goDecoder, value any, target reflect.Value) error {
	if !reflect.TypeOf(value).AssignableTo(target.Type()) {
		return boterr.Invalid("", "a %s cannot be decoded into the Go type %s", JSONType(value), target.Type())
	}
	target.Set(reflect.ValueOf(value))
	return nil
}
