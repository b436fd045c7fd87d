// Command gendoc writes operations.md and from-scripts.md from the table of operations to the given folder:
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

func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("give the one folder to write to, such as docs; got %d arguments", len(arguments))
	}
	for name, text := range map[string]string{
		"operations.md": reference.Markdown(), "from-scripts.md": reference.FromScripts(),
	} {
		file := filepath.Join(arguments[0], name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // Files of the repository are readable by everyone.
			return err
		}
	}
	return nil
}
