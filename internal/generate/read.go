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
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/internal/operations"
)

// contextPackage is the package that the code is generated into.
const contextPackage = "botctx"

// domain is one interface of operations.
type domain struct {
	// pkg is the package that declares it, declared its name there.
	pkg, declared string
	// part is the field of botctx.Parts that holds its implementation.
	part string
}

// domains returns the interfaces of operations. Those that are not declared yet have
// no methods.
func domains() []domain {
	return []domain{
		{"agenda", "Operations", "Agendas"},
		{"channel", "Operations", "Channels"},
		{"datasource", "Operations", "DataSources"},
		{"livechat", "Operations", "LiveChats"},
		{"member", "Operations", "Members"},
		{"send", "Operations", "Sends"},
		{contextPackage, "NodeOperations", "Nodes"},
		{contextPackage, "UtilityOperations", "Utilities"},
	}
}

// method is one operation that a domain has.
type method struct {
	operation operations.Operation
	domain    domain
	// doc is the comment of the method.
	doc string
	// params and result are the types as botctx writes them.
	params, result string
	// fields are the JSON names of the params.
	fields []string
}

// readMethods returns the methods of the Operations interfaces, in the order of the
// table.
func readMethods(root string) ([]method, error) {
	var methods []method
	for _, d := range domains() {
		source, err := parsePackage(filepath.Join(root, d.pkg))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found, err := source.methods(d)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", d.pkg, d.declared, err)
		}
		methods = append(methods, found...)
	}
	order := map[string]int{}
	for i, operation := range operations.All() {
		order[operation.Name] = i
	}
	slices.SortFunc(methods, func(a, b method) int { return order[a.operation.Name] - order[b.operation.Name] })
	return methods, nil
}

// goPackage are the type declarations of a package by name.
type goPackage struct {
	types map[string]ast.Expr
	files *token.FileSet
}

func parsePackage(folder string) (*goPackage, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	parsed := &goPackage{types: map[string]ast.Expr{}, files: token.NewFileSet()}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(parsed.files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed.addTypes(file)
	}
	return parsed, nil
}

func (p *goPackage) addTypes(file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.TypeSpec); ok {
			p.types[spec.Name.Name] = spec.Type
		}
		return true
	})
}

// methods returns the methods of a domain's interface, none where the package does not
// declare it.
func (p *goPackage) methods(d domain) ([]method, error) {
	fields := p.methodsOf(d.declared)
	byMethod := map[string]operations.Operation{}
	for _, operation := range operations.All() {
		byMethod[operation.Method] = operation
	}
	var methods []method
	for _, field := range fields {
		name := field.Names[0].Name
		operation, ok := byMethod[name]
		if !ok {
			return nil, fmt.Errorf("%s is no operation of the table", name)
		}
		m, err := p.method(d, operation, field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		methods = append(methods, m)
	}
	return methods, nil
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

// method reads a method, which has the form
// Name(ctx context.Context, p NameParams) (result, error).
func (p *goPackage) method(d domain, operation operations.Operation, field *ast.Field) (method, error) {
	signature, ok := field.Type.(*ast.FuncType)
	const two = 2
	if !ok || signature.Params.NumFields() != two || signature.Results.NumFields() != two {
		return method{}, errors.New("must have the form Name(ctx context.Context, p NameParams) (result, error)")
	}
	params, ok := signature.Params.List[1].Type.(*ast.Ident)
	if !ok || params.Name != operation.Method+"Params" {
		return method{}, fmt.Errorf("must take %sParams", operation.Method)
	}
	fields, err := p.jsonNames(params.Name)
	return method{
		operation: operation,
		domain:    d,
		doc:       field.Doc.Text(),
		params:    p.typeText(d.pkg, params),
		result:    p.typeText(d.pkg, signature.Results.List[0].Type),
		fields:    fields,
	}, err
}

// jsonNames returns the JSON names of a struct's fields.
func (p *goPackage) jsonNames(typeName string) ([]string, error) {
	declared, ok := p.types[typeName].(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s is no struct of the package", typeName)
	}
	var names []string
	for _, field := range declared.Fields.List {
		if field.Tag == nil {
			return nil, fmt.Errorf("a field of %s has no json tag", typeName)
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		names = append(names, name)
	}
	return names, nil
}

// typeText returns a type of a package as the generated code writes it.
func (p *goPackage) typeText(pkg string, expr ast.Expr) string {
	qualified := expr
	if pkg != contextPackage {
		qualified = p.qualified(pkg, expr)
	}
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), qualified); err != nil {
		return err.Error() // Does not compile, and shows why.
	}
	return text.String()
}

// qualified puts the package's name before its own types.
func (p *goPackage) qualified(pkg string, expr ast.Expr) ast.Expr {
	switch e := expr.(type) {
	case *ast.Ident:
		if e.IsExported() {
			return &ast.SelectorExpr{X: ast.NewIdent(pkg), Sel: ast.NewIdent(e.Name)}
		}
		return ast.NewIdent(e.Name)
	case *ast.StarExpr:
		return &ast.StarExpr{X: p.qualified(pkg, e.X)}
	case *ast.ArrayType:
		return &ast.ArrayType{Elt: p.qualified(pkg, e.Elt)}
	default:
		return expr
	}
}
