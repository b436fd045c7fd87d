package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
)

// goPackage holds the declarations of a package by name.
type goPackage struct {
	types map[string]ast.Expr
	// constants holds the values of constants as written in the source.
	constants map[string]string
	files     *token.FileSet
}

// parsePackage reads the Go files in a folder, except tests.
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

// addConstants adds exported constants with literal values.
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

// methodsOf returns the methods of an interface. It returns nil if the package does not declare the interface.
func (p *goPackage) methodsOf(name string) []*ast.Field {
	declared, ok := p.types[name].(*ast.InterfaceType)
	if !ok {
		return nil
	}
	return declared.Methods.List
}

// typeText returns a type as the generated code writes it.
func (p *goPackage) typeText(pkg string, expr ast.Expr) string {
	if pkg != contextPackage {
		expr = qualified(pkg, expr)
	}
	return textOf(expr)
}

// textOf returns an expression as Go source.
func textOf(expr ast.Expr) string {
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), expr); err != nil {
		return fmt.Sprintf("(%v)", err) // The output will not compile and shows why.
	}
	return text.String()
}

// qualified adds the package's name to types of the package.
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

// elementOf returns the name of the package's type in expr, which may be a pointer, slice or type argument. For types
// of other packages it returns "".
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

// contextPackage is the package of the generated code.
const contextPackage = "botctx"

// domain is an interface of operations.
type domain struct {
	// pkg is the package that declares the interface. declared is the interface's name there.
	pkg, declared string
	// part is the method of Context that returns the implementation.
	part string
}

// reference returns the interface's name in the generated code.
func (d domain) reference() string {
	if d.pkg == contextPackage {
		return d.declared
	}
	return d.pkg + "." + d.declared
}

// domains returns all interfaces of operations. A domain may be missing in tests.
func domains() []domain {
	return []domain{
		{"agenda", "Operations", "agendas"},
		{"channel", "Operations", "channels"},
		{"datasource", "Operations", "dataSources"},
		{"livechat", "Operations", "liveChats"},
		{"member", "Operations", "members"},
		{"send", "Operations", "sends"},
		{contextPackage, "NodeOperations", "nodes"},
		{"utility", "Operations", "utilities"},
	}
}

type method struct {
	operation operations.Operation
	domain    domain
	source    *goPackage
	doc       string
	// params and result are types as written in botctx.
	params, result string
	// fields are the fields of the params. results are the fields of the result if it is a struct of the package.
	fields, results []field
}

// readPackages returns the packages that declare operations, by folder.
func readPackages(root string) (map[string]*goPackage, error) {
	packages := map[string]*goPackage{}
	for _, d := range domains() {
		source, err := parsePackage(filepath.Join(root, d.pkg))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		packages[d.pkg] = source
	}
	return packages, nil
}

// readMethods returns the methods of all Operations interfaces in the order of the table.
func readMethods(packages map[string]*goPackage) ([]method, error) {
	var methods []method
	for _, d := range domains() {
		if packages[d.pkg] == nil {
			continue
		}
		found, err := packages[d.pkg].methods(d)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", d.pkg, d.declared, err)
		}
		methods = append(methods, found...)
	}
	order := map[string]int{}
	for i, operation := range operations.Written() {
		order[operation.Name] = i
	}
	slices.SortFunc(methods, func(a, b method) int { return order[a.operation.Name] - order[b.operation.Name] })
	return methods, nil
}

// methods returns the methods of a domain's interface. It returns nil if the package does not declare the interface.
func (p *goPackage) methods(d domain) ([]method, error) {
	byMethod := map[string]operations.Operation{}
	for _, operation := range operations.Written() {
		byMethod[operation.Method] = operation
	}
	var methods []method
	for _, declared := range p.methodsOf(d.declared) {
		name := declared.Names[0].Name
		operation, ok := byMethod[name]
		if !ok {
			return nil, fmt.Errorf("%s is not an operation of the table: it needs a row in operations.json", name)
		}
		m, err := p.method(d, operation, declared)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		methods = append(methods, m)
	}
	return methods, nil
}

