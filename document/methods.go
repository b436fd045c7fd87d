package document

import (
	"reflect"
	"sync"
)

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
