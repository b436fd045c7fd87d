package record

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Guard returns a store whose panics are errors of its methods: Internal, with
// *boterr.PanicError behind them. What else the store can do beside the methods of
// document.Store is not there any more.
func Guard(store document.Store) document.Store { return guardedStore{store} }

// guardedStore is a store whose panics are errors.
type guardedStore struct{ store document.Store }

// guarded calls a store.
func guarded[T any](call func() (T, error)) (result T, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = boterr.Recovered(thrown)
		}
	}()
	return call()
}

// Now implements document.Store.
func (g guardedStore) Now(ctx context.Context) (time.Time, error) {
	return guarded(func() (time.Time, error) { return g.store.Now(ctx) })
}

// Collection implements document.Store. The store is asked for it with each call.
func (g guardedStore) Collection(name string) document.Collection {
	return guardedCollection{of: func() document.Collection { return g.store.Collection(name) }}
}

// guardedCollection is a collection of a guarded store.
type guardedCollection struct{ of func() document.Collection }

// Find implements document.Collection.
func (g guardedCollection) Find(
	ctx context.Context, filter *document.Filter, options document.FindOptions,
) ([]document.Object, error) {
	return guarded(func() ([]document.Object, error) { return g.of().Find(ctx, filter, options) })
}

// Count implements document.Collection.
func (g guardedCollection) Count(ctx context.Context, filter *document.Filter) (int64, error) {
	return guarded(func() (int64, error) { return g.of().Count(ctx, filter) })
}

// Distinct implements document.Collection.
func (g guardedCollection) Distinct(ctx context.Context, path string, filter *document.Filter) ([]any, error) {
	return guarded(func() ([]any, error) { return g.of().Distinct(ctx, path, filter) })
}

// GeoNear implements document.Collection.
func (g guardedCollection) GeoNear(ctx context.Context, query *document.GeoNear) ([]document.GeoResult, error) {
	return guarded(func() ([]document.GeoResult, error) { return g.of().GeoNear(ctx, query) })
}

// Insert implements document.Collection.
func (g guardedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := guarded(func() (struct{}, error) { return struct{}{}, g.of().Insert(ctx, documents...) })
	return err
}

// Update implements document.Collection.
func (g guardedCollection) Update(
	ctx context.Context, filter *document.Filter, change document.Change, options document.UpdateOptions,
) (document.UpdateResult, error) {
	return guarded(func() (document.UpdateResult, error) { return g.of().Update(ctx, filter, change, options) })
}

// FindAndModify implements document.Collection.
func (g guardedCollection) FindAndModify(
	ctx context.Context, filter *document.Filter, change document.Change, options document.FindAndModifyOptions,
) (document.FindAndModifyResult, error) {
	return guarded(func() (document.FindAndModifyResult, error) {
		return g.of().FindAndModify(ctx, filter, change, options)
	})
}

// Delete implements document.Collection.
func (g guardedCollection) Delete(
	ctx context.Context, filter *document.Filter, options document.DeleteOptions,
) (int64, error) {
	return guarded(func() (int64, error) { return g.of().Delete(ctx, filter, options) })
}

// EnsureIndex implements document.Collection.
func (g guardedCollection) EnsureIndex(ctx context.Context, index document.Index) error {
	_, err := guarded(func() (struct{}, error) { return struct{}{}, g.of().EnsureIndex(ctx, index) })
	return err
}
