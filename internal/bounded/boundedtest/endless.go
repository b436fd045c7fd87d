// Package boundedtest provides a server with endless responses, for tests of clients.
package boundedtest

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// MostBytes is the most that a client may let the server send, including network buffers.
	MostBytes = 20 << 20
	// enough is the number of bytes after which the server gives up, so that a test of a client without a limit fails
	// instead of running forever.
	enough = 50 << 20
)

// Endless is a server that starts each response with a given head and then sends filler until the client closes the
// connection.
type Endless struct {
	// Address is the server's address, such as "127.0.0.1:40123".
	Address string

	awaitsRequest bool
	sent          chan int
}

// Serve starts a server that stops at the end of the test. The server sends head and then repeats
// filler. It starts when a client connects, like a mail server, or, if awaitsRequest is true, after
// a request, like an HTTP server.
func Serve(tb testing.TB, awaitsRequest bool, head, filler string) *Endless {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	tb.Cleanup(func() {
		cancel()
		_ = listener.Close()
	})
	server := &Endless{Address: listener.Addr().String(), awaitsRequest: awaitsRequest, sent: make(chan int, 100)}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = client.Close() })
			go func() { server.sent <- server.answer(client, head, filler) }()
		}
	}()
	return server
}

// Answers returns the head of an HTTP response with an endless body.
func Answers(status string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
}

// answer sends a response. It returns the number of bytes sent before the client closed the connection.
func (e *Endless) answer(client net.Conn, head, filler string) (sent int) {
	defer func() { _ = client.Close() }()
	if e.awaitsRequest {
		if _, err := client.Read(make([]byte, 64<<10)); err != nil {
			return 0
		}
	}
	filler = strings.Repeat(filler, max(1, (64<<10)/len(filler)))
	for part := head; sent < enough; part = filler {
		n, err := client.Write([]byte(part))
		sent += n
		if err != nil {
			break
		}
	}
	return sent
}

// RequireHungUp fails unless the given number of clients closed their connections before they had received MostBytes.
func (e *Endless) RequireHungUp(tb testing.TB, connections int) {
	tb.Helper()
	for range connections {
		select {
		case sent := <-e.sent:
			require.Positive(tb, sent)
			require.Less(tb, sent, MostBytes, "the client kept reading an endless response")
		case <-tb.Context().Done():
			require.Fail(tb, "no client closed its connection")
		}
	}
}
