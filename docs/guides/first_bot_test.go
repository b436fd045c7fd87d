package guides_test

import (
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuides_ANewUsersPath follows the guides like a new user with a clone: first-bot.md makes a bot, its test and a console
// in an empty folder, hosting.md a host around it, and retention-and-erasure.md the functions that erase a member and list members by
// tag. The pasted and typed texts come from the guides; testdata/path then talks to the host.
func TestGuides_ANewUsersPath(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles the SDK for another module")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the guides are typed into bash")
	}
	clone, err := filepath.Abs("../..")
	require.NoError(t, err)
	u := &user{t: t, folder: t.TempDir(), clone: clone}

	u.follows(read(t, "first-bot.md"), "bot.go", "bot_test.go", "chat/main.go")

	hosting := read(t, "hosting.md")
	begin, _, isThere := strings.Cut(hosting, "## Choose a store")
	require.True(t, isThere, "what follows is not typed in a module of one's own")
	u.follows(begin)
	u.changes("host/main.go", "rt.Handle(nodes()...)", quotedIn(t, hosting, "`(rt\\.Handle\\([^`]*\\))`"))
	u.changes("host/main.go", "\n\t\"github.com/botctx/go-sdk/botctx\"\n", "\n\t"+quotedIn(t, hosting, "import `([^`]*)`")+"\n$0")

	u.writes("host/erasing.go", pasted(t, read(t, "retention-and-erasure.md"), "const app = \"shop\""))
	u.writes("host/path_test.go", read(t, "testdata/path/path_test.txt"))
	u.types("go test ./host")
}

// user follows guides in a folder. clone is the SDK's clone, which the guides expect in ../go-sdk.
type user struct {
	t             *testing.T
	folder, clone string
}

// follows types the commands of a guide, and writes its first blocks of Go into the given files.
func (u *user) follows(guide string, files ...string) {
	u.t.Helper()
	steps := regexp.MustCompile("(?ms)^```go\n(.*?)\n```|^ {4}([^\n]*)").FindAllStringSubmatch(guide, -1)
	for _, step := range steps {
		code, command := step[1], step[2]
		switch {
		case code != "" && len(files) > 0:
			u.writes(files[0], code)
			files = files[1:]
		case command != "":
			u.types(command)
		}
	}
	require.Empty(u.t, files, "the guide has these files")
}

// types runs a command in a shell. The next command starts in the folder where this one ends. Go builds with the flags
// of the tests, from the clone that they test, so it finds most of what it needs in its cache. It does not vet, because
// vetting all imports takes longer than everything else.
func (u *user) types(command string) {
	u.t.Helper()
	command = strings.ReplaceAll(command, "../go-sdk", u.clone)
	run := exec.CommandContext(u.t.Context(), "bash", "-c", command+"\nstatus=$?; [ $status = 0 ] || exit $status; pwd >&3")
	run.Dir = u.folder
	run.Env = append(os.Environ(), "GOFLAGS=-mod=mod -vet=off "+os.Getenv("GOFLAGS"), "GOWORK=off", "PWD="+u.folder)
	where, err := os.Create(filepath.Join(u.t.TempDir(), "where"))
	require.NoError(u.t, err)
	defer where.Close() //nolint:errcheck // It is read below.
	run.ExtraFiles = []*os.File{where}
	printed, err := run.CombinedOutput()
	require.NoError(u.t, err, "%s: %s", command, printed)
	u.folder = strings.TrimSpace(read(u.t, where.Name()))
}

func (u *user) writes(file, text string) {
	u.t.Helper()
	require.NoError(u.t, os.WriteFile(filepath.Join(u.folder, file), []byte(text), 0o600))
}

// changes replaces a text that occurs once in a file. $0 in text is the old text.
func (u *user) changes(file, old, text string) {
	u.t.Helper()
	before := read(u.t, filepath.Join(u.folder, file))
	require.Equal(u.t, 1, strings.Count(before, old), "%s has %q", file, old)
	u.writes(file, strings.Replace(before, old, strings.ReplaceAll(text, "$0", old), 1))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// quotedIn returns the text of a guide that the group of a pattern matches.
func quotedIn(t *testing.T, guide, form string) string {
	t.Helper()
	found := regexp.MustCompile(form).FindStringSubmatch(guide)
	require.NotNil(t, found, "the guide says %s", form)
	return found[1]
}

// pasted returns a file of package main with the Go code of a guide, and the imports that it needs.
func pasted(t *testing.T, guide, declared string) string {
	t.Helper()
	var code strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```go\n(.*?)\n```").FindAllStringSubmatch(guide, -1) {
		code.WriteString(block[1] + "\n\n")
	}
	var imports []string
	for _, found := range regexp.MustCompile(`\b([a-z]+)\.[A-Z]`).FindAllStringSubmatch(code.String(), -1) {
		path := found[1]
		if _, err := os.Stat("../../" + path); err == nil {
			path = "github.com/botctx/go-sdk/" + path
		} else if path != "context" && path != "time" {
			continue // The name before the dot is a variable, not a package.
		}
		if line := fmt.Sprintf("\t%q\n", path); !slices.Contains(imports, line) {
			imports = append(imports, line)
		}
	}
	file, err := format.Source([]byte("package main\n\nimport (\n" + strings.Join(imports, "") + ")\n\n" + declared + "\n\n" + code.String()))
	require.NoError(t, err)
	return string(file)
}
