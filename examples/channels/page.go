package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// The layout: how many characters a line has at most, where the text of a row begins, how many
// ids stand side by side, and how far from its end a line is broken at best.
const (
	columns  = 120
	indent   = 30
	idsInRow = 4
	reach    = 40
)

const introduction = `
The conversation of Ada with the bot of a florist, on nine messaging platforms at once. Below each message or operation
is a row for each platform: the id that the message got there, and the operation's result as JSON, where {…} stands for
the message as it was sent. Where a result has a form that the platform has shown before, only the id is there. Each
of several results has a row. Rows that are the same are one, and what failed has a !.
`

// page is what is printed.
type page struct{ text strings.Builder }

// print prints text as it is.
func (p *page) print(text string) { _, _ = p.text.WriteString(boterr.Visible(text)) }

// introduce says what is to be read.
func (p *page) introduce() { p.print(strings.TrimPrefix(introduction, "\n")) }

// line prints a text in as many lines as it needs. All but the first begin at a column.
func (p *page) line(text string, later int) {
	for i, line := range wrapped(text, later) {
		if i > 0 {
			line = strings.Repeat(" ", later) + line
		}
		p.print(strings.TrimRight(line, " ") + "\n")
	}
}

// title begins a part.
func (p *page) title(text string) {
	text = "== " + text + " "
	p.print("\n" + text + strings.Repeat("=", columns-utf8.RuneCountInString(text)) + "\n")
}

// row prints what happened on a platform, or on several.
func (p *page) row(r row) {
	head := fmt.Sprintf("  %-8s %-18s ", r.on, r.id)
	if r.id == "" && len(r.on) > len("webchat") {
		head = fmt.Sprintf("  %-27s ", r.on)
	}
	p.line(head+r.text, indent)
}

// ids prints the ids of messages on several platforms side by side.
func (p *page) ids(rows []row) {
	line := ""
	for i, r := range rows {
		line += fmt.Sprintf("  %-8s %-18s", r.on, r.id)
		if i%idsInRow == idsInRow-1 || i == len(rows)-1 {
			p.line(line, indent)
			line = ""
		}
	}
}

// cells prints a cell for each platform.
func (p *page) cells(head string, cell func(on channel.Type) string) {
	var line strings.Builder
	for _, platform := range platforms {
		fmt.Fprintf(&line, " %-8s", cell(platform.on))
	}
	p.line(fmt.Sprintf("%-30s", head)+line.String(), indent)
}

// wrapped returns a text in lines, all but the first of which begin at a column. They are broken
// behind spaces and commas where there is one near the end.
func wrapped(text string, later int) []string {
	var lines []string
	rest, width := []rune(text), columns
	for len(rest) > width {
		at := width
		for near := width; near > width-reach; near-- {
			if before := rest[near-1]; before == ' ' || before == ',' {
				at = near
				break
			}
		}
		lines = append(lines, string(rest[:at]))
		rest = rest[at:]
		width = columns - later
	}
	return append(lines, string(rest))
}
