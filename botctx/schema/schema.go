// Package schema describes the operations to other languages: JSON Schemas of their parameters and results,
// tools for language models, and TypeScript declarations for scripts.
//
//   - To offer operations to a language model, use [ToolsOf], and [Tool.Plain] if its provider refuses the
//     schemas.
//   - To describe or check calls in another language, use [Of].
//   - To let an editor complete scripts, write [Declarations] next to them.
//
// Calls are made with [botctx.Context.Call].
//
// The files are embedded only in programs that import this package.
package schema

import (
	_ "embed" // The schemas and the declarations.
	"encoding/json"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// schemas is a JSON Schema; its "$defs" are the operations and their records.
//
//go:embed schemas_gen.json
var schemas []byte

//go:embed botctx.d.ts
var declarations string

// Declarations returns the TypeScript declarations for script authors, the file botctx.d.ts: `this` of a
// script with its records, helpers and operations. An editor that finds the file next to the scripts
// completes and checks them:
//
//	/** @this {botctx.Context} */
func Declarations() string { return declarations }

// The suffixes of schema names, for an operation's parameters and result.
const (
	endParams = "Params"
	endResult = "Result"
)

// Operation holds the JSON Schemas, version 2020-12, of an operation's parameters and result. Each is
// complete: schemas that it refers to are in its "$defs".
type Operation struct {
	// Params is the schema of the parameters for Context.Call if the Runtime is strict. Otherwise unknown
	// parameters are ignored.
	Params json.RawMessage `json:"params"`
	// Result is the schema of the result of Context.Call.
	Result json.RawMessage `json:"result"`
}

// Of returns the schemas of an operation, and false if there is no operation with that name. The caller owns
// the result.
//
// A schema describes shapes: types, names, required fields, limits. An operation may refuse what its schema
// accepts, such as a filter that cannot be read, an id that does not exist, or two parameters that contradict
// each other. Keywords that begin with "x-" are for readers: "x-platforms" are the channel types that support
// something; "x-effect", "x-repeatable" and "x-outside" become ToolAnnotations.
func Of(op botctx.Op) (Operation, bool) {
	params, exists := bundled(string(op) + endParams)
	if !exists {
		return Operation{}, false
	}
	result, _ := bundled(string(op) + endResult)
	return Operation{Params: written(params), Result: written(result)}, true
}

// All returns the schemas of all operations and of their records as one JSON Schema, under "$defs":
// getMemberParams, getMemberResult, member and so on. The caller owns the result.
func All() json.RawMessage { return append(json.RawMessage(nil), schemas...) }

var schemasByName = sync.OnceValue(func() document.Object {
	var file document.Object
	if err := file.UnmarshalJSON(schemas); err != nil {
		return document.O() // A test reads them.
	}
	return document.Get(file, "$defs", document.O())
})

func written(schema document.Object) json.RawMessage {
	text, err := schema.MarshalJSON()
	if err != nil {
		return nil // A test writes each of them.
	}
	return text
}

// bundled returns a schema together with all schemas that it refers to.
func bundled(name string) (document.Object, bool) {
	schema, exists := definition(name)
	if !exists {
		return schema, false
	}
	found := map[string]bool{}
	defs := collect(schema, found, nil)
	schema = schema.With("$schema", "https://json-schema.org/draft/2020-12/schema")
	if len(defs) > 0 {
		schema = schema.With("$defs", document.O(defs...))
	}
	return schema, true
}

func definition(name string) (document.Object, bool) {
	value, exists := schemasByName().Field(name)
	schema, isObject := value.(document.Object)
	return schema, exists && isObject
}

// collect appends the names and schemas that a part of a schema refers to, each once.
func collect(part any, found map[string]bool, defs []any) []any {
	switch value := part.(type) {
	case document.Array:
		for _, item := range value.All() {
			defs = collect(item, found, defs)
		}
	case document.Object:
		for key, inner := range value.All() {
			if target, isText := inner.(string); isText && key == "$ref" {
				defs = collectNamed(strings.TrimPrefix(target, "#/$defs/"), found, defs)
				continue
			}
			defs = collect(inner, found, defs)
		}
	}
	return defs
}

// collectNamed appends a schema and the schemas that it refers to, unless it is already there.
func collectNamed(name string, found map[string]bool, defs []any) []any {
	if found[name] {
		return defs
	}
	found[name] = true
	schema, _ := definition(name)
	return collect(schema, found, append(defs, name, schema))
}
