package main

import (
	"bytes"
	_ "embed"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"github.com/botctx/go-sdk/internal/operations"
)

//go:embed operations.tmpl
var source string

// view is what the template shows.
type view struct {
	Imports []string
	Methods []methodView
}

// methodView is one operation in the template.
type methodView struct {
	Name, Method, Part, Interface, Params, Result, Summary string
	Comment                                                []string
}

// render returns the formatted code.
func render(methods []method, comments operations.Comments) ([]byte, error) {
	v := view{Imports: []string{"document"}}
	for _, m := range methods {
		if pkg := m.domain.pkg; pkg != contextPackage && !slices.Contains(v.Imports, pkg) {
			v.Imports = append(v.Imports, pkg)
		}
		v.Methods = append(v.Methods, methodView{
			Name: m.operation.Name, Method: m.operation.Method, Part: m.domain.part,
			Interface: m.domain.reference(), Params: m.params, Result: m.result,
			Summary: comments.Operations[m.operation.Name].Summary,
			Comment: strings.Split(strings.TrimSpace(m.doc), "\n"),
		})
	}
	slices.Sort(v.Imports)
	parsed, err := template.New("operations").Parse(source)
	if err != nil {
		return nil, err
	}
	var code bytes.Buffer
	if err := parsed.Execute(&code, v); err != nil {
		return nil, err
	}
	return format.Source(code.Bytes())
}
