// Command generate writes the code of package botctx that is the same for every
// operation: the names of operations, the methods of Context, the dispatch by name,
// and the way back from JSON. It reads the Operations interfaces of the domain
// packages, and refuses to write where one disagrees with the table of operations.
//
// It is run by go generate in botctx.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(".."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes botctx/operations_gen.go of the module at root.
func run(root string) error {
	methods, err := readMethods(root)
	if err != nil {
		return err
	}
	if err := checkAgainstTable(methods); err != nil {
		return err
	}
	code, err := render(methods)
	if err != nil {
		return err
	}
	const permissions = 0o644
	return os.WriteFile(filepath.Join(root, "botctx", "operations_gen.go"), code, permissions)
}
