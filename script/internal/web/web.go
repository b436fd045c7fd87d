// Package web provides globals of the web platform that the engine lacks: URL and URLSearchParams, TextEncoder and
// TextDecoder, structuredClone, crypto, AbortController and AbortSignal, Headers, Request, Response and fetch. They
// follow the WHATWG standards. Source defines them; Functions returns the parts that run in Go.
package web

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/botctx/go-sdk/boterr"
)

// Source is a JavaScript expression for a function that defines the globals. Its argument is an object with
//
//   - ask(name, value), which calls one of Functions and returns its result, or throws an Error;
//   - begin(name, value), which starts an operation of the host and returns {answer, cancel}: the promise of
//     its result, and a function that cancels it;
//   - setTimeout(function, milliseconds).
//
// fetch calls begin("fetch", ...) with {url, method, headers, body}. The result is {status, statusText, headers, url,
// body}. headers is a list of [name, value] pairs, with one pair for each Set-Cookie. body is base64, or null.
//
//go:embed web.js
var Source string

// Names are the globals that Source defines.
var Names = []string{
	"AbortController", "AbortSignal", "Headers", "Request", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams",
	"crypto", "fetch", "structuredClone",
}

// Function is a Go function that Source calls. value is JSON. json.Marshal encodes the result.
type Function = func(value []byte) (result any, err error)

// Functions returns the functions by name. Their only side effect is reading from random, and they are safe for
// concurrent use if random is. They take time in proportion to the length of their input, or at most some ten milliseconds
// for a URL, see longestURL.
func Functions(random io.Reader) map[string]Function {
	return map[string]Function{
		"url": taking(newParser().parse), "encode": taking(encode), "decode": taking(decode), "encoding": taking(encodingOf),
		"random": taking(func(size int) ([]byte, error) {
			if size < 0 || size > mostRandom {
				return nil, boterr.Invalid("", "getRandomValues was asked for %d bytes; the limit is %d", size, mostRandom)
			}
			bytes := make([]byte, size)
			if _, err := io.ReadFull(random, bytes); err != nil {
				return nil, fmt.Errorf("reading random bytes: %w", err)
			}
			return bytes, nil
		}),
	}
}

// mostRandom is the standard's limit for crypto.getRandomValues.
const mostRandom = 65536

func taking[T, R any](function func(T) (R, error)) Function {
	return func(value []byte) (any, error) {
		var given T
		if err := json.Unmarshal(value, &given); err != nil {
			return nil, fmt.Errorf("the host cannot read the request: %w", err)
		}
		return function(given)
	}
}

// encode returns a text as UTF-8. Lone surrogates have been replaced when the JSON was decoded.
func encode(text string) ([]byte, error) { return []byte(text), nil }

const nameOfUTF8 = "utf-8"

// encodingOf returns the name of the encoding for a label of the Encoding Standard, or "" if the encoding is not
// supported.
func encodingOf(label string) (string, error) {
	from, err := htmlindex.Get(strings.Trim(label, "\t\n\f\r "))
	if err != nil {
		return "", nil //nolint:nilerr // The script gets its own error.
	}
	name, err := htmlindex.Name(from)
	if err != nil || name == "replacement" {
		return "", nil //nolint:nilerr // As above.
	}
	return name, nil
}

// toDecode are bytes in an encoding, together with the rest of the previous call. Stream means that more bytes
// follow.
type toDecode struct {
	Encoding               string `json:"encoding"`
	Rest, Bytes            []byte
	Fatal, KeepBOM, Stream bool
}

// decoded is the decoded text. Rest contains the bytes of an incomplete character at the end.
type decoded struct {
	Text     string `json:"text"`
	Rest     []byte `json:"rest"`
	HasBegun bool   `json:"hasBegun"`
	IsValid  bool   `json:"isValid"`
}

func decode(given toDecode) (decoded, error) {
	from, err := htmlindex.Get(given.Encoding)
	if err != nil {
		return decoded{}, boterr.Invalid("", "there is no encoding %q", given.Encoding)
	}
	bytes, rest := slices.Concat(given.Rest, given.Bytes), []byte{}
	if given.Stream {
		whole := len(bytes) - unfinished(bytes)
		bytes, rest = bytes[:whole], bytes[whole:]
	}
	made := decoded{Rest: rest, HasBegun: len(bytes) > 0}
	if given.Fatal && given.Encoding == nameOfUTF8 && !utf8.Valid(bytes) {
		return made, nil
	}
	made.Text, err = textOf(from, bytes)
	if err != nil || given.Fatal && given.Encoding != nameOfUTF8 && strings.ContainsRune(made.Text, utf8.RuneError) {
		return made, nil //nolint:nilerr // It is not valid.
	}
	if !given.KeepBOM && strings.HasPrefix(given.Encoding, "utf-") {
		made.Text = strings.TrimPrefix(made.Text, "\uFEFF")
	}
	made.IsValid = true
	return made, nil
}

// textOf decodes bytes. In single-byte encodings, unassigned bytes from 0x80 to 0x9F become control characters.
func textOf(from encoding.Encoding, bytes []byte) (string, error) {
	single, isSingle := from.(*charmap.Charmap)
	if !isSingle {
		return from.NewDecoder().String(string(bytes))
	}
	runes := make([]rune, len(bytes))
	for i, one := range bytes {
		if runes[i] = single.DecodeByte(one); runes[i] == utf8.RuneError && one < 0xA0 {
			runes[i] = rune(one)
		}
	}
	return string(runes), nil
}

// unfinished returns the length of an incomplete UTF-8 character at the end of bytes.
func unfinished(bytes []byte) int {
	for size := 1; size < utf8.UTFMax && size <= len(bytes); size++ {
		if tail := bytes[len(bytes)-size:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return size
		}
	}
	return 0
}
