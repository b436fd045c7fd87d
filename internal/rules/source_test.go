package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the folder of the core module, seen from this package.
const root = "../.."

// modulePath is the import path of the core module.
const modulePath = "github.com/botctx/go-sdk"

// sourceFile is one file of the repository.
type sourceFile struct {
	// path is relative to the root, with slashes.
	path string
	text string
	// syntax is nil for a file that is not Go.
	syntax *ast.File
}

// folder returns the path of the file's folder, "." for the root.
func (f sourceFile) folder() string { return path.Dir(f.path) }

func (f sourceFile) isGo() bool { return f.syntax != nil }

func (f sourceFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f sourceFile) isGenerated() bool {
	if f.isGo() {
		return ast.IsGenerated(f.syntax)
	}
	header, _, _ := strings.Cut(f.text, "\n")
	return strings.Contains(header, "Code generated") && strings.Contains(header, "DO NOT EDIT.")
}

// imports returns the paths that the file imports.
func (f sourceFile) imports() []string {
	paths := make([]string, 0, len(f.syntax.Imports))
	for _, spec := range f.syntax.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, "`\""))
	}
	return paths
}

// positions resolves the positions of every syntax tree.
var positions = token.NewFileSet()

// repository reads all files of the repository once, those of nested modules
// included.
var repository = sync.OnceValues(func() ([]sourceFile, error) {
	var files []sourceFile
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		isLeftOut := slices.Contains([]string{".git", ".bin", "node_modules", "testdata"}, entry.Name())
		switch {
		case entry.IsDir() && isLeftOut:
			return filepath.SkipDir
		case entry.IsDir(), isLeftOut: // In a work tree of its own, .git is a file.
			return nil
		}
		file, err := readSource(name, filepath.ToSlash(relative))
		files = append(files, file)
		return err
	})
	return files, err
})

func readSource(name, relative string) (sourceFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return sourceFile{}, err
	}
	file := sourceFile{path: relative, text: string(text)}
	if strings.HasSuffix(relative, ".go") {
		file.syntax, err = parseSource(relative, file.text)
	}
	return file, err
}

func parseSource(relative, text string) (*ast.File, error) {
	return parser.ParseFile(positions, relative, text, parser.ParseComments|parser.SkipObjectResolution)
}

// allFiles returns every file of the repository.
func allFiles(t *testing.T) []sourceFile {
	t.Helper()
	files, err := repository()
	require.NoError(t, err, "every file of the repository can be read and parsed")
	return files
}

// goFiles returns every Go file, tests included.
func goFiles(t *testing.T) []sourceFile {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(allFiles(t)), func(f sourceFile) bool { return !f.isGo() })
}

// shippedFiles returns the Go files that are not tests.
func shippedFiles(t *testing.T) []sourceFile {
	t.Helper()
	return slices.DeleteFunc(goFiles(t), sourceFile.isTest)
}

// packages returns the Go files that are not tests by folder.
func packages(t *testing.T) map[string][]sourceFile {
	t.Helper()
	byFolder := make(map[string][]sourceFile)
	for _, file := range shippedFiles(t) {
		byFolder[file.folder()] = append(byFolder[file.folder()], file)
	}
	return byFolder
}

// breaches collects what breaks a rule, so that a failure lists all of it.
type breaches []string

func (b *breaches) add(where string, what ...string) {
	*b = append(*b, where+": "+strings.Join(what, " "))
}

// report fails the test where there are breaches, with the rule above them.
func (b *breaches) report(t *testing.T, rule string) {
	t.Helper()
	if len(*b) == 0 {
		return
	}
	slices.Sort(*b)
	t.Errorf("%s\n  %s", rule, strings.Join(*b, "\n  "))
}
