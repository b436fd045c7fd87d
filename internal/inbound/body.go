// Package inbound has what connectors share for incoming requests: it reads bodies of unknown senders, compares
// secrets, and passes events to the host.
package inbound

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// ErrUnreadable is the error for a malformed or incomplete response of a platform.
var ErrUnreadable = errors.New("the platform's answer cannot be read")

// Defaults of handlers.
const (
	DefaultMaxBytes = 1 << 20
	DefaultTime     = 10 * time.Second
)

// Limits are the limits of a request body.
type Limits struct {
	// MaxBytes is the maximum size in bytes.
	MaxBytes int64
	// Time is the time limit for the whole body.
	Time time.Duration
	// After calls a function once after a duration. stop prevents the call and returns true, unless the call was
	// made. nil means time.AfterFunc.
	After func(within time.Duration, call func()) (stop func() bool)
}

// Refusal is the response to a request whose body could not be read.
type Refusal struct {
	// Status is 413, 408 or 400.
	Status int
	// Reason is a message for the sender.
	Reason string
}

// errTooSlow is the error of reads after the time limit.
var errTooSlow = errors.New("the time limit has passed")

// ReadBody returns the body of a request, or a Refusal if the body is too long, too slow or incomplete. If the
// request announces too long a body, nothing is read. After too long or too slow a body, the connection is closed.
func ReadBody(w http.ResponseWriter, r *http.Request, limits Limits) ([]byte, *Refusal) {
	if r.ContentLength > limits.MaxBytes {
		return nil, tooLong(w, limits)
	}
	body := &timedBody{inner: http.MaxBytesReader(w, r.Body, limits.MaxBytes)}
	stop := limits.after()(limits.Time, func() {
		body.isOver.Store(true)
		endReads(w)
	})
	read, err := io.ReadAll(body)
	isInTime := stop()
	switch _, isTooLong := errors.AsType[*http.MaxBytesError](err); {
	case isTooLong:
		return nil, tooLong(w, limits)
	case !isInTime:
		closeAfterwards(w) // All further reads fail.
		return nil, &Refusal{http.StatusRequestTimeout, fmt.Sprintf("the body must arrive within %s", limits.Time)}
	case err != nil:
		return nil, &Refusal{http.StatusBadRequest, "the body broke off"}
	default:
		return read, nil
	}
}

// LeaveUnread must be called before a response if the body is not read to its end. Otherwise, the server would read
// the rest before it responds and again before it closes the connection, however slowly the rest arrives.
func LeaveUnread(w http.ResponseWriter) {
	closeAfterwards(w)
	endReads(w)
}

func closeAfterwards(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

// endReads ends the current read and all later ones by a deadline in the past. If the ResponseWriter does not support
// deadlines, the server handles the rest of the body.
func endReads(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
}

func tooLong(w http.ResponseWriter, limits Limits) *Refusal {
	LeaveUnread(w)
	return &Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must have at most %d bytes", limits.MaxBytes)}
}

// after returns After or the default.
func (l Limits) after() func(time.Duration, func()) (stop func() bool) {
	if l.After != nil {
		return l.After
	}
	return func(within time.Duration, call func()) func() bool { return time.AfterFunc(within, call).Stop }
}

// timedBody is a body whose reads fail after the time limit.
type timedBody struct {
	inner  io.Reader
	isOver atomic.Bool
}

func (b *timedBody) Read(into []byte) (int, error) {
	if b.isOver.Load() {
		return 0, errTooSlow
	}
	return b.inner.Read(into)
}
