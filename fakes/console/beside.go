package console

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// programFolder returns the folder of the program's own package, as seen from the working directory, if that is in the
// program's module: go run ./bot runs a bot whose files are in ./bot. Otherwise it is "".
func programFolder() string {
	info, isKnown := debug.ReadBuildInfo()
	if !isKnown {
		return ""
	}
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	return packageFolder(info, here)
}

// packageFolder is programFolder for a program that was built so and runs in a folder.
func packageFolder(info *debug.BuildInfo, here string) string {
	below, isInModule := strings.CutPrefix(info.Path+"/", info.Main.Path+"/")
	root := moduleFolder(here, info.Main.Path)
	if !isInModule || root == "" {
		return ""
	}
	folder, err := filepath.Rel(here, filepath.Join(root, filepath.FromSlash(below)))
	if err != nil {
		return ""
	}
	if found, err := os.Stat(filepath.Join(here, folder)); err != nil || !found.IsDir() {
		return ""
	}
	return folder
}

// moduleFolder returns the folder of the module that a folder is in, "" if that is not the module of this path.
func moduleFolder(folder, path string) string {
	for {
		file, err := os.ReadFile(filepath.Join(folder, "go.mod")) //nolint:gosec // The folders are those above the user's own.
		if err == nil {
			for line := range strings.Lines(string(file)) {
				if words := strings.Fields(line); len(words) > 1 && words[0] == "module" && strings.Trim(words[1], "\"`") == path {
					return folder
				}
			}
			return ""
		}
		if above := filepath.Dir(folder); above != folder {
			folder = above
			continue
		}
		return ""
	}
}

// declared has the names that a package declares.
type declared struct {
	pkg   string
	names map[string]bool
}

// declaredIn reads the Go files of a folder. If pkg is "", the package is the one of the files there, and "main" if there
// are none. Tests in a package of their own do not decide.
func declaredIn(folder, pkg string) declared {
	files, _ := os.ReadDir(folder) // A folder that is not there has none.
	isTest := func(file fs.DirEntry) int { return strings.Count(file.Name(), "_test.go") }
	slices.SortStableFunc(files, func(a, b fs.DirEntry) int { return isTest(a) - isTest(b) }) // These may have a package of their own.
	found := declared{pkg: pkg, names: map[string]bool{}}
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, file.Name()), nil, parser.SkipObjectResolution)
		if err != nil && (parsed == nil || parsed.Name == nil) {
			continue
		}
		if found.pkg = cmp.Or(found.pkg, parsed.Name.Name); found.pkg == parsed.Name.Name {
			found.add(parsed)
		}
	}
	found.pkg = cmp.Or(found.pkg, "main")
	return found
}

// add adds what a file declares.
func (d declared) add(file *ast.File) {
	for _, one := range file.Decls {
		switch one := one.(type) {
		case *ast.FuncDecl:
			if one.Recv == nil {
				d.names[one.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range one.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						d.names[name.Name] = true
					}
				case *ast.TypeSpec:
					d.names[spec.Name.Name] = true
				}
			}
		}
	}
}

// free returns a name that nothing has yet: the given one, with a number behind it if need be.
func (d declared) free(name string) string {
	free := name
	for i := 2; d.names[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	return free
}

// missing returns the functions that Go expressions call and the package does not declare.
func (d declared) missing(expressions ...string) []string {
	var missing []string
	for _, text := range expressions {
		parsed, err := parser.ParseExpr(text)
		if err != nil {
			continue // Go says what is wrong with it.
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if call, isCall := node.(*ast.CallExpr); isCall {
				if of, isName := call.Fun.(*ast.Ident); isName && !d.names[of.Name] {
					missing = append(missing, of.Name)
				}
			}
			return true
		})
	}
	return missing
}
