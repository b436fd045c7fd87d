// Command draw prints random comments or error messages of the project for review. Run it in internal/dev: go run
// ./draw -seed 7, or with -errors. The same seed always draws the same texts.
package main

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A passage is a text in a Go file.
type passage struct {
	at   token.Pos
	text string
}

func main() {
	seed := flag.Uint64("seed", 1, "the seed of the draw")
	n := flag.Int("n", 120, "how many to draw")
	isErrors := flag.Bool("errors", false, "draw error messages in place of comments")
	flag.Parse()
	read := comments
	if *isErrors {
		read = errorMessages
	}
	texts, err := collect(read)
	if err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
	random := rand.New(rand.NewPCG(*seed, 0)) //nolint:gosec // A draw repeats.
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	for _, text := range texts[:min(*n, len(texts))] {
		_, _ = fmt.Fprintln(os.Stdout, text)
	}
}

// collect returns the passages of all hand-written Go files, with file and line.
func collect(read func(*ast.File) []passage) ([]string, error) {
	const root = "../.."
	list, err := exec.CommandContext(context.Background(),
		"git", "-C", root, "ls-files", "*.go", ":!*_gen.go", ":!*/testdata/*").Output()
	if err != nil {
		return nil, err
	}
	var texts []string
	for name := range strings.FieldsSeq(string(list)) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, found := range read(file) {
			texts = append(texts, fmt.Sprintf("%s:%d\n%s\n", name, set.Position(found.at).Line, found.text))
		}
	}
	return texts, nil
}

// comments returns the comments of a file without directives such as //go:build.
func comments(file *ast.File) []passage {
	var found []passage
	for _, group := range file.Comments {
		if text := group.Text(); text != "" {
			found = append(found, passage{group.Pos(), text})
		}
	}
	return found
}

// errorMessages returns the string literals with a space in calls of errors.New, fmt.Errorf, and functions of package
// boterr.
func errorMessages(file *ast.File) []passage {
	var found []passage
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isOfErrors(callee) {
			return true
		}
		for _, argument := range call.Args {
			literal, ok := argument.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, " ") {
				found = append(found, passage{literal.Pos(), text})
			}
		}
		return true
	})
	return found
}

func isOfErrors(callee *ast.SelectorExpr) bool {
	from, ok := callee.X.(*ast.Ident)
	return ok && (from.Name == "boterr" || from.Name == "errors" || from.Name == "fmt" && callee.Sel.Name == "Errorf")
}
