package main

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
)

// checkout is the Go source of a checkout of the repository.
type checkout struct {
	// root is the checkout's folder.
	root string
	// folders is the number of folders at the top level. modules is the number of go.mod files.
	folders, modules int
	files            []file
	positions        *token.FileSet
	// entered has the functions that each call enters, by the name of the call.
	entered map[string][]string
}

type file struct {
	// path is relative to the root and uses slashes.
	path   string
	lines  int
	syntax *ast.File
}

func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isPublic reports whether users of the SDK can import the file's package: it must not be internal, a command, an
// example or a guide.
func (f file) isPublic() bool {
	parts := strings.Split(path.Dir(f.path), "/")
	isApart := slices.Contains([]string{"docs", "examples"}, parts[0])
	isHidden := slices.Contains(parts, "internal") || slices.Contains(parts, "testdata")
	return !isApart && !isHidden && !f.isTest() && f.syntax.Name.Name != "main"
}

// readCheckout reads all Go files in a folder and its subfolders, except the folders of Git and npm.
func readCheckout(root string) (*checkout, error) {
	c := &checkout{root: root, positions: token.NewFileSet(), entered: map[string][]string{}}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == root {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() && relative == entry.Name():
			c.folders++
		case entry.Name() == "go.mod":
			c.modules++
		case strings.HasSuffix(name, ".go"):
			return c.read(name, filepath.ToSlash(relative))
		}
		return nil
	})
	return c, err
}

// read adds a Go file.
func (c *checkout) read(name, relative string) error {
	text, err := os.ReadFile(name) //nolint:gosec // A file of the repository.
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(c.positions, relative, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	c.files = append(c.files, file{path: relative, lines: strings.Count(string(text), "\n"), syntax: syntax})
	return nil
}

func sizeOf(all []file, isCounted func(file) bool) (files, lines int) {
	for _, f := range all {
		if isCounted(f) {
			files, lines = files+1, lines+f.lines
		}
	}
	return files, lines
}

// exported counts the exported names of the public packages: names at package level, and methods of exported types.
func (c *checkout) exported() (packages, names, methods int) {
	folders := map[string]bool{}
	for _, f := range c.files {
		if !f.isPublic() {
			continue
		}
		folders[path.Dir(f.path)] = true
		for _, declaration := range f.syntax.Decls {
			switch d := declaration.(type) {
			case *ast.GenDecl:
				names += exportedIn(d)
			case *ast.FuncDecl:
				switch {
				case !d.Name.IsExported():
				case d.Recv == nil:
					names++
				case ast.IsExported(receiverOf(d)):
					methods++
				}
			}
		}
	}
	return len(folders), names, methods
}

func exportedIn(d *ast.GenDecl) (names int) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				names++
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() {
					names++
				}
			}
		}
	}
	return names
}

// receiverOf returns the name of a method's receiver type, or "" for functions.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	for of := f.Recv.List[0].Type; ; {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
