// Package inbound has what connectors share: it reads request bodies whose sender is not yet known, compares their
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

// ErrUnreadable is the error of a platform's answer that is malformed or incomplete.
var ErrUnreadable = errors.New("the platform's answer cannot be read")

// The defaults of handlers.
const (
	DefaultMaxBytes = 1 << 20
	DefaultTime     = 10 * time.Second
)

// Limits are the limits of a request body.
type Limits struct {
	// MaxBytes is the maximum size.
	MaxBytes int64
	// Time is the maximum time until all of it has arrived.
	Time time.Duration
	// After calls a function once after a time, unless stop is called first, which then returns
	// true. Nil means time.AfterFunc.
	After func(within time.Duration, call func()) (stop func() bool)
}

// Refusal is the response to a request whose body was not read.
type Refusal struct {
	// Status is 413, 408 or 400.
	Status int
	// Reason is a message for the sender.
	Reason string
}

// errTooSlow is returned by reads after the time limit.
var errTooSlow = errors.New("the time limit has passed")

// ReadBody returns the body of a request, or a Refusal if it is too long, arrives too slowly or
// breaks off. If the request states a length that is too long, nothing is read. After a body that
// is too long or too slow the connection is closed.
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
		closeAfterwards(w) // Its reads have failed.
		return nil, &Refusal{http.StatusRequestTimeout, fmt.Sprintf("the body must arrive within %s", limits.Time)}
	case err != nil:
		return nil, &Refusal{http.StatusBadRequest, "the body broke off"}
	default:
		return read, nil
	}
}

// LeaveUnread must be called before a response if the body is not read to its end. Otherwise the
// server reads the rest before it responds and again before it closes the connection, however
// slowly it arrives.
func LeaveUnread(w http.ResponseWriter) {
	closeAfterwards(w)
	endReads(w)
}

func closeAfterwards(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

// endReads ends the current read and all later ones with a deadline in the past. If the writer does
// not support deadlines, the server handles the rest.
func endReads(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
}

func tooLong(w http.ResponseWriter, limits Limits) *Refusal {
	LeaveUnread(w)
	return &Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must have at most %d bytes", limits.MaxBytes)}
}

// after returns After or its default.
func (l Limits) after() func(time.Duration, func()) (stop func() bool) {
	if l.After != nil {
		return l.After
	}
	return func(within time.Duration, call func()) func() bool { return time.AfterFunc(within, call).Stop }
}

// timedBody is a body that returns an error once its time is over.
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
