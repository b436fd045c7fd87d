package schemas

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

// form is the direction of a value: input or output of operations.
type form int

const (
	// input is for parameters, in which null counts as absent.
	input form = iota
	// output is for results.
	output
)

// valueOf returns the schema of a field's value, without null.
func (f form) valueOf(field operations.Field) document.Object {
	var alternatives []document.Object
	for _, declared := range field.Type.Alternatives() {
		alternatives = append(alternatives, f.alternative(declared, field))
	}
	return anyOf(alternatives)
}

// alternative returns the schema of a value with one JSON type.
func (f form) alternative(declared operations.Type, field operations.Field) document.Object {
	if element, isArray := declared.Element(); isArray {
		list := document.O("type", "array")
		if items := f.single(element, field); items.Len() > 0 {
			list = list.With("items", items)
		}
		if field.Most == "1" {
			list = list.With("minItems", 1)
		}
		return f.limited(list, "maxItems", field)
	}
	schema := f.single(declared, field)
	if declared != "string" {
		return schema
	}
	if len(field.Values) > 0 {
		return schema.With("enum", field.Values)
	}
	if _, isList := field.Type.Element(); !isList && !strings.Contains(string(field.Type), "[]") {
		schema = f.limited(schema, "maxLength", field)
	}
	return schema
}

func (f form) limited(schema document.Object, keyword string, field operations.Field) document.Object {
	if most, isLimited := field.Limit(); isLimited && f == input {
		return schema.With(keyword, most)
	}
	return schema
}

// single returns the schema of a value that is not an array.
func (f form) single(declared operations.Type, field operations.Field) document.Object {
	switch {
	case declared == "any":
		return document.O()
	case declared == "object":
		return f.singleObject(field)
	case declared == "string" && field.Kind == "cron":
		return f.reference(field.Kind)
	case declared == "string" && field.Kind == "response":
		return document.O("type", "string", "contentMediaType", "application/json", "pattern", `^\s*\{`)
	case declared == "string" && field.Kind == "timestamp" && f == input:
		return document.O("type", "string", "pattern", "[0-9]")
	case declared == "number" && field.Kind != "":
		return f.number(field.Kind)
	default:
		return document.O("type", string(declared))
	}
}

func (f form) singleObject(field operations.Field) document.Object {
	switch {
	case field.Partial:
		return f.reference(field.Kind + endPart)
	case field.Kind != "":
		return f.reference(field.Kind)
	case len(field.AnyOn) > 0:
		whole := document.O("type", "object", "description", "An object in the channel's own format.")
		return anyOf([]document.Object{f.objectOf(field), onPlatforms(whole, field.AnyOn)})
	case len(field.Fields) > 0:
		return f.objectOf(field)
	default:
		return document.O("type", "object")
	}
}

func (f form) objectOf(field operations.Field) document.Object {
	if field.Open {
		return f.object(field.Fields)
	}
	return f.object(field.Fields).With("additionalProperties", false)
}

// number returns the schema of a number. A timestamp in input may have a fraction, because operations
// cut it off.
func (f form) number(kind string) document.Object {
	if kind == "timestamp" && f == input {
		return document.O("type", "number")
	}
	return document.O("type", "integer")
}

func (f form) reference(kind string) document.Object {
	if described, _ := operations.KindNamed(kind); f == input && len(described.Fields) > 0 {
		kind += endParam
	}
	return document.O("$ref", "#/$defs/"+kind)
}

// anyOf returns the schema of a value that matches one of several schemas.
func anyOf(alternatives []document.Object) document.Object {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	var types []string
	for _, alternative := range alternatives {
		if name, isText := alternative.Value("type").(string); isText && alternative.Len() == 1 {
			types = append(types, name)
		}
	}
	if len(types) == len(alternatives) {
		return document.O("type", types)
	}
	return document.O("anyOf", slices.Clone(alternatives))
}

// orNull returns a schema that also accepts null.
func orNull(schema document.Object) document.Object {
	if schema.Len() == 0 {
		return schema
	}
	if values, isEnumeration := schema.Value("enum").(document.Array); isEnumeration {
		schema = schema.With("enum", values.Append(nil))
	}
	if choice, isChoice := schema.Value("anyOf").(document.Array); isChoice {
		return schema.With("anyOf", choice.Append(document.O("type", "null")))
	}
	switch types := schema.Value("type").(type) {
	case string:
		return schema.With("type", document.A(types, "null"))
	case document.Array:
		return schema.With("type", types.Append("null"))
	default:
		return document.O("anyOf", document.A(schema, document.O("type", "null")))
	}
}
