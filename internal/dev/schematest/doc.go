// Package schematest checks the generated descriptions of operations in other languages against the operations'
// behavior. It checks the JSON Schemas of botctx/schema with an independent validator, for every call of the
// operations' suite, and the TypeScript declarations with the TypeScript compiler.
//
//	go test ./...
//
// The declarations are checked if the npm packages are installed:
//
//	npm ci --ignore-scripts # in internal/dev
package schematest
