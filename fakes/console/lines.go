package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

// maxLine is the most bytes of a line that is read from what is no terminal.
const maxLine = 1 << 20

// lines are what is typed, and what is known of where that is.
type lines struct {
	// next returns the next line behind a prompt, which is not to end before the line is there. io.EOF
	// is the end, that of the context included.
	next func(prompt string) (string, error)
	// width is how many cells the terminal has when the console begins, and refreshed what it has now.
	width     int
	refreshed func() int
	// colours is whether there are any, isEchoing whether what is typed is not to be seen otherwise.
	colours, isEchoing bool
}

// complete returns what a line up to the cursor may go on as.
type complete func(line string) []string

// isTerminal reports whether something is a terminal.
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

// Read implements io.Reader.
func (r reading) Read(into []byte) (int, error) { return r(into) }

// got is what a Read returned.
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
