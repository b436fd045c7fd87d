package rules_test

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// internalNames are names of internal types in the interface of the module that stay. Env is for the module's other packages.
var internalNames = []string{"botctx: Runtime.Env names record.Env"}

func TestInterface_NamesNoInternalType(t *testing.T) {
	t.Parallel()
	var broken breaches
	for folder, files := range packages(t) {
		if !isImportedByUsers(folder, files) {
			continue
		}
		for _, file := range files {
			internal := internalImports(file)
			for name, typ := range exportedTypes(file) {
				for _, used := range usedTypes(typ) {
					if internal[used.pkg] != "" {
						broken.add(folder, name, "names", used.pkg+"."+used.name)
					}
				}
			}
		}
	}
	broken = slices.DeleteFunc(broken, func(one string) bool { return slices.Contains(internalNames, one) })
	broken.report(t, "Users cannot import internal packages, and go doc does not show their types. Declare the type in the public "+
		"package and convert, or declare an alias whose comment names the fields.")
}

func TestAliases_CommentNamesEachField(t *testing.T) {
	t.Parallel()
	fields := map[string][]string{} // By the package's path and the type's name.
	for folder, files := range packages(t) {
		for _, file := range files {
			for _, spec := range typeSpecs(file) {
				if of, ok := spec.Type.(*ast.StructType); ok {
					fields[path.Join(modulePath, folder, spec.Name.Name)] = exportedFields(of)
				}
			}
		}
	}
	var broken breaches
	for folder, files := range packages(t) {
		if !isImportedByUsers(folder, files) {
			continue
		}
		comments := commentsOf(documented(t, folder, files))
		for _, file := range files {
			internal := internalImports(file)
			for _, spec := range typeSpecs(file) {
				if !spec.Assign.IsValid() || !spec.Name.IsExported() {
					continue
				}
				for _, used := range usedTypes(spec.Type) {
					for _, name := range fields[path.Join(internal[used.pkg], used.name)] {
						if !regexp.MustCompile(`\b` + name + `\b`).MatchString(comments[spec.Name.Name]) {
							broken.add(folder, "the comment of", spec.Name.Name, "does not name", name)
						}
					}
				}
			}
		}
	}
	broken.report(t, "go doc shows the comment of an alias of an internal type, but not its fields. Name each field in the comment.")
}

func TestExamples_ImportNoInternalPackage(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, file := range goFiles(t) {
		isExample := strings.HasPrefix(path.Base(file.path), "example") && file.isTest()
		if !isExample || strings.Contains(file.path, "internal/") {
			continue
		}
		for _, imported := range internalImports(file) {
			if !slices.ContainsFunc([]string{"fake", "test", "/rounds"}, func(end string) bool { return strings.HasSuffix(imported, end) }) {
				broken.add(file.path, "imports", imported)
			}
		}
	}
	broken.report(t, "Users copy examples, and cannot import internal packages. Fakes of platforms are the exception: a user has the platform.")
}

// internalImports returns the internal packages of the repository that a file imports, by the name in the file.
func internalImports(file sourceFile) map[string]string {
	found := map[string]string{}
	for _, spec := range file.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !strings.HasPrefix(imported, modulePath) || !strings.Contains(imported, "/internal/") {
			continue
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		found[name] = imported
	}
	return found
}

// exportedTypes returns the types in the exported declarations of a file by the declaration's name. Aliases are
// left out.
func exportedTypes(file sourceFile) map[string]ast.Expr {
	found := map[string]ast.Expr{}
	for _, declared := range file.syntax.Decls {
		if function, ok := declared.(*ast.FuncDecl); ok && function.Name.IsExported() {
			if receiver := receiverOf(function); ast.IsExported(receiver) {
				found[strings.TrimPrefix(receiver+"."+function.Name.Name, plainFunction+".")] = function.Type
			}
		}
	}
	for _, spec := range typeSpecs(file) {
		if !spec.Name.IsExported() || spec.Assign.IsValid() {
			continue
		}
		var members *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		default:
			found[spec.Name.Name] = typ
			continue
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				if name.IsExported() {
					found[spec.Name.Name+"."+name.Name] = member.Type
				}
			}
		}
	}
	return found
}

// plainFunction is the receiver of a function that is not a method.
const plainFunction = "Function"

// receiverOf returns the name of the type of a method, or plainFunction.
func receiverOf(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return plainFunction
	}
	name := plainFunction
	ast.Inspect(function.Recv.List[0].Type, func(node ast.Node) bool {
		identifier, ok := node.(*ast.Ident)
		if ok && name == plainFunction {
			name = identifier.Name
		}
		return true
	})
	return name
}

func typeSpecs(file sourceFile) (found []*ast.TypeSpec) {
	for _, declared := range file.syntax.Decls {
		group, ok := declared.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			if of, ok := spec.(*ast.TypeSpec); ok {
				found = append(found, of)
			}
		}
	}
	return found
}

// usedType is a type of another package.
type usedType struct{ pkg, name string }

// usedTypes returns the types of other packages in a type.
func usedTypes(typ ast.Expr) (found []usedType) {
	ast.Inspect(typ, func(node ast.Node) bool {
		if used, ok := node.(*ast.SelectorExpr); ok {
			if of, ok := used.X.(*ast.Ident); ok {
				found = append(found, usedType{of.Name, used.Sel.Name})
			}
		}
		return true
	})
	return found
}

func exportedFields(of *ast.StructType) (names []string) {
	for _, field := range of.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
