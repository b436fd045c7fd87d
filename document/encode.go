package document

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
)

// ValueEncoder is implemented by types that encode themselves for documents. It takes precedence over
// json.Marshaler, except for JSON written for a reader: a secret is stored in documents and hidden in JSON.
type ValueEncoder interface {
	// EncodeValue returns a value for ValueOf.
	EncodeValue() (any, error)
}

// Encode turns a struct or a map into an object, by the rules of encoding/json: the names in json tags,
// omitempty, omitzero, "-", and embedded structs.
//
// A struct with a field of type Object tagged `document:"unknown"` is a record: the content of that field is
// written after the known fields. Values that cannot be encoded are InvalidArgument; the Field is the path.
func Encode(v any) (Object, error) {
	value, err := goEncoder{}.value(reflect.ValueOf(v))
	if err != nil {
		return Object{}, err
	}
	o, ok := value.(Object)
	if !ok {
		return Object{}, WrongType("object", value)
	}
	return o, nil
}

// EncodeJSON encodes v as JSON for a reader. It follows the rules of Encode, except that a type with a
// MarshalJSON method is written by it, so that secrets stay hidden. A record can call EncodeJSON in its own
// MarshalJSON.
func EncodeJSON(v any) ([]byte, error) {
	value, err := goEncoder{forReader: true}.value(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	return AppendJSON(make([]byte, 0, SizeOf(value)), value) // JSON is usually smaller than BSON.
}

// EncodeLossyJSON is EncodeJSON with null in place of the numbers that JSON cannot represent, NaN and infinities, as
// JSON.stringify does.
func EncodeLossyJSON(v any) ([]byte, error) {
	value, err := goEncoder{forReader: true}.value(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	text, err := AppendJSON(make([]byte, 0, SizeOf(value)), value)
	if err != nil {
		return AppendJSON(nil, withoutNaN(value))
	}
	return text, nil
}

// withoutNaN returns a value with null in place of NaN and infinities.
func withoutNaN(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case Object:
		return v.Shape().Object(func(i int) any { return withoutNaN(v.At(i)) })
	case Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, withoutNaN(item))
		}
		return ArrayOf(items)
	}
	return value
}

// ForReader returns v as EncodeJSON encodes it, but with readable times: each Timestamp is a time.Time, which
// JSON writes as "2026-01-02T00:00:00.000Z", and so are createdAt and updatedAt of an object with an _id,
// such as an entry of a data source. All other values are exact.
func ForReader(v any) (any, error) {
	return goEncoder{forReader: true, showsTimes: true}.value(reflect.ValueOf(v))
}

// Text returns the result of ForReader as JSON, without credentials. Failures of tests print records with it.
func Text(v any) string {
	value, err := ForReader(v)
	var text []byte
	if err == nil {
		text, err = AppendJSON(nil, value)
	}
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return display.Text(string(text))
}

// LookupIn returns the value that Lookup would find at a path in the result of Encode(v), but encodes only
// the necessary part.
func LookupIn(v any, path string) (any, bool, error) {
	name, rest, isInside := strings.Cut(path, ".")
	of := reflect.Indirect(reflect.ValueOf(v))
	if of.Kind() != reflect.Struct || strings.IndexByte(path, '[') >= 0 {
		whole, err := Encode(v)
		value, ok := whole.Lookup(path)
		return value, ok && err == nil, err
	}
	value, err := goEncoder{}.named(name, of)
	if err != nil || value == Missing {
		return nil, false, err
	}
	if !isInside {
		return value, true, nil
	}
	value, ok := lookupDotted(value, rest)
	return value, ok, nil
}

type goEncoder struct {
	// forReader is true if the value becomes JSON for a reader, showsTimes if timestamps become times.
	forReader, showsTimes bool
	depth                 int
}

// The types with special handling.
var (
	objectType    = reflect.TypeFor[Object]()
	arrayType     = reflect.TypeFor[Array]()
	stringType    = reflect.TypeFor[string]()
	timeType      = reflect.TypeFor[time.Time]()
	timestampType = reflect.TypeFor[Timestamp]()
	numberType    = reflect.TypeFor[json.Number]()
	encoderType   = reflect.TypeFor[ValueEncoder]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

func (e goEncoder) value(v reflect.Value) (any, error) {
	if !v.IsValid() {
		return nil, nil //nolint:nilnil // It is the value null.
	}
	inner := goEncoder{forReader: e.forReader, showsTimes: e.showsTimes, depth: e.depth + 1}
	if inner.depth > MaxNesting {
		return nil, boterr.Invalid("", "is nested deeper than %d levels, or contains itself", MaxNesting)
	}
	if value, isKnown, err := e.known(v); isKnown {
		return value, err
	}
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil, nil //nolint:nilnil // It is the value null.
		}
		if elem := v.Elem().Type(); elem == objectType || elem == arrayType {
			return e.value(v.Elem()) // It is already a value. MarshalJSON would turn its dates into texts.
		}
	}
	if value, ok, err := inner.own(v); ok {
		return value, err
	}
	return inner.kind(v)
}

func (e goEncoder) known(v reflect.Value) (value any, isKnown bool, err error) {
	isKnown = true
	switch v.Type() {
	case objectType:
		value, err = presentObject(v.Interface().(Object))
		if e.showsTimes && err == nil {
			value = withReadableStamps(value)
		}
	case timestampType:
		value = v.Int()
		if e.showsTimes && v.Int() != 0 {
			value = Timestamp(v.Int()).Time()
		}
	case arrayType:
		value, err = presentArray(v.Interface().(Array))
	case timeType:
		value, err = ValueOf(v.Interface())
	case numberType:
		value, err = parseNumber(v.String())
	default:
		isKnown = false
	}
	return value, isKnown, err
}

