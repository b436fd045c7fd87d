package mongo

import (
	"context"
	"errors"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Insert implements store.Collection. The field of an error begins with the index of the faulty document, such
// as "[2]._id". A single document is inserted in one atomic step. If one of several documents is refused, the
// earlier ones are removed again, but other clients may see them for a moment.
func (c *collection) Insert(ctx context.Context, documents ...document.Object) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	if len(documents) == 0 {
		return nil
	}
	revision, first := bson.NewObjectID(), c.store.order.take(len(documents))
	written := make([]any, len(documents))
	for i, o := range documents {
		b, err := newDocument(o, hidden{order: place(first, i), revision: revision})
		if err != nil {
			return boterr.PrefixField("["+strconv.Itoa(i)+"]", err)
		}
		written[i] = b
	}
	if len(written) == 1 {
		_, err := c.stored.InsertOne(ctx, written[0])
		err = failure(ctx, nil, err)
		if boterr.CodeOf(err) == boterr.AlreadyExists {
			c.seeStored(ctx, documents[0])
		}
		return err
	}
	if _, err := c.stored.InsertMany(ctx, written); err != nil {
		return c.removeAgain(ctx, documents, revision, failure(ctx, nil, err))
	}
	return nil
}

// seeStored makes later insertions follow the existing document with the _id of o. A caller that got
// AlreadyExists may next insert documents that must come after that one. If the document cannot be read, the
// order depends on the clocks.
func (c *collection) seeStored(ctx context.Context, o document.Object) {
	id, _ := o.Field(document.IDField)
	value, err := rawValue(id)
	if err != nil {
		return
	}
	there, err := c.stored.FindOne(ctx, bson.D{{Key: document.IDField, Value: value}},
		options.FindOne().SetProjection(bson.D{{Key: orderPath, Value: 1}})).Raw()
	if err == nil {
		_, _ = c.read(there)
	}
}

// newDocument checks and encodes a new document.
func newDocument(o document.Object, h hidden) (bson.Raw, error) {
	if err := checkDocument(o); err != nil {
		return nil, err
	}
	return stored(o, h)
}

// removeAgain removes the documents that a failed insertion has stored.
func (c *collection) removeAgain(
	ctx context.Context, documents []document.Object, revision bson.ObjectID, failed error,
) error {
	var ids []bson.RawValue
	for _, o := range documents {
		id, _ := o.Field(document.IDField)
		value, err := rawValue(id)
		if err != nil {
			return err
		}
		ids = append(ids, value)
	}
	for _, part := range partsOf(ids) {
		_, err := c.stored.DeleteMany(context.WithoutCancel(ctx), append(oneOf(part), bson.E{Key: revisionPath, Value: revision}))
		if err != nil {
			return boterr.New(boterr.Unavailable, "",
				"some documents may be stored, because removing them failed (%w) after: %s", err, failed.Error())
		}
	}
	return failed
}

// partsOf splits _ids into parts that fit into a command.
func partsOf(ids []bson.RawValue) (parts [][]bson.RawValue) {
	size, from := 0, 0
	for i, id := range ids {
		if i-from == maxPart || i > from && size+len(id.Value) > maxPartSize/2 {
			parts, size, from = append(parts, ids[from:i]), 0, i
		}
		size += len(id.Value)
	}
	return append(parts, ids[from:])
}

// oneOf returns a filter that matches the documents with these _ids.
func oneOf(ids []bson.RawValue) bson.D {
	return bson.D{{Key: document.IDField, Value: bson.D{{Key: "$in", Value: ids}}}}
}

// maxSize is the largest size of a document, without the hidden field.
const maxSize = document.MaxSize - 64

// checkDocument returns an error for a document that cannot be inserted.
func checkDocument(o document.Object) error {
	if err := document.CheckInsert(o); err != nil {
		return err
	}
	if _, ok := o.Field(hiddenField); ok {
		return reserved(hiddenField)
	}
	return document.CheckExtent(o, maxSize)
}

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
		return 0, failure(ctx, filter, err)
	}
	return result.DeletedCount, nil
}

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
			return 0, failure(ctx, filter, err)
		}
		if isThere, err := c.matches(ctx, filter, where); err != nil || !isThere {
			return 0, err
		}
		if err := backOff(ctx, lost); err != nil {
			return 0, err
		}
	}
}

// mayFail reports whether a filter can fail on a document, because it contains an $expr.
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

// deleteFound finds all matching documents before it removes any. If the filter fails on one of them, none is
// removed. Many are removed in parts; after an error, the earlier parts are gone.
func (c *collection) deleteFound(ctx context.Context, filter *query.Filter) (removed int64, err error) {
	ids, err := c.newest().ids(ctx, filter)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	still := bson.Raw(nil)
	if filter.Near() == nil {
		if still, err = queryOf(filter); err != nil {
			return 0, err
		}
	}
	done := 0
	for _, part := range partsOf(ids) {
		where := oneOf(part)
		if still != nil {
			where = bson.D{{Key: "$and", Value: bson.A{where, still}}}
		}
		if err := store.Refusal(ctx); err != nil {
			return 0, engine.Partly(done, len(ids), err)
		}
		result, err := c.stored.DeleteMany(ctx, where)
		count, err := deleted(ctx, filter, result, err)
		if err != nil {
			return 0, engine.Partly(done, len(ids), err)
		}
		removed += count
		done += len(part)
	}
	return removed, nil
}
