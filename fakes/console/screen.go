package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// colour is how a text looks in a terminal.
type colour string

// The colours. Each is the number by which a terminal knows it.
const (
	plain  colour = ""
	ofBot  colour = "36"
	ofUser colour = "32"
	ofNote colour = "2"
	ofFail colour = "31"
)

// screen is where lines go. The first error of writing is kept, and nothing is written after it.
type screen struct {
	out io.Writer
	// width is how many cells a line has, 0 where lines are not wrapped.
	width   int
	colours bool
	// labels is how many cells the widest label has.
	labels int
	err    error
}

// grow makes room for a label.
func (s *screen) grow(label string) { s.labels = max(s.labels, runewidth.StringWidth(visible(label))) }

// padded returns a label with a sign behind it, as wide as all labels are.
func (s *screen) padded(label, sign string) string {
	label = oneLine(label)
	return label + sign + strings.Repeat(" ", max(s.labels-runewidth.StringWidth(label), 0)+1)
}

// oneLine is visible for what stands in a line.
func oneLine(text string) string { return strings.ReplaceAll(visible(text), "\n", `\n`) }

// says prints what somebody says, behind a label.
func (s *screen) says(of colour, label, text string) {
	head := s.padded(label, ":")
	s.block(head, of, text, plain)
}

// more prints lines below what somebody says.
func (s *screen) more(text string) { s.block(strings.Repeat(" ", s.labels+2), plain, text, plain) }

// notef prints what the console itself has to tell.
func (s *screen) notef(format string, args ...any) {
	s.block("-- ", ofNote, fmt.Sprintf(format, args...), ofNote)
}

// fails prints what went wrong.
func (s *screen) fails(text string) { s.block("!! ", ofFail, text, ofFail) }

// block prints a text behind a head, wrapped. On a terminal that leaves little room behind the head, the text begins
// below it, as far to the left as there is need.
func (s *screen) block(head string, ofHead colour, text string, ofText colour) {
	indent, width := runewidth.StringWidth(head), 0
	var lines strings.Builder
	if s.width > 0 {
		if room := s.width - indent; room < leastWidth && indent > narrowIndent {
			for _, line := range wrapped(strings.TrimRight(head, " "), s.width) {
				lines.WriteString(s.painted(line, ofHead) + "\n")
			}
			indent = min(narrowIndent, s.width/4) //nolint:mnd // Little of what is little.
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

// painted returns a text in a colour, where there are any.
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
