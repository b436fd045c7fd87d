package rules_test

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// caches are the package variables that change and may: what they remember
// follows from the program alone, so that nobody can see them change.
var caches = []string{
	"document/struct_plan.go: plans",               // the fields of a Go type
	"document/methods.go: methods",                 // the methods of a Go type
	"document/readers.go: readers",                 // how values of a Go type are read
	"fakes/copy.go: plans",                         // which fields of a Go type are copied
	"script/internal/quickjs/machine.go: machines", // the compiled module
}

func TestVariables_NeverChange(t *testing.T) {
	t.Parallel()
	var broken breaches
	for folder, files := range packages(t) {
		for _, name := range changedVariables(folder, files) {
			broken.add(positions.Position(name.Pos()).String(), name.Name, "is changed")
		}
		for _, name := range sharedState(files) {
			position := positions.Position(name.Pos())
			if !slices.Contains(caches, position.Filename+": "+name.Name) {
				broken.add(position.String(), name.Name, "holds state that goroutines share")
			}
		}
	}
	broken.report(t, "Nothing global is mutable: a package's variables keep the value they are declared with, "+
		"so that tests run in parallel and two platforms never share state. Put the state into a type, "+
		"or, where it is a cache that nobody can see change, into the list in internal/rules/variables_test.go.")
}

// changedVariables returns the uses of a package's own variables that change
// them: assignments, to elements and fields as well, ++ and --, delete and
// clear, and taking the address. Imports are not followed, for the package's
// own names are all that this asks about.
func changedVariables(folder string, files []sourceFile) []*ast.Ident {
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	trees := make([]*ast.File, 0, len(files))
	for _, file := range files {
		trees = append(trees, file.syntax)
	}
	// Its error is that the imports are missing.
	checked, _ := config.Check(folder, positions, trees, info)

	var changed []*ast.Ident
	for _, tree := range trees {
		ast.Inspect(tree, func(node ast.Node) bool {
			for _, target := range changedBy(node) {
				name := base(target)
				if object, isVariable := info.Uses[name].(*types.Var); isVariable && object.Parent() == checked.Scope() {
					changed = append(changed, name)
				}
			}
			return true
		})
	}
	return changed
}

// sharedState returns the package's variables of types whose only use is to
// change: those of sync/atomic, and of sync but for its pools.
func sharedState(files []sourceFile) []*ast.Ident {
	var names []*ast.Ident
	for _, file := range files {
		for _, declaration := range file.syntax.Decls {
			group, isGroup := declaration.(*ast.GenDecl)
			if !isGroup || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				if variable, isValue := spec.(*ast.ValueSpec); isValue && isShared(variable.Type) {
					names = append(names, variable.Names...)
				}
			}
		}
	}
	return names
}

func isShared(declared ast.Expr) bool {
	if generic, isGeneric := declared.(*ast.IndexExpr); isGeneric {
		declared = generic.X
	}
	selector, isSelector := declared.(*ast.SelectorExpr)
	if !isSelector || selector.Sel.Name == "Pool" {
		return false
	}
	from, isName := selector.X.(*ast.Ident)
	return isName && (from.Name == "sync" || from.Name == "atomic")
}

// noImports is an importer that finds nothing.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("imports are not followed")
}

// changedBy returns the expressions that a node changes.
func changedBy(node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.AssignStmt:
		if node.Tok != token.DEFINE {
			return node.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{node.X}
	case *ast.UnaryExpr:
		if node.Op == token.AND {
			return []ast.Expr{node.X}
		}
	case *ast.CallExpr:
		called, isName := node.Fun.(*ast.Ident)
		if isName && len(node.Args) > 0 && (called.Name == "delete" || called.Name == "clear") {
			return node.Args[:1]
		}
	}
	return nil
}

// base returns the name at the root of an expression such as table[key].field,
// or nil.
func base(expression ast.Expr) *ast.Ident {
	for {
		switch of := expression.(type) {
		case *ast.Ident:
			return of
		case *ast.IndexExpr:
			expression = of.X
		case *ast.SelectorExpr:
			expression = of.X
		case *ast.StarExpr:
			expression = of.X
		case *ast.ParenExpr:
			expression = of.X
		default:
			return nil
		}
	}
}
