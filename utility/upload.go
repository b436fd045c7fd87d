package utility

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/outbound"
)

// UploadFileToObjectStoreParams are the parameters of UploadFileToObjectStore.
type UploadFileToObjectStoreParams struct {
	// URL is the address of the file. Required.
	URL string `json:"url,omitzero"`
	// Options control the request:
	//
	//   - method, such as "POST". The method is GET if it is absent. HEAD, CONNECT and TRACE return
	//     no file.
	//   - headers, an object of strings or numbers.
	//   - body, a string, or an object or array, which is sent as JSON.
	//   - json, true to send a string body as JSON, or a JSON value to send if there is no body.
	//     The received file is stored unchanged.
	//   - qs, an object of strings, numbers and booleans to add to the query of the URL.
	//   - timeout, the milliseconds that the upload may take, up to the host's limit.
	//   - encoding, which may only be null, because files are stored as bytes.
	Options document.Object `json:"options,omitzero"`
	// Channel is the channel that the file belongs to. The default is the context's own.
	Channel ChannelID `json:"channel,omitzero"`
	// Filename is the file's name in the store, which may contain folders: "bills/7.pdf". It is a
	// relative path without empty parts, ".", "..", backslashes or control characters. Together
	// with the app and the channel, it has at most 1,024 bytes. Required.
	Filename string `json:"filename,omitzero"`
	// ContentType is the file's media type, such as "image/png". Required.
	ContentType string `json:"contentType,omitzero"`
}

// ChannelID is the id of a channel. JSON may give the channel's record instead.
type ChannelID string

// DecodeValue reads an id, or the id of a channel's record.
func (id *ChannelID) DecodeValue(value any) error {
	given, isRecord := value.(document.Object)
	if !isRecord {
		return document.DecodeValue(value, (*string)(id))
	}
	found, _ := given.Field(record.FieldID)
	if err := document.DecodeValue(found, (*string)(id)); err != nil {
		return boterr.PrefixField(record.FieldID, err)
	}
	if *id == "" {
		return record.MissingID("channel")
	}
	return nil
}

// UnmarshalJSON reads a value by the rules of DecodeValue.
func (id *ChannelID) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, id) }

// UploadFileToObjectStoreResult is empty. Its JSON is null.
type UploadFileToObjectStoreResult struct{}

// MarshalJSON returns null.
func (UploadFileToObjectStoreResult) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// ObjectStore is the port to a store of files. It must be safe for concurrent use.
type ObjectStore interface {
	// Put stores a file under its key and replaces an existing one. If reading the content fails or
	// ctx ends, Put stores nothing, keeps an existing file and returns that error.
	//
	// An error without a code means that the store did not answer; callers see Unavailable.
	Put(ctx context.Context, file StoredFile) error
}

// StoredFile is a file to store.
type StoredFile struct {
	// ID is unique to the upload. A retried run uses the same ID again.
	ID string
	// Key consists of app, channel and name, separated by slashes. App and channel are
	// path-escaped, so no two files share a key.
	Key string
	// App and Channel own the file; Name is its name.
	App     string
	Channel string
	Name    string
	// ContentType is the media type in lower case.
	ContentType string
	// Content is the file. Put must read it once, before it returns. Reading fails if the file is
	// larger, or takes longer, than the host allows.
	Content io.Reader
}

// UploadLimits limit the size and the duration of uploads; see botctx.Config.Upload. The limits of
// botctx.Config.HTTP apply as well.
type UploadLimits struct {
	// MaxBytes is the maximum size of a file. 0 means send.MaxFileMegabytes MiB.
	MaxBytes int64
	// Timeout limits a whole upload, from the request to the stored file. It is capped at
	// botctx.Config.MaxRun. 0 means 45 seconds.
	Timeout time.Duration
}

const hidden = "[redacted]"

// LogValue returns a form for logs: the URL without its user or query, the names of all headers but
// only the values that cannot hold credentials, and the size of the body. The JSON form is not
// redacted, because calls are forwarded as JSON.
func (p UploadFileToObjectStoreParams) LogValue() slog.Value { return slog.AnyValue(p.shown()) }

// Format writes the LogValue as JSON for every verb.
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

// shownURL returns the URL with user, query and fragment redacted.
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

// shownOptions redacts every option that may hold credentials.
func shownOptions(given document.Object) document.Object {
	if given.IsZero() {
		return given
	}
	shown := document.NewBuilder(given.Len())
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
		shown.Set(shownName(name), value)
	}
	return shown.Object()
}

// shownHeaders redacts the values of headers that may hold credentials.
func shownHeaders(value any) any {
	headers, ok := value.(document.Object)
	if !ok {
		return hidden
	}
	shown := document.NewBuilder(headers.Len())
	for name, value := range headers.All() {
		if !outbound.IsHarmless(name) || !isHeaderValue(value) {
			value = hidden
		}
		shown.Set(shownName(name), value)
	}
	return shown.Object()
}

// isHeaderValue reports whether value is a number or a string of printable characters.
func isHeaderValue(value any) bool {
	switch value := value.(type) {
	case string:
		isHidden := func(r rune) bool { return !unicode.IsPrint(r) }
		return value != "" && utf8.ValidString(value) && !strings.ContainsFunc(value, isHidden)
	case int64, float64:
		return true
	default:
		return false
	}
}

func shownBody(value any) string {
	var size int
	switch value := value.(type) {
	case string:
		size = len(value)
	case document.Object, document.Array:
		text, err := document.AppendJSON(nil, value)
		if err != nil {
			return hidden
		}
		size = len(text)
	default:
		return hidden
	}
	return strconv.Itoa(size) + " bytes"
}

// shownName redacts a string that is not a plain name, such as a whole header.
func shownName(name string) string {
	if !isName(name) {
		return hidden
	}
	return name
}

// isName reports whether value is a string of letters, digits, dashes and underscores.
func isName(value any) bool {
	name, ok := value.(string)
	return ok && !strings.ContainsFunc(name, func(r rune) bool {
		isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !isLetter && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
