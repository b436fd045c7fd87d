package schemas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

// object returns the schema of an object with these fields. Other fields are allowed.
func (f form) object(fields []operations.Field) document.Object {
	var properties []any
	required := []string{}
	for _, field := range fields {
		properties = append(properties, field.Name, f.property(field))
		if f.requires(field) {
			required = append(required, field.Name)
		}
	}
	schema := document.O("type", "object", "properties", document.O(properties...))
	if len(required) > 0 {
		schema = schema.With("required", required)
	}
	if rules := needs(fields); f == input && len(rules) > 0 {
		schema = schema.With("allOf", rules)
	}
	return schema
}

func (f form) requires(field operations.Field) bool {
	if f == output {
		return field.Need != operations.Optional
	}
	return field.Need == operations.Required
}

// property returns the schema of a field with its description and default.
func (f form) property(field operations.Field) document.Object {
	schema := f.valueOf(field)
	switch {
	case f.requires(field) && f == input:
		schema = filled(schema)
	case f == input && field.NotEmpty:
		schema = orNull(filled(schema))
	case f == input:
		schema = orNull(schema)
	}
	schema = schema.With("description", f.description(field))
	if field.Default != nil {
		value, err := document.ParseJSON(field.Default)
		if err == nil {
			schema = schema.With("default", value)
		}
	}
	return onPlatforms(schema, field.Platforms)
}

func onPlatforms(schema document.Object, platforms []string) document.Object {
	if len(platforms) == 0 {
		return schema
	}
	return schema.With("x-platforms", platforms)
}

// filled returns a schema that refuses empty strings and lists, because they count as absent.
func filled(schema document.Object) document.Object {
	switch {
	case schema.Value("type") == "array":
		return schema.With("minItems", 1)
	case isText(schema.Value("type")) && schema.Value("enum") == document.Missing:
		return schema.With("minLength", 1)
	default:
		return schema
	}
}

// isText reports whether a type, or one of several types, is string.
func isText(types any) bool {
	several, _ := types.(document.Array)
	return types == "string" || slices.Contains(several.Items(), "string")
}

// description returns the field's meaning, need and platforms.
func (f form) description(field operations.Field) string {
	sentences := []string{strings.ReplaceAll(field.Meaning, "<br>", "\n- ")}
	if f == input {
		sentences = append(sentences, need(field))
	}
	if len(field.Platforms) > 0 {
		sentences = append(sentences, "Platforms: "+strings.Join(field.Platforms, ", ")+".")
	}
	return strings.TrimSpace(strings.Join(sentences, " "))
}

// paramsOf returns the schema of an operation's params.
func paramsOf(operation operations.Operation) document.Object {
	schema := document.O("title", operation.Name, "description", strings.Join(operation.Description, "\n\n"))
	for key, value := range input.object(operation.Parameters).With("additionalProperties", false).All() {
		schema = schema.With(key, value)
	}
	schema = schema.With("x-effect", string(operation.Effect))
	if operation.Repeatable {
		schema = schema.With("x-repeatable", true)
	}
	if operation.Outside {
		schema = schema.With("x-outside", true)
	}
	return onPlatforms(schema, operation.Platforms)
}

// resultOf returns the schema of an operation's result.
func resultOf(operation operations.Operation) document.Object {
	var shapes, single []document.Object
	for _, response := range operation.Responses {
		shape := shapeOf(response, single)
		shapes = append(shapes, shape)
		if response.Type == "object" {
			single = append(single, shape)
		}
	}
	return anyOf(shapes)
}

// shapeOf returns the schema of one shape of a result. single are the shapes of a result that is
// not a list. If the response is a list without its own fields, each of its elements has one of
// these shapes.
func shapeOf(response operations.Response, single []document.Object) document.Object {
	schema := output.valueOf(operations.Field{Type: response.Type, Kind: response.Kind, Fields: response.Fields})
	if response.Type == "object[]" && response.Kind == "" && len(response.Fields) == 0 {
		schema = schema.With("items", anyOf(single))
	}
	text := response.Meaning
	if response.When != "" {
		text += fmt.Sprintf(" If %s.", response.When)
	}
	if len(response.Platforms) > 0 {
		text += " On " + strings.Join(response.Platforms, ", ") + "."
	}
	return onPlatforms(schema.With("description", text), response.Platforms)
}
