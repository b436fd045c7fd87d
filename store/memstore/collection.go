package memstore

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// collection is the store.Collection of a name.
type collection struct {
	store *Store
	name  string
	// found is nil where the collection did not exist when it was asked for.
	found *versions
	// err is what is wrong with the name.
	err error
}

var _ store.Collection = (*collection)(nil)

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
func (c *collection) at(filter *query.Filter) *query.Filter {
	if !filter.UsesNow() {
		return filter
	}
	return filter.At(c.store.now())
}

// Find implements store.Collection.
func (c *collection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
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

// Count implements store.Collection.
func (c *collection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	now, err := c.newest()
	if err != nil {
		return 0, err
	}
	count, err := now.count(query.NewEvaluation(ctx), c.at(filter))
	if err != nil {
		return 0, err
	}
	return int64(count), nil
}

// Distinct implements store.Collection.
func (c *collection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, boterr.PrefixField("path", err)
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	values, err := now.distinct(query.NewEvaluation(ctx), path, c.at(filter))
	if err != nil {
		return nil, err
	}
	return values, nil
}

// GeoNear implements store.Collection.
func (c *collection) GeoNear(ctx context.Context, search *query.GeoNear) ([]query.GeoResult, error) {
	if search == nil {
		return nil, boterr.Invalid("near", "a point to be near to is required")
	}
	now, err := c.newest()
	if err != nil {
		return nil, err
	}
	if search.Filter().UsesNow() {
		search = search.At(c.store.now())
	}
	found, err := now.near(query.NewEvaluation(ctx), search)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// EnsureIndex implements store.Collection.
func (c *collection) EnsureIndex(ctx context.Context, index store.Index) error {
	if err := index.Check(); err != nil {
		return err
	}
	return c.write(ctx, &ensuring{index: index})
}

// ensuring is the program of EnsureIndex, which all documents affect.
type ensuring struct {
	attempted

	index store.Index
}

func (e *ensuring) run(_ *query.Evaluation, t *transaction) error { return t.ensure(e.index) }

func (*ensuring) changesInPlace() bool { return false }

func (*ensuring) matches(*query.Evaluation, document.Object) (bool, error) { return true, nil }
