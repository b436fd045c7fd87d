// Command generate writes what is the same for every operation, from the Operations interfaces of
// the domain packages and the table of operations:
//
//   - botctx/operations_gen.go: the names of operations, the methods of Context, the dispatch by
//     name, and the way back from JSON;
//   - internal/operations/comments_gen.json: what the comments say, in JSON's terms, for
//     docs/operations.md and for tests.
//
// It refuses to write where an interface, a comment and the table disagree, or where one says
// what another one has to say.
//
// It is run by go generate in botctx.
package main

import (
	"encoding/json"
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

// run writes the files of the module at root.
func run(root string) error {
	written, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range written {
		const permissions = 0o644
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, permissions); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the files by their names.
func generate(root string) (map[string][]byte, error) {
	packages, err := readPackages(root)
	if err != nil {
		return nil, err
	}
	methods, err := readMethods(packages)
	if err != nil {
		return nil, err
	}
	if err := checkOperations(methods); err != nil {
		return nil, err
	}
	comments, err := commentsOf(packages, methods)
	if err != nil {
		return nil, err
	}
	code, err := render(methods, comments)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(comments, "", "  ")
	return map[string][]byte{
		"botctx/operations_gen.go":              code,
		"internal/operations/comments_gen.json": append(text, '\n'),
	}, err
}
