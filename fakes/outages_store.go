package fakes

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// ofTheTest marks what a test itself asks the store for.
type ofTheTest struct{}

// testContext returns the context of what the test itself adds and looks at, see Observing.
func testContext() context.Context { return Observing(context.Background()) }

// Observing returns a context for looking at what the services of a Runtime hold, as a test or a page does beside
// the bot: no outage and no crash keeps such a call from the store, and faults of requests do not count it.
//
//	p.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(fakes.Observing(ctx), record.Query{})
//
// Operations of a Context are still refused once the process has crashed.
func Observing(ctx context.Context) context.Context { return context.WithValue(ctx, ofTheTest{}, true) }

// switchedStore is a store as a process reaches it, and that a test can take out of service.
type switchedStore struct {
	store.Store
	platform *Platform
	process  *process
	// opened are the collections that were asked for, by name.
	opening sync.Mutex
	opened  map[string]*switchedCollection
}

// switchedWatcher is one whose inner store tells what changes.
type switchedWatcher struct {
	*switchedStore
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
func (p *Platform) storeOf(inner store.Store, by *process) store.Store {
	switched := &switchedStore{Store: inner, platform: p, process: by}
	if watcher, ok := inner.(store.Watcher); ok {
		return switchedWatcher{switched, watcher}
	}
	return switched
}

// err returns why a part of the store does not answer, nil where it does.
func (s *switchedStore) err(ctx context.Context, asked outage) error {
	if ctx.Value(ofTheTest{}) != nil {
		return nil
	}
	if err := s.process.err(); err != nil {
		return err
	}
	if err := s.platform.outages.err(outage{service: ServiceStore}); err != nil || asked.service == ServiceStore {
		return err
	}
	return s.platform.outages.err(asked)
}

// Now implements store.Store.
func (s *switchedStore) Now(ctx context.Context) (time.Time, error) {
	if err := s.err(ctx, outage{service: ServiceStore}); err != nil {
		return time.Time{}, err
	}
	return s.Store.Now(ctx)
}

// Collection implements store.Store.
func (s *switchedStore) Collection(name string) store.Collection {
	s.opening.Lock()
	defer s.opening.Unlock()
	if opened := s.opened[name]; opened != nil {
		return opened
	}
	opened := &switchedCollection{inner: s.Store.Collection(name), store: s, name: name, asked: outageOf(name)}
	put(&s.opened, name, opened)
	return opened
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
	store *switchedStore
	name  string
	asked outage
}

// switched asks a collection, unless it is out of service. What the test asks for itself counts as no
// request.
func switched[T any](ctx context.Context, c *switchedCollection, what string, call func() (T, error)) (result T, err error) {
	if err := c.store.err(ctx, c.asked); err != nil {
		return result, err
	}
	if ctx.Value(ofTheTest{}) != nil {
		return call()
	}
	return requested(ctx, c.store.platform, asking{c.asked.service, what, c.name}, call)
}

// Find implements store.Collection.
func (c *switchedCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	return switched(ctx, c, "find", func() ([]document.Object, error) { return c.inner.Find(ctx, filter, options) })
}

// Count implements store.Collection.
func (c *switchedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	return switched(ctx, c, "count", func() (int64, error) { return c.inner.Count(ctx, filter) })
}

// Distinct implements store.Collection.
func (c *switchedCollection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	return switched(ctx, c, "distinct", func() ([]any, error) { return c.inner.Distinct(ctx, path, filter) })
}

// GeoNear implements store.Collection.
func (c *switchedCollection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	return switched(ctx, c, "geoNear", func() ([]query.GeoResult, error) { return c.inner.GeoNear(ctx, search) })
}

// Insert implements store.Collection.
func (c *switchedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := switched(ctx, c, "insert", func() (struct{}, error) { return struct{}{}, c.inner.Insert(ctx, documents...) })
	return err
}

// Update implements store.Collection.
func (c *switchedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	return switched(ctx, c, "update", func() (store.UpdateResult, error) { return c.inner.Update(ctx, filter, change, options) })
}

// FindAndModify implements store.Collection.
func (c *switchedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	return switched(ctx, c, "findAndModify", func() (store.FindAndModifyResult, error) {
		return c.inner.FindAndModify(ctx, filter, change, options)
	})
}

// Delete implements store.Collection.
func (c *switchedCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	return switched(ctx, c, "delete", func() (int64, error) { return c.inner.Delete(ctx, filter, options) })
}

// EnsureIndex implements store.Collection.
func (c *switchedCollection) EnsureIndex(ctx context.Context, index store.Index) error {
	_, err := switched(ctx, c, "ensureIndex", func() (struct{}, error) { return struct{}{}, c.inner.EnsureIndex(ctx, index) })
	return err
}
