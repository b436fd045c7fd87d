package main

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"

	"github.com/botctx/go-sdk/internal/operations"
)

// checkForm compares what the schemas are made of beside the type: whole numbers, lists of
// one, and whether an object may have other fields.
func checkForm(source *goPackage, given operations.Field, f field) error {
	return errors.Join(
		same("kind", given.Kind, source.wholeKind(f.declared, given.Kind), f),
		same("most, where it is a list of one,", given.Most == "1", f.form == "listOfOne", f),
		checkOpen(source, given, f),
	)
}

// checkOpen compares whether an object that the table describes may have other fields.
func checkOpen(source *goPackage, given operations.Field, f field) error {
	typeName := elementOf(f.declared)
	if _, isStruct := source.types[typeName].(*ast.StructType); !isStruct || len(given.Fields) == 0 {
		return nil
	}
	return same("open", given.Open, source.keepsUnknown(typeName), f)
}

// same reports where the table and the Go field differ.
func same[T comparable](what string, inTable, inGo T, f field) error {
	if inTable == inGo {
		return nil
	}
	return fmt.Errorf("the table has the %s %v, the field %s says %v", what, inTable, f.name, inGo)
}

// wholeKind returns the kind that a number has by its Go type, and that of the table for all else.
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

// keepsUnknown reports whether a struct of the package has the fields of other names.
func (p *goPackage) keepsUnknown(typeName string) bool {
	declared, ok := p.types[typeName].(*ast.StructType)
	return ok && slices.ContainsFunc(declared.Fields.List, func(f *ast.Field) bool {
		return len(f.Names) == 1 && f.Names[0].Name == "Unknown"
	})
}
