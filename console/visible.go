package console

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/conversation"
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

// isHidden reports whether a character controls a terminal, or hides or turns text.
func isHidden(r rune) bool { return r != '\n' && conversation.IsHidden(r) }
