package memstore

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// collection is the document.Collection of a name.
type collection struct {
	store *Store
	name  string
	// found is nil where the collection did not exist when it was asked for.
	found *versions
	// err is what is wrong with the name.
	err error
}

var _ document.Collection = (*collection)(nil)

// newest returns the content to read.
func (c *collection) newest() (*content, error) {
	if c.err != nil {
		return nil, c.err
	}
	if commits := c.store.commits; commits != nil {
		if err := commits.checkOpen(); err != nil {
			return nil, err
		}
	}
	found := c.found
	if found == nil {
		var ok bool
		if found, ok = c.store.collections.Load().Get(c.name); !ok {
			return newContent(c.name), nil
		}
	}
	return found.newest.Load(), nil
}

// write carries out a write, and makes the collection where there is none.
func (c *collection) write(ctx context.Context, p program) error {
	if c.err != nil {
		return c.err
	}
	if err := checkEnded(ctx); err != nil {
		return err
	}
	found := c.found
	if found == nil {
		found = c.store.named(c.name)
	}
	return c.carryOut(ctx, found, p)
}

// at gives a filter that asks for the time that of the store's clock.
func (c *collection) at(filter *document.Filter) *document.Filter {
	if !filter.UsesNow() {
		return filter
	}
	return filter.At(c.store.now())
}

// Find implements document.Collection.
func (c *collection) Find(
	ctx context.Context, filter *document.Filter, options document.FindOptions,
) ([]document.Object, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	found, err := now.find(ctx, c.at(filter), options)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Count implements document.Collection.
func (c *collection) Count(ctx context.Context, filter *document.Filter) (int64, error) {
	now, err := c.newest()
	if err != nil {
		return 0, err
	}
	count, err := now.count(document.NewEvaluation(ctx), c.at(filter))
	if err != nil {
		return 0, err
	}
	return int64(count), nil
}

// Distinct implements document.Collection.
func (c *collection) Distinct(ctx context.Context, path string, filter *document.Filter) ([]any, error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, boterr.In("path", err)
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	values, err := now.distinct(document.NewEvaluation(ctx), path, c.at(filter))
	if err != nil {
		return nil, err
	}
	return values, nil
}

// GeoNear implements document.Collection.
func (c *collection) GeoNear(ctx context.Context, query *document.GeoNear) ([]document.GeoResult, error) {
	if query == nil {
		return nil, boterr.Invalid("near", "a point to be near to is required")
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	if query.Filter().UsesNow() {
		query = query.At(c.store.now())
	}
	found, err := now.near(document.NewEvaluation(ctx), query)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// EnsureIndex implements document.Collection.
func (c *collection) EnsureIndex(ctx context.Context, index document.Index) error {
	if err := index.Check(); err != nil {
		return err
	}
	return c.write(ctx, program{
		run:     func(_ *document.Evaluation, t *transaction) error { return t.ensure(index) },
		matches: func(*document.Evaluation, document.Object) (bool, error) { return true, nil },
	})
}
