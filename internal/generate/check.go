package main

import (
	"errors"
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/internal/operations"
)

// checkOperations returns an error if an operation of the table has no method.
func checkOperations(methods []method) error {
	var problems []error
	for _, operation := range operations.Written() {
		if !slices.ContainsFunc(methods, func(m method) bool { return m.operation.Name == operation.Name }) {
			problems = append(problems,
				fmt.Errorf("%s: no Operations interface has the method %s; add it or remove the row", operation.Name, operation.Method))
		}
	}
	return errors.Join(problems...)
}

// checkType compares the type of a field with the table. The table may have more alternatives.
func checkType(source *goPackage, given operations.Field, f field) error {
	for _, declared := range source.jsonTypes(f.declared) {
		if alternatives := given.Type.Alternatives(); !slices.Contains(alternatives, declared) && !slices.Contains(alternatives, "any") {
			return fmt.Errorf("the table has the type %s, the field %s is %s", given.Type, f.name, textOf(f.declared))
		}
	}
	return checkForm(source, given, f)
}

// jsonTypes returns the JSON types of a Go type, or nil if they are unknown.
func (p *goPackage) jsonTypes(expr ast.Expr) []operations.Type {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return p.jsonTypes(e.X)
	case *ast.ArrayType:
		return listsOf(p.jsonTypes(e.Elt))
	case *ast.IndexExpr: // document.OneOrMany
		one := p.jsonTypes(e.Index)
		return append(listsOf(one), one...)
	case *ast.MapType, *ast.StructType:
		return []operations.Type{"object"}
	case *ast.Ident:
		if declared, ok := p.types[e.Name]; ok {
			return p.jsonTypes(declared)
		}
	}
	return basicTypes[textOf(expr)]
}

// basicTypes are the JSON types of types from other packages.
var basicTypes = map[string][]operations.Type{
	"string":             {"string"},
	"bool":               {"boolean"},
	"int":                {"number"},
	"int64":              {"number"},
	"float64":            {"number"},
	"document.Timestamp": {"number"},
	"document.Object":    {"object"},
	"channel.Channel":    {"object"},
	"channel.Type":       {"string"},
	"member.Member":      {"object"},
	"send.MessageEvent":  {"object"},
}

func listsOf(elements []operations.Type) []operations.Type {
	lists := make([]operations.Type, 0, len(elements))
	for _, element := range elements {
		lists = append(lists, element+"[]")
	}
	return lists
}

// checkParameter compares a parameter with the table: its type, and the need and default that its comment
// states.
func checkParameter(source *goPackage, given operations.Field, f field) error {
	comment := oneLine(f.comment)
	return errors.Join(checkType(source, given, f), checkNeed(given, f, comment), checkDefault(source, given, f, comment))
}

var (
	isRequired  = regexp.MustCompile(`\bRequired[.;]`)
	isSometimes = regexp.MustCompile(`\b(?:Required with(?:out)?|(?:is|are) required)\b`)
)

// checkNeed compares the need of a parameter in the table with the need in its comment.
func checkNeed(given operations.Field, f field, comment string) error {
	need := operations.Optional
	switch {
	case isRequired.MatchString(comment):
		need = operations.Required
	case strings.Contains(comment, "context's own"):
		need = operations.FromContext
	case isSometimes.MatchString(comment):
		need = operations.RequiredUnless
		if given.Need == operations.RequiredWith {
			need = operations.RequiredWith
		}
	}
	if need != given.Need {
		return fmt.Errorf("the table has the need %q, the comment of %s says %q", given.Need, f.name, need)
	}
	return nil
}

// theDefault matches the default in a comment.
var theDefault = regexp.MustCompile(`\b[Tt]he default is ("[^"]*"|true|false|-?\d+(?:\.\d+)?|[A-Z]\w*)[.,;]`)

// checkDefault compares the default in the table with the default in the comment. A comment may omit the default
// false.
func checkDefault(source *goPackage, given operations.Field, f field, comment string) error {
	says := ""
	if found := theDefault.FindStringSubmatch(comment); found != nil {
		says = found[1]
		if value, isConstant := source.constants[says]; isConstant {
			says = value
		}
	}
	inTable := string(given.Default)
	if inTable == says || strings.Trim(inTable, `"`) == says || says == "" && inTable == "false" {
		return nil
	}
	return fmt.Errorf("the table has the default %q, the comment of %s says %q", inTable, f.name, says)
}

// checkForm compares further properties for the schema: whether a number is whole, a list has one element, and an
// object may have other fields.
func checkForm(source *goPackage, given operations.Field, f field) error {
	return errors.Join(
		same("kind", given.Kind, source.wholeKind(f.declared, given.Kind), f),
		same("property listOfOne", given.Most == "1", f.form == "listOfOne", f),
		same("property notEmpty", given.NotEmpty, f.form == "notEmpty", f),
		same("property orNumber", textOf(f.declared) == "string" && strings.Contains(string(given.Type), "number"), f.form == "orNumber", f),
		checkOpen(source, given, f),
	)
}

func checkOpen(source *goPackage, given operations.Field, f field) error {
	typeName := elementOf(f.declared)
	if _, isStruct := source.types[typeName].(*ast.StructType); !isStruct || len(given.Fields) == 0 {
		return nil
	}
	return same("open", given.Open != given.Closed, source.keepsUnknown(typeName), f)
}

// same returns an error if the table and the Go field differ.
func same[T comparable](what string, inTable, inGo T, f field) error {
	if inTable == inGo {
		return nil
	}
	return fmt.Errorf("the table has the %s %v, the field %s says %v", what, inTable, f.name, inGo)
}

// wholeKind returns the kind of a Go integer type. For other types it returns kind.
func (p *goPackage) wholeKind(declared ast.Expr, kind string) string {
	if pointer, isPointer := declared.(*ast.StarExpr); isPointer {
		declared = pointer.X
	}
	switch textOf(declared) {
	case "int", "int64":
		return "integer"
	case "document.Timestamp":
		return "timestamp"
	default:
		return kind
	}
}

func (p *goPackage) keepsUnknown(typeName string) bool {
	declared, ok := p.types[typeName].(*ast.StructType)
	return ok && slices.ContainsFunc(declared.Fields.List, func(f *ast.Field) bool {
		return len(f.Names) == 1 && f.Names[0].Name == "Unknown"
	})
}
