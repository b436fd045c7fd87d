package record

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Insert adds a record and returns it as it is stored: with an _id, where it has
// none, and with the scope and the stamps.
func (c *Collection) Insert(ctx context.Context, o document.Object) (document.Object, error) {
	stored, err := c.newRecord(o)
	if err == nil {
		err = c.err
	}
	if err != nil {
		return document.Object{}, err
	}
	if err := c.stored.Insert(ctx, stored); err != nil {
		return document.Object{}, RenameField(err, "[0]", "") // The store counts documents.
	}
	return stored, nil
}

// newRecord completes the fields of a new record: _id, scope and stamps first.
func (c *Collection) newRecord(o document.Object) (document.Object, error) {
	id, _ := o.Field(FieldID)
	record := c.onInsert(id)
	pairs := make([]any, 0, 2*(record.Len()+o.Len()))
	for field, value := range record.All() {
		pairs = append(pairs, field, value)
	}
	for field, value := range o.All() {
		if scoped, ok := c.scoped(field); ok && !document.Equal(scoped, value) {
			return record, boterr.Invalid(field, "the %s belongs to another %s", c.kind.Name, field)
		}
		if _, ok := record.Field(field); !ok {
			pairs = append(pairs, field, value)
		}
	}
	return document.O(pairs...), o.Err()
}

// onInsert returns the fields that a new record has: its _id, a new one where it is
// nil, the scope and the stamps.
func (c *Collection) onInsert(id any) document.Object {
	if id == nil {
		id = c.env.NewID()
	}
	pairs := make([]any, 0, 2*(1+len(c.scope)+len(c.kind.Stamps)))
	pairs = append(pairs, FieldID, id)
	for _, fixed := range c.scope {
		pairs = append(pairs, fixed.Name, fixed.Value)
	}
	now := document.At(c.env.Now())
	for _, stamp := range c.kind.Stamps {
		switch stamp {
		case FieldCreatedAt, FieldUpdatedAt:
			pairs = append(pairs, stamp, int64(now))
		case FieldVersion:
			pairs = append(pairs, stamp, 1)
		case FieldEtag:
			pairs = append(pairs, stamp, c.env.NewEtag())
		}
	}
	return document.O(pairs...)
}
