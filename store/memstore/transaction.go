package memstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// transaction makes the next version of a content.
type transaction struct {
	// ctx is the context that the transaction checks while it works. While the transaction holds the lock, it
	// is the field bounded.
	ctx     context.Context //nolint:containedctx // It belongs to the one call that the transaction is made for.
	bounded countingContext
	// call is the budget of the transaction's call, or nil if it evaluates nothing.
	call *query.Evaluation
	// before is the version that the transaction began with. next is the version that it makes. They are
	// separate, so that one does not keep the other in memory.
	before *content
	next   *content
	edit   persistent.Edit
	// hasOwnIndexes is true once the indexes of next are copies. isObserved is true if a watcher or a
	// follower needs the changes.
	hasOwnIndexes, isObserved bool
	// done is the number of documents changed since the last check of the context.
	done uint8
	// changes are the changes of documents. They are recorded only if isObserved is true. only is the memory for the
	// first.
	changes []engine.Change
	only    [1]engine.Change
	// isIndexed is true if the transaction created an index.
	isIndexed bool
}

func (t *transaction) begin(ctx context.Context, before *content) {
	next := *before
	next.edit++
	*t = transaction{ctx: ctx, before: before, next: &next, edit: next.edit}
	t.changes = t.only[:0]
}

var _ engine.Transaction = (*transaction)(nil)

// View implements engine.Transaction.
func (t *transaction) View() engine.View { return t.before.view() }

func (t *transaction) isChanged() bool { return len(t.changes) > 0 || t.isIndexed }

// changesBetweenLooks is the number of changed documents after which a transaction checks its context.
const changesBetweenLooks = 32

// look checks from time to time whether the context has ended.
func (t *transaction) look() error {
	t.done++
	if t.done < changesBetweenLooks {
		return nil
	}
	t.done = 0
	return engine.CheckEnded(t.ctx)
}

// reindex replaces the keys of one version of a document by the keys of the next, in all indexes. The first
// change copies the indexes, so that the previous version keeps its own.
func (t *transaction) reindex(position uint64, before, after document.Object) error {
	if err := t.look(); err != nil {
		return err
	}
	for i := range t.next.schema.Indexes {
		x := &t.next.schema.Indexes[i]
		if x.SameFields(before, after) {
			continue
		}
		if !t.hasOwnIndexes {
			t.next.indexes, t.hasOwnIndexes = slices.Clone(t.next.indexes), true
		}
		err := t.replaceEntries(i, &entryChange{edit: t.edit, index: x, position: position, before: before, after: after})
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceEntries replaces the entries of a document in an index, and updates the schema if the index has grown.
func (t *transaction) replaceEntries(index int, c *entryChange) error {
	e := &t.next.indexes[index]
	if c.index.Geo == nil {
		var room [2][engine.KeyRoom]byte
		old, isOne := c.index.AppendOneKey(room[0][:0], c.before)
		next, isOneNext := c.index.AppendOneKey(room[1][:0], c.after)
		if isOne && isOneNext {
			memory, err := e.replaceOne(c, old, next)
			return cmp.Or(err, t.keep(memory))
		}
	}
	changes, err := t.next.schema.ChangesIn(index, c.before, c.after)
	if err != nil {
		return err
	}
	if changes.Schema != nil {
		t.next.schema = changes.Schema
	}
	if c.index.Geo != nil {
		e.replacePlaces(c, &changes)
		return nil
	}
	memory, err := e.replaceAll(c, &changes)
	return cmp.Or(err, t.keep(memory))
}

func (t *transaction) keep(bytes int) error {
	if t.call == nil {
		return nil
	}
	return t.call.Keep(bytes)
}

// Insert implements engine.Transaction.
func (t *transaction) Insert(o document.Object) error {
	o = t.next.shapes.Keep(o)
	id, _ := o.Field(document.IDField)
	if _, _, exists := t.next.ids.find(&t.next.documents, id); exists {
		return t.next.schema.DuplicateID(o)
	}
	position := t.next.end
	if err := t.reindex(position, document.Object{}, o); err != nil {
		return err
	}
	t.next.ids.add(t.edit, position, id)
	t.next.documents.Set(t.edit, position, o)
	t.next.end++
	t.note(position, document.Object{}, o)
	return nil
}

// Replace implements engine.Transaction.
func (t *transaction) Replace(position uint64, before, after document.Object) error {
	after = t.next.shapes.Share(after)
	if err := t.reindex(position, before, after); err != nil {
		return err
	}
	t.next.documents.Set(t.edit, position, after)
	t.note(position, before, after)
	return nil
}

// Remove implements engine.Transaction.
func (t *transaction) Remove(position uint64, o document.Object) error {
	if err := t.reindex(position, o, document.Object{}); err != nil {
		return err
	}
	id, _ := o.Field(document.IDField)
	t.next.ids.remove(t.edit, position, id)
	t.next.documents.Delete(t.edit, position)
	t.note(position, o, document.Object{})
	return nil
}

// ensure adds an index to the content unless it exists.
func (t *transaction) ensure(spec store.Index) error {
	if exists, err := t.next.schema.Existing(spec); exists {
		return err
	}
	at := len(t.next.schema.Indexes)
	x := engine.NewIndex(t.next.schema.Name, spec)
	t.next.schema = t.next.schema.WithIndex(x)
	t.next.indexes, t.hasOwnIndexes = append(slices.Clip(t.next.indexes), newEntries(&x)), true
	for position, o := range t.before.documents.All() {
		if err := t.look(); err != nil {
			return err
		}
		c := entryChange{edit: t.edit, index: &x, position: position, after: o}
		if err := t.replaceEntries(at, &c); err != nil {
			return err
		}
	}
	t.isIndexed = true
	return nil
}

// note records the change of a document if a watcher or a follower needs it.
func (t *transaction) note(position uint64, before, after document.Object) {
	if t.isObserved {
		t.changes = append(t.changes, engine.Change{Position: position, Before: before, After: after})
	}
}
