// Package inbound reads the bodies of requests of which it is not known yet who sent them.
package inbound

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// What handlers allow where their host says nothing.
const (
	DefaultMaxBytes = 1 << 20
	DefaultTime     = 10 * time.Second
)

// Limits are those of a body.
type Limits struct {
	// MaxBytes is the most bytes that it may have.
	MaxBytes int64
	// Time is how long all of it may take to arrive.
	Time time.Duration
	// After calls a function once when a time is over, unless stop comes first, which then
	// reports true. nil means time.AfterFunc.
	After func(within time.Duration, call func()) (stop func() bool)
}

// Refusal is the answer to a request whose body was not read.
type Refusal struct {
	// Status is 413, 408 or 400.
	Status int
	// Reason is a sentence for the sender.
	Reason string
}

// errTooSlow is what a read after the time ends in.
var errTooSlow = errors.New("the time is over")

// ReadBody returns the body of a request, or why it is refused: it is too long, which is
// told without reading where the request says its length; it came too slowly, however
// steadily; or it broke off. After the first two the connection is closed.
func ReadBody(w http.ResponseWriter, r *http.Request, limits Limits) ([]byte, *Refusal) {
	if r.ContentLength > limits.MaxBytes {
		return nil, tooLong(w, limits)
	}
	body := &timedBody{inner: http.MaxBytesReader(w, r.Body, limits.MaxBytes)}
	controller := http.NewResponseController(w)
	stop := limits.after()(limits.Time, func() {
		body.isOver.Store(true)
		// A deadline in the past ends a read that is under way. A writer without deadlines
		// leaves that one to the server.
		_ = controller.SetReadDeadline(time.Unix(1, 0))
	})
	read, err := io.ReadAll(body)
	isInTime := stop()
	switch _, isTooLong := errors.AsType[*http.MaxBytesError](err); {
	case isTooLong:
		return nil, tooLong(w, limits)
	case !isInTime:
		LeaveUnread(w)
		return nil, &Refusal{http.StatusRequestTimeout, fmt.Sprintf("the body must arrive within %s", limits.Time)}
	case err != nil:
		return nil, &Refusal{http.StatusBadRequest, "the body broke off"}
	default:
		return read, nil
	}
}

// LeaveUnread says before the answer to a request that its body, or the rest of it, is not
// read. Else the server would read it before it answers, as slowly as it comes.
func LeaveUnread(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

func tooLong(w http.ResponseWriter, limits Limits) *Refusal {
	LeaveUnread(w)
	return &Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must have at most %d bytes", limits.MaxBytes)}
}

// after returns what calls a function when a time is over.
func (l Limits) after() func(time.Duration, func()) (stop func() bool) {
	if l.After != nil {
		return l.After
	}
	return func(within time.Duration, call func()) func() bool { return time.AfterFunc(within, call).Stop }
}

// timedBody is a body that ends in an error once its time is over.
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
