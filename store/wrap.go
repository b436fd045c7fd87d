package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// Call is a call of a method of a Collection, or of Now, which has no collection.
type Call struct {
	// Method is the method's name as MongoDB writes it, such as "findAndModify".
	Method     string
	Collection string
}

// Around is called before each call of a store that Wrap returns. If it fails, so does the call, and the store is not
// asked. Otherwise it returns the context for the call, and a function, or nil, that is called after it with the number
// of documents that came back or were inserted and with the call's error. What that function returns is the error of the
// call.
type Around func(ctx context.Context, call Call) (within context.Context, end func(documents int, err error) error, err error)

// Wrap returns a store that passes each call on to inner, and calls around at each, unless around is nil. A panic in
// inner, in around or in the function that it returns is an error of the call: Internal, with *boterr.PanicError behind
// it. The store is a Watcher if inner is one; panics of Watch are not errors. It has no other methods of inner. If around
// is nil and Wrap has returned inner, Wrap returns inner itself.
func Wrap(inner Store, around Around) Store {
	switch inner.(type) {
	case *wrappedStore, wrappedWatcher:
		if around == nil {
			return inner
		}
	}
	wrapped := &wrappedStore{inner: inner, around: around}
	if watcher, ok := inner.(Watcher); ok {
		return wrappedWatcher{wrapped, watcher}
	}
	return wrapped
}

type wrappedStore struct {
	inner  Store
	around Around
	// opened are the collections that are kept open, the first ones: there are fewer kinds of records. Others are
	// opened anew, since who calls may name any data source.
	opened [16]atomic.Pointer[wrappedCollection]
}

// wrappedWatcher is a wrapped store that can be watched.
type wrappedWatcher struct {
	*wrappedStore
	Watcher
}

// begin asks around.
func (s *wrappedStore) begin(ctx context.Context, method, collection string) (context.Context, func(int, error) error, error) {
	if s.around == nil {
		return ctx, nil, nil
	}
	return s.around(ctx, Call{Method: method, Collection: collection})
}

// errNotReturned is the error of a call that ends its goroutine.
var errNotReturned = error(boterr.New(boterr.Internal, "", "the call did not return"))

// settled returns what came of a call.
func settled[R any](end func(int, error) error, result R, documents int, err error, thrown any) (R, error) {
	if thrown != nil {
		err = boterr.Recovered(thrown)
	}
	if end == nil {
		return result, err
	}
	failure := outcome(end, documents, err)
	if failure != nil && err == nil {
		var none R
		result = none
	}
	return result, failure
}

// outcome returns what end makes of the error of a call.
func outcome(end func(int, error) error, documents int, err error) (failure error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			failure = boterr.Recovered(thrown)
		}
	}()
	return end(documents, err)
}

func (s *wrappedStore) Now(ctx context.Context) (now time.Time, err error) {
	var end func(int, error) error
	defer func() { now, err = settled(end, now, 0, err, recover()) }()
	if ctx, end, err = s.begin(ctx, "now", ""); err != nil {
		return now, err
	}
	err = errNotReturned
	return s.inner.Now(ctx)
}

func (s *wrappedStore) Collection(name string) Collection {
	for i := range s.opened {
		known := s.opened[i].Load()
		if known == nil {
			known = &wrappedCollection{store: s, name: name}
			if !s.opened[i].CompareAndSwap(nil, known) {
				known = s.opened[i].Load()
			}
		}
		if known.name == name {
			return known
		}
	}
	return &wrappedCollection{store: s, name: name}
}

// wrappedCollection is a collection of a wrapped store, which is asked for it by the first method that is called, and
// again by the next if that panics.
type wrappedCollection struct {
	store *wrappedStore
	name  string

	asking  sync.Mutex
	known   Collection
	isKnown atomic.Bool
}

