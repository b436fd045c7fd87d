// Command genschemas writes the JSON Schemas (schemas_gen.json) and the TypeScript declarations (botctx.d.ts) of the
// operations to the given folder:
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
		if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // Files of the repository are readable by everyone.
			return err
		}
	}
	return nil
}
