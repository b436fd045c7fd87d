package program_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// talks are the lines typed into the example programs that open a console, before /save. The key is the
// command, as in the README after go -C examples run ./.
var talks = map[string]string{
	"hello":           "hi\n/as Bob\nwhat?\nhi",
	"concierge":       "museums\n2\nbook Nonna Bettina for 4 at 19:30\nmy bookings",
	"reminders -talk": "Hello!\nbook\n1\n/advance 2d\n/as Bob\nbook\n2\ncancel",
	"handoff -talk":   "person\nMy brakes squeak.\n/agent grace\n/take\nSince when?\n/as ada\nSince it rained.\n/agent grace\n//done",
	"scripted":        "menu\ngreen tea\nhours\n/advance 1d",
}

// pages are the example programs that serve a simulator.
var pages = []string{"simulator", "scripted -simulator"}

// TestSaved_TestsPass saves the conversation of one example, or of each in thorough tests, as a user of a
// clone does, and runs the tests.
func TestSaved_TestsPass(t *testing.T) {
	t.Parallel()
	commands := slices.Sorted(maps.Keys(talks))[:rounds.Of(t, 1, len(talks))]
	pages := pages[:min(len(commands), len(pages))]
	folders := map[string]bool{}
	for _, command := range slices.Concat(commands, pages) {
		folder, _, _ := strings.Cut(command, " ")
		folders["./"+folder] = true
	}
	c := copyExamples(t, slices.Sorted(maps.Keys(folders)))
	for _, command := range commands {
		name := "talk" + strings.ReplaceAll(strings.ReplaceAll(command, "-", ""), " ", "")
		out := c.talk(t, command, talks[command]+"\n/save "+name+".go\n")
		folder, _, _ := strings.Cut(command, " ")
		require.Contains(t, out, "-- Saved in "+filepath.Join(folder, name)+"_test.go: go test runs it.", command)
	}
	for _, command := range pages {
		folder, _, _ := strings.Cut(command, " ")
		c.write(t, filepath.Join(folder, "page_test.go"), c.savedOnPage(t, command))
	}
	test := []string{"go", "test", "-v", "-vet=off", "-overlay", c.overlay(t), "-run", "^(TestTalk.*|TestConversation)$"}
	out := run(t, "..", "", append(test, slices.Sorted(maps.Keys(folders))...)...)
	require.Equal(t, len(commands)+len(pages), strings.Count(out, "\n--- PASS: "), out)
}

// Each example that opens a console or a page is in the tables above.
func TestSaved_EachExample(t *testing.T) {
	t.Parallel()
	known := []string{"assistant"}
	for command := range talks {
		known = append(known, strings.Fields(command)[0])
	}
	for _, command := range pages {
		known = append(known, strings.Fields(command)[0])
	}
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if bytes.Contains(text, []byte(`"github.com/botctx/go-sdk/fakes/console"`)) || bytes.Contains(text, []byte(`"github.com/botctx/go-sdk/fakes/simulator"`)) {
			require.Contains(t, known, filepath.Base(filepath.Dir(file)), "%s opens a console or a page: add it to talks or pages", file)
		}
	}
}

// clone is a writable copy of the examples, and their programs.
type clone struct{ folder, programs string }

// copyExamples copies the module of the examples, and builds the programs in the given folders.
func copyExamples(t *testing.T, folders []string) clone {
	t.Helper()
	c := clone{t.TempDir(), t.TempDir()}
	require.NoError(t, os.CopyFS(c.folder, os.DirFS("..")))
	run(t, "..", "", append([]string{"go", "build", "-ldflags=-s -w", "-o", c.programs + "/"}, folders...)...)
	return c
}

func (c clone) write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(c.folder, path), []byte(text), 0o600))
}

// overlay returns an overlay file for the go command, which adds the tests saved in the copy to the examples
// themselves: their packages are already in Go's build cache.
func (c clone) overlay(t *testing.T) string {
	t.Helper()
	saved, err := filepath.Glob(filepath.Join(c.folder, "*", "*_test.go"))
	require.NoError(t, err)
	examples, err := filepath.Abs("..")
	require.NoError(t, err)
	replace := map[string]string{}
	for _, file := range saved {
		at, err := filepath.Rel(c.folder, file)
		require.NoError(t, err)
		replace[filepath.Join(examples, at)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

// run runs a command in a folder, and returns its output.
func run(t *testing.T, folder, typed string, command ...string) string {
	t.Helper()
	made := exec.CommandContext(t.Context(), command[0], command[1:]...)
	made.Dir, made.Env, made.Stdin = folder, append(os.Environ(), "GOWORK=off"), strings.NewReader(typed)
	out, err := made.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// talk runs an example, and types lines into it.
func (c clone) talk(t *testing.T, command, typed string) string {
	t.Helper()
	return run(t, c.folder, typed, strings.Fields(c.programs+"/"+command)...)
}

// savedOnPage runs an example that serves a page, says hi there, and returns the saved test.
func (c clone) savedOnPage(t *testing.T, command string) string {
	t.Helper()
	words := strings.Fields(command)
	page := exec.CommandContext(t.Context(), filepath.Join(c.programs, words[0]), append(words[1:], "-address", "127.0.0.1:0")...)
	page.Dir = c.folder
	out, err := page.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, page.Start())
	defer func() { _, _ = page.Process.Signal(os.Interrupt), page.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, address, isThere := strings.Cut(strings.TrimSpace(line), " is at ")
	require.True(t, isThere, line)

	said, err := json.Marshal(map[string]any{"do": "say", "with": map[string]string{"person": "member-1", "text": "hi"}})
	require.NoError(t, err)
	asked(t, http.MethodPost, address+"act", string(said))
	return asked(t, http.MethodGet, address+"saved?form=go", "")
}

// asked sends a request to a page, and returns the answer.
func asked(t *testing.T, method, address, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close() //nolint:errcheck // It was only read.
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, string(text))
	return string(text)
}
