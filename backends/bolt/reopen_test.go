package bolt_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// Every rule holds as well where the store is closed and opened anew before each read.
func TestStore_OpenedAnewBeforeReads(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	storetest.RunStore(t, func(t *testing.T) store.Store {
		t.Helper()
		s := &reopening{t: t, path: newPath(t)}
		s.store = open(t, s.path)
		t.Cleanup(func() { require.NoError(t, s.store.Close()) })
		return s
	})
}

// reopening is a store that is closed and opened anew before each read.
type reopening struct {
	t    *testing.T
	path string
	// mu is held for reading by writes, and for writing by reads.
	mu    sync.RWMutex
	store *bolt.Store
}

func (s *reopening) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }

func (s *reopening) Collection(name string) store.Collection {
	return &reopeningCollection{store: s, name: name}
}

type reopeningCollection struct {
	store *reopening
	name  string
}

// reopened returns the collection of a store that was opened anew, and what is to be called
// after the read.
func (c *reopeningCollection) reopened() (collection store.Collection, done func()) {
	s := c.store
	s.mu.Lock()
	err := s.store.Close()
	if err == nil {
		var store *bolt.Store
		if store, err = bolt.Open(s.path); err == nil {
			s.store = store
		}
	}
	if err != nil {
		s.t.Error(err)
	}
	return s.store.Collection(c.name), s.mu.Unlock
}

// held returns the collection of a store that stays open until done is called.
func (c *reopeningCollection) held() (collection store.Collection, done func()) {
	c.store.mu.RLock()
	return c.store.store.Collection(c.name), c.store.mu.RUnlock
}

func (c *reopeningCollection) Find(ctx context.Context, f *query.Filter, o store.FindOptions) ([]document.Object, error) {
	now, done := c.reopened()
	defer done()
	return now.Find(ctx, f, o)
}

func (c *reopeningCollection) Count(ctx context.Context, f *query.Filter) (int64, error) {
	now, done := c.reopened()
	defer done()
	return now.Count(ctx, f)
}

func (c *reopeningCollection) Distinct(ctx context.Context, path string, f *query.Filter) ([]any, error) {
	now, done := c.reopened()
	defer done()
	return now.Distinct(ctx, path, f)
}

func (c *reopeningCollection) GeoNear(ctx context.Context, query *query.GeoNear) ([]query.GeoResult, error) {
	now, done := c.reopened()
	defer done()
	return now.GeoNear(ctx, query)
}

func (c *reopeningCollection) Insert(ctx context.Context, documents ...document.Object) error {
	now, done := c.held()
	defer done()
	return now.Insert(ctx, documents...)
}

func (c *reopeningCollection) Update(
	ctx context.Context, f *query.Filter, change query.Change, o store.UpdateOptions,
) (store.UpdateResult, error) {
	now, done := c.held()
	defer done()
	return now.Update(ctx, f, change, o)
}

func (c *reopeningCollection) FindAndModify(
	ctx context.Context, f *query.Filter, change query.Change, o store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	now, done := c.held()
	defer done()
	return now.FindAndModify(ctx, f, change, o)
}

func (c *reopeningCollection) Delete(ctx context.Context, f *query.Filter, o store.DeleteOptions) (int64, error) {
	now, done := c.held()
	defer done()
	return now.Delete(ctx, f, o)
}

func (c *reopeningCollection) EnsureIndex(ctx context.Context, index store.Index) error {
	now, done := c.held()
	defer done()
	return now.EnsureIndex(ctx, index)
}
