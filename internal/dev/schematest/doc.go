// Package schematest holds what is made of the table of operations for other languages to what the
// operations do: the JSON Schemas of botctx/schema by an independent validator, over every call that
// the suite of operations makes, and the TypeScript declarations by TypeScript's own compiler.
//
//	go test ./...
//
// The declarations are checked if npm has been here:
//
//	npm ci --ignore-scripts # in internal/dev
package schematest
