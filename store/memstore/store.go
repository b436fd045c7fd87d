// Package memstore is the store.Store in memory.
//
//   - To try something out or to test, use [New].
//   - To come back to what was, or to go on from it twice, use [Store.Snapshot],
//     [Store.Restore] and [Store.Fork].
//   - To keep every write, give [Open] a [Journal].
//
// A collection's content is a version that never changes. A writer makes the next version, which
// shares all that it did not touch with the one before, and publishes it in one step. So a reader
// works on one version from beginning to end, waits for nobody and holds nobody up; writers of one
// collection share a lock, and do what takes long without holding it; and a copy of the whole
// store, by Fork or Snapshot, copies no documents.
//
// A Store forgets all when the program ends. Journaled is one whose writes a Journal
// keeps before they are published: package backends/bolt has one on disk.
package memstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// Store is a store.Store in memory. New makes one.
type Store struct {
	now func() time.Time
	// making serialises what adds collections or looks at all of them at once.
	making      sync.Mutex
	collections atomic.Pointer[directory]
	// commits keeps what is written in a journal; nil where there is none.
	commits *commits
	// firstLooks is how often a write may check its context under the lock before it goes on
	// without the lock.
	firstLooks int
}

var _ store.Store = (*Store)(nil)

// directory is the collections that exist, by their names.
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
	if err := checkEnded(ctx); err != nil {
		return time.Time{}, err
	}
	return s.now().UTC(), nil
}

// Collection returns the collection of that name. Every operation of one whose
// name is not allowed answers InvalidArgument.
func (s *Store) Collection(name string) store.Collection {
	if found, ok := s.collections.Load().Get(name); ok {
		return &found.asCollection
	}
	return &collection{store: s, name: name, err: store.CheckName(name)}
}

// named returns the collection of that name, and makes it where there is none.
func (s *Store) named(name string) *versions {
	if found, ok := s.collections.Load().Get(name); ok {
		return found
	}
	s.making.Lock()
	defer s.making.Unlock()
	return s.make(name)
}

// make is named for a caller that holds the lock.
func (s *Store) make(name string) *versions {
	next := *s.collections.Load()
	if found, ok := next.Get(name); ok {
		return found
	}
	made := new(versions).begin(s, newContent(name))
	next.Set(persistent.NewEdit(), name, made)
	s.collections.Store(&next)
	return made
}

// checkEnded returns the error Canceled where ctx has ended.
func checkEnded(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(ctx))
}
