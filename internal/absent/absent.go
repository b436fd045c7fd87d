// Package absent finds interfaces in a configuration that look set but hold a nil pointer.
package absent

import (
	"reflect"

	"github.com/botctx/go-sdk/boterr"
)

// Is reports whether an interface is nil, or holds a nil pointer or function.
func Is(given any) bool { return given == nil || isHollow(given) }

// Check returns InvalidArgument at the field if an interface holds a nil pointer or function, because its methods
// would panic. Plain nil is accepted: it means the default, or that the part is omitted.
func Check(field string, given any) error {
	if !isHollow(given) {
		return nil
	}
	return boterr.Invalid(field, "is a nil %T: leave the field out, or check the error of the call that returned it", given)
}

// Require returns InvalidArgument at the field if an interface is nil, or holds a nil pointer or function. give describes
// the missing value, as for boterr.Missing.
func Require(field, give string, given any) error {
	if given == nil {
		return boterr.Missing(field, give)
	}
	return Check(field, given)
}

// CheckList returns InvalidArgument for a list with a nil element.
func CheckList[Value any](field string, list []Value) error {
	for i, value := range list {
		if Is(value) {
			return boterr.Invalid(field+boterr.Index(i), "is nil: leave it out")
		}
	}
	return nil
}

// isHollow reports whether an interface holds a nil pointer or function.
func isHollow(given any) bool {
	v := reflect.ValueOf(given)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}
