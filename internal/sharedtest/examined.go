package sharedtest

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// Examined returns a store over memory that calls note for each call with a filter: with the number of documents that
// the call may examine. It hides that only one process uses memory.
func Examined(memory *memstore.Store, note func(collection string, filter *query.Filter, documents int64)) store.Store {
	return examinedStore{memory, memory, note}
}

type examinedStore struct {
	store.Store

	memory *memstore.Store
	note   func(collection string, filter *query.Filter, documents int64)
}

func (s examinedStore) Collection(name string) store.Collection {
	return examinedCollection{s.Store.Collection(name), s, name}
}

type examinedCollection struct {
	store.Collection

	store examinedStore
	name  string
}

func (c examinedCollection) look(ctx context.Context, filter *query.Filter, options store.FindOptions) error {
	found, err := c.store.memory.Explain(ctx, c.name, filter, options)
	c.store.note(c.name, filter, found.Examined)
	return err
}

func (c examinedCollection) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	if err := c.look(ctx, filter, options); err != nil {
		return nil, err
	}
	return c.Collection.Find(ctx, filter, options)
}

func (c examinedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	if err := c.look(ctx, filter, store.FindOptions{}); err != nil {
		return 0, err
	}
	return c.Collection.Count(ctx, filter)
}

func (c examinedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	looking := store.FindOptions{Sort: options.Sort, Limit: 1}
	if options.Multi {
		looking.Limit = 0
	}
	if err := c.look(ctx, filter, looking); err != nil {
		return store.UpdateResult{}, err
	}
	return c.Collection.Update(ctx, filter, change, options)
}

func (c examinedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := c.look(ctx, filter, store.FindOptions{Sort: options.Sort, Limit: 1}); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func (c examinedCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	if err := c.look(ctx, filter, store.FindOptions{}); err != nil {
		return 0, err
	}
	return c.Collection.Delete(ctx, filter, options)
}
