package smtp

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// charset is a character set in which mails can be written.
type charset struct {
	encoding encoding.Encoding
	// name is the one that MIME prefers.
	name string
}

// charsetOf returns the character set that a text asks for, UTF-8 where it asks for none.
func charsetOf(text utility.EmailText) (charset, error) {
	asked := text.Charset
	if asked == "" {
		asked = "UTF-8"
	}
	found, err := ianaindex.MIME.Encoding(asked)
	if err != nil || found == nil {
		return charset{}, boterr.Invalid("Charset",
			"must be a character set that mails are written in, such as \"UTF-8\" or \"ISO-8859-1\", and not %q", asked)
	}
	// A set that encodes line breaks in another way, as UTF-16 does, cannot be used for the text of
	// mails.
	const sample = "a\r\n"
	if written, err := found.NewEncoder().String(sample); err != nil || written != sample {
		return charset{}, boterr.Invalid("Charset",
			"must be a character set that holds ASCII, such as \"UTF-8\"; mails cannot be written in %q", asked)
	}
	name, err := ianaindex.MIME.Name(found)
	if err != nil {
		name = asked
	}
	return charset{encoding: found, name: name}, nil
}

// encode returns a text as it is written in the character set.
func (c charset) encode(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", boterr.Invalid("Data", "must be UTF-8 text")
	}
	written, err := c.encoding.NewEncoder().String(text)
	if err != nil {
		return "", boterr.Invalid("Data", "has %q, which cannot be written in %s: choose UTF-8, or leave it out",
			c.lacking(text), c.name)
	}
	return written, nil
}

// lacking returns the first character of a text that the character set lacks.
func (c charset) lacking(text string) rune {
	for _, r := range text {
		if _, err := c.encoding.NewEncoder().String(string(r)); err != nil {
			return r
		}
	}
	return utf8.RuneError
}
