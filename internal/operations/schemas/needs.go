package schemas

import (
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

// need returns a sentence about when a parameter must be given, or "" if the parameter's own schema
// expresses that.
func need(field operations.Field) string {
	switch {
	case field.Need == operations.RequiredUnless:
		return "Required unless `" + field.Other + "` is given."
	case field.Need == operations.RequiredWith && !strings.Contains(field.Meaning, "Required with"):
		return "Required with `" + field.Other + "`."
	default:
		return ""
	}
}

// needs returns schemas for the rules that involve two parameters.
func needs(fields []operations.Field) []document.Object {
	byName := map[string]operations.Field{}
	for _, field := range fields {
		byName[field.Name] = field
	}
	var rules []document.Object
	done := map[string]bool{}
	for _, field := range fields {
		other, isKnown := byName[field.Other]
		switch {
		case !isKnown || done[field.Name+" "+other.Name]:
		case field.Need == operations.RequiredUnless:
			done[other.Name+" "+field.Name] = true
			rules = append(rules, eitherOf(field, other))
		case field.Need == operations.RequiredWith:
			rules = append(rules, with(field, other, byName))
		}
	}
	return rules
}

// eitherOf requires at least one of two parameters.
func eitherOf(field, other operations.Field) document.Object {
	return document.O("anyOf", document.A(has(field), has(other)))
}

// with requires field if other is given. If other has an alternative, such as an id for a record,
// field is not required if the alternative is given, too.
func with(field, other operations.Field, byName map[string]operations.Field) document.Object {
	condition := has(other)
	if inPlace, isKnown := byName[other.Other]; isKnown && other.Need == operations.RequiredUnless {
		condition = document.O("allOf", document.A(condition, document.O("not", has(inPlace))))
	}
	return document.O("if", condition, "then", has(field))
}

// has returns the schema of an object in which the field is given. The values null, false and, unless
// EmptyCounts is true, "" and [] count as absent.
func has(field operations.Field) document.Object {
	value := input.valueOf(field)
	switch {
	case value.Value("type") == "boolean":
		value = document.O("const", true)
	case !field.EmptyCounts:
		value = filled(value)
	}
	return document.O(
		"properties", document.O(field.Name, value),
		"required", document.A(field.Name),
	)
}