// method reads a method with the signature Name(ctx context.Context, p NameParams) (result, error).
func (p *goPackage) method(d domain, operation operations.Operation, declared *ast.Field) (method, error) {
	signature, ok := declared.Type.(*ast.FuncType)
	const two = 2
	if !ok || signature.Params.NumFields() != two || signature.Results.NumFields() != two {
		return method{}, errors.New("must have the form Name(ctx context.Context, p NameParams) (result, error)")
	}
	operation.Package = d.pkg
	params, ok := signature.Params.List[1].Type.(*ast.Ident)
	if !ok || params.Name != operation.ParamsType() {
		return method{}, fmt.Errorf("must accept %s", operation.ParamsType())
	}
	fields, err := p.paramsOf(params.Name)
	if err != nil {
		return method{}, err
	}
	result := signature.Results.List[0].Type
	results, err := p.fieldsOf(elementOf(result))
	return method{
		operation: operation,
		domain:    d,
		source:    p,
		doc:       declared.Doc.Text(),
		params:    p.typeText(d.pkg, params),
		result:    p.typeText(d.pkg, result),
		fields:    fields,
		results:   results,
	}, err
}

// paramsOf returns the fields of a params struct. Every field must have a JSON name.
func (p *goPackage) paramsOf(typeName string) ([]field, error) {
	declared, ok := p.types[typeName].(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s is not a struct of the package", typeName)
	}
	for _, f := range declared.Fields.List {
		if f.Tag == nil {
			return nil, fmt.Errorf("a field of %s has no json tag; add one", typeName)
		}
	}
	return p.fieldsOf(typeName)
}

// Headings in an operation's comment.
const (
	errorsHeading = "Errors:"
	sourceHeading = "Specification: "
)

// commentOf parses the comment of an operation: paragraphs of description, the first beginning with the
// method's name, then "Errors:" with a list of "- Code: when.", then "Specification: " and the section.
func commentOf(m method, w words) (operations.Comment, error) {
	read := operations.Comment{Package: m.domain.pkg, Errors: []operations.Failure{}}
	paragraphs := strings.Split(strings.TrimSpace(m.doc), "\n\n")
	first, named := strings.CutPrefix(paragraphs[0], m.operation.Method+" ")
	if !named {
		return read, fmt.Errorf("the comment must begin with %s", m.operation.Method)
	}
	paragraphs[0] = capital(first)
	for _, paragraph := range paragraphs {
		list, isErrors := strings.CutPrefix(paragraph, errorsHeading)
		switch {
		case isErrors:
			failures, err := failuresOf(list, w)
			if err != nil {
				return read, err
			}
			read.Errors = failures
		case !strings.HasPrefix(paragraph, sourceHeading):
			read.Description = append(read.Description, w.translate(oneLine(paragraph)))
		}
	}
	read.Summary = firstSentence(read.Description[0])
	return read, nil
}

func failuresOf(list string, w words) ([]operations.Failure, error) {
	var failures []operations.Failure
	for item := range strings.SplitSeq(strings.TrimPrefix(oneLine(list), "- "), " - ") {
		code, when, _ := strings.Cut(item, ": ")
		if when == "" || !slices.Contains(boterr.Codes(), boterr.Code(code)) {
			return nil, fmt.Errorf("the comment has the error %q: it must be a code of boterr, a colon, and when it occurs", item)
		}
		if !strings.HasSuffix(when, ".") {
			return nil, fmt.Errorf("the comment's error %q must end with a period", item)
		}
		failures = append(failures, operations.Failure{Code: boterr.Code(code), When: capital(w.translate(when))})
	}
	return failures, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// capital returns text with its first letter capitalized.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// firstSentence returns text up to the first full stop.
func firstSentence(text string) string {
	sentence, _, more := strings.Cut(text, ". ")
	if more {
		return sentence + "."
	}
	return sentence
}
