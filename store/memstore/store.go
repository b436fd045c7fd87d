// Package memstore is the store.Store in memory.
//
//   - To try something out or to test, use [New].
//   - To come back to what was, or to go on from it twice, use [Store.Snapshot],
//     [Store.Restore] and [Store.Fork].
//   - To keep every write, give [Open] a [Journal].
//
// A collection's content is a version that never changes. A writer makes the next version, which shares all
// unchanged parts with the one before, and publishes it in one step. So a reader works on one version from
// beginning to end, without waiting and without blocking writers; writers of one collection share a lock, and
// do long work without holding it; and a copy of the whole store, by Fork or Snapshot, copies no documents.
//
// A Store forgets all when the program ends. Journaled is one whose writes a Journal
// keeps before they are published: package backends/bolt has one on disk.
package memstore

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// Store is a store.Store in memory. New makes one.
type Store struct {
	now func() time.Time
	// making serialises what adds collections or looks at all of them at once.
	making      sync.Mutex
	collections atomic.Pointer[directory]
	// edits is the last edit of the collections.
	edits persistent.Edit
	// commits keeps the writes in a journal; nil if there is none.
	commits *commits
	// firstLooks is the number of times that a write may check its context under the lock before it continues
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

// named returns the collection of that name, and makes it if there is none.
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
	next.Set(s.nextEdit(), name, made)
	s.collections.Store(&next)
	return made
}

// nextEdit is named for a caller that holds the lock.
func (s *Store) nextEdit() persistent.Edit {
	s.edits++
	return s.edits
}

// checkEnded returns the error Canceled if ctx has ended.
func checkEnded(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(ctx))
}

type collection struct {
	store *Store
	name  string
	// found is nil if the collection did not exist when it was opened.
	found *versions
	// err is the error of the name.
	err error
}

var _ store.Collection = (*collection)(nil)

// newest returns the content to read.
func (c *collection) newest() (*content, error) {
	if c.err != nil {
		return nil, c.err
	}
	if commits := c.store.commits; commits != nil {
		if err := commits.checkOpen(); err != nil {
			return nil, err
		}
	}
	found := c.found
	if found == nil {
		var ok bool
		if found, ok = c.store.collections.Load().Get(c.name); !ok {
			return newContent(c.name), nil
		}
	}
	return found.newest.Load(), nil
}

// write carries out a write, and makes the collection if there is none.
func (c *collection) write(ctx context.Context, p program) error {
	if c.err != nil {
		return c.err
	}
	if err := checkEnded(ctx); err != nil {
		return err
	}
	found := c.found
	if found == nil {
		found = c.store.named(c.name)
	}
	return c.carryOut(ctx, found, p)
}

// at gives a filter that uses the time the time of the store's clock.
func (c *collection) at(filter *query.Filter) *query.Filter {
	if !filter.UsesNow() {
		return filter
	}
	return filter.At(c.store.now())
}

// Get implements store.Collection.
func (c *collection) Get(ctx context.Context, id any) (found document.Object, exists bool, err error) {
	if err := checkEnded(ctx); err != nil {
		return found, false, err
	}
	if id, err = document.ValueOf(id); err != nil {
		return found, false, boterr.PrefixField("id", err)
	}
	now, err := c.newest()
	if err != nil {
		return found, false, err
	}
	_, found, exists = now.ids.find(&now.documents, id)
	return found, exists, nil
}

func (c *collection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	found, err := now.find(ctx, c.at(filter), options)
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (c *collection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	now, err := c.newest()
	if err != nil {
		return 0, err
	}
	count, err := now.count(query.NewEvaluation(ctx), c.at(filter))
	if err != nil {
		return 0, err
	}
	return int64(count), nil
}

func (c *collection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, boterr.PrefixField("path", err)
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	values, err := now.distinct(query.NewEvaluation(ctx), path, c.at(filter))
	if err != nil {
		return nil, err
	}
	return values, nil
}

func (c *collection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	if search == nil {
		return nil, boterr.Invalid("near", "a point to be near to is required")
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	if search.Filter().UsesNow() {
		search = search.At(c.store.now())
	}
	found, err := now.near(query.NewEvaluation(ctx), search)
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (c *collection) EnsureIndex(ctx context.Context, index store.Index) error {
	if err := index.Check(); err != nil {
		return err
	}
	return c.write(ctx, &ensuring{index: index})
}

// ensuring is the program of EnsureIndex, which all documents affect.
type ensuring struct {
	attempted

	index store.Index
}

func (e *ensuring) run(_ *query.Evaluation, t *transaction) error { return t.ensure(e.index) }

func (*ensuring) matches(*query.Evaluation, document.Object) (bool, error) { return true, nil }

// shown returns a value as JSON for an error's text, cut if it is long.
func shown(value any) string {
	const longest = 120
	text, err := document.AppendJSON(nil, value)
	if err != nil {
		return "that has no JSON form"
	}
	if len(text) > longest {
		return strings.ToValidUTF8(string(text[:longest]), "") + "..."
	}
	return string(text)
}

// ensure adds an index to the content unless it is there.
func (t *transaction) ensure(spec store.Index) error {
	if isIDIndex(spec) {
		return nil
	}
	for i := range t.next.indexes {
		if there := &t.next.indexes[i]; slices.Equal(there.spec.Keys, spec.Keys) {
			return there.checkSame(spec)
		}
	}
	x := newIndex(t.next.name, spec)
	for position, o := range t.before.documents.All() {
		if err := t.look(); err != nil {
			return err
		}
		if _, err := x.replace(t.edit, position, document.Object{}, o); err != nil {
			return err
		}
	}
	t.next.indexes = append(slices.Clip(t.next.indexes), x)
	t.indexed = &x.spec
	return nil
}

// checkSame refuses an index of the same keys with other options.
func (x *index) checkSame(spec store.Index) error {
	if x.spec.Unique == spec.Unique && x.spec.Sparse == spec.Sparse {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "keys",
		"the collection %q has the index %s with other options: unique %t, sparse %t",
		x.collection, x.name(), x.spec.Unique, x.spec.Sparse)
}

// isIDIndex reports whether an index is the one that every collection has.
func isIDIndex(spec store.Index) bool {
	return len(spec.Keys) == 1 && spec.Keys[0] == store.IndexKey{Path: document.IDField, Kind: query.Ascending}
}
