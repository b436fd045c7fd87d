package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// goPackage is what is declared in a package, by name.
type goPackage struct {
	types map[string]ast.Expr
	// constants holds the values of constants that are written out: texts with their quotes,
	// numbers as they stand.
	constants map[string]string
	files     *token.FileSet
}

// parsePackage reads the Go files of a folder, without its tests.
func parsePackage(folder string) (*goPackage, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	parsed := &goPackage{types: map[string]ast.Expr{}, constants: map[string]string{}, files: token.NewFileSet()}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(parsed.files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed.add(file)
	}
	return parsed, nil
}

// add adds what a file declares.
func (p *goPackage) add(file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch spec := node.(type) {
		case *ast.TypeSpec:
			p.types[spec.Name.Name] = spec.Type
		case *ast.ValueSpec:
			p.addConstants(spec)
		}
		return true
	})
}

// addConstants adds the names of a declaration whose values are literals.
func (p *goPackage) addConstants(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if i >= len(spec.Values) || !name.IsExported() {
			continue
		}
		if literal, ok := spec.Values[i].(*ast.BasicLit); ok {
			p.constants[name.Name] = literal.Value
		}
	}
}

// methodsOf returns the methods of an interface of the package, with those of the interfaces of
// the package that it embeds. There are none where the package does not declare it.
func (p *goPackage) methodsOf(name string) []*ast.Field {
	declared, ok := p.types[name].(*ast.InterfaceType)
	if !ok {
		return nil
	}
	var methods []*ast.Field
	for _, field := range declared.Methods.List {
		if embedded, isName := field.Type.(*ast.Ident); isName {
			methods = append(methods, p.methodsOf(embedded.Name)...)
			continue
		}
		methods = append(methods, field)
	}
	return methods
}

// typeText returns a type of a package as the generated code writes it.
func (p *goPackage) typeText(pkg string, expr ast.Expr) string {
	if pkg != contextPackage {
		expr = qualified(pkg, expr)
	}
	return textOf(expr)
}

// textOf returns an expression as Go writes it.
func textOf(expr ast.Expr) string {
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), expr); err != nil {
		return fmt.Sprintf("(%v)", err) // Does not compile, and shows why.
	}
	return text.String()
}

// qualified puts the package's name before its own types.
func qualified(pkg string, expr ast.Expr) ast.Expr {
	switch e := expr.(type) {
	case *ast.Ident:
		if e.IsExported() {
			return &ast.SelectorExpr{X: ast.NewIdent(pkg), Sel: ast.NewIdent(e.Name)}
		}
		return ast.NewIdent(e.Name)
	case *ast.StarExpr:
		return &ast.StarExpr{X: qualified(pkg, e.X)}
	case *ast.ArrayType:
		return &ast.ArrayType{Elt: qualified(pkg, e.Elt)}
	default:
		return expr
	}
}

// elementOf returns the name of the package's type that a type points to, lists or holds one or
// many of, and "" where it is of another package.
func elementOf(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return elementOf(e.X)
	case *ast.ArrayType:
		return elementOf(e.Elt)
	case *ast.IndexExpr:
		return elementOf(e.Index)
	default:
		return ""
	}
}
