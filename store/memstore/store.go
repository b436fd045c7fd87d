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
	"sync"
	"sync/atomic"
	"time"

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

// WithNow sets the clock that Store.Now reads. The default is the machine's.
func WithNow(now func() time.Time) Option {
	return func(s *Store) { s.now = now }
}

// New returns an empty store.
func New(options ...Option) *Store {
	s := &Store{now: time.Now, firstLooks: firstLooks}
	s.collections.Store(&directory{})
	for _, option := range options {
		option(s)
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
