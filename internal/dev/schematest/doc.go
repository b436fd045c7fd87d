// Package schematest checks the generated descriptions of operations for other languages against the
// operations' behavior: the JSON Schemas of botctx/schema by an independent validator, over every call of the
// suite of operations, and the TypeScript declarations by TypeScript's own compiler.
//
//	go test ./...
//
// The declarations are checked if the npm packages are installed:
//
//	npm ci --ignore-scripts # in internal/dev
package schematest
