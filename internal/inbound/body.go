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
		closeAfterwards(w) // Its reads have ended.
		return nil, &Refusal{http.StatusRequestTimeout, fmt.Sprintf("the body must arrive within %s", limits.Time)}
	case err != nil:
		return nil, &Refusal{http.StatusBadRequest, "the body broke off"}
	default:
		return read, nil
	}
}

// LeaveUnread says before the answer to a request that its body, or the rest of it, is not
// read. Else the server would read it before it answers, and once more before it closes the
// connection, as slowly as it comes.
func LeaveUnread(w http.ResponseWriter) {
	closeAfterwards(w)
	endReads(w)
}

// closeAfterwards closes the connection after the answer.
func closeAfterwards(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

// endReads ends the read that is under way, and those that follow, by a deadline in the past. A
// writer without deadlines leaves that to the server.
func endReads(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
}

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