func (c *wrappedCollection) inner() Collection {
	if c.isKnown.Load() {
		return c.known
	}
	c.asking.Lock()
	defer c.asking.Unlock()
	if !c.isKnown.Load() {
		c.known = c.store.inner.Collection(c.name)
		c.isKnown.Store(true)
	}
	return c.known
}

func (c *wrappedCollection) Get(ctx context.Context, id any) (found document.Object, exists bool, err error) {
	var end func(int, error) error
	defer func() {
		documents := 0
		if exists {
			documents = 1
		}
		if found, err = settled(end, found, documents, err, recover()); err != nil {
			exists = false
		}
	}()
	if ctx, end, err = c.store.begin(ctx, "find", c.name); err != nil {
		return found, false, err
	}
	err = errNotReturned
	return c.inner().Get(ctx, id)
}

func (c *wrappedCollection) Find(ctx context.Context, filter *query.Filter, options FindOptions) (found []document.Object, err error) {
	var end func(int, error) error
	defer func() { found, err = settled(end, found, len(found), err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "find", c.name); err != nil {
		return found, err
	}
	err = errNotReturned
	return c.inner().Find(ctx, filter, options)
}

func (c *wrappedCollection) Count(ctx context.Context, filter *query.Filter) (count int64, err error) {
	var end func(int, error) error
	defer func() { count, err = settled(end, count, 0, err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "count", c.name); err != nil {
		return count, err
	}
	err = errNotReturned
	return c.inner().Count(ctx, filter)
}

func (c *wrappedCollection) Distinct(ctx context.Context, path string, filter *query.Filter) (values []any, err error) {
	var end func(int, error) error
	defer func() { values, err = settled(end, values, len(values), err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "distinct", c.name); err != nil {
		return values, err
	}
	err = errNotReturned
	return c.inner().Distinct(ctx, path, filter)
}

func (c *wrappedCollection) GeoNear(ctx context.Context, search *query.GeoNear) (found []query.GeoResult, err error) {
	var end func(int, error) error
	defer func() { found, err = settled(end, found, len(found), err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "geoNear", c.name); err != nil {
		return found, err
	}
	err = errNotReturned
	return c.inner().GeoNear(ctx, search)
}

func (c *wrappedCollection) Insert(ctx context.Context, documents ...document.Object) (err error) {
	var end func(int, error) error
	defer func() { _, err = settled(end, struct{}{}, len(documents), err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "insert", c.name); err != nil {
		return err
	}
	err = errNotReturned
	return c.inner().Insert(ctx, documents...)
}

func (c *wrappedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options UpdateOptions,
) (result UpdateResult, err error) {
	var end func(int, error) error
	defer func() { result, err = settled(end, result, 0, err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "update", c.name); err != nil {
		return result, err
	}
	err = errNotReturned
	return c.inner().Update(ctx, filter, change, options)
}

func (c *wrappedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options FindAndModifyOptions,
) (result FindAndModifyResult, err error) {
	var end func(int, error) error
	defer func() { result, err = settled(end, result, 0, err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "findAndModify", c.name); err != nil {
		return result, err
	}
	err = errNotReturned
	return c.inner().FindAndModify(ctx, filter, change, options)
}

func (c *wrappedCollection) Delete(ctx context.Context, filter *query.Filter, options DeleteOptions) (deleted int64, err error) {
	var end func(int, error) error
	defer func() { deleted, err = settled(end, deleted, 0, err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "delete", c.name); err != nil {
		return deleted, err
	}
	err = errNotReturned
	return c.inner().Delete(ctx, filter, options)
}

func (c *wrappedCollection) EnsureIndex(ctx context.Context, index Index) (err error) {
	var end func(int, error) error
	defer func() { _, err = settled(end, struct{}{}, 0, err, recover()) }()
	if ctx, end, err = c.store.begin(ctx, "ensureIndex", c.name); err != nil {
		return err
	}
	err = errNotReturned
	return c.inner().EnsureIndex(ctx, index)
}
