package rules_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecurity_TestsExist checks that the tests that SECURITY.md names, as `folder/name`, are there.
func TestSecurity_TestsExist(t *testing.T) {
	t.Parallel()
	files := allFiles(t)
	at := slices.IndexFunc(files, func(f sourceFile) bool { return f.path == "SECURITY.md" })
	require.GreaterOrEqual(t, at, 0)
	var broken breaches
	named := 0
	for row := range strings.Lines(files[at].text) {
		_, tests, isPromise := strings.Cut(strings.TrimSuffix(strings.TrimSpace(row), "|"), " | ")
		if !isPromise {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+/[^`]+)`").FindAllStringSubmatch(tests, -1) {
			named++
			declaration := regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + regexp.QuoteMeta(path.Base(name[1])) + `\(`)
			if !slices.ContainsFunc(files, func(f sourceFile) bool {
				return f.folder() == path.Dir(name[1]) && path.Ext(f.path) == ".go" && declaration.MatchString(f.text)
			}) {
				broken.add("SECURITY.md", name[1]+" is not there")
			}
		}
	}
	require.NotZero(t, named)
	broken.report(t, "A promise names the tests that hold it. Name the test that replaced it, or drop the promise.")
}
