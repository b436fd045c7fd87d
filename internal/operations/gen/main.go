// Command gen writes the files that are made from the table of operations: the reference in docs, and in
// botctx/schema the JSON Schemas (schemas_gen.json) and the TypeScript declarations (botctx.d.ts). Its argument is the
// folder of the module:
//
//	go run ./internal/operations/gen .
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/internal/operations/declarations"
	"github.com/botctx/go-sdk/internal/operations/reference"
	"github.com/botctx/go-sdk/internal/operations/schemas"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("give the one folder of the module, such as ../..; got %d arguments", len(arguments))
	}
	schema, err := schemas.File()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"docs/operations.md":             reference.Markdown(),
		"docs/from-scripts.md":           reference.FromScripts(),
		"botctx/schema/schemas_gen.json": string(schema),
		"botctx/schema/botctx.d.ts":      declarations.File(),
	} {
		file := filepath.Join(arguments[0], filepath.FromSlash(name))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // Files of the repository are readable by everyone.
			return err
		}
	}
	return nil
}
