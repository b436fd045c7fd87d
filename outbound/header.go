package outbound

import (
	"net/http"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// checkHeader returns an InvalidArgument with a field such as "headers.Accept"
// for a header that cannot be sent as it is. Of several it names the first in
// alphabetical order.
func checkHeader(header http.Header) error {
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !isToken(name) {
			return boterr.Invalid("headers", "the name of a header must be of letters, digits and hyphens")
		}
		field := "headers." + name
		if isFraming(http.CanonicalHeaderKey(name)) {
			return boterr.Invalid(field, "is set by the client; leave it out")
		}
		if slices.ContainsFunc(header[name], hasControl) {
			return boterr.Invalid(field, "must not contain control characters such as line breaks")
		}
	}
	return nil
}

// isToken reports whether the text is a token of RFC 9110, as names of headers
// must be.
func isToken(text string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		digit := '0' <= c && c <= '9'
		if !letter && !digit && !strings.Contains(marks, string(rune(c))) {
			return false
		}
	}
	return text != ""
}

// isFraming reports whether a header says where a message goes and where it ends.
// net/http takes these from the request itself; in other spelling it would send
// them twice.
func isFraming(canonical string) bool {
	switch canonical {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer":
		return true
	}
	return false
}

// hasControl reports whether a value has a control character other than the tab.
func hasControl(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
