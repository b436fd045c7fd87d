package storetest_test

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// unprojecting ignores projections.
type unprojecting struct{ store.Collection }

func (c unprojecting) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	options.Projection = nil
	return c.Collection.Find(ctx, filter, options)
}

func (c unprojecting) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	options.Projection = nil
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

// projectingFirst filters and sorts what the projection leaves.
type projectingFirst struct{ store.Collection }

func (c projectingFirst) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if options.Projection == nil {
		return c.Collection.Find(ctx, filter, options)
	}
	found, err := c.Collection.Find(ctx, nil, store.FindOptions{})
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i], err = options.Projection.Apply(filter, found[i]); err != nil {
			return []document.Object{}, nil //nolint:nilerr // The defect.
		}
	}
	found = slices.DeleteFunc(found, func(o document.Object) bool { return !filter.Match(o) })
	options.Sort.Sort(found)
	return page(found, options), nil
}

// projectingLate projects what was written already.
type projectingLate struct{ store.Collection }

func (c projectingLate) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	projection := options.Projection
	options.Projection = nil
	result, err := c.Collection.FindAndModify(ctx, filter, change, options)
	if err != nil || result.Document.IsZero() {
		return result, err
	}
	result.Document, err = projection.Apply(filter, result.Document)
	return result, err
}
