package otel

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Store returns a store that gives each operation of another one a span, within that of the
// run or the operation that needs it, and adds its duration to db.client.operation.duration.
// What nothing with a span asks for, such as the scheduler's look at what is due, has no span,
// and counts all the same. Now is not reported.
//
// system is the database as the conventions name it, such as "mongodb", or its own name. The
// store is a store.Watcher where the inner one is, and nil where that is nil.
func (o *Instrumentation) Store(inner store.Store, system string) store.Store {
	if absent.Is(inner) {
		return inner
	}
	s := &observedStore{inner: inner, system: system, o: o}
	if watcher, ok := inner.(store.Watcher); ok {
		return &watchedStore{observedStore: s, Watcher: watcher}
	}
	return s
}

// store is a store that is reported of.
type observedStore struct {
	inner  store.Store
	system string
	o      *Instrumentation
}

// watchedStore is one whose inner store tells what changes.
type watchedStore struct {
	*observedStore
	store.Watcher
}

var (
	_ store.Store      = (*observedStore)(nil)
	_ store.Store      = (*watchedStore)(nil)
	_ store.Watcher    = (*watchedStore)(nil)
	_ store.Collection = collection{}
)

// Collection implements store.Store.
func (s *observedStore) Collection(name string) store.Collection {
	return collection{inner: s.inner.Collection(name), name: name, kind: kindOf(name), store: s}
}

// Now implements store.Store.
func (s *observedStore) Now(ctx context.Context) (time.Time, error) { return s.inner.Now(ctx) }

// kindOf returns what stands for a collection in the names of spans and in metrics. Each data
// source of each app has a collection of its own, "data/APP/ID": too many to tell apart.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, "/")
	return kind
}

// collection is a collection that is reported of.
type collection struct {
	inner store.Collection
	name  string
	kind  string
	store *observedStore
}

// within calls an operation of the store within a span, to which it adds what report tells of
// the result.
func within[R any](
	ctx context.Context, c collection, operation string, call func(context.Context) (R, error), report func(R) attribute.KeyValue,
) (result R, err error) {
	o, of := c.store.o, series{system: c.store.system, name: operation, target: c.kind}
	ctx, a := o.beginWithin(ctx, operation+" "+c.kind, trace.SpanKindClient, func() []attribute.KeyValue {
		return []attribute.KeyValue{
			semconv.DBSystemNameKey.String(of.system), semconv.DBOperationName(operation), semconv.DBCollectionName(c.name),
		}
	})
	outcome := errNotReturned
	defer func() {
		of.code = boterr.CodeOf(outcome)
		o.end(ctx, a, o.metrics.queries, of, isFaultOfCall)
	}()
	result, err = call(ctx)
	if err == nil && report != nil && a.span.IsRecording() {
		a.span.SetAttributes(report(result))
	}
	outcome = err
	return result, err
}

// rows is how many documents came back.
func rows[T any](found []T) attribute.KeyValue { return semconv.DBResponseReturnedRows(len(found)) }

// batchSize is how many documents were inserted. For one alone the conventions leave it out.
func batchSize(n int) attribute.KeyValue {
	if n == 1 {
		return attribute.KeyValue{} // An attribute without a key is dropped.
	}
	return semconv.DBOperationBatchSize(n)
}

// Find implements store.Collection.
func (c collection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	return within(ctx, c, "find", func(ctx context.Context) ([]document.Object, error) {
		return c.inner.Find(ctx, filter, options)
	}, rows)
}

// Count implements store.Collection.
func (c collection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	return within(ctx, c, "count", func(ctx context.Context) (int64, error) { return c.inner.Count(ctx, filter) }, nil)
}

// Distinct implements store.Collection.
func (c collection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	return within(ctx, c, "distinct", func(ctx context.Context) ([]any, error) {
		return c.inner.Distinct(ctx, path, filter)
	}, rows)
}

// GeoNear implements store.Collection.
func (c collection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	return within(ctx, c, "geoNear", func(ctx context.Context) ([]query.GeoResult, error) {
		return c.inner.GeoNear(ctx, search)
	}, rows)
}

// Insert implements store.Collection.
func (c collection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := within(ctx, c, "insert", func(ctx context.Context) (int, error) {
		return len(documents), c.inner.Insert(ctx, documents...)
	}, batchSize)
	return err
}

// Update implements store.Collection.
func (c collection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	return within(ctx, c, "update", func(ctx context.Context) (store.UpdateResult, error) {
		return c.inner.Update(ctx, filter, change, options)
	}, nil)
}

// FindAndModify implements store.Collection.
func (c collection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	return within(ctx, c, "findAndModify", func(ctx context.Context) (store.FindAndModifyResult, error) {
		return c.inner.FindAndModify(ctx, filter, change, options)
	}, nil)
}

// Delete implements store.Collection.
func (c collection) Delete(
	ctx context.Context, filter *query.Filter, options store.DeleteOptions,
) (int64, error) {
	return within(ctx, c, "delete", func(ctx context.Context) (int64, error) {
		return c.inner.Delete(ctx, filter, options)
	}, nil)
}

// EnsureIndex implements store.Collection.
func (c collection) EnsureIndex(ctx context.Context, index store.Index) error {
	_, err := within(ctx, c, "ensureIndex", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.inner.EnsureIndex(ctx, index)
	}, nil)
	return err
}
