// Package boterr holds the errors that every operation returns: a small set of
// codes, and Error, which says which operation failed, in which field, and why.
//
//   - To ask what kind of error an operation returned, use errors.Is with a [Code], or
//     [CodeOf].
//   - To read its operation, its field and its sentence, use [AsError].
//   - To return one from a part of your own, use [New], [Invalid] or [Missing].
//
// A caller asks for a code through any wrapping:
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

// Code is the kind of an error. It is an error itself, so that
// errors.Is(err, boterr.NotFound) works.
type Code string

// The codes. Each says what a caller can do about the error.
const (
	// InvalidArgument: a parameter is missing, of the wrong type or contradicts
	// another. Field names it. The call fails again unless it is changed.
	InvalidArgument Code = "InvalidArgument"
	// NotFound: the record that was asked for does not exist in this scope.
	NotFound Code = "NotFound"
	// AlreadyExists: a record with that key exists.
	AlreadyExists Code = "AlreadyExists"
	// Conflict: another writer was faster. Read again and repeat.
	Conflict Code = "Conflict"
	// FailedPrecondition: the state of a record does not allow the operation now.
	FailedPrecondition Code = "FailedPrecondition"
	// ResourceExhausted: a limit was reached.
	ResourceExhausted Code = "ResourceExhausted"
	// Unsupported: this platform, store or host does not offer it.
	Unsupported Code = "Unsupported"
	// Unavailable: a store or platform did not answer. Repeating may help.
	Unavailable Code = "Unavailable"
	// Canceled: the context of the call ended before the operation did.
	Canceled Code = "Canceled"
	// Internal: a defect, or an error that no one gave a code.
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

// Error is the error of an operation.
type Error struct {
	// Op is the operation's name in the specification, such as
	// "findAndModifyMember". It is empty below the layer of operations.
	Op string
	// Code is the kind of the error, never empty in an error that an operation
	// returned.
	Code Code
	// Field is the path of the parameter at fault, such as "data[2]._id". It is
	// empty where no single parameter is at fault.
	Field string
	// Err says what happened and what to do about it.
	Err error
}

// New returns an error with a code, the path of the field at fault (which may
// be empty) and a sentence as for fmt.Errorf, %w included. Arguments that are texts of
// more than 500 bytes are cut.
func New(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Err: fmt.Errorf(format, cutLong(args)...)}
}

// Invalid returns an InvalidArgument for the field.
func Invalid(field, format string, args ...any) *Error {
	return New(InvalidArgument, field, format, args...)
}

// Missing returns the InvalidArgument for a parameter that was not given. give says what to give,
// in the manner of fmt.Errorf: "the id of a member".
func Missing(field, give string, args ...any) *Error {
	return Invalid(field, "is missing: give "+give, args...)
}

// Error returns "operation: code: field: sentence", without what is empty.
// Credentials in the sentence are redacted, and hidden characters escaped, see Visible.
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

// Message returns the sentence alone, redacted and visible. It is empty where Err is nil.
func (e *Error) Message() string {
	if e == nil || e.Err == nil {
		return ""
	}
	return display.Text(e.Err)
}

// Unwrap returns Err. The nil pointer, which functions return by mistake for no error, has
// none.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Is reports whether target is the error's code. What Err wraps is asked by
// errors.Is itself.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && e != nil && code == e.Code
}

// AsError returns the outermost *Error in err's chain. A nil pointer is no error.
func AsError(err error) (*Error, bool) {
	e, ok := errors.AsType[*Error](err)
	return e, ok && e != nil
}

// CodeOf returns the code of err: that of the outermost *Error or Code in its
// chain, Canceled for an ended context, Internal for any other error, and ""
// for nil.
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

// HasCode reports whether err was given a code: whether an *Error or a Code is in its chain.
func HasCode(err error) bool {
	_, isError := AsError(err)
	_, isCode := errors.AsType[Code](err)
	return isError || isCode
}

// PrefixField puts field before the field of err: PrefixField("filter", err) makes "age.$gt" into
// "filter.age.$gt". An error that is no *Error gets the field, and the code that CodeOf gives.
// PrefixField(field, nil) is nil.
func PrefixField(field string, err error) error {
	if e, ok := err.(*Error); ok && e != nil { //nolint:errorlint // Only the outermost error carries the field.
		field = joinField(field, e.Field)
	}
	return WithField(field, err)
}

// WithField replaces the field of err, such as the parameter of another operation by one's own. An error that
// is no *Error gets the field, and the code that CodeOf gives. WithField(field, nil) is nil.
func WithField(field string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := err.(*Error) //nolint:errorlint // Only the outermost error carries the field.
	if !ok || e == nil {
		return &Error{Code: CodeOf(err), Field: field, Err: err}
	}
	moved := *e
	moved.Field = field
	return &moved
}

// Index returns the path of element i, for PrefixField: "[3]".
func Index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// joinField appends a path to a field: a name with a dot, an index without.
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

// Wrap gives err the name of the operation that returns it. Code and field stay
// as they are; an error without a code gets the one that CodeOf gives. An error
// that names an operation already is returned as it is. Wrap(op, nil) is nil.
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

// Visible returns text as it may go to a terminal or a log: hidden characters other than line ends and tabs,
// and bytes that are no UTF-8, are written as Go writes them, such as \x1b and \u202e. "\r\n" becomes "\n".
// Use it for whatever members wrote. The errors and logs of the SDK and the transcripts of package fakes are
// visible already.
func Visible(text string) string { return display.Visible(text) }

// maxArgumentLength is how many bytes of a text a sentence repeats.
const maxArgumentLength = 500

// cutLong returns the arguments of a sentence with long texts cut, such as ids: callers may give
// any length, and an error is for readers. What a cut could hide from display.Redact is redacted before.
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
		text = display.Redact(text)
		cut[i] = strings.ToValidUTF8(text[:min(maxArgumentLength, len(text))], "") + "..."
	}
	if cut == nil {
		return args
	}
	return cut
}

// textOf returns an argument that is a text, and "" for one that is none or prints itself in
// a way of its own, as errors and secrets do.
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

// MarshalJSON returns {"op", "code", "field", "message"}, without what is empty.
// The message is redacted.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonError{Op: e.Op, Code: e.Code, Field: e.Field, Message: e.Message()})
}

// UnmarshalJSON reads the form that MarshalJSON writes. An unknown code becomes
// Internal, so that errors of a newer peer stay errors.
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

// MaxRetryAfter is the longest wait that RetryAfter returns. A service that asks for more is asked again by then.
const MaxRetryAfter = time.Hour

// RetryAfter returns how long the error asks to wait before the next attempt: the result of the method RetryAfter
// of an error in its chain, such as *send.RetryAfterError. It is 0 if there is none, and at most MaxRetryAfter.
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
