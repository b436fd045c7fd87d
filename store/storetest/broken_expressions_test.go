package storetest_test

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// forgiving takes a document on which a filter fails for one that does not match.
type forgiving struct{ store.Collection }

func (c forgiving) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	if err == nil || filter == nil || !filter.Source().Has("$expr") {
		return found, err
	}
	all, failed := c.Collection.Find(ctx, nil, store.FindOptions{})
	if failed != nil {
		return nil, err
	}
	var matching []document.Object
	for _, o := range all {
		if filter.Match(o) {
			matching = append(matching, o)
		}
	}
	return matching, nil
}

// exprBlind finds as if there were no $expr in a filter.
type exprBlind struct{ store.Collection }

func (c exprBlind) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if filter != nil {
		if without, err := query.CompileFilter(filter.Source().Without("$expr")); err == nil && filter.Source().Has("$expr") {
			filter = without
		}
	}
	return c.Collection.Find(ctx, filter, options)
}
