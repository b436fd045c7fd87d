// Package reference renders docs/operations.md and docs/from-scripts.md from the table of
// operations.
package reference

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/internal/operations"
)

// introduction precedes the list of operations.
//
//go:embed introduction.md
var introduction string

// Markdown returns the content of docs/operations.md.
func Markdown() string {
	var text strings.Builder
	text.WriteString(introduction)
	writeContents(&text)
	text.WriteString("\n## Errors of every operation\n\n")
	writeErrors(&text, operations.CommonErrors())
	text.WriteString("\n## The operations\n")
	for _, operation := range operations.All() {
		writeOperation(&text, operation)
	}
	text.WriteString("\n## Kinds of values\n")
	for _, kind := range operations.Kinds() {
		writeKind(&text, kind)
	}
	return text.String()
}

func writeContents(text *strings.Builder) {
	text.WriteString("\n## Contents\n\n")
	rows := newTable("Operation", "Package", "What it does", "Updated")
	for _, operation := range operations.All() {
		updated := ""
		if operation.Updated {
			updated = "updated"
		}
		rows.add(operationLink(operation.Name), operation.Package, operation.Summary, updated)
	}
	rows.write(text)
}

func writeOperation(text *strings.Builder, operation operations.Operation) {
	fmt.Fprintf(text, "\n### %s\n\n%s\n\n", operation.Name, strings.Join(operation.Description, "\n\n"))
	method, _ := reflect.TypeFor[*botctx.Context]().MethodByName(operation.Method)
	fmt.Fprintf(text, "- Go: `bot.%s(ctx, %s{...})` returns `(%s, error)`\n", operation.Method, method.Type.In(2), method.Type.Out(0))
	fmt.Fprintf(text, "- Platforms: %s\n", platforms(operation.Platforms, "all"))
	if operation.Updated {
		text.WriteString("- Updated in the specification\n")
	}
	text.WriteString("\n**Parameters**\n\n")
	writeParameters(text, operation.Parameters, method.Type.In(2))
	text.WriteString("\n**Result**\n")
	for _, response := range operation.Responses {
		writeResponse(text, response)
	}
	if len(operation.Errors) > 0 {
		text.WriteString("\n**Errors**\n\n")
		writeErrors(text, operation.Errors)
	}
}

// writeParameters writes a row for each parameter, including nested fields.
func writeParameters(text *strings.Builder, parameters []operations.Field, params reflect.Type) {
	rows := newTable("Name", "Go field", "Type", "Default", "Required", "Meaning")
	eachField(parameters, func(path []operations.Field) {
		field := path[len(path)-1]
		rows.add(code(jsonPath(path)), goField(path, params), typeOf(field.Type, field.Kind),
			code(string(field.Default)), required(field), meaning(field))
	})
	rows.write(text)
}

func writeResponse(text *strings.Builder, response operations.Response) {
	var cases []string
	if len(response.Platforms) > 0 {
		cases = append(cases, "on "+platforms(response.Platforms, ""))
	}
	if response.When != "" {
		cases = append(cases, "if "+response.When)
	}
	condition := ""
	if len(cases) > 0 {
		condition = " " + strings.Join(cases, ", ")
	}
	fmt.Fprintf(text, "\n%s%s: %s\n", typeOf(response.Type, response.Kind), condition, response.Meaning)
	writeKeys(text, response.Fields)
}

func writeKind(text *strings.Builder, kind operations.Kind) {
	fmt.Fprintf(text, "\n### Kind: %s\n\n%s\n", kind.Name, kind.Meaning)
	writeKeys(text, kind.Fields)
}

// writeKeys writes a row for each key of a result or a record.
func writeKeys(text *strings.Builder, keys []operations.Field) {
	if len(keys) == 0 {
		return
	}
	text.WriteString("\n")
	rows := newTable("Key", "Type", "Always there", "Meaning")
	eachField(keys, func(path []operations.Field) {
		field := path[len(path)-1]
		always := "yes"
		if field.Need == operations.Optional {
			always = "no"
		}
		rows.add(code(jsonPath(path)), typeOf(field.Type, field.Kind), always, meaning(field)+defaultOf(field))
	})
	rows.write(text)
}

func writeErrors(text *strings.Builder, failures []operations.Failure) {
	rows := newTable("Code", "When")
	for _, failure := range failures {
		rows.add(code(string(failure.Code)), failure.When)
	}
	rows.write(text)
}
