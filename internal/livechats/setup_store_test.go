package livechats_test

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// countingCollection is a collection of a countingStore.
type countingCollection struct {
	store.Collection

	store *countingStore
}

func (c *countingCollection) Insert(ctx context.Context, documents ...document.Object) error {
	if err := c.store.write(); err != nil {
		return err
	}
	return c.Collection.Insert(ctx, documents...)
}

func (c *countingCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	if err := c.store.write(); err != nil {
		return store.UpdateResult{}, err
	}
	return c.Collection.Update(ctx, filter, change, options)
}

func (c *countingCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := c.store.write(); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func (c *countingCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	if err := c.store.write(); err != nil {
		return 0, err
	}
	return c.Collection.Delete(ctx, filter, options)
}
