package declarations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/internal/operations"
)

// form is the direction of a value: input or output of operations.
type form int

const (
	// input is for parameters, in which null counts as absent.
	input form = iota
	// output is for results and records.
	output
)

func (f form) isOptional(field operations.Field) bool {
	if f == output {
		return field.Need == operations.Optional
	}
	return field.Need != operations.Required
}

// comment returns the field's meaning, default and platforms.
func (f form) comment(field operations.Field) string {
	text := strings.ReplaceAll(field.Meaning, "<br>", "\n- ")
	if field.Default != nil {
		text += " Default: " + strings.Trim(string(field.Default), `"`) + "."
	}
	if len(field.Platforms) > 0 {
		text += " Platforms: " + strings.Join(field.Platforms, ", ") + "."
	}
	return text
}

// typeOf returns the type of a field's value, without null.
func (f form) typeOf(field operations.Field, indent string) string {
	var alternatives []string
	for _, declared := range field.Type.Alternatives() {
		alternatives = append(alternatives, f.alternative(declared, field, indent))
	}
	return strings.Join(slices.Compact(alternatives), " | ")
}

// alternative returns the TypeScript type for one of a value's JSON types.
func (f form) alternative(declared operations.Type, field operations.Field, indent string) string {
	if element, isArray := declared.Element(); isArray {
		return arrayOf(f.alternative(element, field, indent))
	}
	switch {
	case declared == "string" && len(field.Values) > 0:
		return choice(field.Values)
	case declared == "object":
		return f.object(field, indent)
	default:
		return string(declared) // TypeScript has the same name for the type.
	}
}

func arrayOf(element string) string {
	if strings.ContainsAny(element, " |{") {
		return "Array<" + element + ">"
	}
	return element + "[]"
}

// choice returns a union of string literals, such as "a" | "b".
func choice(values []string) string {
	quoted := make([]string, 0, len(values))
	for _, value := range values {
		quoted = append(quoted, strconv.Quote(value))
	}
	return strings.Join(quoted, " | ")
}

func (f form) object(field operations.Field, indent string) string {
	kind, _ := operations.KindNamed(field.Kind)
	name := typeName(field.Kind)
	switch {
	case len(kind.Fields) > 0 && field.Partial:
		return "Partial<" + name + ">"
	case len(kind.Fields) > 0 && f == input && kind.Address:
		return "Address<" + name + ">"
	case len(kind.Fields) > 0 && f == input && isPart(kind):
		return "Partial<" + name + ">"
	case len(kind.Fields) > 0:
		return name
	case len(field.Fields) > 0:
		return f.inline(field, indent)
	default:
		return "Fields"
	}
}

// isPart reports whether operations take records of this kind with any fields left out.
func isPart(kind operations.Kind) bool {
	return slices.Contains([]string{"messageEvent", "entry"}, kind.Name)
}

// inline returns the type of an anonymous object.
func (f form) inline(field operations.Field, indent string) string {
	var text strings.Builder
	text.WriteString("{\n")
	writeFields(&text, indent+"  ", field.Fields, f)
	if field.Open {
		text.WriteString(indent + "  [field: string]: any;\n")
	}
	text.WriteString(indent + "}")
	return text.String()
}

// typeName returns the name of a type, such as "GetMemberParams" for getMemberParams.
func typeName(name string) string {
	if name == "" {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func propertyName(name string) string {
	if name[0] >= '0' && name[0] <= '9' {
		return fmt.Sprintf("%q", name)
	}
	return name
}
