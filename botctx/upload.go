package botctx

import (
	"context"
	"io"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
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
		return boterr.In(record.FieldID, err)
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

// UploadLimits are how large uploaded files may be, and how long an upload may take. The
// limits of Config.HTTP hold as well.
type UploadLimits struct {
	// MaxBytes is the most bytes of a file. 0 means send.MaxFileMegabytes MiB.
	MaxBytes int64
	// Timeout is how long the whole of an upload may take, at most Config.MaxRun: asking for the file, and
	// storing it while it comes. 0 means 45 seconds, or MaxRun if that is shorter.
	Timeout time.Duration
}
