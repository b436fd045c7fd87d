package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/fair"
)

// freeBytes is the number of bytes that Fetch reads of each body without reserving memory, so that small responses
// never wait.
const freeBytes = 256 << 10

// Owner holds the memory for responses of Fetch on behalf of one run of an app, or of any other unit of work with an
// end. WithOwner passes it to Fetch. Once a response is longer than 256 kB, its owner holds memory for the longest
// possible response until Release, because the run may use the response until then. Later long responses of the same
// owner reuse that memory one at a time, so an owner never waits for itself.
//
// An Owner is safe for concurrent use.
type Owner struct {
	key fair.Key
	// turn is full while a long response is being read.
	turn chan struct{}

	mu        sync.Mutex
	of        *fair.Places // the places of the client whose place the owner holds, or nil
	isReading bool
	released  bool
}

// NewOwner returns an owner for a run of a channel of an app. Callers must call Release.
func NewOwner(app, channel string) *Owner {
	return &Owner{key: fair.Key{App: app, Channel: channel}, turn: make(chan struct{}, 1)}
}

type ownerKey struct{}

// WithOwner returns a context whose calls of Fetch charge their responses to owner. Without an owner, a call holds
// memory only until it returns.
func WithOwner(ctx context.Context, owner *Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// ownerOf returns the owner in ctx. If there is none, it returns a new owner for a single call.
func ownerOf(ctx context.Context) (owner *Owner, release func()) {
	if owner, ok := ctx.Value(ownerKey{}).(*Owner); ok && owner != nil {
		return owner, func() {}
	}
	owner = NewOwner("", "")
	return owner, owner.Release
}

// Release releases the memory. A response that is still being read keeps it until its end; later responses
// hold memory only while they are read.
func (o *Owner) Release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.released = true
	o.giveBack()
}

// giveBack releases the memory if it is no longer needed. The caller holds mu.
func (o *Owner) giveBack() {
	if o.of != nil && o.released && !o.isReading {
		o.of.Release(o.key)
		o.of = nil
	}
}

// hold waits for memory for a long response, and for the owner's turn to read one. done must be called once
// the response has been read. The error is the context's.
func (o *Owner) hold(ctx context.Context, b *fair.Places) (done func(), err error) {
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	o.mu.Lock()
	held := o.of
	o.isReading = true
	o.mu.Unlock()
	switch held {
	case b:
		return o.end, nil
	case nil:
		err = b.Take(ctx, o.key)
	default: // The owner uses a second client. It holds that client's memory only while it reads.
		if err = b.Take(ctx, o.key); err == nil {
			return func() { b.Release(o.key); o.end() }, nil
		}
	}
	if err != nil {
		o.end()
		return nil, err
	}
	o.mu.Lock()
	o.of = b
	o.mu.Unlock()
	return o.end, nil
}

// end ends the owner's turn to read.
func (o *Owner) end() {
	o.mu.Lock()
	o.isReading = false
	o.giveBack()
	o.mu.Unlock()
	<-o.turn
}

// readAll reads the whole body of a response. The body of a Client's response counts towards the client's memory
// limit; other bodies are read as they are.
func readAll(resp *http.Response) ([]byte, error) {
	body := bodyOfClient(resp.Body)
	if body == nil {
		return io.ReadAll(resp.Body)
	}
	begun, err := io.ReadAll(io.LimitReader(resp.Body, freeBytes+1))
	if err != nil || len(begun) <= freeBytes {
		return begun, err
	}
	owner, release := ownerOf(body.ctx)
	defer release()
	done, err := owner.hold(body.ctx, body.client.buffers)
	if err != nil {
		return nil, body.notHeld()
	}
	defer done()
	return body.readRest(resp.Body, begun, resp.ContentLength)
}

// bodyOfClient returns the body of a Client's response, even if wrappers with a method Unwrap surround it. It
// returns nil for any other body.
func bodyOfClient(body io.ReadCloser) *responseBody {
	for {
		switch b := body.(type) {
		case *responseBody:
			return b
		case interface{ Unwrap() io.ReadCloser }:
			body = b.Unwrap()
		default:
			return nil
		}
	}
}

// readRest reads the rest of a body from the body itself, or from a reader that wraps it. begun is the part already
// read. length is the length of the whole response, or negative if unknown.
func (b *responseBody) readRest(from io.Reader, begun []byte, length int64) ([]byte, error) {
	// One byte more than the limit, to leave room for the read that finds the end of the longest response.
	most := b.client.maxResponseBytes + 1
	read, size := begun, 2*int64(len(begun))
	if length >= int64(len(begun)) {
		size = min(length, DefaultMaxResponseBytes) + 1 // A host may allow more, and a server may lie about the length.
	}
	for {
		if len(read) == cap(read) {
			grown := make([]byte, len(read), min(size, most))
			copy(grown, read)
			read, size = grown, 2*size
		}
		n, err := from.Read(read[len(read):cap(read)])
		read = read[:len(read)+n]
		switch {
		case err == io.EOF:
			return read, nil
		case err != nil:
			return nil, err
		}
	}
}

// notHeld returns the error for a body that got no memory before the time limit.
func (b *responseBody) notHeld() error {
	if !errors.Is(b.ctx.Err(), context.DeadlineExceeded) {
		return failure(b.ctx, b.host, b.ctx.Err())
	}
	return boterr.New(boterr.ResourceExhausted, "",
		"the response of %s has more than %d kB, and other responses used all memory for long responses until the time limit; "+
			"ask for less, for example a page or fewer fields, or call again later; a host can raise outbound.Config.MaxBufferedBytes",
		b.host, freeBytes>>10)
}
