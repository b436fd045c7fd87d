package memstore

import (
	"context"
	"sync"
	"sync/atomic"
)

// writeLock is the lock under which the next content of a collection is made. Waiting for it ends
// with a context. The zero writeLock is free.
type writeLock struct {
	sync.Mutex

	// waiting is the number of those who wait with a context, freed the channel that tells one of
	// them that the lock is free. It is made before the first one waits.
	waiting atomic.Int32
	making  sync.Once
	freed   chan struct{}
}

// take takes the lock, unless ctx ends before.
func (t *writeLock) take(ctx context.Context) error {
	if t.TryLock() {
		return nil
	}
	t.making.Do(func() { t.freed = make(chan struct{}, 1) })
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	for !t.TryLock() {
		select {
		case <-t.freed:
		case <-ctx.Done():
			return checkEnded(ctx)
		}
	}
	return nil
}

// Unlock gives the lock back.
func (t *writeLock) Unlock() {
	t.Mutex.Unlock()
	if t.waiting.Load() == 0 {
		return
	}
	select {
	case t.freed <- struct{}{}:
	default: // Somebody is told already.
	}
}

const (
	// firstLooks is how often a write may check its context under the lock, which it does after
	// each piece of work: about a quarter of a millisecond in all. A write that takes longer runs
	// again without the lock, and has wasted that time.
	firstLooks = 16
	// moreLooks is how many times that it may look after each time that it lost.
	moreLooks = 4
)

// countingContext is the context of a write under the lock. It ends when it was looked at often
// enough.
type countingContext struct {
	context.Context //nolint:containedctx // It is one.

	// left is how often it may still be looked at, less than 0 once it was looked at more often.
	left int
}

// Err implements context.Context.
func (c *countingContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if c.left <= 0 {
		c.left = -1
		return context.DeadlineExceeded
	}
	c.left--
	return nil
}
