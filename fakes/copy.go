package fakes

import (
	"reflect"

	"github.com/botctx/go-sdk/botctx"
)

// copyOf returns a copy of params or a result that shares nothing with it that can be
// changed: pointers, slices, maps and the exported fields of structs are copied. What
// stands in unexported fields, as in a document.Object, never changes. A payment client is
// no data, and stays the same.
func copyOf(v any) any {
	if v == nil {
		return nil
	}
	return copied(reflect.ValueOf(v)).Interface()
}

// cloneOf is copyOf for a value of a known type.
func cloneOf[T any](v T) (made T) {
	reflect.ValueOf(&made).Elem().Set(copied(reflect.ValueOf(&v).Elem()))
	return made
}

func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		made := reflect.New(v.Type().Elem())
		made.Elem().Set(copied(v.Elem()))
		return made
	case reflect.Interface:
		if v.IsNil() || v.Type() == reflect.TypeFor[botctx.PaymentClient]() {
			return v
		}
		made := reflect.New(v.Type()).Elem()
		made.Set(copied(v.Elem()))
		return made
	case reflect.Slice:
		return copiedSlice(v)
	case reflect.Map:
		return copiedMap(v)
	case reflect.Struct:
		return copiedStruct(v)
	default:
		return v
	}
}

func copiedSlice(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	made := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		made.Index(i).Set(copied(v.Index(i)))
	}
	return made
}

func copiedMap(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	made := reflect.MakeMapWithSize(v.Type(), v.Len())
	for entries := v.MapRange(); entries.Next(); {
		made.SetMapIndex(entries.Key(), copied(entries.Value()))
	}
	return made
}

func copiedStruct(v reflect.Value) reflect.Value {
	made := reflect.New(v.Type()).Elem()
	made.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			made.Field(i).Set(copied(v.Field(i)))
		}
	}
	return made
}
