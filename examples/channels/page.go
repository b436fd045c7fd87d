package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// columns is how many characters a line has at most.
const columns = 120

const introduction = `
The conversation of Ada with the bot of a florist, on nine messaging platforms at once. Below each message or operation
is a row for each platform: the id that the message got there, and the operation's result as JSON. {…} is what all
platforms have alike: the message event of what was sent. Rows that are the same are one, and what failed has a !.
`

// page is what is printed.
type page struct{ strings.Builder }

// text prints a text as it is.
func (p *page) text(text string) { p.WriteString(strings.TrimPrefix(text, "\n")) }

// line prints a line, cut where it is too long.
func (p *page) line(format string, args ...any) {
	p.WriteString(strings.TrimRight(cut(fmt.Sprintf(format, args...), columns), " ") + "\n")
}

// title begins a part.
func (p *page) title(text string) {
	text = "\n== " + text + " "
	p.text("\n" + text + strings.Repeat("=", columns+1-utf8.RuneCountInString(text)) + "\n")
}

// groups prints rows under their heads.
func (p *page) groups(all groups) {
	for _, g := range all {
		if len(g.rows) > 1 {
			g.more = ""
		}
		p.line("%s", g.head+g.more)
		for _, r := range g.merged() {
			p.row(r)
		}
	}
}

// row prints what happened on one platform, or on several.
func (p *page) row(r row) {
	if strings.Contains(r.on, ",") {
		p.line("  %s   %s", r.on, r.text)
		return
	}
	p.line("  %-8s %-18s %s", r.on, r.id, r.text)
}

// cut returns at most so many characters of a text.
func cut(text string, most int) string {
	characters := []rune(text)
	if len(characters) <= most {
		return text
	}
	return string(characters[:most-1]) + "…"
}
