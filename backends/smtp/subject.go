package smtp

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// Lengths in bytes: a header's line should have at most 78, and an encoded word 75, of
// which its marks, base64 and the name of the character set leave this much.
const (
	maxPlainSubject = 65
	maxWordBytes    = 36
)

// subject returns a subject line as it stands in the header: as it is where it is short and
// plain, else in encoded words (RFC 2047).
func subject(text utility.EmailText) (string, error) {
	charset, err := charsetOf(text)
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(text.Data, func(r rune) bool { return r != '\t' && (r < ' ' || r == 0x7f) }) {
		return "", boterr.Invalid("Data", "must be one line, without line breaks and control characters")
	}
	if _, err := charset.encode(text.Data); err != nil {
		return "", err
	}
	if isPlain(text.Data) {
		return text.Data, nil
	}
	return charset.words(text.Data)
}

// isPlain reports whether a subject reads the same when it is not encoded.
func isPlain(text string) bool {
	return isASCII(text) && len(text) <= maxPlainSubject &&
		!strings.Contains(text, "=?") && strings.TrimSpace(text) == text
}

// words returns a text as encoded words, each on a line and of whole characters.
func (c charset) words(text string) (string, error) {
	var words []string
	for text != "" {
		word, rest, err := c.word(text)
		if err != nil {
			return "", err
		}
		words = append(words, "=?"+c.name+"?B?"+base64.StdEncoding.EncodeToString([]byte(word))+"?=")
		text = rest
	}
	return strings.Join(words, "\r\n "), nil
}

// word returns as many characters from the front of a text as fit into an encoded word, one
// at least, in the character set, and the rest of the text.
func (c charset) word(text string) (word, rest string, err error) {
	end := 0
	for end < len(text) {
		_, size := utf8.DecodeRuneInString(text[end:])
		longer, err := c.encode(text[:end+size])
		if err != nil {
			return "", "", err
		}
		if len(longer) > maxWordBytes && end > 0 {
			break
		}
		word, end = longer, end+size
	}
	return word, text[end:], nil
}
