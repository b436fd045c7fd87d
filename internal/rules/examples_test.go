package rules_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// noExamples are packages that users of the module do not begin with.
var noExamples = []string{"fakes/web"}

func TestExamples_EveryPackageHasOneThatRuns(t *testing.T) {
	t.Parallel()
	runs := regexp.MustCompile(`\nfunc Example\w*\(\) \{(?s:.*?)\n\t// Output:`)
	shown := map[string]bool{}
	for _, file := range goFiles(t) {
		if file.isTest() && runs.MatchString(file.text) {
			shown[file.folder()] = true
		}
	}
	var broken breaches
	for folder := range packages(t) {
		if isForUsers(folder) && !shown[folder] {
			broken.add(folder, "has no Example")
		}
	}
	broken.report(t, "Each package of the module has an Example with its output, which shows what its user does first. "+
		"Write one into example_test.go.")
}

// isForUsers reports whether users of the module import a package, other than to test what they
// implement.
func isForUsers(folder string) bool {
	first, _, _ := strings.Cut(folder, "/")
	return !slices.Contains([]string{"internal", "examples", "backends", "docs"}, first) && !strings.Contains(folder, "/internal/") &&
		!strings.HasSuffix(path.Base(folder), "test") && !slices.Contains(noExamples, folder)
}
