package declarations

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/internal/operations"
)

// Suffixes of type names.
const (
	endParams = "Params"
	endResult = "Result"
)

// writeParams writes the type of an operation's params. A pair of alternative parameters becomes a
// union type.
func writeParams(text *strings.Builder, operation operations.Operation) {
	writeComment(text, "  ", "The parameters of `"+operation.Name+"`.")
	fmt.Fprintf(text, "  type %s = {\n", typeName(operation.Name)+endParams)
	var choices strings.Builder
	for _, field := range operation.Parameters {
		other, isKnown := operation.Parameter(field.Other)
		switch {
		case field.Need != operations.RequiredUnless || !isKnown:
			writeField(text, "    ", field, input)
		case isFirst(operation, field, other):
			choices.WriteString(" & (\n" + choiceOf(field, other) + "  )")
		}
	}
	fmt.Fprintf(text, "  }%s;\n", choices.String())
}

// isFirst reports whether field precedes other among the operation's parameters.
func isFirst(operation operations.Operation, field, other operations.Field) bool {
	for _, listed := range operation.Parameters {
		if listed.Name == field.Name || listed.Name == other.Name {
			return listed.Name == field.Name
		}
	}
	return false
}

// choiceOf returns the union of two object types: one requires field, the other requires other.
func choiceOf(field, other operations.Field) string {
	var text strings.Builder
	for _, pair := range [][2]operations.Field{{field, other}, {other, field}} {
		needed, further := pair[0], pair[1]
		needed.Need, further.Need = operations.Required, operations.Optional
		text.WriteString("    | {\n")
		writeField(&text, "        ", needed, input)
		writeField(&text, "        ", further, input)
		text.WriteString("      }\n")
	}
	return text.String()
}

// writeResult writes the type of an operation's result. If the result has different shapes on
// different platforms, the type has the fields of all shapes.
func writeResult(text *strings.Builder, operation operations.Operation) {
	name := typeName(operation.Name) + endResult
	response := operation.Responses[0]
	writeComment(text, "  ", "The result of `"+operation.Name+"`: "+response.Meaning)
	if fields := platformFields(operation); fields != nil {
		fmt.Fprintf(text, "  interface %s {\n", name)
		writeFields(text, "    ", fields, output)
		text.WriteString("  }\n")
		return
	}
	fmt.Fprintf(text, "  type %s = %s;\n", name, shapeOf(response))
}

// platformFields returns the fields of all object shapes of a result, or nil if there is only one.
func platformFields(operation operations.Operation) []operations.Field {
	var fields []operations.Field
	shapes := 0
	for _, response := range operation.Responses {
		if response.Type != "object" {
			continue
		}
		shapes++
		for _, field := range response.Fields {
			field.Need, field.Platforms = operations.Optional, response.Platforms
			fields = append(fields, field)
		}
	}
	if shapes > 1 {
		return fields
	}
	return nil
}

func shapeOf(response operations.Response) string {
	return output.typeOf(operations.Field{Type: response.Type, Kind: response.Kind, Fields: response.Fields}, "  ")
}

// isTrue matches a Response.When such as "`count` is true".
var isTrue = regexp.MustCompile("^`(\\w+)` is true$")

// writeMethods writes the method of an operation. If a parameter determines the shape of the result,
// it also writes an overload for each shape.
func writeMethods(text *strings.Builder, operation operations.Operation) {
	params, result := typeName(operation.Name)+endParams, typeName(operation.Name)+endResult
	comment := commentOf(operation)
	for _, response := range operation.Responses {
		switch chosen := isTrue.FindStringSubmatch(response.When); {
		case chosen != nil:
			writeComment(text, "    ", comment)
			fmt.Fprintf(text, "    %s(params: %s & { %s: true }): Promise<%s>;\n", operation.Name, params, chosen[1], shapeOf(response))
		case response.Type == "object[]" && len(operation.Responses) > 1 && response.Kind == "":
			for _, several := range [][2]string{
				{"[string]", result}, {"[string, string, ...string[]]", result + "[]"}, {"string[]", result + " | " + result + "[]"},
			} {
				writeComment(text, "    ", comment)
				fmt.Fprintf(text, "    %s(params: %s & { memberId: %s }): Promise<%s>;\n", operation.Name, params, several[0], several[1])
			}
		}
	}
	mark := "?"
	for _, field := range operation.Parameters {
		if field.Need == operations.Required || field.Need == operations.RequiredUnless {
			mark = ""
		}
	}
	writeComment(text, "    ", comment)
	fmt.Fprintf(text, "    %s(params%s: %s): Promise<%s>;\n", operation.Name, mark, params, result)
}

// commentOf returns the operation's description, platforms and errors.
func commentOf(operation operations.Operation) string {
	lines := []string{strings.Join(operation.Description, "\n\n")}
	if len(operation.Platforms) > 0 {
		lines = append(lines, "Platforms: "+strings.Join(operation.Platforms, ", ")+".")
	}
	for _, failure := range operation.Errors {
		lines = append(lines, fmt.Sprintf("@throws {OperationError} %s: %s", failure.Code, failure.When))
	}
	return strings.Join(lines, "\n\n")
}
