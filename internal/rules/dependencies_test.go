package rules_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shippedModules are the modules that a program gets by importing the core.
var shippedModules = []string{
	"github.com/google/uuid",      // ids
	"github.com/tidwall/gjson",    // paths into raw JSON
	"github.com/tidwall/match",    // of gjson
	"github.com/tidwall/pretty",   // of gjson
	"github.com/gorhill/cronexpr", // CRON patterns
	"github.com/golang/geo",       // spherical geometry
}

// testModules are the modules that only tests and *test packages add.
var testModules = []string{
	"github.com/stretchr/testify",
	"go.yaml.in/yaml/v3", // of testify
}

const dependencyRule = "The core depends on nothing but the modules that internal/rules/dependencies_test.go lists, " +
	"so that importing it pulls in nothing else. Put what needs another into a nested module, such as those of backends/."

func TestDependencies_ShippedPackages(t *testing.T) {
	t.Parallel()
	var shipped []string
	for _, line := range goCommand(t, "list", "-f", "{{.ImportPath}} {{len .GoFiles}}", "./...") {
		name, files, _ := strings.Cut(line, " ")
		isTool := strings.HasSuffix(name, "test")
		if files != "0" && !isTool {
			shipped = append(shipped, name)
		}
	}
	require.NotEmpty(t, shipped, "the core has packages")

	var broken breaches
	list := append([]string{"list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}"}, shipped...)
	for _, line := range goCommand(t, list...) {
		name, module, _ := strings.Cut(line, " ")
		if module != "" && module != modulePath && !slices.Contains(shippedModules, module) {
			broken.add(name, "of module", module)
		}
	}
	broken.report(t, dependencyRule)
}

// goMod is what `go mod edit -json` shows of a go.mod.
type goMod struct {
	Require []goModule       `json:"Require"`
	Exclude []goModule       `json:"Exclude"`
	Tool    []goModule       `json:"Tool"`
	Replace []map[string]any `json:"Replace"`
}

type goModule struct {
	Path string `json:"Path"`
}

func TestDependencies_GoMod(t *testing.T) {
	t.Parallel()
	var mod goMod
	text := strings.Join(goCommand(t, "mod", "edit", "-json"), "\n")
	require.NoError(t, json.Unmarshal([]byte(text), &mod))

	var broken breaches
	for _, required := range mod.Require {
		if !slices.Contains(slices.Concat(shippedModules, testModules), required.Path) {
			broken.add("go.mod", "requires", required.Path)
		}
	}
	broken.report(t, dependencyRule)
	require.Empty(t, mod.Replace, "go.mod replaces nothing: who imports the core would not get the replacement")
	require.Empty(t, mod.Exclude, "go.mod excludes nothing: it would hold here and not for who imports the core")
	require.Empty(t, mod.Tool, "tools are pinned in internal/dev/tools.mod, so that go.mod holds what the core imports")
}

// goCommand runs the go command in the core module and returns its lines.
func goCommand(t *testing.T, args ...string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = root
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), complaint.String())
	return strings.Split(strings.TrimRight(string(out), "\n"), "\n")
}
