package console

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// leastWidth is how many cells a text is to have behind its head, and narrowIndent how far to the right it begins below a
// head that leaves less.
const (
	leastWidth   = 20
	narrowIndent = 2
)

// wrapped returns a text in lines that are no wider than a number of cells, broken between words where
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
