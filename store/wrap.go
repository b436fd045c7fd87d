package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// Call is a call of a Collection's method, or of Now, which has no collection.
type Call struct {
	// Method is the method's name in MongoDB's spelling, such as "findAndModify".
	Method     string
	Collection string
}

// Around is called before each call of a store made by Wrap. If it fails, so does the call, without reaching
// the store. Otherwise it returns the context for the call, and a function end, which may be nil. After the
// call, end gets the number of documents returned or inserted and the call's error, and returns the error of
// the call.
type Around func(ctx context.Context, call Call) (within context.Context, end func(documents int, err error) error, err error)

// Wrap returns a store that passes each call on to inner and calls around for each, unless around is nil. A
// panic in inner, in around or in the function that it returns becomes the error of the call: Internal,
// wrapping a *boterr.PanicError. The store is a Watcher or a Notifier if inner is one; panics of their methods
// are not recovered. It hides all other methods of inner. If around is nil and inner was made by Wrap, Wrap
// returns inner itself.
func Wrap(inner Store, around Around) Store {
	switch inner.(type) {
	case *wrappedStore, wrappedWatcher, wrappedNotifier:
		if around == nil {
			return inner
		}
	}
	wrapped := &wrappedStore{inner: inner, around: around}
	if watcher, ok := inner.(Watcher); ok {
		return wrappedWatcher{wrapped, watcher} // No other process needs notices.
	}
	if notifier, ok := inner.(Notifier); ok {
		return wrappedNotifier{wrapped, notifier}
	}
	return wrapped
}

type wrappedStore struct {
	inner  Store
	around Around
	// opened are the first collections, which stay open: there is room for every kind of record. Others are
	// opened at each call, because callers may name any data source.
	opened [16]atomic.Pointer[wrappedCollection]
}

type wrappedWatcher struct {
	*wrappedStore
	Watcher
}

type wrappedNotifier struct {
	*wrappedStore
	Notifier
}

// errNotReturned is the error of a call that ends its goroutine.
var errNotReturned = error(boterr.New(boterr.Internal, "", "the call did not return"))

// passOn passes a call on to the inner store, inside around. count returns the number of documents in a
// result; it is nil if none are returned.
func passOn[R any](
	ctx context.Context, s *wrappedStore, made Call, pass func(ctx context.Context) (R, error), count func(R) int,
) (result R, err error) {
	var end func(int, error) error
	defer func() {
		if end == nil {
			return
		}
		documents := 0
		if count != nil {
			documents = count(result)
		}
		failure := outcome(end, documents, err)
		if failure != nil && err == nil {
			var none R
			result = none
		}
		err = failure
	}()
	defer boterr.Recover(&err)
	if s.around != nil {
		if ctx, end, err = s.around(ctx, made); err != nil {
			return result, err
		}
	}
	err = errNotReturned
	return pass(ctx)
}

// outcome passes the error of a call to end and returns its result. A panic of end becomes an error.
func outcome(end func(int, error) error, documents int, err error) (failure error) {
	defer boterr.Recover(&failure)
	return end(documents, err)
}

func (s *wrappedStore) Now(ctx context.Context) (time.Time, error) {
	return passOn(ctx, s, Call{Method: "now"}, s.inner.Now, nil)
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

// wrappedCollection is a collection of a wrapped store. The first method call opens the inner collection; if
// that panics, the next call tries again.
type wrappedCollection struct {
	store *wrappedStore
	name  string

	known atomic.Pointer[Collection]
}

func (c *wrappedCollection) inner() Collection {
	known := c.known.Load()
	if known == nil {
		opened := c.store.inner.Collection(c.name)
		known = &opened
		c.known.Store(known)
	}
	return *known
}

func (c *wrappedCollection) Get(ctx context.Context, id any) (document.Object, bool, error) {
	found, err := passOn(ctx, c.store, Call{"find", c.name}, func(ctx context.Context) (gotten, error) {
		o, exists, err := c.inner().Get(ctx, id)
		return gotten{o, exists}, err
	}, gotten.count)
	return found.document, found.exists && err == nil, err
}

type gotten struct {
	document document.Object
	exists   bool
}

func (g gotten) count() int {
	if g.exists {
		return 1
	}
	return 0
}

func (c *wrappedCollection) Find(ctx context.Context, filter *query.Filter, options FindOptions) ([]document.Object, error) {
	return passOn(ctx, c.store, Call{"find", c.name}, func(ctx context.Context) ([]document.Object, error) {
		return c.inner().Find(ctx, filter, options)
	}, func(found []document.Object) int { return len(found) })
}

func (c *wrappedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	return passOn(ctx, c.store, Call{"count", c.name}, func(ctx context.Context) (int64, error) {
		return c.inner().Count(ctx, filter)
	}, nil)
}

func (c *wrappedCollection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	return passOn(ctx, c.store, Call{"distinct", c.name}, func(ctx context.Context) ([]any, error) {
		return c.inner().Distinct(ctx, path, filter)
	}, func(values []any) int { return len(values) })
}

func (c *wrappedCollection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	return passOn(ctx, c.store, Call{"geoNear", c.name}, func(ctx context.Context) ([]query.GeoResult, error) {
		return c.inner().GeoNear(ctx, search)
	}, func(found []query.GeoResult) int { return len(found) })
}

func (c *wrappedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := passOn(ctx, c.store, Call{"insert", c.name}, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.inner().Insert(ctx, documents...)
	}, func(struct{}) int { return len(documents) })
	return err
}

func (c *wrappedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options UpdateOptions,
) (UpdateResult, error) {
	return passOn(ctx, c.store, Call{"update", c.name}, func(ctx context.Context) (UpdateResult, error) {
		return c.inner().Update(ctx, filter, change, options)
	}, nil)
}

func (c *wrappedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options FindAndModifyOptions,
) (FindAndModifyResult, error) {
	return passOn(ctx, c.store, Call{"findAndModify", c.name}, func(ctx context.Context) (FindAndModifyResult, error) {
		return c.inner().FindAndModify(ctx, filter, change, options)
	}, nil)
}

func (c *wrappedCollection) Delete(ctx context.Context, filter *query.Filter, options DeleteOptions) (int64, error) {
	return passOn(ctx, c.store, Call{"delete", c.name}, func(ctx context.Context) (int64, error) {
		return c.inner().Delete(ctx, filter, options)
	}, nil)
}

func (c *wrappedCollection) EnsureIndex(ctx context.Context, index Index) error {
	_, err := passOn(ctx, c.store, Call{"ensureIndex", c.name}, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.inner().EnsureIndex(ctx, index)
	}, nil)
	return err
}