// withReadableStamps returns a record with its stamps as times. Other values are returned unchanged.
func withReadableStamps(value any) any {
	o, isObject := value.(Object)
	if !isObject || !o.Has(IDField) {
		return value
	}
	for _, name := range []string{"createdAt", "updatedAt"} {
		if at, isStamp := o.Value(name).(int64); isStamp && at != 0 {
			o = o.With(name, Timestamp(at).Time())
		}
	}
	return o
}

func (e goEncoder) own(v reflect.Value) (value any, ok bool, err error) {
	has := methodsOf(v.Type())
	if has.encodes && !(e.forReader && has.marshals) {
		own, err := withMethods(v, encoderType).(ValueEncoder).EncodeValue()
		if err != nil {
			return nil, true, err
		}
		value, err := ValueOf(own)
		return value, true, err
	}
	if isRecord(v.Type()) {
		return nil, false, nil
	}
	if has.marshals {
		text, err := withMethods(v, marshalerType).(json.Marshaler).MarshalJSON()
		if err != nil {
			return nil, true, err
		}
		value, err := ParseJSON(text)
		return value, true, err
	}
	if has.marshalsText {
		text, err := withMethods(v, textType).(encoding.TextMarshaler).MarshalText()
		return string(text), true, err
	}
	return nil, false, nil
}

// isRecord reports whether a struct, or the struct that a pointer points to, keeps unknown fields.
func isRecord(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && planOf(t).unknown != nil
}

func (e goEncoder) kind(v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return unsigned(v.Uint())
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.String:
		return validText(v.String()), nil
	case reflect.Pointer, reflect.Interface:
		return e.value(v.Elem())
	case reflect.Slice, reflect.Array:
		return e.list(v)
	case reflect.Map:
		return e.mapping(v)
	case reflect.Struct:
		return e.structure(v)
	default:
		return nil, invalidType(v.Type())
	}
}

func unsigned(n uint64) (any, error) {
	if i := int64(n); i >= 0 {
		return i, nil
	}
	return nil, boterr.Invalid("", "%d is beyond the range of int64", n)
}

func (e goEncoder) list(v reflect.Value) (any, error) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return nil, nil //nolint:nilnil // It is the value null.
	}
	items := make([]any, v.Len())
	for i := range items {
		var err error
		if items[i], err = e.value(v.Index(i)); err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
	}
	return presentArray(ArrayOf(items))
}

func (e goEncoder) mapping(v reflect.Value) (any, error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, invalidType(v.Type())
	}
	if v.IsNil() {
		return nil, nil //nolint:nilnil // It is the value null.
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return Compare(a.String(), b.String()) })
	b := NewBuilder(len(keys))
	for _, key := range keys {
		value, err := e.value(v.MapIndex(key))
		if err != nil {
			return nil, boterr.PrefixField(key.String(), err)
		}
		b.Set(validText(key.String()), value)
	}
	return presentObject(b.Object())
}

// named encodes the field of a struct with a name, or returns Missing if there is none.
func (e goEncoder) named(name string, of reflect.Value) (any, error) {
	plan := planOf(of.Type())
	if at, known := plan.byName[name]; known {
		return e.field(&plan.fields[at], of)
	}
	if plan.unknown == nil {
		return Missing, nil
	}
	return of.FieldByIndex(plan.unknown).Interface().(Object).Value(name), nil
}

// field encodes a field of a struct, or returns Missing if it is omitted.
func (e goEncoder) field(f *fieldPlan, of reflect.Value) (any, error) {
	at := of.FieldByIndex(f.index)
	if f.isOmitted(at) {
		return Missing, nil
	}
	value, err := e.value(at)
	return value, boterr.PrefixField(f.name, err)
}

func (e goEncoder) structure(v reflect.Value) (any, error) {
	plan := planOf(v.Type())
	b := NewBuilder(len(plan.fields))
	for i := range plan.fields {
		field := &plan.fields[i]
		value, err := e.field(field, v)
		if err != nil {
			return nil, err
		}
		if value != Missing {
			b.Set(field.name, value)
		}
	}
	if plan.unknown != nil {
		unknown := v.FieldByIndex(plan.unknown).Interface().(Object)
		for key, value := range unknown.All() {
			if _, known := plan.byName[key]; !known {
				b.Set(key, value)
			}
		}
	}
	return presentObject(b.Object())
}

// typeMethods are the methods with which values of a type encode themselves.
type typeMethods struct{ encodes, marshals, marshalsText bool }

// methods caches the methods of each type. Its content depends only on types.
var methods sync.Map //nolint:gochecknoglobals // A cache of reflection, like plans.

// methodsOf returns the methods of a type. Predeclared types, such as int, have none.
func methodsOf(t reflect.Type) typeMethods {
	if t.PkgPath() == "" && t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t == stringType {
		return typeMethods{}
	}
	if known, ok := methods.Load(t); ok {
		return known.(typeMethods)
	}
	pointer := reflect.PointerTo(t)
	encodes := func(by reflect.Type) bool {
		return t.Implements(by) || t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && pointer.Implements(by)
	}
	known, _ := methods.LoadOrStore(t, typeMethods{
		encodes: encodes(encoderType), marshals: encodes(marshalerType), marshalsText: encodes(textType),
	})
	return known.(typeMethods)
}

// withMethods returns v, or a pointer to a copy of it, as a value that implements methods.
func withMethods(v reflect.Value, methods reflect.Type) any {
	if v.Type().Implements(methods) {
		return v.Interface()
	}
	pointer := reflect.New(v.Type())
	pointer.Elem().Set(v)
	return pointer.Interface()
}
