package page

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
)

// MaxBody is the maximum size of a request body in bytes.
const MaxBody = 1 << 18

// Problem is the JSON form of an error.
type Problem struct {
	// Code is the error's code. Message is its text, with the remedy.
	Code    boterr.Code `json:"code"`
	Message string      `json:"message"`
	// Frames are the calls that led to a panic.
	Frames []string `json:"frames,omitempty"`
}

// ProblemOf returns the redacted form of err, or nil for nil.
func ProblemOf(err error) *Problem {
	if err == nil {
		return nil
	}
	told := &Problem{Code: boterr.CodeOf(err), Message: display.Text(err)}
	if panicked, ok := errors.AsType[*boterr.PanicError](err); ok {
		told.Frames = panicked.Frames()
	}
	return told
}

// Answer writes a response with a status and a JSON body.
func Answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		Fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // The client may have closed the connection.
}

// Fail writes a response with a status and an error.
func Fail(w http.ResponseWriter, status int, err error) {
	Answer(w, status, map[string]*Problem{"error": ProblemOf(err)})
}

// Read decodes the body of a request. It returns InvalidArgument for unknown fields, another content type, or a body
// larger than MaxBody.
func Read(w http.ResponseWriter, r *http.Request, into any) error {
	if given, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || given != "application/json" {
		return boterr.Invalid("Content-Type", "is %q: send application/json", r.Header.Get("Content-Type"))
	}
	return Decode(http.MaxBytesReader(w, r.Body, MaxBody), into)
}

// Decode decodes a single JSON value. It returns InvalidArgument for unknown fields and trailing data.
func Decode(from io.Reader, into any) error {
	decoder := json.NewDecoder(from)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return boterr.Invalid("", "the body cannot be read: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return boterr.Invalid("", "the body has data after its value; send a single JSON value")
	}
	return nil
}
