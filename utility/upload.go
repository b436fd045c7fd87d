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
	// URL is where the file is. Required.
	URL string `json:"url,omitzero"`
	// Options are those of the request:
	//
	//   - method, such as "POST"; GET where it is absent. HEAD, CONNECT and TRACE bring no file.
	//   - headers, an object of texts or numbers.
	//   - body, a text, or an object or array, which is sent as JSON.
	//   - json, true to send a text in body as JSON, too, or what is sent as JSON without a body.
	//     The file that comes is stored as it is.
	//   - qs, an object of texts, numbers and booleans that are added to the query of the URL.
	//   - timeout, how many milliseconds the upload may take, where the host allows more.
	//   - encoding, which may be null: files are bytes in any case.
	Options document.Object `json:"options,omitzero"`
	// Channel is the channel that the file belongs to. The default is the context's own.
	Channel ChannelID `json:"channel,omitzero"`
	// Filename is the file's name in the store, which may have folders: "bills/7.pdf". It is a
	// relative path without empty parts, ".", "..", backslashes and control characters. With
	// the app and the channel before it, it has at most 1,024 bytes. Required.
	Filename string `json:"filename,omitzero"`
	// ContentType is the file's media type, such as "image/png". Required.
	ContentType string `json:"contentType,omitzero"`
}

// ChannelID is the id of a channel. JSON may give the channel's record instead.
type ChannelID string

// DecodeValue reads the id, or that of a record.
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

// UnmarshalJSON reads what DecodeValue does.
func (id *ChannelID) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, id) }

// UploadFileToObjectStoreResult is the result of UploadFileToObjectStore: nothing, in JSON
// null.
type UploadFileToObjectStoreResult struct{}

// MarshalJSON returns null.
func (UploadFileToObjectStoreResult) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// ObjectStore is the port to a store of files. It is used from many goroutines at once.
type ObjectStore interface {
	// Put stores a file under its key, in place of one that is there. Where reading the
	// content fails, or ctx ends, nothing is stored, what was there stays, and the error is
	// that of reading or of ctx.
	//
	// An error without a code means that the store did not answer; callers see Unavailable.
	Put(ctx context.Context, file StoredFile) error
}

// StoredFile is a file on its way into an object store.
type StoredFile struct {
	// ID is a new id for each upload, and the same again where the run that uploads it is tried again.
	ID string
	// Key is where it is stored: app, channel and name, with slashes between. App and channel
	// are escaped as in the path of a URL, so that no two files share a key.
	Key string
	// App and Channel are whom it belongs to, Name is its name there.
	App     string
	Channel string
	Name    string
	// ContentType is its media type, in small letters.
	ContentType string
	// Content is the file, to be read once, before Put returns. It ends in an error where the file is larger, or
	// takes longer, than the host allows.
	Content io.Reader
}

// UploadLimits are how large uploaded files may be, and how long an upload may take, see botctx.Config.Upload.
// The limits of its HTTP hold as well.
type UploadLimits struct {
	// MaxBytes is the most bytes of a file. 0 means send.MaxFileMegabytes MiB.
	MaxBytes int64
	// Timeout is how long the whole of an upload may take, at most botctx.Config.MaxRun: asking for the file, and
	// storing it while it comes. 0 means 45 seconds, or MaxRun if that is shorter.
	Timeout time.Duration
}

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
		if !outbound.IsHarmless(name) || !isHeaderValue(value) {
			value = hidden
		}
		shown = shown.With(shownName(name), value)
	}
	return shown
}

// isHeaderValue reports whether a value can be that of a header: a number, or a text of printable characters.
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
