// Package boterr defines the error that every operation returns: an [Error] with one of a few
// codes, the operation that failed, the field at fault and a message.
//
//   - To check the kind of an error, use errors.Is with a [Code], or [CodeOf].
//   - To read its operation, field and message, use [AsError].
//   - To return an error from your own code, use [New], [Invalid] or [Missing].
//
// errors.Is finds the code of a wrapped error, too:
//
//	if errors.Is(err, boterr.NotFound) { ... }
package boterr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/internal/display"
)

// Code is the kind of an error. A Code is itself an error, so errors.Is(err, boterr.NotFound)
// works.
type Code string

// The codes. A code tells callers how to react.
const (
	// InvalidArgument: a parameter is missing, has the wrong type or contradicts another; Field
	// names it. The same call will fail again.
	InvalidArgument Code = "InvalidArgument"
	// NotFound: the record does not exist in this scope.
	NotFound Code = "NotFound"
	// AlreadyExists: a record with the same key exists.
	AlreadyExists Code = "AlreadyExists"
	// Conflict: another writer changed the record first. Read it again and repeat.
	Conflict Code = "Conflict"
	// FailedPrecondition: the state of a record does not allow the operation now.
	FailedPrecondition Code = "FailedPrecondition"
	// ResourceExhausted: a limit was reached.
	ResourceExhausted Code = "ResourceExhausted"
	// Unsupported: this platform, store or host does not offer the operation.
	Unsupported Code = "Unsupported"
	// Unavailable: a store or platform did not answer. Repeating may help.
	Unavailable Code = "Unavailable"
	// Canceled: the call's context ended before the operation did.
	Canceled Code = "Canceled"
	// Internal: a bug, or an error without a code.
	Internal Code = "Internal"
)

// Codes returns all codes, in the order in which they are documented.
func Codes() []Code {
	return []Code{
		InvalidArgument, NotFound, AlreadyExists, Conflict, FailedPrecondition,
		ResourceExhausted, Unsupported, Unavailable, Canceled, Internal,
	}
}

// Error returns the code in words, such as "invalid argument".
func (c Code) Error() string {
	var words strings.Builder
	for i, r := range string(c) {
		if i > 0 && r >= 'A' && r <= 'Z' {
			words.WriteByte(' ')
		}
		words.WriteRune(r)
	}
	return strings.ToLower(words.String())
}

// Error is the error type of all operations.
type Error struct {
	// Op is the operation's name in the specification, such as "findAndModifyMember". It is empty
	// until the error leaves the operation.
	Op string
	// Code is the kind of the error. It is never empty in an error returned by an operation.
	Code Code
	// Field is the path of the parameter at fault, such as "data[2]._id". It is empty if no single
	// parameter is at fault.
	Field string
	// Err states the problem and the remedy.
	Err error
}

// New returns an error with the given code and field, which may be empty. The message is formatted
// as by fmt.Errorf, including %w. String arguments are cut after 500 bytes, and field after 1,000.
func New(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: cutField(field), Err: fmt.Errorf(format, cutLong(args)...)}
}

// Invalid returns an InvalidArgument error for the field.
func Invalid(field, format string, args ...any) *Error {
	return New(InvalidArgument, field, format, args...)
}

// Missing returns an InvalidArgument error for a parameter that was not given. give describes the
// missing value, such as "the id of a member"; with args, it is a format as for fmt.Errorf.
func Missing(field, give string, args ...any) *Error {
	return Invalid(field, "is missing; give "+give, args...)
}

// Error returns "operation: code: field: message", leaving out empty parts. Credentials are
// redacted and hidden characters are escaped; see Visible.
func (e *Error) Error() string {
	if e == nil {
		return "internal: a nil *boterr.Error was returned as an error: return nil itself"
	}
	parts := make([]string, 0, 4)
	if e.Op != "" {
		parts = append(parts, e.Op)
	}
	parts = append(parts, e.Code.Error())
	if e.Field != "" {
		parts = append(parts, display.Visible(e.Field))
	}
	if message := e.Message(); message != "" {
		parts = append(parts, message)
	}
	return strings.Join(parts, ": ")
}

// Message returns the message alone, redacted and escaped. It is empty if Err is nil.
func (e *Error) Message() string {
	if e == nil || e.Err == nil {
		return ""
	}
	return display.Text(e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Is reports whether target is the error's code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && e != nil && code == e.Code
}

// AsError returns the outermost *Error in err's chain. It returns false if there is none, or if
// that *Error is nil.
func AsError(err error) (*Error, bool) {
	e, ok := errors.AsType[*Error](err)
	return e, ok && e != nil
}

// CodeOf returns the code of the outermost *Error or Code in err's chain, Canceled for an ended
// context, Internal for any other error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := AsError(err); ok {
		return e.Code
	}
	if code, ok := errors.AsType[Code](err); ok {
		return code
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Canceled
	}
	return Internal
}

// HasCode reports whether err's chain contains an *Error or a Code.
func HasCode(err error) bool {
	_, isError := AsError(err)
	_, isCode := errors.AsType[Code](err)
	return isError || isCode
}

