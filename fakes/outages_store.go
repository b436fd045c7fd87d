package fakes

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// ofTheTest marks what a test itself asks the store for.
type ofTheTest struct{}

// testContext returns the context of what the test itself adds and looks at, which no outage
// keeps from it.
func testContext() context.Context { return context.WithValue(context.Background(), ofTheTest{}, true) }

// switchedStore is a store as a process reaches it, and that a test can take out of service.
type switchedStore struct {
	store.Store
	outages *outages
	process *process
}

// switchedWatcher is one whose inner store tells what changes.
type switchedWatcher struct {
	switchedStore
	store.Watcher
}

// Watch implements store.Watcher.
func (w switchedWatcher) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	stop = w.Watcher.Watch(collection, changed, reset)
	w.process.watches(stop)
	return stop
}

// storeOf returns what the Runtime of a process has in the place of a store: it can be taken out of
// service, and stores nothing after the process has crashed.
func (o *outages) storeOf(inner store.Store, by *process) store.Store {
	switched := switchedStore{inner, o, by}
	if watcher, ok := inner.(store.Watcher); ok {
		return switchedWatcher{switched, watcher}
	}
	return switched
}

// err returns why a part of the store does not answer, nil where it does.
func (s switchedStore) err(ctx context.Context, asked outage) error {
	if ctx.Value(ofTheTest{}) != nil {
		return nil
	}
	if err := s.process.err(); err != nil {
		return err
	}
	if err := s.outages.err(outage{service: ServiceStore}); err != nil || asked.service == ServiceStore {
		return err
	}
	return s.outages.err(asked)
}

// Now implements store.Store.
func (s switchedStore) Now(ctx context.Context) (time.Time, error) {
	if err := s.err(ctx, outage{service: ServiceStore}); err != nil {
		return time.Time{}, err
	}
	return s.Store.Now(ctx)
}

// Collection implements store.Store.
func (s switchedStore) Collection(name string) store.Collection {
	return switchedCollection{inner: s.Store.Collection(name), store: s, asked: outageOf(name)}
}

// outageOf returns what has to be out of service so that a collection is: a data source has one of
// its own, "data/APP/ID".
func outageOf(collection string) outage {
	app, id, isOfAnApp := strings.Cut(strings.TrimPrefix(collection, "data/"), "/")
	if !isOfAnApp || !strings.HasPrefix(collection, "data/") {
		return outage{service: ServiceStore}
	}
	return outage{ServiceDataSources, unescaped(app), unescaped(id)}
}

func unescaped(part string) string {
	if text, err := url.QueryUnescape(part); err == nil {
		return text
	}
	return part
}

// switchedCollection is a collection of a switchedStore.
type switchedCollection struct {
	inner store.Collection
	store switchedStore
	asked outage
}

// switched asks a collection, unless it is out of service.
func switched[T any](ctx context.Context, c switchedCollection, call func() (T, error)) (result T, err error) {
	if err := c.store.err(ctx, c.asked); err != nil {
		return result, err
	}
	return call()
}

// Find implements store.Collection.
func (c switchedCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	return switched(ctx, c, func() ([]document.Object, error) { return c.inner.Find(ctx, filter, options) })
}

// Count implements store.Collection.
func (c switchedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	return switched(ctx, c, func() (int64, error) { return c.inner.Count(ctx, filter) })
}

// Distinct implements store.Collection.
func (c switchedCollection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	return switched(ctx, c, func() ([]any, error) { return c.inner.Distinct(ctx, path, filter) })
}

// GeoNear implements store.Collection.
func (c switchedCollection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	return switched(ctx, c, func() ([]query.GeoResult, error) { return c.inner.GeoNear(ctx, search) })
}

// Insert implements store.Collection.
func (c switchedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := switched(ctx, c, func() (struct{}, error) { return struct{}{}, c.inner.Insert(ctx, documents...) })
	return err
}

// Update implements store.Collection.
func (c switchedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	return switched(ctx, c, func() (store.UpdateResult, error) { return c.inner.Update(ctx, filter, change, options) })
}

// FindAndModify implements store.Collection.
func (c switchedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	return switched(ctx, c, func() (store.FindAndModifyResult, error) {
		return c.inner.FindAndModify(ctx, filter, change, options)
	})
}

// Delete implements store.Collection.
func (c switchedCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	return switched(ctx, c, func() (int64, error) { return c.inner.Delete(ctx, filter, options) })
}

// EnsureIndex implements store.Collection.
func (c switchedCollection) EnsureIndex(ctx context.Context, index store.Index) error {
	_, err := switched(ctx, c, func() (struct{}, error) { return struct{}{}, c.inner.EnsureIndex(ctx, index) })
	return err
}
