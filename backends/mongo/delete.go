package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Delete implements store.Collection.
func (c *collection) Delete(
	ctx context.Context, filter *query.Filter, opts store.DeleteOptions,
) (int64, error) {
	if err := c.check(ctx); err != nil {
		return 0, err
	}
	where, err := queryOf(filter)
	if err != nil {
		return 0, err
	}
	switch {
	case isPinned(filter):
		result, err := c.stored.DeleteOne(ctx, where)
		return deleted(ctx, filter, result, err)
	case !opts.Multi:
		return c.deleteFirst(ctx, filter, where)
	case mayFail(filter) || filter.Near() != nil:
		return c.deleteFound(ctx, filter)
	default:
		result, err := c.stored.DeleteMany(ctx, where)
		return deleted(ctx, filter, result, err)
	}
}

func deleted(ctx context.Context, filter *query.Filter, result *mongo.DeleteResult, err error) (int64, error) {
	if err != nil {
		return 0, filterFailure(ctx, filter, err)
	}
	return result.DeletedCount, nil
}

// deleteFirst removes the first document in the order of insertion.
func (c *collection) deleteFirst(ctx context.Context, filter *query.Filter, where bson.Raw) (int64, error) {
	order, err := sorting(filter, nil)
	if err != nil {
		return 0, err
	}
	set := options.FindOneAndDelete()
	if order != nil {
		set.SetSort(order)
	}
	for lost := 1; ; lost++ {
		if err := store.Refusal(ctx); err != nil {
			return 0, err
		}
		err := c.stored.FindOneAndDelete(ctx, where, set).Err()
		if err == nil {
			return 1, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return 0, filterFailure(ctx, filter, err)
		}
		if isThere, err := c.matches(ctx, filter, where); err != nil || !isThere {
			return 0, err
		}
		if err := backOff(ctx, lost); err != nil {
			return 0, err
		}
	}
}

// mayFail reports whether a filter can fail on a document, as an $expr can.
func mayFail(filter *query.Filter) bool { return hasExpression(filter.Source()) }

func hasExpression(o document.Object) bool {
	for key, value := range o.All() {
		if key == "$expr" {
			return true
		}
		parts, _ := value.(document.Array)
		for _, part := range parts.All() {
			if inner, ok := part.(document.Object); ok && hasExpression(inner) {
				return true
			}
		}
	}
	return false
}

// deleteFound looks at all documents before it removes the first: where the filter fails
// on one of them, none is removed.
func (c *collection) deleteFound(ctx context.Context, filter *query.Filter) (int64, error) {
	results, err := c.newest().find(ctx, filter, store.FindOptions{})
	if err != nil || len(results) == 0 {
		return 0, err
	}
	ids := make(bson.A, 0, len(results))
	for _, result := range results {
		id, _ := result.document.Field(document.IDField)
		value, err := rawValue(id)
		if err != nil {
			return 0, err
		}
		ids = append(ids, value)
	}
	where := bson.D{{Key: document.IDField, Value: bson.D{{Key: "$in", Value: ids}}}}
	if filter.Near() == nil {
		still, err := queryOf(filter)
		if err != nil {
			return 0, err
		}
		where = bson.D{{Key: "$and", Value: bson.A{where, still}}}
	}
	if err := store.Refusal(ctx); err != nil {
		return 0, err
	}
	result, err := c.stored.DeleteMany(ctx, where)
	return deleted(ctx, filter, result, err)
}
