package record

import (
	"context"
	"strings"

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
	record := c.begin(id, o.Len())
	for field, value := range o.All() {
		if scoped, ok := c.scoped(field); ok && !document.Equal(scoped, value) {
			return o, boterr.Invalid(field, "the %s belongs to another %s", c.kind.Name, field)
		}
		if record.Value(field) == document.Missing {
			record.Set(field, value)
		}
	}
	return record.Object(), o.Err()
}

// onInsert returns the fields that a new record has: its _id, a new one where it is
// nil, the scope and the stamps.
func (c *Collection) onInsert(id any) document.Object {
	record := c.begin(id, 0)
	return record.Object()
}

// begin begins a record with the fields of onInsert, and room for more.
func (c *Collection) begin(id any, more int) *document.Builder {
	if id == nil {
		id = strings.ToValidUTF8(c.newID(), "\uFFFD")
	}
	record := document.NewBuilder(1 + len(c.scope) + len(c.kind.Stamps) + more)
	record.Set(FieldID, id)
	for _, fixed := range c.scope {
		record.Set(fixed.Name, fixed.Value)
	}
	var now any = int64(document.TimestampOf(c.now()))
	for _, stamp := range c.kind.Stamps {
		switch stamp {
		case FieldCreatedAt, FieldUpdatedAt:
			record.Set(stamp, now)
		case FieldVersion:
			record.Set(stamp, int64(1))
		case FieldEtag:
			record.Set(stamp, c.newEtag())
		}
	}
	return record
}
