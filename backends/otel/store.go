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

// Store wraps a store. Each operation gets a span if there is a span around it, such as a run, and its duration
// is recorded in db.client.operation.duration. Operations without a span around them, such as the scheduler's
// query for due agendas, are only recorded. Now is not reported.
//
// system is the database's name in the conventions, such as "mongodb", or any other name. The result is a
// store.Watcher if inner is one. It is nil if inner is nil.
func (o *Instrumentation) Store(inner store.Store, system string) store.Store {
	if absent.Is(inner) {
		return inner
	}
	return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Collection == "" {
			return ctx, nil, nil // Now has no collection.
		}
		of := series{system: system, name: call.Method, target: kindOf(call.Collection)}
		within, end := o.begin(ctx, activity{
			name: call.Method + " " + of.target, kind: trace.SpanKindClient, to: o.metrics.queries,
			needsParent: true, // Otherwise each poll of the scheduler would be a separate trace, every second.
			attributes: func() []attribute.KeyValue {
				return []attribute.KeyValue{
					semconv.DBSystemNameKey.String(system), semconv.DBOperationName(call.Method), semconv.DBCollectionName(call.Collection),
				}
			},
		})
		return within, func(documents int, err error) error {
			of.code = boterr.CodeOf(err)
			if span := trace.SpanFromContext(within); err == nil && span.IsRecording() {
				span.SetAttributes(sizeOf(call.Method, documents))
			}
			end(of)
			return err
		}, nil
	})
}

// sizeOf returns the attribute for the number of returned or inserted documents. The conventions define none
// for a single inserted document and for other methods. The result then has no key, and OpenTelemetry drops it.
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

// kindOf returns the first part of a collection's name. Each data source of each app has a separate collection,
// "data/APP/ID", and these are too many for names of spans and metrics.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, "/")
	return kind
}
