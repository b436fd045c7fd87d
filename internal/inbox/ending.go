package inbox

import (
	"context"
	"sync/atomic"
	"time"
)

// endings gives contexts in which something is stored, so that a store that does not answer holds up
// nobody for ever. Those that begin at about the same time share a timer.
type endings struct {
	// within is the least time that a context lasts. It lasts twice as long at most.
	within time.Duration
	// newest is what the next ones end with, nil where that would be too soon.
	newest atomic.Pointer[context.Context]
}

// after returns a context with the values of another one, which may have ended, or never ends.
func (e *endings) after(of context.Context) context.Context {
	if shared := e.newest.Load(); shared != nil {
		return ending{Context: *shared, of: of}
	}
	return ending{Context: e.begin(), of: of}
}

// begin begins what further contexts end with.
func (e *endings) begin() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*e.within)
	context.AfterFunc(ctx, cancel)
	e.newest.Store(&ctx)
	time.AfterFunc(e.within, func() { e.newest.CompareAndSwap(&ctx, nil) })
	return ctx
}

// ending is a context that has the values of one and ends with another one, which has none.
type ending struct {
	context.Context //nolint:containedctx // It is one.

	of context.Context //nolint:containedctx // It has the values.
}

// Value implements context.Context. What the context package asks for to end contexts together is that of
// the one with which it ends.
func (e ending) Value(key any) any {
	if value := e.Context.Value(key); value != nil {
		return value
	}
	return e.of.Value(key)
}
