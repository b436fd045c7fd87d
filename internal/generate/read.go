package main

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/botctx/go-sdk/internal/operations"
)

// contextPackage is the package that the code is generated into.
const contextPackage = "botctx"

// domain is one interface of operations.
type domain struct {
	// pkg is the package that declares it, declared its name there.
	pkg, declared string
	// part is the method of a context that returns the implementation in force.
	part string
}

// reference returns the interface as the generated code writes it.
func (d domain) reference() string {
	if d.pkg == contextPackage {
		return d.declared
	}
	return d.pkg + "." + d.declared
}

// domains returns the interfaces of operations. Those that are not declared yet have
// no methods.
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

// method is one operation that a domain has.
type method struct {
	operation operations.Operation
	domain    domain
	source    *goPackage
	// doc is the comment of the method.
	doc string
	// params and result are the types as botctx writes them.
	params, result string
	// fields are those of the params, results those of the result where it is a struct of the
	// package.
	fields, results []field
}

// readPackages reads the packages that declare operations, by their folders.
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

// readMethods returns the methods of the Operations interfaces, in the order of the
// table.
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

// methods returns the methods of a domain's interface, none where the package does not
// declare it.
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
			return nil, fmt.Errorf("%s is no operation of the table: it needs a row in operations.json", name)
		}
		m, err := p.method(d, operation, declared)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		methods = append(methods, m)
	}
	return methods, nil
}

// method reads a method, which has the form
// Name(ctx context.Context, p NameParams) (result, error).
func (p *goPackage) method(d domain, operation operations.Operation, declared *ast.Field) (method, error) {
	signature, ok := declared.Type.(*ast.FuncType)
	const two = 2
	if !ok || signature.Params.NumFields() != two || signature.Results.NumFields() != two {
		return method{}, errors.New("must have the form Name(ctx context.Context, p NameParams) (result, error)")
	}
	params, ok := signature.Params.List[1].Type.(*ast.Ident)
	if !ok || params.Name != operation.Method+"Params" {
		return method{}, fmt.Errorf("must take %sParams", operation.Method)
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

// paramsOf returns the fields of a params struct, which all have JSON names.
func (p *goPackage) paramsOf(typeName string) ([]field, error) {
	declared, ok := p.types[typeName].(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s is no struct of the package", typeName)
	}
	for _, f := range declared.Fields.List {
		if f.Tag == nil {
			return nil, fmt.Errorf("a field of %s has no json tag", typeName)
		}
	}
	return p.fieldsOf(typeName)
}
