package bounded

import (
	"errors"
	"fmt"
	"io"
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
	answer.Body = &body{
		ReadCloser: answer.Body, bounded: NewReader(answer.Body, t.most, &TooLongError{Most: t.most}),
	}
	return answer, nil
}

// CloseIdleConnections makes the method of the same name of http.Client work.
func (t *transport) CloseIdleConnections() {
	if idle, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// body is a response body with a size limit.
type body struct {
	io.ReadCloser

	bounded *Reader
}

// Read implements io.Reader. It closes a body that is too long, because some libraries do not close
// a body after an error.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.bounded.Read(p)
	if _, isTooLong := errors.AsType[*TooLongError](err); isTooLong {
		_ = b.Close()
	}
	return n, err
}
