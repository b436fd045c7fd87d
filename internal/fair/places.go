package fair

import (
	"container/list"
	"context"
	"sync"
)

// Pool decides who may hold its places. Shares and Count are pools.
type Pool interface {
	// Take takes a place for a channel and reports whether it got one.
	Take(k Key) bool
	// May reports whether Take would succeed now.
	May(k Key) bool
	// Release returns a place from Take.
	Release(k Key)
}

// Count is a pool with a number of places. One channel may hold them all. It is not safe for concurrent use.
type Count int

// Take implements Pool.
func (c *Count) Take(k Key) bool {
	if !c.May(k) {
		return false
	}
	*c--
	return true
}

// May implements Pool.
func (c *Count) May(Key) bool { return *c > 0 }

// Release implements Pool.
func (c *Count) Release(Key) { *c++ }

// Places lets callers wait for the places of a pool. Apps that wait take turns, and so do the channels of an app. It is
// safe for concurrent use.
type Places struct {
	mu   sync.Mutex
	pool Pool
	// waiting holds the waiters of each channel, oldest first.
	waiting Ring[*list.List]
}

// NewPlaces returns the places of a pool. Callers must not use the pool afterwards.
func NewPlaces(pool Pool) *Places { return &Places{pool: pool} }

// waiter waits for a place. ready is closed once it has one.
type waiter struct{ ready chan struct{} }

// Take waits for a place. The caller must release it. The error is the context's.
func (p *Places) Take(ctx context.Context, key Key) error {
	p.mu.Lock()
	if p.pool.Take(key) {
		p.mu.Unlock()
		return nil
	}
	w := waiter{make(chan struct{})}
	at := p.waiting.Get(key, list.New).PushBack(w)
	p.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		p.leave(key, w, at)
		return ctx.Err()
	}
}

// leave removes a waiter from its queue. If the waiter has just received a place, leave releases it.
func (p *Places) leave(key Key, w waiter, at *list.Element) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.ready:
		p.pool.Release(key)
		p.serve()
	default:
		p.remove(key, at)
	}
}

// remove removes a waiter from the queue of its channel. The caller holds mu.
func (p *Places) remove(key Key, at *list.Element) {
	queue, _ := p.waiting.Find(key)
	queue.Remove(at)
	if queue.Len() == 0 {
		p.waiting.Drop(key)
	}
}

// Release gives a place back.
func (p *Places) Release(key Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pool.Release(key)
	p.serve()
}

// serve gives free places to waiters. The caller holds mu.
func (p *Places) serve() {
	for {
		key, queue, ok := p.waiting.Next(func(key Key, _ *list.List) bool { return p.pool.May(key) })
		if !ok {
			return
		}
		p.pool.Take(key)
		first := queue.Front()
		close(first.Value.(waiter).ready) //nolint:forcetypeassert // Nothing else is in the queue.
		p.remove(key, first)
	}
}
