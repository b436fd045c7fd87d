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

// MaxBody is how many bytes the body of a request has at most.
const MaxBody = 1 << 18

// Problem is what a page is told of an error.
type Problem struct {
	// Code is one of boterr, Message a sentence that says what to do.
	Code    boterr.Code `json:"code"`
	Message string      `json:"message"`
	// Frames are where a panic arose, nil for none.
	Frames []string `json:"frames,omitempty"`
}

// ProblemOf tells an error, nil for nil. Credentials in it are redacted.
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

// Answer answers with a status and a value as JSON.
func Answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		Fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // Who is gone needs no answer.
}

// Fail answers with a status and an error.
func Fail(w http.ResponseWriter, status int, err error) {
	Answer(w, status, map[string]*Problem{"error": ProblemOf(err)})
}

// Read reads the body of a request as JSON, all fields of which have to be known. InvalidArgument: it is
// something else, or larger than MaxBody.
func Read(w http.ResponseWriter, r *http.Request, into any) error {
	if given, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || given != "application/json" {
		return boterr.Invalid("Content-Type", "is %q: send application/json", r.Header.Get("Content-Type"))
	}
	return Decode(http.MaxBytesReader(w, r.Body, MaxBody), into)
}

// Decode reads one JSON value, all fields of which have to be known. InvalidArgument: it is something else.
func Decode(from io.Reader, into any) error {
	decoder := json.NewDecoder(from)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return boterr.Invalid("", "the body cannot be read: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return boterr.Invalid("", "the body goes on behind its value")
	}
	return nil
}
