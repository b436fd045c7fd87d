// Command gendoc writes the table of operations as Markdown to the file that it
// is given:
//
//	go run ./internal/operations/gendoc docs/operations.md
package main

import (
	"fmt"
	"os"

	"github.com/botctx/go-sdk/internal/operations/reference"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}

// run writes the text to the one file that the arguments name.
func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("give the one file to write, such as docs/operations.md; got %d arguments", len(arguments))
	}
	text := []byte(reference.Markdown())
	return os.WriteFile(arguments[0], text, 0o644) //nolint:gosec // A file of the repository is for everyone to read.
}
