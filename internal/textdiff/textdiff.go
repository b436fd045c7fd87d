// Package textdiff shows the differences between two texts line by line.
package textdiff

import (
	"fmt"
	"slices"
	"strings"
)

// around is the number of equal lines shown before and after a difference.
const around = 3

// mostCompared is the maximum number of pairs of lines to compare. Above it, all lines between the first and the last
// difference are reported as different.
const mostCompared = 4 << 20

// Unified returns a unified diff of two texts without file names. Lines only in first have the prefix -, lines only
// in second the prefix +. It is "" if the texts are equal.
func Unified(first, second string) string {
	if first == second {
		return ""
	}
	var text strings.Builder
	for _, part := range parts(changes(lines(first), lines(second))) {
		part.writeTo(&text)
	}
	return text.String()
}

// noEnd follows a last line that does not end in a newline.
const noEnd = "\n\\ No newline at end of file"

// lines splits text into lines without newlines.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	ended, hasEnd := strings.CutSuffix(text, "\n")
	all := strings.Split(ended, "\n")
	if !hasEnd {
		all[len(all)-1] += noEnd
	}
	return all
}

// change is a line of both texts (' '), of the first ('-') or of the second ('+').
type change struct {
	mark byte
	line string
}

func changes(a, b []string) []change {
	var all []change
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		all = append(all, change{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	var end []change
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		end = append(end, change{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(end)
	return slices.Concat(all, between(a, b), end)
}

// between returns the changes from a to b. Their first lines differ, and so do their last lines.
func between(a, b []string) []change {
	var all []change
	common := commonLengths(a, b)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0] && common != nil:
			all = append(all, change{' ', a[0]})
			a, b = a[1:], b[1:]
		case common == nil || common.at(len(a)-1, len(b)) >= common.at(len(a), len(b)-1):
			all = append(all, change{'-', a[0]})
			a = a[1:]
		default:
			all = append(all, change{'+', b[0]})
			b = b[1:]
		}
	}
	for _, line := range a {
		all = append(all, change{'-', line})
	}
	for _, line := range b {
		all = append(all, change{'+', line})
	}
	return all
}

// lengths holds the length of the longest common subsequence of two suffixes, indexed by the lengths of the suffixes.
type lengths struct {
	cells []int32
	width int
}

func (l *lengths) at(i, j int) int32 { return l.cells[i*l.width+j] }

// commonLengths computes the lengths. It returns nil if there are too many lines to compare.
func commonLengths(a, b []string) *lengths {
	if len(a)*len(b) > mostCompared {
		return nil
	}
	l := &lengths{cells: make([]int32, (len(a)+1)*(len(b)+1)), width: len(b) + 1}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			if a[len(a)-i] == b[len(b)-j] {
				l.cells[i*l.width+j] = l.at(i-1, j-1) + 1
			} else {
				l.cells[i*l.width+j] = max(l.at(i-1, j), l.at(i, j-1))
			}
		}
	}
	return l
}

// part is a hunk of the diff. first and second are the numbers of lines before it in the two texts.
type part struct {
	first, second int
	changes       []change
}

// parts groups changes that are near each other.
func parts(all []change) []part {
	var found []part
	var open *part
	alike, first, second := 0, 0, 0
	for i, c := range all {
		switch {
		case c.mark == ' ':
			alike++
		case open == nil || alike > 2*around:
			before := min(alike, around)
			found = append(found, part{first: first - before, second: second - before, changes: slices.Clone(all[i-before : i])})
			open, alike = &found[len(found)-1], 0
		default:
			alike = 0
		}
		if open != nil && alike <= 2*around {
			open.changes = append(open.changes, c)
		}
		if c.mark != '+' {
			first++
		}
		if c.mark != '-' {
			second++
		}
	}
	for i := range found {
		found[i].trim()
	}
	return found
}

// trim removes equal lines that are too far after the last difference.
func (p *part) trim() {
	end := len(p.changes)
	for end > 0 && p.changes[end-1].mark == ' ' {
		end--
	}
	p.changes = p.changes[:min(end+around, len(p.changes))]
}

func (p *part) writeTo(text *strings.Builder) {
	inFirst, inSecond := 0, 0
	for _, c := range p.changes {
		if c.mark != '+' {
			inFirst++
		}
		if c.mark != '-' {
			inSecond++
		}
	}
	fmt.Fprintf(text, "@@ -%s +%s @@\n", span(p.first, inFirst), span(p.second, inSecond))
	for _, c := range p.changes {
		text.WriteByte(c.mark)
		text.WriteString(c.line + "\n")
	}
}

// span formats a range of lines for a hunk's header.
func span(before, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}
