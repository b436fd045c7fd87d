package conversation

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/botctx/go-sdk/internal/display"
)

// reserved are the words that mean something in a line, and so no name as they stand.
var reserved = []string{
	"Bot", "Fails", "The", "member", "agent", "channel", "desk", "data", "taps", "sends", "takes", "ends", "joins",
	"at", "in", "to", "of", "later",
}

// plainName is a name that stands as it is.
var plainName = regexp.MustCompile(`^[\pL\pM\pN'’._-]+( [\pL\pM\pN'’._-]+)*$`)

// nameOf returns a name as a file has it. That of a member in a group stands as it is, too.
func nameOf(name string) string {
	first, group, isInGroup := strings.Cut(name, inGroup)
	if isPlain(name) || isInGroup && isPlain(first) && isPlain(group) {
		return name
	}
	return strconv.QuoteToGraphic(name)
}

// isPlain reports whether a name stands as it is.
func isPlain(name string) bool {
	isReserved := func(word string) bool { return slices.Contains(reserved, word) }
	return plainName.MatchString(name) && !slices.ContainsFunc(strings.Fields(name), isReserved)
}

// idOf returns the id of a channel, a group or a data source as a file has it. It may be a word that begins
// a line.
func idOf(id string) string {
	switch id {
	case "member", "agent", "channel", "desk", "data":
		return id
	}
	if isPlain(id) {
		return id
	}
	return strconv.QuoteToGraphic(id)
}

// errNoName is the error for a name that is empty.
var errNoName = errors.New("there is no name: write one, as in \"Ada: hello\"")

// readName reads the name of a person.
func readName(text string) (string, error) { return readAs(nameOf, text) }

// readID reads an id.
func readID(text string) (string, error) { return readAs(idOf, text) }

// readAs reads what a function writes.
func readAs(written func(string) string, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errNoName
	case text[0] != '"' && written(text) != text:
		return "", fmt.Errorf("%s is no name as it stands: write it in quotes, as in %s", text, written(text))
	case text[0] != '"':
		return text, nil
	}
	name, err := strconv.Unquote(text)
	if err != nil {
		return "", fmt.Errorf("%s is no name in quotes: end it with a quote, and write \\\" for one within it", text)
	}
	if name == "" {
		return "", errNoName
	}
	return name, nil
}

// escaped returns a line of a text as a file has it: what one does not see, spaces at its ends and the
// marks that mean something are escaped.
func escaped(line string, marks string) string {
	first := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
	last := len(strings.TrimRightFunc(line, unicode.IsSpace))
	var text strings.Builder
	for at := 0; at < len(line); {
		r, size := utf8.DecodeRuneInString(line[at:])
		isSeen := first <= at && at < last && !display.IsHidden(r)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&text, `\x{%x}`, line[at])
		case r == '\\' || strings.ContainsRune(marks, r):
			text.WriteString(`\` + string(r))
		case isSeen:
			text.WriteRune(r)
		default:
			text.WriteString(escapeOf(r))
		}
		at += size
	}
	return text.String()
}

// escapeOf returns what stands in the place of a character.
func escapeOf(r rune) string {
	switch r {
	case ' ':
		return `\s`
	case '\t':
		return `\t`
	case '\n':
		return `\n`
	default:
		return fmt.Sprintf(`\u{%x}`, r)
	}
}

// escape is what may stand in the place of a character.
var escape = regexp.MustCompile(`\\(?:[xu]\{[0-9a-fA-F]{1,6}\}|.|$)`)

// unescaped returns the line that escaped made a text of.
func unescaped(text string) (line string, err error) { return unescapedAll(strings.TrimSpace(text)) }

// unescapedAll is unescaped for a text of which the spaces at its ends are part.
func unescapedAll(text string) (line string, err error) {
	line = escape.ReplaceAllStringFunc(text, func(found string) string {
		one, ok := unescapedOne(found)
		if !ok {
			err = fmt.Errorf("%s means nothing: write \\\\ for a backslash; there are \\s for a space at the end of a line, \\t for a tab, "+
				"and \\u{202e} for any character", found)
		}
		return one
	})
	return line, err
}

func unescapedOne(found string) (string, bool) {
	switch rest := found[1:]; {
	case rest == "":
		return "", false
	case strings.HasPrefix(rest, "u{"):
		r, err := strconv.ParseUint(rest[2:len(rest)-1], 16, 32)
		return string(rune(r)), err == nil && utf8.ValidRune(rune(r))
	case strings.HasPrefix(rest, "x{"):
		b, err := strconv.ParseUint(rest[2:len(rest)-1], 16, 8)
		return string([]byte{byte(b)}), err == nil
	default:
		const marks = `\[]()`
		meaning, ok := map[string]string{"s": " ", "t": "\t", "n": "\n"}[rest]
		if !ok && strings.Contains(marks, rest) {
			return rest, true
		}
		return meaning, ok
	}
}

// jsonLine returns JSON on a line, in which all characters are seen.
func jsonLine(text string) string {
	if !strings.ContainsFunc(text, display.IsHidden) {
		return text
	}
	var line strings.Builder
	for _, r := range text {
		if !display.IsHidden(r) {
			line.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteToASCII(string(r))
		if r > 0xffff {
			quoted = surrogates(r)
		}
		line.WriteString(strings.NewReplacer(`"`, "", `\x`, `\u00`).Replace(quoted))
	}
	return line.String()
}

// surrogates returns a character as JSON escapes it that has more than 16 bits.
func surrogates(r rune) string {
	high, low := utf16.EncodeRune(r)
	return fmt.Sprintf(`\u%04x\u%04x`, high, low)
}
