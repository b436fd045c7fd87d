package rules_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the folder of the core module, seen from this package.
const root = "../.."

// modulePath is the import path of the core module.
const modulePath = "github.com/botctx/go-sdk"

type sourceFile struct {
	// path is relative to the root, with slashes.
	path string
	text string
	// syntax is nil for a file that is not Go.
	syntax *ast.File
}

// folder returns the path of the file's folder, "." for the root.
func (f sourceFile) folder() string { return path.Dir(f.path) }

func (f sourceFile) isGo() bool { return f.syntax != nil }

func (f sourceFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f sourceFile) isGenerated() bool {
	if f.isGo() {
		return ast.IsGenerated(f.syntax)
	}
	header, _, _ := strings.Cut(f.text, "\n")
	return strings.Contains(header, "Code generated") && strings.Contains(header, "DO NOT EDIT.")
}

func (f sourceFile) imports() []string {
	paths := make([]string, 0, len(f.syntax.Imports))
	for _, spec := range f.syntax.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, "`\""))
	}
	return paths
}

// positions resolves the positions of every syntax tree.
var positions = token.NewFileSet()

// repository reads all files of the repository once, those of nested modules
// included.
var repository = sync.OnceValues(func() ([]sourceFile, error) {
	var files []sourceFile
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		isLeftOut := slices.Contains([]string{".git", ".bin", "node_modules", "testdata"}, entry.Name())
		switch {
		case entry.IsDir() && isLeftOut:
			return filepath.SkipDir
		case entry.IsDir(), isLeftOut: // In a work tree of its own, .git is a file.
			return nil
		}
		file, err := readSource(name, filepath.ToSlash(relative))
		files = append(files, file)
		return err
	})
	return files, err
})

func readSource(name, relative string) (sourceFile, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return sourceFile{}, err
	}
	file := sourceFile{path: relative, text: string(text)}
	if strings.HasSuffix(relative, ".go") {
		file.syntax, err = parseSource(relative, file.text)
	}
	return file, err
}

func parseSource(relative, text string) (*ast.File, error) {
	return parser.ParseFile(positions, relative, text, parser.ParseComments|parser.SkipObjectResolution)
}

// allFiles returns every file of the repository.
func allFiles(t *testing.T) []sourceFile {
	t.Helper()
	files, err := repository()
	require.NoError(t, err, "every file of the repository can be read and parsed")
	return files
}

// goFiles returns every Go file, tests included.
func goFiles(t *testing.T) []sourceFile {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(allFiles(t)), func(f sourceFile) bool { return !f.isGo() })
}

// shippedFiles returns the Go files that are not tests.
func shippedFiles(t *testing.T) []sourceFile {
	t.Helper()
	return slices.DeleteFunc(goFiles(t), sourceFile.isTest)
}

// packages returns the Go files that are not tests by folder.
func packages(t *testing.T) map[string][]sourceFile {
	t.Helper()
	byFolder := make(map[string][]sourceFile)
	for _, file := range shippedFiles(t) {
		byFolder[file.folder()] = append(byFolder[file.folder()], file)
	}
	return byFolder
}

// breaches collects what breaks a rule, so that a failure lists all of it.
type breaches []string

func (b *breaches) add(where string, what ...string) {
	*b = append(*b, where+": "+strings.Join(what, " "))
}

// report fails the test where there are breaches, with the rule above them.
func (b *breaches) report(t *testing.T, rule string) {
	t.Helper()
	if len(*b) == 0 {
		return
	}
	slices.Sort(*b)
	t.Errorf("%s\n  %s", rule, strings.Join(*b, "\n  "))
}

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

// longestFile is the number of lines above which a file has two subjects.
const longestFile = 800

// generatedDocuments are the generated files that are not Go.
var generatedDocuments = []string{"docs/operations.md", "docs/from-scripts.md", "docs/script-language.md"}

func TestFiles_NotTooLong(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, file := range goFiles(t) {
		if lines := strings.Count(file.text, "\n"); lines > longestFile && !file.isGenerated() {
			broken.add(file.path, fmt.Sprintf("has %d lines", lines))
		}
	}
	broken.report(t, fmt.Sprintf("A file of more than %d lines has two subjects. "+
		"Give each a file that is named for it.", longestFile))
}

func TestFiles_GeneratedSaySo(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, file := range allFiles(t) {
		named := strings.HasSuffix(file.path, "_gen.go") || slices.Contains(generatedDocuments, file.path)
		if named && !file.isGenerated() {
			broken.add(file.path, "has the name of a generated file and lacks the header")
		}
		if !named && file.isGo() && file.isGenerated() {
			broken.add(file.path, "has the header of a generated file and lacks the name")
		}
	}
	broken.report(t, "A generated file is named *_gen.go and begins with \"// Code generated by ... DO NOT EDIT.\" "+
		"(documents, which internal/rules/source_test.go lists, say it in their first line). "+
		"Linters, reviews and .gitattributes go by that.")
}

func TestFiles_NameNoPathOfAMachine(t *testing.T) {
	t.Parallel()
	machinePath := regexp.MustCompile(`(^|[^\w./-])(/(work|tmp|root|home|farm|Users|var/folders)/|[A-Z]:\\)`)
	var broken breaches
	for _, file := range allFiles(t) {
		for i, line := range strings.Split(file.text, "\n") {
			if found := machinePath.FindString(line); found != "" && !file.isGenerated() {
				broken.add(fmt.Sprintf("%s:%d", file.path, i+1), fmt.Sprintf("has %q", found))
			}
		}
	}
	broken.report(t, "No file names a path of the machine it was written on: nobody else has it. "+
		"Use a relative path, t.TempDir() or a flag.")
}

// What a tester looks up first is so much, and each so long: lines between the braces.
const (
	lookups       = 10
	longestLookup = 15
)

func TestLookups_AreShortExamplesThatTheGuideLists(t *testing.T) {
	t.Parallel()
	const examples, guide = "fakes/example_first_test.go", "docs/guides/testing.md"
	listed := regexp.MustCompile(`\[(Example_\w+)\]\(\.\./\.\./` + regexp.QuoteMeta(examples) + `\)`)
	var shown []string
	for _, match := range listed.FindAllStringSubmatch(textOf(t, guide), -1) {
		shown = append(shown, match[1])
	}
	var found []string
	var broken breaches
	for _, declared := range sourceOf(t, examples).syntax.Decls {
		function, isFunction := declared.(*ast.FuncDecl)
		if !isFunction || !strings.HasPrefix(function.Name.Name, "Example") {
			continue
		}
		found = append(found, function.Name.Name)
		lines := positions.Position(function.Body.Rbrace).Line - positions.Position(function.Body.Lbrace).Line - 1
		if lines > longestLookup {
			broken.add(examples, function.Name.Name, fmt.Sprintf("has %d lines", lines))
		}
	}
	broken.report(t, fmt.Sprintf("What a tester looks up first fits on a screen: at most %d lines each. "+
		"Put what is not the subject into a function beside it.", longestLookup))
	require.Len(t, found, lookups)
	require.ElementsMatch(t, found, shown, "the table of %s lists the examples of %s, each once", guide, examples)
}

func sourceOf(t *testing.T, path string) sourceFile {
	t.Helper()
	for _, file := range goFiles(t) {
		if file.path == path {
			return file
		}
	}
	t.Fatalf("there is no file %s", path)
	return sourceFile{}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	for _, file := range allFiles(t) {
		if file.path == path {
			return file.text
		}
	}
	t.Fatalf("there is no file %s", path)
	return ""
}

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
		"or, where it is a cache that nobody can see change, into the list in internal/rules/source_test.go.")
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
