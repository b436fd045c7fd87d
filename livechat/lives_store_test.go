package livechat_test

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// countingCollection is a collection of a countingStore.
type countingCollection struct {
	document.Collection

	store *countingStore
}

func (c *countingCollection) Insert(ctx context.Context, documents ...document.Object) error {
	if err := c.store.write(); err != nil {
		return err
	}
	return c.Collection.Insert(ctx, documents...)
}

func (c *countingCollection) Update(
	ctx context.Context, filter *document.Filter, change document.Change, options document.UpdateOptions,
) (document.UpdateResult, error) {
	if err := c.store.write(); err != nil {
		return document.UpdateResult{}, err
	}
	return c.Collection.Update(ctx, filter, change, options)
}

func (c *countingCollection) FindAndModify(
	ctx context.Context, filter *document.Filter, change document.Change, options document.FindAndModifyOptions,
) (document.FindAndModifyResult, error) {
	if err := c.store.write(); err != nil {
		return document.FindAndModifyResult{}, err
	}
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func (c *countingCollection) Delete(ctx context.Context, filter *document.Filter, options document.DeleteOptions) (int64, error) {
	if err := c.store.write(); err != nil {
		return 0, err
	}
	return c.Collection.Delete(ctx, filter, options)
}
