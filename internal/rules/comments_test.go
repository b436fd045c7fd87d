package rules_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestComments_PackageSaysItsSubject(t *testing.T) {
	t.Parallel()
	var broken breaches
	for folder, files := range packages(t) {
		isDocumented := slices.ContainsFunc(files, func(file sourceFile) bool {
			return saysSubject(file.syntax.Doc.Text(), folder, file.syntax.Name.Name)
		})
		if !isDocumented {
			broken.add(folder, "has no such comment")
		}
	}
	broken.report(t, `Every package has a comment that says its subject, as "Package boterr holds the errors ..." does, `+
		`or "Command concierge books ..." for a program.`)
}

// saysSubject reports whether a package's comment begins with the package's
// name, or a program's with the program's, and goes on.
func saysSubject(doc, folder, name string) bool {
	start := "Package " + name + " "
	if name == "main" {
		start = "Command " + path.Base(folder) + " "
	}
	subject, found := strings.CutPrefix(doc, start)
	return found && len(strings.Fields(subject)) >= 3
}

func TestComments_ExportedNames(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, file := range shippedFiles(t) {
		if file.syntax.Name.Name == "main" {
			continue
		}
		for _, name := range undocumented(file.syntax) {
			broken.add(positions.Position(name.Pos()).String(), name.Name, "has no comment")
		}
	}
	broken.report(t, "Every exported name has a comment: what goes in (shape, unit, default), what comes out, "+
		"which errors. This holds for the methods of interfaces, too: their comments are the contract.")
}

// undocumented returns the exported names of a file that lack a comment.
func undocumented(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, declaration := range file.Decls {
		switch declared := declaration.(type) {
		case *ast.FuncDecl:
			if declared.Doc == nil && declared.Name.IsExported() && hasExportedReceiver(declared) {
				names = append(names, declared.Name)
			}
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				names = append(names, undocumentedIn(declared, spec)...)
			}
		}
	}
	return names
}

// hasExportedReceiver reports whether a function can be seen from outside: it
// is no method, or a method of an exported type.
func hasExportedReceiver(function *ast.FuncDecl) bool {
	if function.Recv == nil {
		return true
	}
	receiver := function.Recv.List[0].Type
	for {
		switch of := receiver.(type) {
		case *ast.StarExpr:
			receiver = of.X
		case *ast.IndexExpr:
			receiver = of.X
		case *ast.IndexListExpr:
			receiver = of.X
		case *ast.Ident:
			return of.IsExported()
		default:
			return true
		}
	}
}

// undocumentedIn returns the exported names of one type, constant or variable
// that lack a comment. A comment on the group serves the constants in it.
func undocumentedIn(group *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		names := undocumentedMethods(spec)
		// Without brackets the comment belongs to the declaration.
		if spec.Doc == nil && spec.Comment == nil && (group.Lparen.IsValid() || group.Doc == nil) {
			names = append(names, spec.Name)
		}
		return slices.DeleteFunc(names, func(name *ast.Ident) bool {
			return !name.IsExported() || !spec.Name.IsExported()
		})
	case *ast.ValueSpec:
		if group.Doc == nil && spec.Doc == nil && spec.Comment == nil {
			return slices.DeleteFunc(slices.Clone(spec.Names), func(name *ast.Ident) bool { return !name.IsExported() })
		}
	}
	return nil
}

// undocumentedMethods returns the methods of an interface that lack a comment.
func undocumentedMethods(spec *ast.TypeSpec) []*ast.Ident {
	declared, ok := spec.Type.(*ast.InterfaceType)
	if !ok {
		return nil
	}
	var names []*ast.Ident
	for _, method := range declared.Methods.List {
		if method.Doc == nil && method.Comment == nil {
			names = append(names, method.Names...)
		}
	}
	return names
}
