package console

import (
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// save writes the conversation as a Go test.
func (s *session) save(file string) error {
	path := testFile(file)
	pkg := s.console.Test.Package
	if pkg == "" {
		pkg = packageIn(filepath.Dir(path))
	}
	source, err := s.script.source(pkg, testName(path), s.platform.Calls())
	if err != nil {
		return err
	}
	if err := writeNew(path, source); err != nil {
		return err
	}
	s.screen.notef("Saved in %s. go test runs it where %s is known.", path, s.script.needs())
	return nil
}

// testFile returns the name of the file of a test: go test runs those that end in _test.go alone.
func testFile(name string) string {
	name = strings.TrimSuffix(name, ".go")
	if !strings.HasSuffix(name, "_test") {
		name += "_test"
	}
	return name + ".go"
}

// testName returns the name of the test in a file: book_test.go has TestBook.
func testName(path string) string {
	name := camel(strings.TrimSuffix(filepath.Base(path), "_test.go"))
	if name == "" || name == "Test" {
		name = "Conversation"
	}
	return "Test" + name
}

// packageIn returns the name of the package in a folder, "main" where there is none.
func packageIn(folder string) string {
	files, _ := filepath.Glob(filepath.Join(folder, "*.go")) // The pattern is right.
	isTest := func(file string) int { return strings.Count(file, "_test.go") }
	slices.SortStableFunc(files, func(a, b string) int { return isTest(a) - isTest(b) }) // These may have a package of their own.
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
		if err == nil {
			return parsed.Name.Name
		}
	}
	return "main"
}

// writeNew writes a file that is not there yet.
func writeNew(path, text string) (err error) {
	//nolint:gosec // Where it goes is what the user says; everybody may read it.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already: give another name, and it stays as it is", path)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(text)
	return err
}

// formatted returns a file with its imports, as gofmt has it.
func formatted(head, body string) (string, error) {
	imports, err := importing(head + body)
	if err != nil {
		return "", err
	}
	text, err := format.Source([]byte(head + imports + body))
	return string(text), err
}
