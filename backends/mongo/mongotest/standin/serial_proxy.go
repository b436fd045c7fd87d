package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// serialProxy passes the commands of all clients on, one at a time: the next when the answer to
// the one before has come.
type serialProxy struct {
	behind string
	mu     sync.Mutex
}

// serve lets clients in until ctx ends.
func (p *serialProxy) serve(ctx context.Context, listener net.Listener) {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		clients.Go(func() { p.pass(ctx, client) })
	}
}

// pass passes on what one client asks, until one of both ends hangs up.
func (p *serialProxy) pass(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.behind)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	stop := context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})
	defer stop()
	for {
		asked, err := readMessage(client)
		if err != nil {
			return
		}
		answer, err := p.ask(server, asked)
		if err != nil {
			return
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// ask sends a message to the server and returns its answer. A message that wants no answer goes
// through alone, too.
func (p *serialProxy) ask(server net.Conn, message []byte) (answer []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err = server.Write(message); err != nil || !wantsAnswer(message) {
		return nil, err
	}
	return readMessage(server)
}

// The layout of a message: its length, the numbers of the request and of what it answers,
// and its kind, then for the kind of all commands the flags.
const (
	headerSize = 16
	kindAt     = 12
	kindMsg    = 2013
	moreToCome = 1 << 1
	largest    = 48_000_000 + headerSize
)

var errTooLarge = errors.New("the message has no length that the protocol allows")

// wantsAnswer reports whether the server will answer a message.
func wantsAnswer(message []byte) bool {
	if len(message) < headerSize+4 || binary.LittleEndian.Uint32(message[kindAt:]) != kindMsg {
		return true
	}
	return binary.LittleEndian.Uint32(message[headerSize:])&moreToCome == 0
}

// readMessage reads one message.
func readMessage(from io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, fmt.Errorf("reading the length of a message: %w", err)
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length < headerSize || length > largest {
		return nil, errTooLarge
	}
	message := make([]byte, length)
	copy(message, head[:])
	if _, err := io.ReadFull(from, message[len(head):]); err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	return message, nil
}
