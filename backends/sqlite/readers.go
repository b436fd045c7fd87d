package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
)

// readers manages the connections for reads.
type readers struct {
	connect func(ctx context.Context) (*conn, error)
	// slots has a token for each connection in use. Its capacity limits their number.
	slots chan struct{}
	// closing is closed when no more reads may start.
	closing <-chan struct{}

	mu   sync.Mutex
	idle []*conn
}

// maxReaders is the largest number of concurrent reads. Others wait.
const maxReaders = 32

// take returns a connection, and a function that releases it.
func (r *readers) take(ctx context.Context) (c *conn, release func(), err error) {
	select {
	case <-r.closing:
		return nil, nil, errClosed
	default:
	}
	select {
	case r.slots <- struct{}{}:
	default:
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, engine.CheckEnded(ctx)
		case <-r.closing:
			return nil, nil, errClosed
		}
	}
	if c, err = r.connection(ctx); err != nil {
		<-r.slots
		return nil, nil, err
	}
	return c, func() { r.give(c) }, nil
}

func (r *readers) connection(ctx context.Context) (*conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.idle) - 1; last >= 0 {
		c := r.idle[last]
		r.idle = r.idle[:last]
		return c, nil
	}
	return r.connect(ctx)
}

func (r *readers) give(c *conn) {
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	<-r.slots
}

// pause calls a function while no connection reads. It does nothing if the current reads take longer than wait.
func (r *readers) pause(wait time.Duration, call func()) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	taken := 0
	defer func() {
		for range taken {
			<-r.slots
		}
	}()
	for taken < cap(r.slots) {
		select {
		case r.slots <- struct{}{}:
			taken++
		case <-timer.C:
			return
		}
	}
	call()
}

// close waits for all reads and closes the connections.
func (r *readers) close() error {
	for range cap(r.slots) {
		r.slots <- struct{}{}
	}
	var failed error
	for _, c := range r.idle {
		if err := c.close(); err != nil {
			failed = err
		}
	}
	return failed
}

var errClosed = boterr.New(boterr.FailedPrecondition, "", "the store is closed; open it again")
