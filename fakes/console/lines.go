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

// maxLine is the most bytes of a line that is read from what is no terminal.
const maxLine = 1 << 20

// lines reads typed lines, and knows the terminal, if there is one.
type lines struct {
	// next returns the next line after a prompt. It blocks until there is one. io.EOF is the end, also of the
	// context.
	next func(prompt string) (string, error)
	// width is the number of cells of the terminal when the console begins, and refreshed returns the present
	// one.
	width     int
	refreshed func() int
	// colours is whether there are any, isEchoing whether what is typed is not to be seen otherwise.
	colours, isEchoing bool
}

// complete returns what a line up to the cursor may go on as.
type complete func(line string) []string

func isTerminal(stream any) bool {
	file, isFile := stream.(*os.File)
	return isFile && term.IsTerminal(int(file.Fd()))
}

// linesOf returns what is typed into in: edited lines where both are a terminal that can do that.
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

// plainLines reads lines as they come, without a prompt.
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
			return "", fmt.Errorf("a line of standard input has more than %d bytes: break it", maxLine)
		default:
			return "", fmt.Errorf("reading the conversation: %w", err)
		}
	}
	width := widthOf(out)
	return lines{next: next, width: width(), refreshed: width, isEchoing: true}
}

// reading is a reader of a function.
type reading func(into []byte) (int, error)

func (r reading) Read(into []byte) (int, error) { return r(into) }

// got is the result of a Read.
type got struct {
	bytes []byte
	err   error
}

// interruptible returns a reader whose Read returns the error of ctx when that ends, while one of the
// underlying reader may still be under way. One goroutine reads.
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

// validated returns a reader that puts a question mark in the place of each byte that is no UTF-8: an
// editor of lines may wait for what completes it.
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

// completeText makes a text valid in its place, and returns how many bytes of it are whole characters.
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

// leastWidth is the least number of cells for a text after its head, and narrowIndent the indent below a head
// that leaves less.
const (
	leastWidth   = 20
	narrowIndent = 2
)

// wrapped returns a text in lines that are no wider than a number of cells, broken between words if
// that is possible. 0 breaks nothing.
func wrapped(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrappedLine(line, width)...)
	}
	return lines
}

// wrappedLine is wrapped for one line. What follows its first part is as far to the right.
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
			break // One character that is wider than all there is.
		}
		lines = append(lines, strings.TrimRight(head, " "))
		line = indent + strings.TrimLeft(line[len(head):], " ")
	}
	return append(lines, line)
}

// headOf returns the beginning of a line that fits, up to a space behind what is indented if there is
// one, and at least one character.
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

// visible returns a text that does nothing to a terminal, see display.Visible. Tabs are spaces, so that its width
// is known.
func visible(text string) string {
	return display.Visible(strings.ReplaceAll(text, "\t", "    "))
}
