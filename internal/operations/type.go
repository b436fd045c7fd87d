package operations

import (
	"slices"
	"strings"
)

// Type is the JSON type of a value: any, null, boolean, number, string or object. The suffix [] makes
// it an array. Alternatives are separated by " | ", as in "object | object[]".
type Type string

// Alternatives returns the alternative types. A type without " | " is its only alternative.
func (t Type) Alternatives() []Type {
	var alternatives []Type
	for alternative := range strings.SplitSeq(string(t), " | ") {
		alternatives = append(alternatives, Type(alternative))
	}
	return alternatives
}

// Element returns the type of an array's elements, and whether t is an array.
func (t Type) Element() (Type, bool) {
	element, isArray := strings.CutSuffix(string(t), "[]")
	return Type(element), isArray && !strings.Contains(element, " | ")
}

// Accepts reports whether a value has the type. The value is nil or a bool, float64, string, []any or
// map[string]any, as decoded by encoding/json.
func (t Type) Accepts(value any) bool {
	return slices.ContainsFunc(t.Alternatives(), func(alternative Type) bool {
		return alternative.acceptsOne(value)
	})
}

// acceptsOne reports whether a value has the type, which must have no alternatives.
func (t Type) acceptsOne(value any) bool {
	if element, isArray := t.Element(); isArray {
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(item any) bool { return !element.acceptsOne(item) })
	}
	return t == "any" || t == typeOf(value)
}

// typeOf returns the type of a value, or "" for an array.
func typeOf(value any) Type {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case map[string]any:
		return "object"
	}
	return ""
}
