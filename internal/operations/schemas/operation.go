package schemas

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

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
