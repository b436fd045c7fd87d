package console

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text whose control characters, other than the ends of lines, are written as Go
// writes them, so that they do nothing to a terminal. Tabs are spaces.
func visible(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\t", "    ")
	if !strings.ContainsFunc(text, isHidden) && utf8.ValidString(text) {
		return text
	}
	var shown strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if isHidden(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.QuoteToASCII(text[:size])
			shown.WriteString(quoted[1 : len(quoted)-1])
		} else {
			shown.WriteString(text[:size])
		}
		text = text[size:]
	}
	return shown.String()
}

// The characters that join others, as emoji and some scripts need it.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// isHidden reports whether a character controls a terminal, or hides or turns text.
func isHidden(r rune) bool {
	switch r {
	case '\n', zeroWidthNonJoiner, zeroWidthJoiner:
		return false
	default:
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
	}
}
