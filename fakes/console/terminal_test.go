//go:build unix

package console_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/botctx/go-sdk/fakes/console"
)

// terminal is a terminal in which a console of the bot runs, and who types there.
type terminal struct {
	t        *testing.T
	keyboard *os.File
	cells    *os.File
	before   *term.State
	ended    chan error

	mu      sync.Mutex
	screen  *emulator
	written string
	more    *sync.Cond
}

// openTerminal starts a console in a terminal of so many cells.
func openTerminal(ctx context.Context, t *testing.T, width uint16) *terminal {
	t.Helper()
	keyboard, cells, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = keyboard.Close(), cells.Close() })
	require.NoError(t, pty.Setsize(cells, &pty.Winsize{Rows: 30, Cols: width}))
	before, err := term.GetState(int(cells.Fd()))
	require.NoError(t, err)
	x := &terminal{
		t: t, keyboard: keyboard, cells: cells, before: before, ended: make(chan error, 1), screen: &emulator{width: int(width)},
	}
	x.more = sync.NewCond(&x.mu)
	go x.watch()
	go func() { x.ended <- console.Console{In: cells, Out: cells}.Run(ctx, nodes()...) }()
	return x
}

// watch shows what is written.
func (x *terminal) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := x.keyboard.Read(buffer)
		if err != nil {
			return
		}
		x.mu.Lock()
		_, _ = x.screen.Write(buffer[:n])
		x.written += string(buffer[:n])
		x.more.Broadcast()
		x.mu.Unlock()
	}
}

// waitFor waits until the screen ends in a text, and returns the screen.
func (x *terminal) waitFor(end string) string {
	x.t.Helper()
	ctx, stop := context.WithTimeout(x.t.Context(), time.Minute)
	defer stop()
	context.AfterFunc(ctx, x.more.Broadcast)
	x.mu.Lock()
	defer x.mu.Unlock()
	for !strings.HasSuffix(strings.TrimRight(x.screen.String(), "\n "), end) {
		x.more.Wait()
		if ctx.Err() != nil {
			x.t.Fatalf("the screen does not end in %q:\n%s", end, x.screen)
		}
	}
	return x.screen.String()
}

// types presses keys, and returns the screen when it ends in a text.
func (x *terminal) types(keys, end string) string {
	x.t.Helper()
	_, err := x.keyboard.WriteString(keys)
	require.NoError(x.t, err)
	return x.waitFor(end)
}

// requireEnd requires that the console has ended well and left the terminal as it was.
func (x *terminal) requireEnd() {
	x.t.Helper()
	require.NoError(x.t, <-x.ended)
	after, err := term.GetState(int(x.cells.Fd()))
	require.NoError(x.t, err)
	require.Equal(x.t, x.before, after)
	x.mu.Lock()
	defer x.mu.Unlock()
	require.Empty(x.t, x.screen.unknown, "only what is known to terminals is written")
}

func TestTerminal_WrapsToItsWidth(t *testing.T) {
	t.Parallel()
	for width, want := range map[uint16]string{
		60: `Ada> long
Bot: This is a text of many words, which is longer than a
     line of a terminal of sixty cells and of one of a
     hundred and twenty.
Ada> sure?
Bot: Are you sure?
     1 [Yes]  2 [No]
Ada> 2
Ada: [No]
Bot: You sent {"payload":"no"}
Ada> /nonsense
!! there is no command /nonsense: /help lists the commands,
   and //nonsense says it to the bot
Ada>
`,
		120: `Ada> long
Bot: This is a text of many words, which is longer than a line of a terminal of sixty cells and of one of a hundred and
     twenty.
Ada> sure?
Bot: Are you sure?
     1 [Yes]  2 [No]
Ada> 2
Ada: [No]
Bot: You sent {"payload":"no"}
Ada> /nonsense
!! there is no command /nonsense: /help lists the commands, and //nonsense says it to the bot
Ada>
`,
	} {
		x := openTerminal(t.Context(), t, width)
		x.waitFor("Ada>")
		x.types("long\r", "twenty.\nAda>")
		x.types("sure?\r", "[No]\nAda>")
		x.types("2\r", "}\nAda>")
		require.Equal(t, want, x.types("/nonsense\r", "bot\nAda>"))
		x.types("\x04", "Ada>")
		x.requireEnd()
		require.Contains(t, x.screen.colours, "36", "in colours")
	}
}

