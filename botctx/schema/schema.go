// Package schema describes the operations to other languages: JSON Schemas of their parameters and results,
// tools for language models, and TypeScript declarations for scripts.
//
//   - To offer operations to a language model, use [ToolsOf], and [Tool.Plain] if its provider refuses the
//     schemas.
//   - To describe or check calls in another language, use [Of].
//   - To let an editor complete scripts, write [Declarations] next to them.
//
// To call an operation, use [botctx.Context.Call]. Only programs that import this package contain the schemas.
package schema

import (
	_ "embed" // For the schemas and the declarations.
	"encoding/json"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// schemas is a JSON Schema. Its "$defs" are the params and results of operations, and the records in them.
//
//go:embed schemas_gen.json
var schemas []byte

//go:embed botctx.d.ts
var declarations string

// Declarations returns the TypeScript declarations for script authors, the file botctx.d.ts. They declare `this` of a
// script with its records, helpers and operations. If the file is next to the scripts, an editor completes and checks
// functions with this comment:
//
//	/** @this {botctx.Context} */
func Declarations() string { return declarations }

// The suffixes of schema names, for an operation's parameters and result.
const (
	endParams = "Params"
	endResult = "Result"
)

// Operation holds the JSON Schemas, version 2020-12, of an operation's parameters and result. Each schema contains all
// schemas that it refers to in its "$defs".
type Operation struct {
	// Params is the schema of the parameters of Context.Call with botctx.Config.Strict. Without Strict, unknown
	// parameters are ignored.
	Params json.RawMessage `json:"params"`
	// Result is the schema of the result of Context.Call.
	Result json.RawMessage `json:"result"`
}

// Of returns the schemas of an operation, and false if there is no operation with that name. The caller owns
// the result.
//
// A schema describes types, names, required fields and limits. An operation may refuse parameters that its schema
// accepts: for example, an invalid filter, an id that does not exist, or two parameters that contradict each other.
// Keywords that begin with "x-" are annotations: "x-platforms" lists the channel types that support a field or an
// operation, and ToolOf turns "x-effect", "x-repeatable" and "x-outside" into ToolAnnotations.
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
		return document.O() // Cannot happen: a test parses the file.
	}
	return document.Get(file, "$defs", document.O())
})

func written(schema document.Object) json.RawMessage {
	text, err := schema.MarshalJSON()
	if err != nil {
		return nil // Cannot happen: a test encodes each schema.
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

// collect appends the schemas that a part of a schema refers to, as alternating names and schemas. It leaves out the
// names in found, and adds new names to it.
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

// collectNamed appends a schema and the schemas that it refers to, unless found has its name.
func collectNamed(name string, found map[string]bool, defs []any) []any {
	if found[name] {
		return defs
	}
	found[name] = true
	schema, _ := definition(name)
	return collect(schema, found, append(defs, name, schema))
}
