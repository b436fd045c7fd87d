package console_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes/console"
)

// asConsole makes the test's program a console of the bot, in the terminal that it is started in.
const asConsole = "BOTCTX_TEST_AS_CONSOLE"

func TestMain(m *testing.M) {
	if os.Getenv(asConsole) == "" {
		m.Run()
		return
	}
	if err := console.Run(context.Background(), nodes()...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(os.Stdout, "The console has ended.")
}

// TestTmux_Conversation drives a console in a terminal that others have written.
func TestTmux_Conversation(t *testing.T) {
	t.Parallel()
	requireTmux(t)
	for width, want := range map[int]string{
		60: `Ada> long
Bot: This is a text of many words, which is longer than a
     line of a terminal of sixty cells and of one of a
     hundred and twenty.
Ada> hostile
Bot: red \x1b[31mtext\x1b[0m \x1b]0;title\a \r and
     \u202eturned\u202c
Ada> hi
Bot: Hello Ada!
Ada>
The console has ended.
`,
		120: `Ada> long
Bot: This is a text of many words, which is longer than a line of a terminal of sixty cells and of one of a hundred and
     twenty.
Ada> hostile
Bot: red \x1b[31mtext\x1b[0m \x1b]0;title\a \r and \u202eturned\u202c
Ada> hi
Bot: Hello Ada!
Ada>
The console has ended.
`,
	} {
		x := startTmux(t, width)
		x.waitFor("Ada>")
		x.types("twenty.\nAda>", "long", "Enter")
		x.types("turned\\u202c\nAda>", "hostile", "Enter")
		x.types("Hello Ada!\nAda>", "hi", "Enter")
		x.types("The console has ended.", "Up", "Up", "C-c") // A line that is typed goes with it.
		require.Equal(t, want, strings.Replace(x.screen(), "Ada> hostile\nThe", "Ada>\nThe", 1))
	}
}

// requireTmux skips a test where there is no tmux.
func requireTmux(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("skipped: tmux is not installed. The tests named TestTerminal_ drive the console in a terminal of their own.")
	}
}

func TestTmux_StopsABotThatHangs(t *testing.T) {
	t.Parallel()
	requireTmux(t)
	x := startTmux(t, 60)
	x.waitFor("Ada>")
	x.types("hang", "hang", "Enter")
	require.Eventually(t, func() bool { // Until the bot runs, Ctrl-C is a key that ends the console as well.
		return exec.CommandContext(t.Context(), "tmux", "-S", x.socket, "send-keys", "C-c").Run() != nil
	}, time.Minute, 50*time.Millisecond, "the shell around it is stopped with it")
}

// tmux is a terminal in tmux in which the console runs.
type tmux struct {
	t      *testing.T
	socket string
}

// startTmux starts the console in a terminal of so many cells.
func startTmux(t *testing.T, width int) tmux {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	folder, err := os.MkdirTemp("", "tmux") //nolint:usetesting // The path of a socket is short.
	require.NoError(t, err)
	x := tmux{t: t, socket: filepath.Join(folder, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", x.socket, "kill-server").Run() //nolint:noctx // The test's context has ended by now.
		_ = os.RemoveAll(folder)
	})
	x.do("-f", os.DevNull, "new-session", "-d", "-x", strconv.Itoa(width), "-y", "30",
		fmt.Sprintf("%s=1 '%s'; exec cat", asConsole, program)) // The screen stays until cat is ended.
	return x
}

// do runs a command of tmux, and returns what it prints.
func (x tmux) do(args ...string) string {
	x.t.Helper()
	command := exec.CommandContext(x.t.Context(), "tmux", append([]string{"-S", x.socket}, args...)...)
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := command.CombinedOutput()
	require.NoError(x.t, err, string(out))
	return string(out)
}

// screen returns what is to be seen.
func (x tmux) screen() string {
	x.t.Helper()
	return strings.TrimRight(x.do("capture-pane", "-p"), "\n ") + "\n"
}

// waitFor waits until the screen ends in a text.
func (x tmux) waitFor(end string) {
	x.t.Helper()
	require.Eventually(x.t, func() bool { return strings.HasSuffix(x.screen(), end+"\n") }, time.Minute, 20*time.Millisecond, end)
}

// types presses keys, and waits until the screen ends in a text.
func (x tmux) types(end string, keys ...string) {
	x.t.Helper()
	x.do(append([]string{"send-keys"}, keys...)...)
	x.waitFor(end)
}
