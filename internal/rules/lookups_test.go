package rules_test

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// sourceOf returns a Go file.
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

// textOf returns the text of any file.
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
