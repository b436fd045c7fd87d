package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// colour is the look of a text in a terminal.
type colour string

// The colours, each by its terminal code.
const (
	plain  colour = ""
	ofBot  colour = "36"
	ofUser colour = "32"
	ofNote colour = "2"
	ofFail colour = "31"
)

// screen writes lines. It keeps the first write error, and writes nothing after it.
type screen struct {
	out io.Writer
	// width is the number of cells of a line, or 0 if lines are not wrapped.
	width   int
	colours bool
	// labels is the number of cells of the widest label.
	labels int
	err    error
}

// grow makes room for a label.
func (s *screen) grow(label string) { s.labels = max(s.labels, runewidth.StringWidth(visible(label))) }

// padded returns a label followed by a sign, as wide as the widest label.
func (s *screen) padded(label, sign string) string {
	label = oneLine(label)
	return label + sign + strings.Repeat(" ", max(s.labels-runewidth.StringWidth(label), 0)+1)
}

// oneLine is visible for a text within a line.
func oneLine(text string) string { return strings.ReplaceAll(visible(text), "\n", `\n`) }

// says prints a message after a label.
func (s *screen) says(of colour, label, text string) {
	head := s.padded(label, ":")
	s.block(head, of, text, plain)
}

// more prints lines below a message.
func (s *screen) more(text string) { s.block(strings.Repeat(" ", s.labels+2), plain, text, plain) }

// notef prints a note of the console itself.
func (s *screen) notef(format string, args ...any) {
	s.block("-- ", ofNote, fmt.Sprintf(format, args...), ofNote)
}

func (s *screen) fails(text string) { s.block("!! ", ofFail, text, ofFail) }

// block prints a text after a head, wrapped. On a terminal that leaves little room after the head, the text
// begins on the next line, as far to the left as necessary.
func (s *screen) block(head string, ofHead colour, text string, ofText colour) {
	indent, width := runewidth.StringWidth(head), 0
	var lines strings.Builder
	if s.width > 0 {
		if room := s.width - indent; room < leastWidth && indent > narrowIndent {
			for _, line := range wrapped(strings.TrimRight(head, " "), s.width) {
				lines.WriteString(s.painted(line, ofHead) + "\n")
			}
			indent = min(narrowIndent, s.width/4) //nolint:mnd // A small part of a narrow terminal.
			head = strings.Repeat(" ", indent)
		}
		width = max(s.width-indent, 1)
	}
	for i, line := range wrapped(visible(text), width) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		lines.WriteString(strings.TrimRight(s.painted(head, ofHead)+s.painted(line, ofText), " ") + "\n")
	}
	s.write(lines.String())
}

// painted returns a text in a colour, if there are colours.
func (s *screen) painted(text string, in colour) string {
	if !s.colours || in == plain || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(in) + "m" + text + "\x1b[0m"
}

func (s *screen) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.out, text)
	}
}

// The size of a terminal that does not report its own.
const (
	usualWidth  = 80
	usualHeight = 24
)

// sizeOf returns the number of cells and rows of a terminal.
func sizeOf(descriptor int) (cells, rows int) {
	cells, rows, err := term.GetSize(descriptor)
	if err != nil || cells <= 0 {
		return usualWidth, usualHeight
	}
	return cells, rows
}

// widthOf returns a function that returns the width of the output, or 0 if it is not a terminal.
func widthOf(out io.Writer) func() int {
	file, isFile := out.(*os.File)
	if !isFile || !isTerminal(file) {
		return func() int { return 0 }
	}
	descriptor := int(file.Fd())
	return func() int {
		cells, _ := sizeOf(descriptor)
		return cells
	}
}

// editedLines reads lines from a terminal, with history and completion. The terminal is in raw mode only
// while a line is typed, so that Ctrl-C is a signal while the bot runs.
func editedLines(ctx context.Context, file *os.File, in io.Reader, out io.Writer, complete complete) lines {
	descriptor := int(file.Fd())
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{validated(in), out}, "")
	editor.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		head, others := completed(line[:at], complete(line[:at]))
		if len(others) > 0 {
			_, _ = editor.Write([]byte(visible(strings.Join(others, "  ")) + "\n"))
		}
		return head + line[at:], len(head), true
	}
	width := func() int {
		cells, rows := sizeOf(descriptor)
		_ = editor.SetSize(cells, rows)
		return cells
	}
	next := func(prompt string) (string, error) {
		before, err := term.MakeRaw(descriptor)
		if err != nil {
			return "", err
		}
		editor.SetPrompt(prompt)
		line, err := editor.ReadLine()
		if restoring := term.Restore(descriptor, before); err == nil {
			err = restoring
		}
		if err != nil {
			_, _ = io.WriteString(out, "\n") // The prompt is on that line.
		}
		if err != nil && ctx.Err() != nil {
			err = io.EOF
		}
		return line, err
	}
	return lines{next: next, width: width(), refreshed: width, colours: os.Getenv("NO_COLOR") == ""}
}

// completed returns a line extended by the common prefix of its completions, or the completions if there is
// no more in common.
func completed(line string, among []string) (head string, others []string) {
	if len(among) == 0 {
		return line, nil
	}
	head = among[0]
	for _, one := range among[1:] {
		for !strings.HasPrefix(one, head) {
			head = head[:len(head)-1]
		}
	}
	head = strings.ToValidUTF8(head, "")
	if len(head) < len(line) { // The completions differ from the typed text in upper and lower case.
		head = line
	}
	if len(among) > 1 && head == line {
		others = among
	}
	return head, others
}
