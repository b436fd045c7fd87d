// Command gendoc writes what is generated from the table of operations as Markdown, the
// reference operations.md and the page from-scripts.md, into the folder that it is given:
//
//	go run ./internal/operations/gendoc docs
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/internal/operations/reference"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}

// run writes the texts into the one folder that the arguments name.
func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("give the one folder to write to, such as docs; got %d arguments", len(arguments))
	}
	for name, text := range map[string]string{
		"operations.md": reference.Markdown(), "from-scripts.md": reference.FromScripts(),
	} {
		file := filepath.Join(arguments[0], name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // A file of the repository is for everyone to read.
			return err
		}
	}
	return nil
}
