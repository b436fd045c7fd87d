package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
)

// transaction is one write of a group. All writes of a group share SQLite's transaction.
type transaction struct {
	writer *writer
	job    *job
	source source
	ctx    context.Context //nolint:containedctx // A transaction lives for one call.
	// isSaved is true after the savepoint was created.
	isSaved bool
	// end is the collection's end before the write.
	end uint64
}

var _ engine.Transaction = (*transaction)(nil)

// run carries out the write. A panic only ends this write.
func (t *transaction) run() (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = boterr.New(boterr.Internal, "", "the write panicked: %v\n%s", thrown, debug.Stack())
		}
	}()
	if err := engine.CheckEnded(t.ctx); err != nil {
		return err
	}
	return t.job.run(t)
}

func (t *transaction) View() engine.View {
	return engine.View{Schema: t.source.schema, Source: &t.source}
}

// save creates a savepoint before the first change.
func (t *transaction) save() error {
	if t.isSaved {
		return engine.CheckEnded(t.ctx)
	}
	if _, err := t.writer.conn.exec("SAVEPOINT one"); err != nil {
		return err
	}
	t.isSaved, t.end = true, t.job.collection.end
	return nil
}

// undo rolls back to the savepoint.
func (t *transaction) undo() error {
	c := t.job.collection
	for _, undone := range slices.Backward(t.job.replaced) {
		if undone.exists {
			c.overlay[undone.key] = undone.Placed
		} else {
			delete(c.overlay, undone.key)
		}
	}
	c.end = t.end
	t.job.changes = nil
	_, err := t.writer.conn.exec("ROLLBACK TO one")
	return err
}

func (t *transaction) Insert(o document.Object) error {
	c := t.job.collection
	position := c.end
	err := t.change(engine.Change{Position: position, After: o}, c.texts.insert, position, idKey(o), seal(position, o))
	if err == nil {
		c.end++
	}
	return err
}

func (t *transaction) Replace(position uint64, before, after document.Object) error {
	return t.change(engine.Change{Position: position, Before: before, After: after},
		t.job.collection.texts.replace, position, seal(position, after))
}

func (t *transaction) Remove(position uint64, o document.Object) error {
	return t.change(engine.Change{Position: position, Before: o}, t.job.collection.texts.remove, position)
}

// change executes the statement that changes a document, and changes its entries.
func (t *transaction) change(made engine.Change, text string, arguments ...any) error {
	changes, err := t.changes(made.Before, made.After)
	if err != nil {
		return err
	}
	changed, err := t.writer.conn.exec(text, arguments...)
	if err == nil && changed == 0 && made.Before.IsZero() {
		err = t.job.collection.draft.DuplicateID(made.After)
	}
	if err == nil {
		err = t.remove(made.Position, changes.Remove)
	}
	if err == nil {
		err = t.add(engine.Placed{Document: made.After, Position: made.Position}, changes.Add)
	}
	if err == nil {
		t.note(made)
	}
	return err
}

// changes creates the savepoint and returns the changes of index entries. If they change the description,
// readers get the new description before the commit. Otherwise a search could use the old description for new
// entries.
func (t *transaction) changes(before, after document.Object) (engine.Changes, error) {
	query.AddWork(t.ctx, writeWork)
	c := t.job.collection
	changes, err := c.draft.Changes(before, after)
	if err != nil {
		return changes, err
	}
	if changes.Schema != nil {
		c.grow(changes.Schema)
		t.source.schema = c.draft.Ready()
	}
	return changes, t.save()
}

// grow replaces the description by one with the same indexes and more features.
func (c *collection) grow(schema *engine.Schema) {
	c.draft = schema
	c.schema.Store(c.draft.Ready())
}

// add adds entries of a document. It may already have some of them in an index that is being built.
func (t *transaction) add(one engine.Placed, keys []engine.Key) error {
	c := t.job.collection
	for _, key := range keys {
		texts := c.texts.table(key.IsUnique)
		inserted, err := t.writer.conn.exec(texts.insert, key.Number, key.Key, one.Position)
		if err == nil && inserted == 0 && key.IsUnique {
			var holder int64
			holder, err = t.writer.conn.number(context.Background(), texts.holder, key.Number, key.Key)
			if err == nil && uint64(holder) != one.Position {
				err = c.draft.Duplicate(one.Document, key)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) remove(position uint64, keys []engine.Key) error {
	for _, key := range keys {
		if _, err := t.writer.conn.exec(t.job.collection.texts.table(key.IsUnique).remove, key.Number, key.Key, position); err != nil {
			return err
		}
	}
	return nil
}

// replaced is a document that a change has replaced in the overlay. exists is false if there was none.
type replaced struct {
	engine.Placed

	key    string
	exists bool
}

// note records a change of a document, for later writes of the group and for followers of the collection.
func (t *transaction) note(made engine.Change) {
	c, key := t.job.collection, string(idKey(cmp.Or(made.After, made.Before)))
	was, exists := c.overlay[key]
	t.job.changes = append(t.job.changes, made)
	t.job.replaced = append(t.job.replaced, replaced{Placed: was, key: key, exists: exists})
	c.overlay[key] = engine.Placed{Document: made.After, Position: made.Position}
}

// makeCollection creates the tables of a collection and returns its number.
func (w *writer) makeCollection(name string) (number int64, err error) {
	indexes, err := record(&engine.Schema{Name: name})
	if err != nil {
		return 0, err
	}
	const add = "INSERT INTO botctx_collections(name, indexes) VALUES(?, ?) RETURNING n"
	if number, err = w.conn.number(context.Background(), add, name, indexes); err != nil {
		return 0, err
	}
	for _, text := range makeCollection {
		if _, err := w.conn.exec(fmt.Sprintf(text, number)); err != nil {
			return 0, err
		}
	}
	return number, nil
}
