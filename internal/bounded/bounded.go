// Package bounded limits the size and the duration of responses of services, and refuses redirects.
// Every client in backends uses it, so that a server that never stops sending cannot exhaust a host. It
// also has what all of them need for addresses, and for errors of requests without an answer.
package bounded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Limits are the limits of one HTTP exchange.
type Limits struct {
	// Time limits the duration from connecting to the last byte of the response. 0 means no limit. If the client has a
	// shorter Timeout, that applies.
	Time time.Duration
	// MaxBytes is the maximum size of a response body after decompression.
	MaxBytes int64
}

// Client returns a copy of given with limits. The copy follows no redirects, because the redirect's
// address would get the credentials and the body of the request and could supply the response. A
// redirect causes a *RedirectError instead. Reading a body that is too long fails with a
// *TooLongError and closes the connection.
func Client(given *http.Client, limits Limits) *http.Client {
	client := *given
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = &transport{next: client.Transport, most: limits.MaxBytes}
	if client.Timeout <= 0 || limits.Time > 0 && limits.Time < client.Timeout {
		client.Timeout = limits.Time
	}
	return &client
}

// RedirectError is the error of a response that redirects to another address.
type RedirectError struct {
	// Status is the response's status, such as 302.
	Status int
}

// Error states the status. It leaves out the redirect's address, which may contain data of the request.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the service answered with a redirect (status %d), which is not followed; give its final address", e.Status)
}

type transport struct {
	next http.RoundTripper
	most int64
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(request)
	if err != nil || answer.Body == nil {
		return answer, err
	}
	if answer.StatusCode >= 300 && answer.StatusCode <= 399 && answer.Header.Get("Location") != "" {
		_ = answer.Body.Close() // The body is not read, so errors do not matter.
		return nil, &RedirectError{Status: answer.StatusCode}
	}
	answer.Body = &closing{NewReader(answer.Body, t.most, &TooLongError{Most: t.most}), answer.Body}
	return answer, nil
}

// CloseIdleConnections makes the method of the same name of http.Client work.
func (t *transport) CloseIdleConnections() {
	if idle, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// closing closes an input that is too long, because some libraries do not close a body after an error.
type closing struct {
	*Reader
	io.Closer
}

// Read implements io.Reader.
func (c *closing) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if _, isTooLong := errors.AsType[*TooLongError](err); isTooLong {
		_ = c.Close()
	}
	return n, err
}

// Dial connects to address, a "host:port", over TCP. It closes the connection when ctx ends. If the
// server sends more than most bytes, reading fails with a *TooLongError and closes the connection.
func Dial(ctx context.Context, address string, most int64) (net.Conn, error) {
	dialed, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: dialed, release: context.AfterFunc(ctx, func() { _ = dialed.Close() })}
	c.bounded = &closing{NewReader(dialed, most, &TooLongError{Most: most}), c}
	return c, nil
}

type conn struct {
	net.Conn

	bounded *closing
	// release stops watching ctx.
	release func() bool
}

func (c *conn) Read(p []byte) (int, error) { return c.bounded.Read(p) }

func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}

// TooLongError is the error for a response that is longer than its limit.
type TooLongError struct {
	// Most is the limit in bytes.
	Most int64
}

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the response is longer than the limit of %d bytes", e.Most)
}

// Reader limits how many bytes of another reader can be read.
type Reader struct {
	inner io.Reader
	left  int64
	over  error
	ended error // The first error, such as io.EOF. Read returns it from then on.
}

// NewReader returns a Reader for up to most bytes. If inner has more, reading fails with over.
func NewReader(inner io.Reader, most int64, over error) *Reader {
	return &Reader{inner: inner, left: most, over: over}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.ended != nil {
		return 0, r.ended
	}
	if int64(len(p))-1 > r.left {
		p = p[:r.left+1] // Read one byte more than allowed, to detect a longer input.
	}
	n, err := r.inner.Read(p)
	if int64(n) > r.left {
		n, err = int(r.left), r.over
	}
	r.left -= int64(n)
	r.ended = err
	return n, err
}

// ReadAll reads a whole response. If the response has more than most bytes, the error is a
// *TooLongError.
func ReadAll(answer io.Reader, most int64) ([]byte, error) {
	return io.ReadAll(NewReader(answer, most, &TooLongError{Most: most}))
}
