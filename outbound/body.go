package outbound

import (
	"context"
	"io"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded"
)

// limited is a body up to a limit.
type limited struct {
	*bounded.Reader
	io.Closer
}

// limit returns a body that ends in the error over once it has more than so many bytes.
func limit(body io.ReadCloser, most int64, over error) limited {
	return limited{Reader: bounded.NewReader(body, most, over), Closer: body}
}

// limitRequest puts the limit on the request's body, and on the copies of it that
// redirects send. The request must be the client's own.
func (c *Client) limitRequest(req *http.Request) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	over := boterr.New(boterr.ResourceExhausted, "body", "has more than %d bytes; send less", c.maxRequestBytes)
	req.Body = limit(req.Body, c.maxRequestBytes, over)
	if again := req.GetBody; again != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return limit(body, c.maxRequestBytes, over), nil
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

	client *Client
	ctx    context.Context //nolint:containedctx // It belongs to the one exchange that the body is a part of.
	cancel context.CancelFunc
	host   string
	ended  error // what ended the body, returned again from then on
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
		err = failure(b.ctx, b.host, err)
	}
	b.ended = err
	b.cancel()
	return n, err
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
