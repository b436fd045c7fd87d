package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/botctx/go-sdk/document"
)

// rows is how many documents came back.
func rows[T any](found []T) attribute.KeyValue { return semconv.DBResponseReturnedRows(len(found)) }

// batchSize is how many documents were inserted. For one alone the conventions leave it out.
func batchSize(n int) attribute.KeyValue {
	if n == 1 {
		return attribute.KeyValue{} // An attribute without a key is dropped.
	}
	return semconv.DBOperationBatchSize(n)
}

// Find implements document.Collection.
func (c collection) Find(
	ctx context.Context, filter *document.Filter, options document.FindOptions,
) ([]document.Object, error) {
	return within(ctx, c, "find", func(ctx context.Context) ([]document.Object, error) {
		return c.inner.Find(ctx, filter, options)
	}, rows)
}

// Count implements document.Collection.
func (c collection) Count(ctx context.Context, filter *document.Filter) (int64, error) {
	return within(ctx, c, "count", func(ctx context.Context) (int64, error) { return c.inner.Count(ctx, filter) }, nil)
}

// Distinct implements document.Collection.
func (c collection) Distinct(ctx context.Context, path string, filter *document.Filter) ([]any, error) {
	return within(ctx, c, "distinct", func(ctx context.Context) ([]any, error) {
		return c.inner.Distinct(ctx, path, filter)
	}, rows)
}

// GeoNear implements document.Collection.
func (c collection) GeoNear(ctx context.Context, query *document.GeoNear) ([]document.GeoResult, error) {
	return within(ctx, c, "geoNear", func(ctx context.Context) ([]document.GeoResult, error) {
		return c.inner.GeoNear(ctx, query)
	}, rows)
}

// Insert implements document.Collection.
func (c collection) Insert(ctx context.Context, documents ...document.Object) error {
	_, err := within(ctx, c, "insert", func(ctx context.Context) (int, error) {
		return len(documents), c.inner.Insert(ctx, documents...)
	}, batchSize)
	return err
}

// Update implements document.Collection.
func (c collection) Update(
	ctx context.Context, filter *document.Filter, change document.Change, options document.UpdateOptions,
) (document.UpdateResult, error) {
	return within(ctx, c, "update", func(ctx context.Context) (document.UpdateResult, error) {
		return c.inner.Update(ctx, filter, change, options)
	}, nil)
}

// FindAndModify implements document.Collection.
func (c collection) FindAndModify(
	ctx context.Context, filter *document.Filter, change document.Change, options document.FindAndModifyOptions,
) (document.FindAndModifyResult, error) {
	return within(ctx, c, "findAndModify", func(ctx context.Context) (document.FindAndModifyResult, error) {
		return c.inner.FindAndModify(ctx, filter, change, options)
	}, nil)
}

// Delete implements document.Collection.
func (c collection) Delete(
	ctx context.Context, filter *document.Filter, options document.DeleteOptions,
) (int64, error) {
	return within(ctx, c, "delete", func(ctx context.Context) (int64, error) {
		return c.inner.Delete(ctx, filter, options)
	}, nil)
}

// EnsureIndex implements document.Collection.
func (c collection) EnsureIndex(ctx context.Context, index document.Index) error {
	_, err := within(ctx, c, "ensureIndex", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.inner.EnsureIndex(ctx, index)
	}, nil)
	return err
}
