package bounded

import (
	"context"
	"errors"
	"net"
)

// Dial connects to address, a "host:port", over TCP. It closes the connection when ctx ends. If the
// server sends more than most bytes, reading fails with a *TooLongError and closes the connection.
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
