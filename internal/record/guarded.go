package record

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Guard returns a store whose panics are errors of its methods: Internal, with
// *boterr.PanicError behind them. One that can be watched still can, by a store.Watcher whose panics
// are not errors. What else the store can do beside the methods of store.Store is not there any more.
// A store that Guard has returned is returned as it is.
//
// It opens a collection once: the first few that it is asked for are handed out as they are.
func Guard(inner store.Store) store.Store {
	if asGuarded(inner) != nil {
		return inner
	}
	guarded := &guardedStore{store: inner}
	if watcher, ok := inner.(store.Watcher); ok {
		return guardedWatcher{guarded, watcher}
	}
	return guarded
}

// guardedWatcher is a guarded store that can be watched.
type guardedWatcher struct {
	*guardedStore
	store.Watcher
}

// asGuarded returns what Guard has returned as such, nil for any other store.
func asGuarded(s store.Store) *guardedStore {
	switch g := s.(type) {
	case *guardedStore:
		return g
	case guardedWatcher:
		return g.guardedStore
	default:
		return nil
	}
}

// guardedStore is a store whose panics are errors.
type guardedStore struct {
	store store.Store
	// opened are the collections that are kept open, the first ones: there are fewer kinds of records. Others are
	// opened anew, since who calls may name any data source.
	opened [16]atomic.Pointer[guardedCollection]
}

// guarded calls a store.
func guarded[T any](call func() (T, error)) (result T, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = boterr.Recovered(thrown)
		}
	}()
	return call()
}

// Now implements store.Store.
func (g *guardedStore) Now(ctx context.Context) (time.Time, error) {
	return guarded(func() (time.Time, error) { return g.store.Now(ctx) })
}

// Collection implements store.Store.
func (g *guardedStore) Collection(name string) store.Collection { return g.collection(name) }

// guardedIn returns a collection of a store, guarded if the store is not.
func guardedIn(store store.Store, name string) *guardedCollection {
	if g := asGuarded(store); g != nil {
		return g.collection(name)
	}
	return &guardedCollection{store: store, name: name}
}

func (g *guardedStore) collection(name string) *guardedCollection {
	for i := range g.opened {
		known := g.opened[i].Load()
		if known == nil {
			known = &guardedCollection{store: g.store, name: name}
			if !g.opened[i].CompareAndSwap(nil, known) {
				known = g.opened[i].Load()
			}
		}
		if known.name == name {
			return known
		}
	}
	return &guardedCollection{store: g.store, name: name}
}

// guardedCollection is a collection of a guarded store, which is asked for it by the first method that
// is called, and again by the next where it breaks.
type guardedCollection struct {
	store store.Store
	name  string

	asking  sync.Mutex
	known   store.Collection
	isKnown atomic.Bool
}

func (g *guardedCollection) of() store.Collection {
	if g.isKnown.Load() {
		return g.known
	}
	g.asking.Lock()
	defer g.asking.Unlock()
	if !g.isKnown.Load() {
		g.known = g.store.Collection(g.name)
		g.isKnown.Store(true)
	}
	return g.known
}

// Find implements store.Collection.
func (g *guardedCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	return guarded(func() ([]document.Object, error) { return g.of().Find(ctx, filter, options) })
}

// Count implements store.Collection.
func (g *guardedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	return guarded(func() (int64, error) { return g.of().Count(ctx, filter) })
}

// Distinct implements store.Collection.
func (g *guardedCollection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	return guarded(func() ([]any, error) { return g.of().Distinct(ctx, path, filter) })
}

// GeoNear implements store.Collection.
func (g *guardedCollection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	return guarded(func() ([]query.GeoResult, error) { return g.of().GeoNear(ctx, search) })
}

// Insert implements store.Collection.
func (g *guardedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := guarded(func() (struct{}, error) { return struct{}{}, g.of().Insert(ctx, documents...) })
	return err
}

// Update implements store.Collection.
func (g *guardedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	return guarded(func() (store.UpdateResult, error) { return g.of().Update(ctx, filter, change, options) })
}

// FindAndModify implements store.Collection.
func (g *guardedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	return guarded(func() (store.FindAndModifyResult, error) {
		return g.of().FindAndModify(ctx, filter, change, options)
	})
}

// Delete implements store.Collection.
func (g *guardedCollection) Delete(
	ctx context.Context, filter *query.Filter, options store.DeleteOptions,
) (int64, error) {
	return guarded(func() (int64, error) { return g.of().Delete(ctx, filter, options) })
}

// EnsureIndex implements store.Collection.
func (g *guardedCollection) EnsureIndex(ctx context.Context, index store.Index) error {
	_, err := guarded(func() (struct{}, error) { return struct{}{}, g.of().EnsureIndex(ctx, index) })
	return err
}
