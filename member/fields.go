package member

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// fieldTypes are the types of the fields that a patch may change. A value of another
// type would leave a member that nobody can read.
var fieldTypes = map[string]string{
	"botId": typeString, fieldExternalID: typeString, "firstName": typeString, "lastName": typeString,
	"gender": typeString, "platform": typeString, "email": typeString, "locale": typeString,
	"customLocale": typeString, "group": typeString, "admin": typeString, "profilePic": typeString,
	"botMeta": typeObject, "meta": typeObject, "profile": typeObject,
	"tags": typeArray,
}

// The names of types, as document.TypeName gives them.
const (
	typeString = "string"
	typeObject = "object"
	typeArray  = "array"
)

// arrayOperators leave an array an array.
var arrayOperators = []string{"$push", "$pull", "$pullAll", "$addToSet", "$pop"}

// checkPatch refuses a patch that would give a field of members another type. The
// Field of the error is the path behind "patch". What else is wrong with the patch is
// found when it is compiled.
func checkPatch(p record.Patch) error {
	if !p.WithModifier {
		return boterr.PrefixField("patch", checkFields(p.Patch))
	}
	for operator, operand := range p.Patch.All() {
		if !strings.HasPrefix(operator, "$") {
			return boterr.PrefixField("patch", checkFields(p.Patch))
		}
		paths, _ := operand.(document.Object)
		if err := checkOperator(operator, paths); err != nil {
			return boterr.PrefixField("patch", boterr.PrefixField(operator, err))
		}
	}
	return nil
}

// checkFields checks fields that are set.
func checkFields(fields document.Object) error {
	for path, value := range fields.All() {
		if err := checkField(path, value); err != nil {
			return boterr.PrefixField(path, err)
		}
	}
	return nil
}

// checkField checks a field that is set. A text may be null, which empties it.
func checkField(path string, value any) error {
	field, inside, isInside := strings.Cut(path, ".")
	expected, known := fieldTypes[field]
	switch {
	case !known, isInside && expected == typeObject, isInside && keepsArray(expected, inside):
		return nil
	case isInside && expected == typeArray:
		return boterr.Invalid("", "%s would become an object where a member has none; set them whole, or use $push", field)
	case isInside:
		return boterr.Invalid("", "%s is a text, which has no fields", field)
	case value == nil && expected == typeString, document.TypeName(value) == expected:
		return nil
	default:
		return boterr.Invalid("", "must be of type %s, got %s", expected, document.TypeName(value))
	}
}

// keepsArray reports whether a path within a field of a type changes elements of an array alone. One that names an
// element by its number makes an object where there is no array.
func keepsArray(of, inside string) bool { return of == typeArray && strings.HasPrefix(inside, "$") }

// checkOperator checks the fields that an operator changes.
func checkOperator(operator string, paths document.Object) error {
	switch operator {
	case "$set", "$setOnInsert":
		return checkFields(paths)
	case "$unset":
		return nil
	}
	for path, operand := range paths.All() {
		changed := path
		if operator == "$rename" {
			changed, _ = operand.(string)
		}
		if !leavesType(operator, changed) {
			return boterr.Invalid(path, "%s could leave a %s that is of another type; use $set", operator, changed)
		}
	}
	return nil
}

// leavesType reports whether an operator on a path leaves the field its type.
func leavesType(operator, path string) bool {
	field, inside, isInside := strings.Cut(path, ".")
	switch fieldTypes[field] {
	case typeString:
		return false
	case typeObject:
		return isInside
	case typeArray:
		return keepsArray(typeArray, inside) || !isInside && slices.Contains(arrayOperators, operator)
	default:
		return true
	}
}
