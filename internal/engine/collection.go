package engine

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Collection implements store.Collection on a Port.
type Collection struct {
	Port Port
	// Err, if not nil, is the error of every call, for example because the name is not allowed.
	Err error
}

var _ store.Collection = (*Collection)(nil)

// begin returns an error if a call cannot begin.
func (c *Collection) begin(ctx context.Context) error {
	if c.Err != nil {
		return c.Err
	}
	return CheckEnded(ctx)
}

// at gives a filter that uses $$NOW the time of the store's clock.
func (c *Collection) at(ctx context.Context, filter *query.Filter) (*query.Filter, error) {
	if !filter.UsesNow() {
		return filter, nil
	}
	now, err := c.Port.Now(ctx)
	if err != nil {
		return nil, err
	}
	return filter.At(now), nil
}

// read calls a function with a view, and again as long as it fails and the port gives another view.
func (c *Collection) read(ctx context.Context, filter *query.Filter, read func(v View, filter *query.Filter) error) error {
	err := c.begin(ctx)
	if err == nil {
		filter, err = c.at(ctx, filter)
	}
	if err != nil {
		return err
	}
	v, err := c.Port.Read(ctx)
	for err == nil {
		if err = once(v, filter, read); err == nil {
			return nil
		}
		v, err = c.Port.Again(ctx, v, err)
	}
	return err
}

func once(v View, filter *query.Filter, read func(v View, filter *query.Filter) error) error {
	defer v.Close()
	return read(v, filter)
}

// Get implements store.Collection.
func (c *Collection) Get(ctx context.Context, id any) (found document.Object, exists bool, err error) {
	if id, err = document.ValueOf(id); err != nil {
		return found, false, boterr.PrefixField("id", err)
	}
	err = c.read(ctx, nil, func(v View, _ *query.Filter) error {
		one, isThere, err := v.ByID(id)
		found, exists = one.Document, isThere
		return err
	})
	return found, exists, err
}

// Find implements store.Collection.
func (c *Collection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) (found []document.Object, err error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	err = c.read(ctx, filter, func(v View, filter *query.Filter) (err error) {
		found, err = v.find(ctx, filter, options)
		return err
	})
	return found, err
}

// Explain finds documents like Find, and describes how it found them.
func (c *Collection) Explain(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) (explanation store.Explanation, err error) {
	if err := options.Check(); err != nil {
		return store.Explanation{}, err
	}
	err = c.read(ctx, filter, func(v View, filter *query.Filter) (err error) {
		explanation, err = v.explain(ctx, filter, options)
		return err
	})
	return explanation, err
}

// Count implements store.Collection.
func (c *Collection) Count(ctx context.Context, filter *query.Filter) (count int64, err error) {
	err = c.read(ctx, filter, func(v View, filter *query.Filter) (err error) {
		count, err = v.count(query.NewEvaluation(ctx), filter)
		return err
	})
	return count, err
}

// Distinct implements store.Collection.
func (c *Collection) Distinct(ctx context.Context, path string, filter *query.Filter) (values []any, err error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, boterr.PrefixField("path", err)
	}
	err = c.read(ctx, filter, func(v View, filter *query.Filter) (err error) {
		values, err = v.distinct(query.NewEvaluation(ctx), path, filter)
		return err
	})
	return values, err
}

// GeoNear implements store.Collection.
func (c *Collection) GeoNear(ctx context.Context, search *query.GeoNear) (found []query.GeoResult, err error) {
	if search == nil {
		return nil, boterr.Invalid("near", "the point to search around is required")
	}
	if search.Filter().UsesNow() {
		now, err := c.Port.Now(ctx)
		if err != nil {
			return nil, err
		}
		search = search.At(now)
	}
	err = c.read(ctx, nil, func(v View, _ *query.Filter) (err error) {
		found, err = v.near(query.NewEvaluation(ctx), search)
		return err
	})
	return found, err
}

func (c *Collection) write(ctx context.Context, op Op) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	return c.Port.Write(ctx, op)
}

// Insert implements store.Collection. The field of an error starts with the index of the faulty document, as in
// "[2]._id".
func (c *Collection) Insert(ctx context.Context, documents ...document.Object) error {
	return c.write(ctx, &Inserting{documents: documents})
}

// Update implements store.Collection.
func (c *Collection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	if err := options.Check(change); err != nil {
		return store.UpdateResult{}, err
	}
	filter, err := c.at(ctx, filter)
	if err != nil {
		return store.UpdateResult{}, err
	}
	w := &Updating{matched: matched{filter: filter, isMany: options.Multi, sort: options.Sort}, change: change, options: options}
	if err := c.write(ctx, w); err != nil {
		return store.UpdateResult{}, err
	}
	return w.result, nil
}

// FindAndModify implements store.Collection.
func (c *Collection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := options.Check(change); err != nil {
		return store.FindAndModifyResult{}, err
	}
	filter, err := c.at(ctx, filter)
	if err != nil {
		return store.FindAndModifyResult{}, err
	}
	w := &Modifying{matched: matched{filter: filter, sort: options.Sort}, change: change, options: options}
	if err := c.write(ctx, w); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return w.result, nil
}

// Delete implements store.Collection.
func (c *Collection) Delete(
	ctx context.Context, filter *query.Filter, options store.DeleteOptions,
) (int64, error) {
	filter, err := c.at(ctx, filter)
	if err != nil {
		return 0, err
	}
	w := &Deleting{matched: matched{filter: filter, isMany: options.Multi}}
	if err := c.write(ctx, w); err != nil {
		return 0, err
	}
	return w.removed, nil
}

// EnsureIndex implements store.Collection.
func (c *Collection) EnsureIndex(ctx context.Context, index store.Index) error {
	if err := index.Check(); err != nil {
		return err
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	return c.Port.EnsureIndex(ctx, index)
}
