package otel

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/store"
)

// Store wraps a store: each operation gets a span, within the span of the run or the operation that needs it,
// and its duration is added to db.client.operation.duration. Operations outside of any span, such as the
// scheduler's query for due agendas, have no span, but are counted. Now is not reported.
//
// system is the database's name in the conventions, such as "mongodb", or its own name. The result is a
// store.Watcher if the inner one is, and nil if it is nil.
func (o *Instrumentation) Store(inner store.Store, system string) store.Store {
	if absent.Is(inner) {
		return inner
	}
	return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Collection == "" {
			return ctx, nil, nil // The call is Now, which has no collection.
		}
		of := series{system: system, name: call.Method, target: kindOf(call.Collection)}
		ctx, a := o.beginWithin(ctx, call.Method+" "+of.target, trace.SpanKindClient, func() []attribute.KeyValue {
			return []attribute.KeyValue{
				semconv.DBSystemNameKey.String(system), semconv.DBOperationName(call.Method), semconv.DBCollectionName(call.Collection),
			}
		})
		return ctx, func(documents int, err error) error {
			of.code = boterr.CodeOf(err)
			if err == nil && a.span.IsRecording() {
				a.span.SetAttributes(sizeOf(call.Method, documents))
			}
			o.end(ctx, a, o.metrics.queries, of, isFaultOfCall)
			return err
		}, nil
	})
}

// sizeOf returns the attribute with the number of documents that were returned or inserted. For a single inserted
// document, and for the other methods, the conventions have no such attribute: the result has no key, and is dropped.
func sizeOf(method string, documents int) attribute.KeyValue {
	switch {
	case method == "find" || method == "distinct" || method == "geoNear":
		return semconv.DBResponseReturnedRows(documents)
	case method == "insert" && documents != 1:
		return semconv.DBOperationBatchSize(documents)
	default:
		return attribute.KeyValue{}
	}
}

// kindOf returns the kind of a collection, for the names of spans and for metrics. Each data source of each
// app has a separate collection, "data/APP/ID": too many to distinguish.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, "/")
	return kind
}
