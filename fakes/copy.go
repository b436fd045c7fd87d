package fakes

import (
	"reflect"

	"github.com/botctx/go-sdk/botctx"
)

// copyOf returns a deep copy of params or a result: pointers, slices, maps and the exported fields
// of structs are copied. What stands in unexported fields, as in a document.Object, never changes.
// What refers to itself does so in the copy. Errors and payment clients are no data, and stay the
// same.
func copyOf(v any) any {
	if v == nil {
		return nil
	}
	return copier{}.copied(reflect.ValueOf(v)).Interface()
}

// cloneOf is copyOf for a value of a known type.
func cloneOf[T any](v T) (made T) {
	reflect.ValueOf(&made).Elem().Set(copier{}.copied(reflect.ValueOf(&v).Elem()))
	return made
}

// copier has the copies made so far of what pointers, slices and maps refer to.
type copier map[reference]reflect.Value

// reference is what a pointer, a slice or a map refers to.
type reference struct {
	kind   reflect.Type
	at     uintptr
	length int
}

func (c copier) copied(v reflect.Value) reflect.Value {
	switch kind := v.Kind(); {
	case kind == reflect.Interface, kind == reflect.Pointer, kind == reflect.Slice, kind == reflect.Map:
		if v.IsNil() || isNoData(v.Type()) {
			return v
		}
		return c.copiedReference(v)
	case kind == reflect.Struct && !isNoData(v.Type()):
		return c.copiedStruct(v)
	default:
		return v
	}
}

// isNoData reports whether values of a type are used as they are.
func isNoData(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[error]()) || t.Implements(reflect.TypeFor[botctx.PaymentClient]())
}

// copiedReference copies what is not nil and refers to something else.
func (c copier) copiedReference(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		made := reflect.New(v.Type()).Elem()
		made.Set(c.copied(v.Elem()))
		return made
	case reflect.Pointer:
		return c.once(v, 0, reflect.New(v.Type().Elem()), func(made reflect.Value) {
			made.Elem().Set(c.copied(v.Elem()))
		})
	case reflect.Slice:
		return c.once(v, v.Len(), reflect.MakeSlice(v.Type(), v.Len(), v.Len()), func(made reflect.Value) {
			for i := range v.Len() {
				made.Index(i).Set(c.copied(v.Index(i)))
			}
		})
	default:
		return c.once(v, 0, reflect.MakeMapWithSize(v.Type(), v.Len()), func(made reflect.Value) {
			for entries := v.MapRange(); entries.Next(); {
				made.SetMapIndex(entries.Key(), c.copied(entries.Value()))
			}
		})
	}
}

// once fills the copy of what v refers to, or returns the one that was made before.
func (c copier) once(v reflect.Value, length int, made reflect.Value, fill func(made reflect.Value)) reflect.Value {
	of := reference{kind: v.Type(), at: v.Pointer(), length: length}
	if before, ok := c[of]; ok {
		return before
	}
	c[of] = made
	fill(made)
	return made
}

func (c copier) copiedStruct(v reflect.Value) reflect.Value {
	made := reflect.New(v.Type()).Elem()
	made.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			made.Field(i).Set(c.copied(v.Field(i)))
		}
	}
	return made
}
