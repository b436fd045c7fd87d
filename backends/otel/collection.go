package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
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
