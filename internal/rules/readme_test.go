package rules_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// longestReadme is the number of lines that one reads before one begins.
const longestReadme = 250

func TestReadme_IsShort(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(readme(t), "\n"); lines >= longestReadme {
		t.Errorf("README.md has %d lines, and fewer than %d are wanted. Move what only some need into a guide of docs/guides, "+
			"and link it.", lines, longestReadme)
	}
}

// TestReadme_CommandsRun runs the commands of the README: without thorough tests, the first program
// alone. TestFirstBot_FromAnEmptyFolder of docs/guides runs go mod, and CI the targets of make.
func TestReadme_CommandsRun(t *testing.T) {
	t.Parallel()
	elsewhere := []string{"go mod edit -replace github.com/botctx/go-sdk=../go-sdk", "go mod tidy", "make test", "make thorough"}
	var programs []string
	for _, command := range commands(t) {
		switch {
		case strings.HasPrefix(command, "go -C examples run "):
			programs = append(programs, command)
		case !slices.ContainsFunc(elsewhere, func(known string) bool { return strings.HasPrefix(command, known) }):
			t.Errorf("README.md has the command %q, which no test runs: run it here, or name here what does.", command)
		}
	}
	require.NotEmpty(t, programs)
	if !rounds.Thorough(t) {
		programs = programs[:1]
	}
	for _, program := range programs {
		run := exec.CommandContext(t.Context(), "go", strings.Fields(program)[1:]...)
		run.Dir, run.Stdin = root, strings.NewReader("hi\n")
		printed, err := run.CombinedOutput()
		require.NoError(t, err, "%s: %s", program, printed)
		require.NotEmpty(t, printed, program)
	}
}

// commands returns what the README says to type into a shell, without the remarks.
func commands(t *testing.T) []string {
	t.Helper()
	command := regexp.MustCompile(`(?m)^ {4}((?:\S+ )*\S+)`)
	var found []string
	for _, match := range command.FindAllStringSubmatch(readme(t), -1) {
		found = append(found, match[1])
	}
	require.NotEmpty(t, found)
	return found
}

// readme returns the text of README.md.
func readme(t *testing.T) string {
	t.Helper()
	files := allFiles(t)
	i := slices.IndexFunc(files, func(f sourceFile) bool { return f.path == "README.md" })
	require.GreaterOrEqual(t, i, 0)
	return files[i].text
}
