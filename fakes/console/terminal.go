package console

import (
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// The size of a terminal that does not tell it.
const (
	usualWidth  = 80
	usualHeight = 24
)

// sizeOf returns how many cells and rows a terminal has.
func sizeOf(descriptor int) (cells, rows int) {
	cells, rows, err := term.GetSize(descriptor)
	if err != nil || cells <= 0 {
		return usualWidth, usualHeight
	}
	return cells, rows
}

// widthOf returns what returns the width of where lines go to, 0 if that is no terminal.
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
			_, _ = io.WriteString(out, "\n") // The prompt stands there.
		}
		if err != nil && ctx.Err() != nil {
			err = io.EOF
		}
		return line, err
	}
	return lines{next: next, width: width(), refreshed: width, colours: os.Getenv("NO_COLOR") == ""}
}

// completed returns a line with as much behind it as all that it may go on as has in common, and these
// where that is nothing more.
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
	if len(head) < len(line) { // They differ from what is typed in upper and lower case.
		head = line
	}
	if len(among) > 1 && head == line {
		others = among
	}
	return head, others
}
