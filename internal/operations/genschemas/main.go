// Command genschemas writes the JSON Schemas of the operations, schemas_gen.json, into the folder
// that it is given:
//
//	go run ./internal/operations/genschemas botctx
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/internal/operations/schemas"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "genschemas:", err)
		os.Exit(1)
	}
}

// run writes the file into the one folder that the arguments name.
func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("give the one folder to write to, such as botctx; got %d arguments", len(arguments))
	}
	text, err := schemas.File()
	if err != nil {
		return err
	}
	file := filepath.Join(arguments[0], "schemas_gen.json")
	return os.WriteFile(file, text, 0o644) //nolint:gosec // A file of the repository is for everyone to read.
}
