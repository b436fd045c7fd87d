// Package display prepares text for errors, logs and terminals: it redacts credentials, escapes hidden characters and
// shortens lists.
package display

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Joiners are needed in emoji and some scripts.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// IsHidden reports whether a character is invisible or misleading: control characters including newlines, direction
// marks, and other characters without a glyph. The joiners of emoji and some scripts are not hidden.
func IsHidden(r rune) bool {
	switch {
	case ' ' <= r && r <= '~', r == zeroWidthNonJoiner, r == zeroWidthJoiner:
		return false
	default:
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
	}
}

// Visible returns text made safe for a terminal or a log. Hidden characters other than newlines and
// tabs, and bytes that are not UTF-8, are escaped as in Go source, such as \x1b and \u202e. "\r\n"
// becomes "\n".
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

func isVisible(text string) bool {
	return !strings.ContainsFunc(text, mustEscape) && utf8.ValidString(text)
}

func mustEscape(r rune) bool { return r != '\n' && r != '\t' && IsHidden(r) }

// Text formats an error or the value of a panic for logs and other processes. It calls Redact and Visible. It does
// not panic, even if the value's methods do.
func Text(value any) string { return Visible(Redact(fmt.Sprint(value))) }

// maxBrief is the maximum length of Brief in bytes.
const maxBrief = 1000

// Brief returns the Text of an error as it is stored: valid UTF-8, and shortened if it is long.
func Brief(err error) string {
	text := strings.ToValidUTF8(Text(err), "\uFFFD")
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "")
	}
	return text
}

// List joins the first 20 of count texts with commas, and adds the number of the others.
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

// GoDuration returns a duration as a Go expression in its largest whole unit.
func GoDuration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"time.Hour", time.Hour}, {"time.Minute", time.Minute}, {"time.Second", time.Second}, {"time.Millisecond", time.Millisecond}} {
		switch {
		case d == unit.of:
			return unit.name
		case d != 0 && d%unit.of == 0:
			return fmt.Sprintf("%d*%s", d/unit.of, unit.name)
		}
	}
	return strconv.FormatInt(int64(d), 10)
}