// PrefixField puts field before the field of err: PrefixField("filter", err) turns "age.$gt" into
// "filter.age.$gt". An error that is not an *Error is wrapped in one with the given field and the
// code from CodeOf. PrefixField(field, nil) is nil.
func PrefixField(field string, err error) error {
	if e, ok := err.(*Error); ok && e != nil { //nolint:errorlint // Only the outermost error carries the field.
		field = joinField(field, e.Field)
	}
	return WithField(field, err)
}

// WithField replaces the field of err, for example when a parameter has another name in the calling
// operation. An error that is not an *Error is wrapped in one with the given field and the code
// from CodeOf. WithField(field, nil) is nil.
func WithField(field string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := err.(*Error) //nolint:errorlint // Only the outermost error carries the field.
	if !ok || e == nil {
		return &Error{Code: CodeOf(err), Field: cutField(field), Err: err}
	}
	moved := *e
	moved.Field = cutField(field)
	return &moved
}

// Index returns the path of element i, such as "[3]", for PrefixField.
func Index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// joinField appends path to field, with a dot unless path is an index.
func joinField(field, path string) string {
	switch {
	case path == "":
		return field
	case field == "", strings.HasPrefix(path, "["):
		return field + path
	default:
		return field + "." + path
	}
}

// Wrap sets the operation of err and keeps its code and field. An error without a code gets the one
// from CodeOf. An error that already has an operation is returned unchanged. Wrap(op, nil) is nil.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok && e != nil { //nolint:errorlint // Only the outermost error carries the operation.
		if e.Op != "" {
			return err
		}
		named := *e
		named.Op = op
		return &named
	}
	named := &Error{Op: op, Code: CodeOf(err), Err: err}
	if inner, ok := AsError(err); ok {
		named.Field = inner.Field
	}
	return named
}

// Visible returns text made safe for a terminal or a log. Hidden characters other than newlines and
// tabs, and bytes that are not UTF-8, are escaped as in Go source, such as \x1b and \u202e; "\r\n"
// becomes "\n". Use it for anything a member wrote. Errors and logs of the SDK and transcripts of
// package fakes are already safe.
func Visible(text string) string { return display.Visible(text) }

// maxArgumentLength is the maximum number of bytes of a string argument in a message.
const maxArgumentLength = 500

// cutLong cuts the long strings in args.
func cutLong(args []any) []any {
	var cut []any
	for i, arg := range args {
		text := textOf(arg)
		if len(text) <= maxArgumentLength {
			continue
		}
		if cut == nil {
			cut = slices.Clone(args)
		}
		cut[i] = beginning(text)
	}
	if cut == nil {
		return args
	}
	return cut
}

// beginning returns the first maxArgumentLength bytes of a text, redacted. It redacts a longer part of the text,
// because display.Redact may not recognise half of a credential. It does not redact megabytes, which takes seconds.
func beginning(text string) string {
	const window = 16 * maxArgumentLength
	isWhole := len(text) <= window
	text = display.Redact(text[:min(len(text), window)])
	if !isWhole { // The end may contain half of a credential.
		text = text[:max(0, len(text)-window/2)]
	}
	return strings.ToValidUTF8(text[:min(len(text), maxArgumentLength)], "") + "..."
}

// maxFieldLength is the maximum number of bytes of Field. A path may contain names of any length from a caller's data.
const maxFieldLength = 1000

// cutField cuts a path that is too long.
func cutField(field string) string {
	if len(field) <= maxFieldLength {
		return field
	}
	return strings.ToValidUTF8(field[:maxFieldLength], "") + "..."
}

// textOf returns the text of arg if its kind is string and it has no method to format it, else "".
func textOf(arg any) string {
	switch arg.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return ""
	}
	if value := reflect.ValueOf(arg); value.Kind() == reflect.String {
		return value.String()
	}
	return ""
}

type jsonError struct {
	Op      string `json:"op,omitempty"`
	Code    Code   `json:"code"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message,omitempty"`
}

// MarshalJSON returns {"op", "code", "field", "message"}, leaving out empty fields. The message is
// redacted.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonError{Op: e.Op, Code: e.Code, Field: e.Field, Message: e.Message()})
}

// UnmarshalJSON reads the form that MarshalJSON writes. An unknown code, such as one from a newer
// peer, becomes Internal.
func (e *Error) UnmarshalJSON(text []byte) error {
	var read jsonError
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*e = Error{Op: read.Op, Code: Internal, Field: read.Field}
	for _, code := range Codes() {
		if code == read.Code {
			e.Code = code
		}
	}
	if read.Message != "" {
		e.Err = errors.New(read.Message)
	}
	return nil
}

// MaxRetryAfter is the longest wait that RetryAfter returns.
const MaxRetryAfter = time.Hour

// RetryAfter returns how long to wait before the next attempt, as given by the RetryAfter method of
// an error in err's chain, such as *send.RetryAfterError. It is 0 if there is none, and at most
// MaxRetryAfter.
func RetryAfter(err error) time.Duration {
	asked, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err)
	if !ok {
		return 0
	}
	return max(0, min(asked.RetryAfter(), MaxRetryAfter))
}
