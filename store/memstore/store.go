// Package memstore implements store.Store in memory.
//
//   - To try something out or to test, use [New].
//   - To return to an earlier state, or to continue from it twice, use [Store.Snapshot],
//     [Store.Restore] and [Store.Fork].
//
// A collection's content is a version that never changes. A writer makes the next version, which shares all
// unchanged parts with its predecessor, and publishes it in one step. So a reader works on one version from
// beginning to end, without waiting or blocking writers; writers of one collection share a lock, and do long
// work without holding it; and a copy of the whole store, by Fork or Snapshot, copies no documents.
//
// A Store loses its content when the program ends. Package backends/sqlite keeps it in a file.
package memstore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
	"github.com/botctx/go-sdk/store/query"
)

// Store is a store.Store in memory. Create one with New.
type Store struct {
	now func() time.Time
	// making serialises the methods that add collections or read all of them.
	making      sync.Mutex
	collections atomic.Pointer[directory]
	// edits is the number of the last edit of collections.
	edits persistent.Edit
	// firstLooks is the number of times that a write may check its context under the lock before it continues
	// without the lock.
	firstLooks int
}

var _ store.Store = (*Store)(nil)

// directory holds the existing collections by name.
type directory = persistent.Tree[string, *versions]

// Option is a setting of a Store.
type Option func(*Store)

// WithNow sets the clock that Store.Now reads. The default, and nil, is the machine's.
func WithNow(now func() time.Time) Option {
	return func(s *Store) {
		if now != nil {
			s.now = now
		}
	}
}

// New returns an empty store. It ignores options that are nil.
func New(options ...Option) *Store {
	s := &Store{now: time.Now, firstLooks: firstLooks}
	s.collections.Store(&directory{})
	for _, option := range options {
		if option != nil {
			option(s)
		}
	}
	return s
}

// Now returns the time of the store's clock in UTC.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := engine.CheckEnded(ctx); err != nil {
		return time.Time{}, err
	}
	return s.now().UTC(), nil
}

// Collection returns the collection with a name. If the name is not allowed, every operation returns
// InvalidArgument.
func (s *Store) Collection(name string) store.Collection { return s.collection(name) }

func (s *Store) collection(name string) *engine.Collection {
	if found, ok := s.collections.Load().Get(name); ok {
		return &found.asCollection
	}
	return &engine.Collection{Port: &unmade{store: s, name: name}, Err: store.CheckName(name)}
}

// named returns the collection with a name, and creates it if there is none.
func (s *Store) named(name string) *versions {
	if found, ok := s.collections.Load().Get(name); ok {
		return found
	}
	s.making.Lock()
	defer s.making.Unlock()
	return s.make(name)
}

// make is like named, for a caller that holds the lock.
func (s *Store) make(name string) *versions {
	next := *s.collections.Load()
	if found, ok := next.Get(name); ok {
		return found
	}
	made := new(versions).begin(s, newContent(name))
	next.Set(s.nextEdit(), name, made)
	s.collections.Store(&next)
	return made
}

// nextEdit returns the next edit of collections. The caller holds the lock.
func (s *Store) nextEdit() persistent.Edit {
	s.edits++
	return s.edits
}

// unmade is a collection that did not exist when it was opened.
type unmade struct {
	store *Store
	name  string
}

var _ engine.Port = (*unmade)(nil)

// Read implements engine.Port.
func (u *unmade) Read(ctx context.Context) (engine.View, error) {
	if found, ok := u.store.collections.Load().Get(u.name); ok {
		return found.Read(ctx)
	}
	return engine.EmptyView(u.name), nil
}

// Again implements engine.Port.
func (*unmade) Again(_ context.Context, v engine.View, err error) (engine.View, error) { return v, err }

// Now implements engine.Port.
func (u *unmade) Now(context.Context) (time.Time, error) { return u.store.now(), nil }

// Write implements engine.Port.
func (u *unmade) Write(ctx context.Context, op engine.Op) error {
	if _, ok := u.store.collections.Load().Get(u.name); !ok { // A collection is only created for a document.
		if inserts, err := engine.RunMissing(ctx, u.name, op); !inserts {
			return err
		}
	}
	return u.store.named(u.name).Write(ctx, op)
}

// EnsureIndex implements engine.Port.
func (u *unmade) EnsureIndex(ctx context.Context, index store.Index) error {
	return u.store.named(u.name).EnsureIndex(ctx, index)
}

// Explain finds documents as Find of the collection does, and describes how. Count, Distinct, Update,
// FindAndModify and Delete use the same index.
func (s *Store) Explain(
	ctx context.Context, collection string, filter *query.Filter, options store.FindOptions,
) (store.Explanation, error) {
	return s.collection(collection).Explain(ctx, filter, options)
}

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
	// resets counts the calls of Restore.
	resets int
}

var _ engine.Port = (*versions)(nil)

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

// Run implements engine.Op. An index belongs to the store and not to the call, so the call's budget does not limit its
// memory.
func (e *ensuring) Run(_ *query.Evaluation, t engine.Transaction) error {
	making, _ := t.(*transaction)
	making.call = nil
	return making.ensure(e.index)
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

var _ store.Watcher = (*Store)(nil)

// Watch implements store.Watcher. A store that is forked from this one has no
// watchers.
func (s *Store) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	if store.CheckName(collection) != nil {
		return func() {} // A collection with an invalid name never changes.
	}
	watched := s.named(collection)
	w := &engine.Watcher{Changed: changed, Reset: reset}
	watched.writing.Lock()
	defer watched.writing.Unlock()
	watched.watchers = append(watched.watchers, w)
	return func() { watched.unwatch(w) }
}

func (v *versions) unwatch(w *engine.Watcher) {
	v.writing.Lock()
	defer v.writing.Unlock()
	v.watchers = slices.DeleteFunc(v.watchers, func(known *engine.Watcher) bool { return known == w })
}
