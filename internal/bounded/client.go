package bounded

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Limits are the bounds of one exchange over HTTP.
type Limits struct {
	// Time is how long it may take, from connecting to the last byte of the answer. It applies if the given client
	// has no Timeout.
	Time time.Duration
	// MaxBytes is the most bytes that the body of an answer may have, once it is decompressed.
	MaxBytes int64
}

// Client returns a copy of a client whose exchanges keep to the limits. It follows no redirects, whatever the given
// client does: a redirect is a *RedirectError, so that neither credentials nor the body of a request go to
// another address, and what that address says is not taken for the answer. A body that is too long ends in a
// *TooLongError, and its connection is closed.
func Client(given *http.Client, limits Limits) *http.Client {
	client := *given
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = &transport{next: client.Transport, most: limits.MaxBytes}
	if client.Timeout <= 0 {
		client.Timeout = limits.Time
	}
	return &client
}

// RedirectError is the error of an answer that sends the client to another address.
type RedirectError struct {
	// Status is its status, such as 302.
	Status int
}

// Error implements error. It does not show the other address, which may hold what was sent.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("the service answered with a redirect (status %d), which is not followed; give its final address", e.Status)
}

// transport keeps the answers of another transport within bounds.
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
		_ = answer.Body.Close() // Nothing of it is read.
		return nil, &RedirectError{Status: answer.StatusCode}
	}
	answer.Body = &body{
		ReadCloser: answer.Body, bounded: NewReader(answer.Body, t.most, &TooLongError{Most: t.most}),
	}
	return answer, nil
}

// CloseIdleConnections passes the call on, as http.Client expects of a transport.
func (t *transport) CloseIdleConnections() {
	if idle, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// body is the body of an answer, up to its limit.
type body struct {
	io.ReadCloser

	bounded *Reader
}

// Read implements io.Reader. A body that is too long is closed at once, since some libraries go on without
// closing what they could not read.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.bounded.Read(p)
	if _, isTooLong := errors.AsType[*TooLongError](err); isTooLong {
		_ = b.Close()
	}
	return n, err
}
