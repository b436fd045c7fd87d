package memstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// versions is one collection: its newest content, and the lock under which the
// next one is made.
type versions struct {
	store *Store
	// asCollection is the collection for callers.
	asCollection engine.Collection
	writing      writeLock
	newest       atomic.Pointer[content]
	// firstLooks is the number of times that a write may check its context under the lock before it continues
	// without the lock.
	firstLooks int
	// watchers get the changes of each transaction, under the lock.
	watchers []*engine.Watcher
	// followers get these changes as well. Only the holder of the lock may use them.
	followers engine.Followers
	// resets counts the calls of restore.
	resets int
}

var _ engine.Port = (*versions)(nil)

// restore restores a collection to a content. The caller has its lock.
func (v *versions) restore(to *content) {
	v.newest.Store(to)
	v.resets++
	v.notifyReset()
}

// begin creates the first content of a collection in v, which must be empty, and returns v.
func (v *versions) begin(s *Store, first *content) *versions {
	v.store, v.firstLooks = s, s.firstLooks
	v.asCollection.Port = v
	v.newest.Store(first)
	return v
}

// Read implements engine.Port.
func (v *versions) Read(context.Context) (engine.View, error) { return v.newest.Load().view(), nil }

// Now implements engine.Port.
func (v *versions) Now(context.Context) (time.Time, error) { return v.store.now(), nil }

// Again implements engine.Port.
func (*versions) Again(_ context.Context, failed engine.View, err error) (engine.View, error) {
	return failed, err
}

// EnsureIndex implements engine.Port.
func (v *versions) EnsureIndex(ctx context.Context, index store.Index) error {
	return v.Write(ctx, &ensuring{index: index})
}

// ensuring is the write of EnsureIndex, which all documents affect.
type ensuring struct{ index store.Index }

// Run implements engine.Op.
func (e *ensuring) Run(_ *query.Evaluation, t engine.Transaction) error {
	return t.(*transaction).ensure(e.index)
}

// Matches implements engine.Op.
func (*ensuring) Matches(*query.Evaluation, document.Object) (bool, error) { return true, nil }

// ID implements engine.Op.
func (*ensuring) ID() (id any, isKnown bool) { return nil, false }

// write runs a transaction on the newest content, and publishes the result unless it failed. The error is
// engine.ErrTooLong if it checked its context more often than allowed.
func (v *versions) write(ctx context.Context, looks int, t *transaction, run func(*transaction) error) error {
	if err := v.writing.take(ctx); err != nil {
		return err
	}
	defer v.writing.Unlock()
	if err := engine.CheckEnded(ctx); err != nil {
		return err
	}
	t.begin(ctx, v.newest.Load())
	t.isObserved = len(v.watchers) > 0 || len(v.followers) > 0
	if err := t.runLocked(looks, run); err != nil {
		return err
	}
	v.newest.Store(t.next)
	v.followers.Tell(t.changes)
	engine.NotifyAll(v.watchers, t.changes)
	return nil
}
