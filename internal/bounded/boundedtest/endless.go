// Package boundedtest has a server whose answers have no end, for the tests of clients.
package boundedtest

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// MostBytes is the most that a client may let the server send, with what the buffers of the network take.
	MostBytes = 20 << 20
	// enough is where the server gives up, so that a client without a bound ends as well.
	enough = 50 << 20
)

// Endless is a server that begins each answer as it is told, and then sends filler until the client hangs up.
type Endless struct {
	// Address is where it listens, such as "127.0.0.1:40123".
	Address string

	awaitsRequest bool
	sent          chan int
}

// Serve starts a server, which ends with the test. It sends the head of its answer at once, as mail servers do; if
// it is to wait for a request first, as for HTTP, awaitsRequest is true. The filler is sent again and again.
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

// Answers is the head of an answer over HTTP whose body has no end.
func Answers(status string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
}

// answer sends an answer, and returns how many bytes went out before the client hung up.
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

// RequireHungUp fails unless a client has connected, and each of so many connections ended before the server had sent
// MostBytes.
func (e *Endless) RequireHungUp(tb testing.TB, connections int) {
	tb.Helper()
	for range connections {
		select {
		case sent := <-e.sent:
			require.Positive(tb, sent)
			require.Less(tb, sent, MostBytes, "the client went on reading an answer without an end")
		case <-tb.Context().Done():
			require.Fail(tb, "no client hung up")
		}
	}
}
