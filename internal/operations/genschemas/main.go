// Command genschemas writes what other languages know of the operations, JSON Schemas
// (schemas_gen.json) and declarations of TypeScript (botctx.d.ts), into the folder that it is given:
//
//	go run ./internal/operations/genschemas botctx/schema
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/internal/operations/declarations"
	"github.com/botctx/go-sdk/internal/operations/schemas"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "genschemas:", err)
		os.Exit(1)
	}
}

// run writes the files into the one folder that the arguments name.
func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("give the one folder to write to, such as botctx/schema; got %d arguments", len(arguments))
	}
	text, err := schemas.File()
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"schemas_gen.json": text, "botctx.d.ts": []byte(declarations.File())} {
		file := filepath.Join(arguments[0], name)
		if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // A file of the repository is for everyone to read.
			return err
		}
	}
	return nil
}
