package botctx

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
)

// hidden stands in the place of what is not shown.
const hidden = "[redacted]"

// LogValue returns what logs may show of the params: the URL without user and query, of the
// headers their names, with the values of those alone that hold no credentials, and of the
// body its size. The JSON form has everything, since it is how a call goes on through a door.
func (p UploadFileToObjectStoreParams) LogValue() slog.Value { return slog.AnyValue(p.shown()) }

// Format writes what LogValue returns as JSON, whatever the verb.
func (p UploadFileToObjectStoreParams) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, p.shown().String()) // A fmt.State reports no errors.
}

func (p UploadFileToObjectStoreParams) shown() document.Object {
	safe := p
	safe.URL, safe.Options = shownURL(p.URL), shownOptions(p.Options)
	shown, err := document.Encode(safe)
	if err != nil {
		return document.O("params", hidden)
	}
	return shown
}

// shownURL returns a URL without user, query and fragment. A path is shown.
func shownURL(text string) string {
	at, err := url.Parse(text)
	if err != nil || at.Opaque != "" {
		return hidden
	}
	var shown strings.Builder
	if at.Host != "" {
		shown.WriteString(at.Scheme + "://")
	}
	if at.User != nil {
		shown.WriteString(hidden + "@")
	}
	shown.WriteString(at.Host + at.EscapedPath())
	if at.RawQuery != "" {
		shown.WriteString("?" + hidden)
	}
	if at.Fragment != "" {
		shown.WriteString("#" + hidden)
	}
	return shown.String()
}

// shownOptions returns the options with what holds no credentials for certain.
func shownOptions(given document.Object) document.Object {
	var shown document.Object
	for name, value := range given.All() {
		switch {
		case value == nil:
		case name == "headers":
			value = shownHeaders(value)
		case name == "body":
			value = shownBody(value)
		case name != "method" || !isName(value):
			value = hidden
		}
		shown = shown.With(shownName(name), value)
	}
	return shown
}

// shownHeaders returns headers with the values of those that hold no credentials.
func shownHeaders(value any) any {
	headers, ok := value.(document.Object)
	if !ok {
		return hidden
	}
	var shown document.Object
	for name, value := range headers.All() {
		if text, err := headerText(value); err != nil || text == "" || !outbound.IsHarmless(name) {
			value = hidden
		}
		shown = shown.With(shownName(name), value)
	}
	return shown
}

// shownBody returns the size of a body.
func shownBody(value any) string {
	var body uploadOptions
	if err := body.setBody(value); err != nil {
		return hidden
	}
	return strconv.Itoa(len(body.body)) + " bytes"
}

// shownName returns a name, "" for what cannot be one, such as a whole header.
func shownName(name string) string {
	if !isName(name) {
		return hidden
	}
	return name
}

// isName reports whether a value is a text of letters, digits, dashes and underscores.
func isName(value any) bool {
	name, ok := value.(string)
	return ok && !strings.ContainsFunc(name, func(r rune) bool {
		isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !isLetter && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
