package mongo

import (
	"context"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Insert implements document.Collection. The field of an error begins with the number of
// the document at fault: "[2]._id". One document is inserted in one atomic step. Where
// one of several is refused, those before it are removed again, so that for a moment
// others may see them.
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
			return boterr.In("["+strconv.Itoa(i)+"]", err)
		}
		written[i] = b
	}
	if len(written) == 1 {
		_, err := c.stored.InsertOne(ctx, written[0])
		return failure(ctx, err)
	}
	if _, err := c.stored.InsertMany(ctx, written); err != nil {
		return c.removeAgain(ctx, documents, revision, failure(ctx, err))
	}
	return nil
}

// newDocument checks and writes a document that is new.
func newDocument(o document.Object, h hidden) (bson.Raw, error) {
	if err := checkDocument(o); err != nil {
		return nil, err
	}
	return stored(o, h)
}

// removeAgain removes what an insert that failed has inserted.
func (c *collection) removeAgain(
	ctx context.Context, documents []document.Object, revision bson.ObjectID, failed error,
) error {
	ids := make(bson.A, 0, len(documents))
	for _, o := range documents {
		id, _ := o.Field(document.IDField)
		value, err := rawValue(id)
		if err != nil {
			return err
		}
		ids = append(ids, value)
	}
	_, err := c.stored.DeleteMany(context.WithoutCancel(ctx), bson.D{
		{Key: document.IDField, Value: bson.D{{Key: "$in", Value: ids}}}, {Key: revisionPath, Value: revision},
	})
	if err != nil {
		return boterr.New(boterr.Unavailable, "",
			"some of the documents may be stored, because removing them again failed (%w) after: %w", err, failed)
	}
	return failed
}

// checkDocument refuses what cannot be inserted.
func checkDocument(o document.Object) error {
	if err := o.Err(); err != nil {
		return err
	}
	if o.IsZero() {
		return boterr.Invalid("", "the document is absent")
	}
	if _, ok := o.Field(hiddenField); ok {
		return reserved(hiddenField)
	}
	if err := checkSize(o); err != nil {
		return err
	}
	id, ok := o.Field(document.IDField)
	if !ok {
		return boterr.Invalid(document.IDField, "the document has no _id")
	}
	switch id := id.(type) {
	case document.Array:
		return boterr.Invalid(document.IDField, "an array cannot be an _id")
	case document.Object:
		for name := range id.All() {
			if strings.HasPrefix(name, "$") {
				return boterr.Invalid(document.IDField+"."+name, "a field of an _id cannot begin with $")
			}
		}
	}
	return nil
}

// hiddenSize is more than the hidden field takes of a document's size.
const hiddenSize = 64

// checkSize refuses a document that is too large.
func checkSize(o document.Object) error {
	if size := o.Size(); size > document.MaxSize-hiddenSize {
		return boterr.Invalid("", "the document has %d bytes, at most %d are allowed; split it or store less in it",
			size, document.MaxSize-hiddenSize)
	}
	return nil
}
