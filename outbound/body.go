package outbound

import (
	"context"
	"io"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
)

// limited passes a body on as long as it stays within a limit.
type limited struct {
	inner io.ReadCloser
	left  int64 // bytes that may still come
	over  error // the error of the byte after them
	ended error // what ended the body, given again from then on
}

// Read reads up to the limit. A body of exactly the limit ends in io.EOF, a
// longer one in the error.
func (l *limited) Read(p []byte) (int, error) {
	if l.ended != nil {
		return 0, l.ended
	}
	if int64(len(p))-1 > l.left {
		p = p[:l.left+1] // one more, to see whether there is one
	}
	n, err := l.inner.Read(p)
	if int64(n) > l.left {
		n, err = int(l.left), l.over
	}
	l.left -= int64(n)
	l.ended = err
	return n, err
}

// Close closes the body.
func (l *limited) Close() error { return l.inner.Close() }

// limitRequest puts the limit on the request's body, and on the copies of it that
// redirects send. The request must be the client's own.
func (c *Client) limitRequest(req *http.Request) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	over := boterr.New(boterr.ResourceExhausted, "body", "has more than %d bytes; send less", c.maxRequestBytes)
	limit := func(body io.ReadCloser) io.ReadCloser {
		return &limited{inner: body, left: c.maxRequestBytes, over: over}
	}
	req.Body = limit(req.Body)
	if again := req.GetBody; again != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return limit(body), nil
		}
	}
	return req
}

// closeBody closes the body of a request that is not sent, as http.Client does.
func closeBody(req *http.Request) {
	if req != nil && req.Body != nil {
		_ = req.Body.Close()
	}
}

// responseBody is the body of a response. Its end also ends what watches over the
// time limit.
type responseBody struct {
	limited

	ctx    context.Context //nolint:containedctx // It belongs to the one exchange that the body is a part of.
	cancel context.CancelFunc
	host   string
}

// Read reads the body; its errors are those of Client.Do.
func (b *responseBody) Read(p []byte) (int, error) {
	if b.ended != nil {
		return 0, b.ended
	}
	n, err := b.limited.Read(p)
	if err == nil {
		return n, nil
	}
	if err != io.EOF { //nolint:errorlint // Only io.EOF itself is the end of a body; wrapped it is a failure.
		b.ended = failure(b.ctx, b.host, err)
	}
	b.cancel()
	return n, b.ended
}

// Close closes the body.
func (b *responseBody) Close() error {
	b.cancel()
	return b.limited.Close()
}

// responseTooLong is the error of a response over the limit.
func responseTooLong(host string, limit int64) error {
	return boterr.New(boterr.ResourceExhausted, "", "the response of %s has more than %d bytes", host, limit)
}
