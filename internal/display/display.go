// Package display makes text fit for errors, logs and terminals: without credentials, without characters that hide
// something, and not too long.
package display

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The characters that join others, as emoji and some scripts need it.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// IsHidden reports whether a character controls something, such as a terminal, or hides or turns text, so that
// a reader does not see what is there: control characters, line ends among them, marks of direction, and
// others without a shape. The joiners of emoji and of some scripts are not hidden.
func IsHidden(r rune) bool {
	switch {
	case ' ' <= r && r <= '~', r == zeroWidthNonJoiner, r == zeroWidthJoiner:
		return false
	default:
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
	}
}

// Visible returns text as it may go to a terminal or a log: hidden characters other than line ends and tabs,
// and bytes that are no UTF-8, are written as Go writes them, such as \x1b and \u202e. "\r\n" becomes "\n".
func Visible(text string) string {
	if isVisible(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var shown strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if mustEscape(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.QuoteToASCII(text[:size])
			shown.WriteString(quoted[1 : len(quoted)-1])
		} else {
			shown.WriteString(text[:size])
		}
		text = text[size:]
	}
	return shown.String()
}

// isVisible reports whether nothing in a text has to be escaped.
func isVisible(text string) bool {
	return !strings.ContainsFunc(text, mustEscape) && utf8.ValidString(text)
}

// mustEscape reports whether Visible escapes a character.
func mustEscape(r rune) bool { return r != '\n' && r != '\t' && IsHidden(r) }

// Text returns the text of an error, or of what was panicked with, as it may stand in logs and leave the process:
// redacted and visible. It never panics, whatever the methods of the value do.
func Text(value any) string { return Visible(Redact(fmt.Sprint(value))) }

// List returns count texts with commas between them: the first 20, and how many more there are.
func List(count int, text func(i int) string) string {
	const most = 20
	var list strings.Builder
	for i := range min(count, most) {
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(text(i))
	}
	if count > most {
		fmt.Fprintf(&list, " and %d more", count-most)
	}
	return list.String()
}
