package engine

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Collection is the store.Collection over a Port.
type Collection struct{ Port Port }

var _ store.Collection = (*Collection)(nil)

// at sets the store's time in a filter that uses it.
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

// read returns the view to read, and the filter with the store's time.
func (c *Collection) read(ctx context.Context, filter *query.Filter) (View, *query.Filter, error) {
	filter, err := c.at(ctx, filter)
	if err != nil {
		return View{}, nil, err
	}
	v, err := c.Port.Read(ctx)
	return v, filter, err
}

// Get implements store.Collection.
func (c *Collection) Get(ctx context.Context, id any) (found document.Object, exists bool, err error) {
	if err := CheckEnded(ctx); err != nil {
		return found, false, err
	}
	if id, err = document.ValueOf(id); err != nil {
		return found, false, boterr.PrefixField("id", err)
	}
	v, err := c.Port.Read(ctx)
	if err != nil {
		return found, false, err
	}
	defer v.Close()
	one, exists, err := v.ByID(id)
	if err != nil || !exists {
		return found, false, err
	}
	return one.Document, true, nil
}

// Find implements store.Collection.
func (c *Collection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	v, filter, err := c.read(ctx, filter)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	found, err := v.find(ctx, filter, options)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Explain finds documents as Find does, and describes how.
func (c *Collection) Explain(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) (store.Explanation, error) {
	if err := options.Check(); err != nil {
		return store.Explanation{}, err
	}
	v, filter, err := c.read(ctx, filter)
	if err != nil {
		return store.Explanation{}, err
	}
	defer v.Close()
	return v.explain(ctx, filter, options)
}

// Count implements store.Collection.
func (c *Collection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	v, filter, err := c.read(ctx, filter)
	if err != nil {
		return 0, err
	}
	defer v.Close()
	count, err := v.count(query.NewEvaluation(ctx), filter)
	if err != nil {
		return 0, err
	}
	return count, nil
}

// Distinct implements store.Collection.
func (c *Collection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, boterr.PrefixField("path", err)
	}
	v, filter, err := c.read(ctx, filter)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	values, err := v.distinct(query.NewEvaluation(ctx), path, filter)
	if err != nil {
		return nil, err
	}
	return values, nil
}

// GeoNear implements store.Collection.
func (c *Collection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
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
	v, err := c.Port.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	found, err := v.near(query.NewEvaluation(ctx), search)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Insert implements store.Collection. The field of an error begins with the
// number of the document at fault: "[2]._id".
func (c *Collection) Insert(ctx context.Context, documents ...document.Object) error {
	return c.Port.Write(ctx, &Inserting{documents: documents})
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
	w := &Updating{matched: matched{filter: filter}, change: change, options: options}
	if err := c.Port.Write(ctx, w); err != nil {
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
	w := &Modifying{matched: matched{filter: filter}, change: change, options: options}
	if err := c.Port.Write(ctx, w); err != nil {
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
	w := &Deleting{matched: matched{filter: filter}, options: options}
	if err := c.Port.Write(ctx, w); err != nil {
		return 0, err
	}
	return w.removed, nil
}

// EnsureIndex implements store.Collection.
func (c *Collection) EnsureIndex(ctx context.Context, index store.Index) error {
	if err := index.Check(); err != nil {
		return err
	}
	return c.Port.EnsureIndex(ctx, index)
}
