//go:build unix

package console_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/botctx/go-sdk/fakes/console"
)

// terminal is a terminal that runs a console of the bot, with a person who types.
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

// openTerminal starts a console in a terminal that is width cells wide, and waits for its prompt.
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
	x.waitFor("Ada>")
	return x
}

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

// types presses keys, and returns the screen once it ends in a text.
func (x *terminal) types(keys, end string) string {
	x.t.Helper()
	_, err := x.keyboard.WriteString(keys)
	require.NoError(x.t, err)
	return x.waitFor(end)
}

// requireEnd requires that the console has ended well and has restored the terminal.
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

// leaves ends the console with Ctrl-D.
func (x *terminal) leaves() {
	x.t.Helper()
	x.types("\x04", "Ada>")
	x.requireEnd()
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
     1 (Yes)  2 (No)
Ada> 2
Ada: [No]
Bot: You sent {"payload":"no"}
Ada> /nonsense
!! there is no command /nonsense: //nonsense sends it to the
   bot; /help lists the commands
Ada>
`,
		120: `Ada> long
Bot: This is a text of many words, which is longer than a line of a terminal of sixty cells and of one of a hundred and
     twenty.
Ada> sure?
Bot: Are you sure?
     1 (Yes)  2 (No)
Ada> 2
Ada: [No]
Bot: You sent {"payload":"no"}
Ada> /nonsense
!! there is no command /nonsense: //nonsense sends it to the bot; /help lists the commands
Ada>
`,
	} {
		x := openTerminal(t.Context(), t, width)
		x.types("long\r", "twenty.\nAda>")
		x.types("sure?\r", "(No)\nAda>")
		x.types("2\r", "}\nAda>")
		require.Equal(t, want, x.types("/nonsense\r", "commands\nAda>"))
		x.leaves()
		require.Contains(t, x.screen.colours, "36", "in colours")
	}
}

func TestTerminal_LongInput(t *testing.T) {
	t.Parallel()
	x := openTerminal(t.Context(), t, 60)
	long := strings.Repeat("kettle ", 12) + "end"
	screen := x.types(long, "end")
	require.Equal(t, 2, strings.Count(screen, "\n"))
	x.types("\r", "why.\nAda>")
	x.leaves()
}

func TestTerminal_HistoryAndCompletion(t *testing.T) {
	t.Parallel()
	x := openTerminal(t.Context(), t, 60)
	x.types("hi\r", "Hello Ada!\nAda>")
	x.types("/as Bob\r", "Bob>")
	x.types("\x1b[A\x1b[A", "Bob> hi")
	x.types("\r", "Hello Bob!\nBob>")
	x.types("/ad\t", "Bob> /advance")
	x.types(" 1h\r", "01:00:00 UTC.\nBob>")
	x.types("/a\t", "/advance  /agent  /as\nBob> /a")
	x.types("s A\t\r", "Ada>")
	x.types("sure?\r", "(No)\nAda>")
	x.types("y\t\r", "}\nAda>")
	x.types("hX\x7fi\r", "Hello Ada!\nAda>")
	x.leaves()
}

func TestTerminal_Ends(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"Ctrl-D": "\x04", "Ctrl-C": "\x03", "Ctrl-C in a line": "hel\x03", "/quit": "/quit\r", "what is no text": "\xff\xfe\x03"} {
		x := openTerminal(t.Context(), t, 60)
		_, err := x.keyboard.WriteString(keys)
		require.NoError(t, err, name)
		x.requireEnd()
	}
	ctx, cancel := context.WithCancel(t.Context())
	x := openTerminal(ctx, t, 60)
	cancel()
	x.requireEnd()
}

func TestTerminal_HostileText(t *testing.T) {
	t.Parallel()
	x := openTerminal(t.Context(), t, 60)
	screen := x.types("hostile\r", "\nAda>")
	require.Contains(t, screen, `\x1b[31mtext\x1b[0m`)
	x.leaves()
	x.mu.Lock()
	defer x.mu.Unlock()
	require.NotContains(t, x.written, "\x1b[31mtext")
	require.NotContains(t, x.written, "\x1b]0;")
}

func TestTerminal_NoColor(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	x := openTerminal(t.Context(), t, 60)
	x.types("hi\r", "Hello Ada!\nAda>")
	x.types("/why\r", "answered\nAda>") // Wait for the new prompt: text typed before it may be lost.
	x.leaves()
	require.Empty(t, x.screen.colours)
}

func TestTerminal_ThatCannotEdit(t *testing.T) {
	t.Setenv("TERM", "dumb")
	x := openTerminal(t.Context(), t, 60)
	x.types("hi\n", "Hello Ada!\nAda>")
	require.Contains(t, x.types("long\n", "twenty.\nAda>"), "longer than a\n     line", "it has a width, too")
	x.leaves()
	require.NotContains(t, x.written, "\x1b")
}

// emulator is a terminal that shows its output as rows of cells. It understands the sequences that line
// editors write, and keeps all rows that scroll away. Unknown sequences are recorded in unknown.
type emulator struct {
	width    int
	rows     [][]rune
	row, col int
	// colours are the requested colours. unknown are the unknown sequences.
	colours, unknown []string
	pending          []byte
}

func (e *emulator) Write(text []byte) (int, error) {
	e.pending = append(e.pending, text...)
	for len(e.pending) > 0 {
		used := e.next(e.pending)
		if used == 0 {
			break // The rest follows.
		}
		e.pending = e.pending[used:]
	}
	return len(text), nil
}

// next carries out the sequence at the beginning of a text, and returns its length, or 0 if it is incomplete.
func (e *emulator) next(text []byte) int {
	switch text[0] {
	case '\r':
		e.col = 0
		return 1
	case '\n':
		e.row++
		return 1
	case '\b':
		e.col = max(e.col-1, 0)
		return 1
	case '\x1b':
		return e.sequence(text)
	}
	if !utf8.FullRune(text) {
		return 0
	}
	r, size := utf8.DecodeRune(text)
	if r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1 {
		e.unknown = append(e.unknown, strconv.QuoteRune(r))
		return size
	}
	e.put(r)
	return size
}

func (e *emulator) sequence(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != '[' {
		e.unknown = append(e.unknown, strconv.Quote(string(text[:2])))
		return 2
	}
	for i := 2; i < len(text); i++ {
		if text[i] >= '@' && text[i] <= '~' {
			e.control(string(text[2:i]), text[i])
			return i + 1
		}
	}
	return 0
}

func (e *emulator) control(argument string, final byte) {
	n, err := strconv.Atoi(argument)
	if err != nil {
		n = 1
	}
	switch final {
	case 'A':
		e.row = max(e.row-n, 0)
	case 'B':
		e.row += n
	case 'C':
		e.col += n
	case 'D':
		e.col = max(e.col-n, 0)
	case 'K':
		e.line()
		e.rows[e.row] = e.rows[e.row][:min(e.col, len(e.rows[e.row]))]
	case 'm':
		e.colours = append(e.colours, argument)
	default:
		e.unknown = append(e.unknown, "CSI "+argument+string(final))
	}
}

func (e *emulator) line() {
	for len(e.rows) <= e.row {
		e.rows = append(e.rows, nil)
	}
}

func (e *emulator) put(r rune) {
	if e.col >= e.width {
		e.row, e.col = e.row+1, 0
	}
	e.line()
	for len(e.rows[e.row]) < e.col+1 {
		e.rows[e.row] = append(e.rows[e.row], ' ')
	}
	e.rows[e.row][e.col] = r
	e.col += runewidth.RuneWidth(r)
}

// String returns the rows, without trailing blanks.
func (e *emulator) String() string {
	lines := make([]string, len(e.rows))
	for i, row := range e.rows {
		lines[i] = strings.TrimRight(string(row), " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

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
}

func TestTerminal_StopsABotThatHangs(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), asConsole+"=1")
	keyboard, err := pty.Start(command)
	require.NoError(t, err)
	t.Cleanup(func() { _ = keyboard.Close() })
	var shown strings.Builder
	for buffer := make([]byte, 4096); !strings.HasSuffix(strings.TrimSpace(shown.String()), "Ada>"); {
		n, err := keyboard.Read(buffer)
		require.NoError(t, err)
		shown.WriteString(colour.ReplaceAllString(string(buffer[:n]), ""))
	}
	go func() { _, _ = io.Copy(io.Discard, keyboard) }()
	_, err = keyboard.WriteString("hang\r")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	require.Eventually(t, func() bool { // Until the bot runs, Ctrl-C is a key that ends the console as well.
		_, _ = keyboard.WriteString("\x03")
		return len(ended) > 0
	}, time.Minute, 50*time.Millisecond)
}

// colour matches the sequences that change the colour.
var colour = regexp.MustCompile("\x1b\\[\\d*m")
