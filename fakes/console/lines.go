package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/botctx/go-sdk/internal/display"
)

// maxLine is the maximum length, in bytes, of a line that is not read from a terminal.
const maxLine = 1 << 20

// lines reads typed lines, and knows the terminal, if there is one.
type lines struct {
	// next prints a prompt, and blocks until it can return the next line. It returns io.EOF at the end of the
	// input or the context.
	next func(prompt string) (string, error)
	// width is the number of cells of the terminal when the console begins. refreshed returns the current
	// width.
	width     int
	refreshed func() int
	// colours is true if colours are supported. isEchoing is true if typed lines would otherwise be invisible.
	colours, isEchoing bool
}

// complete returns the possible completions of a line up to the cursor.
type complete func(line string) []string

func isTerminal(stream any) bool {
	file, isFile := stream.(*os.File)
	return isFile && term.IsTerminal(int(file.Fd()))
}

// linesOf returns the lines typed into in. They can be edited if both are terminals that support it.
func linesOf(ctx context.Context, in io.Reader, out io.Writer, complete complete) lines {
	typed := interruptible(ctx, in)
	file, _ := in.(*os.File)
	switch {
	case !isTerminal(in):
		return plainLines(typed, out)
	case isTerminal(out) && os.Getenv("TERM") != "dumb":
		return editedLines(ctx, file, typed, out, complete)
	default:
		return promptedLines(typed, out)
	}
}

// promptedLines reads lines from a terminal that edits them itself.
func promptedLines(in io.Reader, out io.Writer) lines {
	prompted := plainLines(in, out)
	prompted.isEchoing = false
	next := prompted.next
	prompted.next = func(prompt string) (string, error) {
		if _, err := io.WriteString(out, prompt); err != nil {
			return "", err
		}
		return next(prompt)
	}
	return prompted
}

// plainLines reads lines without a prompt.
func plainLines(in io.Reader, out io.Writer) lines {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	next := func(string) (string, error) {
		if scanner.Scan() {
			return scanner.Text(), nil
		}
		err := scanner.Err()
		switch {
		case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			return "", io.EOF
		case errors.Is(err, bufio.ErrTooLong):
			return "", fmt.Errorf("a line of standard input has more than %d bytes: split it", maxLine)
		default:
			return "", fmt.Errorf("reading the conversation: %w", err)
		}
	}
	width := widthOf(out)
	return lines{next: next, width: width(), refreshed: width, isEchoing: true}
}

// reading is an io.Reader that calls a function.
type reading func(into []byte) (int, error)

func (r reading) Read(into []byte) (int, error) { return r(into) }

type got struct {
	bytes []byte
	err   error
}

// interruptible returns a reader whose Read returns the error of ctx once ctx has ended, even while the underlying
// Read blocks. One goroutine reads.
func interruptible(ctx context.Context, from io.Reader) reading {
	const chunk = 4096
	answers := make(chan got, 1)
	isAsked := false
	var rest []byte
	return func(into []byte) (int, error) {
		if len(rest) == 0 {
			if !isAsked {
				isAsked = true
				go func() {
					buffer := make([]byte, chunk)
					n, err := from.Read(buffer)
					answers <- got{buffer[:n], err}
				}()
			}
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case answer := <-answers:
				isAsked, rest = false, answer.bytes
				if len(rest) == 0 {
					return 0, answer.err
				}
			}
		}
		n := copy(into, rest)
		rest = rest[n:]
		return n, nil
	}
}

// validated returns a reader that replaces each byte that is not UTF-8 by a question mark: a line editor
// could wait for the rest of the character.
func validated(from io.Reader) io.Reader {
	var pending []byte
	return reading(func(into []byte) (int, error) {
		for {
			if n := completeText(pending); n > 0 {
				n = copy(into, pending[:n])
				pending = pending[n:]
				return n, nil
			}
			buffer := make([]byte, len(into))
			n, err := from.Read(buffer)
			pending = append(pending, buffer[:n]...)
			if n == 0 && err != nil {
				return 0, err
			}
		}
	})
}

// completeText makes a text valid UTF-8 in place, and returns the number of bytes in complete characters.
func completeText(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			text[i] = '?'
		}
		i += size
	}
	return len(text)
}

// leastWidth is the minimum number of cells for a text after its head. If there are fewer, the text begins on the
// next line, indented by at most narrowIndent cells.
const (
	leastWidth   = 20
	narrowIndent = 2
)

// wrapped returns a text in lines of at most width cells, broken between words if possible. 0 means no limit.
func wrapped(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrappedLine(line, width)...)
	}
	return lines
}

// wrappedLine is wrapped for one line. Continuation lines keep its indentation.
func wrappedLine(line string, width int) []string {
	if width <= 0 {
		return []string{line}
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > width/2 {
		indent = ""
	}
	var lines []string
	for runewidth.StringWidth(line) > width {
		head := headOf(line, width, len(indent))
		if len(head) == len(line) {
			break // A single character that is wider than the terminal.
		}
		lines = append(lines, strings.TrimRight(head, " "))
		line = indent + strings.TrimLeft(line[len(head):], " ")
	}
	return append(lines, line)
}

// headOf returns the beginning of a line that fits, up to a space after the indentation if there is one, and
// at least one character.
func headOf(line string, width, indent int) string {
	head := runewidth.Truncate(line, width, "")
	if len(head) <= indent {
		_, size := utf8.DecodeRuneInString(line[indent:])
		return line[:indent+size]
	}
	if strings.HasPrefix(line[len(head):], " ") {
		return head
	}
	if space := strings.LastIndexByte(head[indent:], ' '); space > 0 {
		return head[:indent+space]
	}
	return head
}

// visible returns a text that cannot control a terminal, see display.Visible. Tabs become spaces, so that the
// width is known.
func visible(text string) string {
	return display.Visible(strings.ReplaceAll(text, "\t", "    "))
}
