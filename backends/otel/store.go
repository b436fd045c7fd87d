package otel

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/store"
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
