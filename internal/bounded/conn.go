package bounded

import (
	"context"
	"errors"
	"net"
)

// Dial connects to "host:port" over TCP. The connection is closed when ctx ends, or when the other side has sent more
// than most bytes. Reading then fails with a *TooLongError.
func Dial(ctx context.Context, address string, most int64) (net.Conn, error) {
	dialed, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{
		Conn:    dialed,
		bounded: NewReader(dialed, most, &TooLongError{Most: most}),
		release: context.AfterFunc(ctx, func() { _ = dialed.Close() }),
	}, nil
}

// conn is a connection with a limit on received bytes.
type conn struct {
	net.Conn

	bounded *Reader
	// release stops watching ctx.
	release func() bool
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.bounded.Read(p)
	if _, isTooLong := errors.AsType[*TooLongError](err); isTooLong {
		_ = c.Close()
	}
	return n, err
}

func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}