func TestTerminal_LongInput(t *testing.T) {
	t.Parallel()
	x := openTerminal(t.Context(), t, 60)
	x.waitFor("Ada>")
	long := strings.Repeat("kettle ", 12) + "end"
	screen := x.types(long, "end")
	require.Equal(t, 2, strings.Count(screen, "\n"))
	x.types("\r", "why.\nAda>")
	x.types("\x04", "Ada>")
	x.requireEnd()
}

func TestTerminal_HistoryAndCompletion(t *testing.T) {
	t.Parallel()
	x := openTerminal(t.Context(), t, 60)
	x.waitFor("Ada>")
	x.types("hi\r", "Hello Ada!\nAda>")
	x.types("/as Bob\r", "Bob>")
	x.types("\x1b[A\x1b[A", "Bob> hi")
	x.types("\r", "Hello Bob!\nBob>")
	x.types("/ad\t", "Bob> /advance")
	x.types(" 1h\r", "01:00:00 UTC.\nBob>")
	x.types("/a\t", "/advance  /agent  /as\nBob> /a")
	x.types("s A\t\r", "Ada>")
	x.types("sure?\r", "[No]\nAda>")
	x.types("y\t\r", "}\nAda>")
	x.types("hX\x7fi\r", "Hello Ada!\nAda>")
	x.types("\x04", "Ada>")
	x.requireEnd()
}

func TestTerminal_Ends(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"Ctrl-D": "\x04", "Ctrl-C": "\x03", "Ctrl-C in a line": "hel\x03", "/quit": "/quit\r", "what is no text": "\xff\xfe\x03"} {
		x := openTerminal(t.Context(), t, 60)
		x.waitFor("Ada>")
		_, err := x.keyboard.WriteString(keys)
		require.NoError(t, err, name)
		x.requireEnd()
	}
	ctx, cancel := context.WithCancel(t.Context())
	x := openTerminal(ctx, t, 60)
	x.waitFor("Ada>")
	cancel()
	x.requireEnd()
}

func TestTerminal_HostileText(t *testing.T) {
	t.Parallel()
	x := openTerminal(t.Context(), t, 60)
	x.waitFor("Ada>")
	screen := x.types("hostile\r", "\nAda>")
	require.Contains(t, screen, `\x1b[31mtext\x1b[0m`)
	x.types("\x04", "Ada>")
	x.requireEnd()
	require.NotContains(t, x.written, "\x1b[31mtext")
	require.NotContains(t, x.written, "\x1b]0;")
}

func TestTerminal_NoColor(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	x := openTerminal(t.Context(), t, 60)
	x.waitFor("Ada>")
	x.types("hi\r", "Hello Ada!\nAda>")
	x.types("/why\r", "answered\nAda>") // Not the prompt before: what is typed between two lines may be lost.
	x.types("\x04", "Ada>")
	x.requireEnd()
	require.Empty(t, x.screen.colours)
}

func TestTerminal_ThatCannotEdit(t *testing.T) {
	t.Setenv("TERM", "dumb")
	x := openTerminal(t.Context(), t, 60)
	x.waitFor("Ada>")
	x.types("hi\n", "Hello Ada!\nAda>")
	require.Contains(t, x.types("long\n", "twenty.\nAda>"), "longer than a\n     line", "it has a width, too")
	x.types("\x04", "Ada>")
	x.requireEnd()
	require.NotContains(t, x.written, "\x1b")
}
