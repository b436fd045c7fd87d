package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
)

// pageSize is the number of documents that are indexed in one transaction.
const pageSize = 500

// EnsureIndex implements engine.Port. An index is built in pages, and other writes run between the pages. Writers
// maintain the index from the start, and searches use it once it is complete. A process builds one index at a
// time, and other calls wait without a connection. For each collection, one process builds at a time. If the
// process dies, the next EnsureIndex of the same index continues its work.
func (p *port) EnsureIndex(ctx context.Context, spec store.Index) error {
	bounded, cancel := within(ctx, indexTimeout)
	defer cancel()
	return p.store.failure(ctx, p.ensureIndex(bounded, spec))
}

func (p *port) ensureIndex(ctx context.Context, spec store.Index) (err error) {
	s := p.store
	c, err := s.made(ctx, p.name)
	if err != nil {
		return err
	}
	if exists, err := c.newest.Load().ready.Existing(spec); exists {
		return err
	}
	select {
	case s.indexing <- struct{}{}:
		defer func() { <-s.indexing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	lock := "botctx index " + s.schema + " " + p.name
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", lock); err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
		defer cancel()
		if _, failed := conn.Exec(ending, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", lock); failed != nil {
			_ = conn.Conn().Close(ending) // Closing the connection releases the lock, too.
		}
	}()
	b := &builder{store: s, collection: c, conn: conn, spec: spec}
	return b.build(ctx)
}

type builder struct {
	store      *Store
	collection *collection
	conn       *pgxpool.Conn
	spec       store.Index
	// after is the position of the last indexed document. isAll is true once all documents are indexed.
	after uint64
	isAll bool
}

// draft is a description that is changed in a transaction.
type draft struct {
	description

	tx pgx.Tx
	// after and isAll become the builder's after the commit.
	after uint64
	isAll bool
}

// build creates the index, fills it while others write, and marks it as complete.
func (b *builder) build(ctx context.Context) error {
	alone := b.collection.texts.lockTable // Nothing else may write to the collection.
	err := b.change(ctx, alone, func(d *draft) error { return b.begin(ctx, d) })
	for err == nil && !b.isAll {
		err = b.change(ctx, "", func(d *draft) error { return b.addPage(ctx, d) })
		if err == nil && b.isAll {
			err = b.change(ctx, alone, func(d *draft) error {
				d.building = 0
				return nil
			})
		}
	}
	if err != nil && b.after > 0 {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.store.timeout)
		defer cancel()
		// If this fails, the next builder removes the index.
		_ = b.change(ending, alone, func(d *draft) error { return b.forget(ending, d) })
	}
	return err
}

// change changes the description in a transaction. If first is not "", it is the first statement.
func (b *builder) change(ctx context.Context, first string, change func(d *draft) error) error {
	for {
		var d draft
		err := pgx.BeginFunc(ctx, b.conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, first); err != nil {
				return err
			}
			known, err := readDescription(ctx, tx, b.store.schema, b.collection)
			if err != nil {
				return err
			}
			d = draft{description: *known, tx: tx, after: b.after, isAll: b.isAll}
			if err := change(&d); err != nil || d.all == known.all && d.building == known.building {
				return err
			}
			return b.describe(ctx, &d)
		})
		switch state := stateOf(err); {
		case err == nil:
			b.after, b.isAll = d.after, d.isAll
			b.collection.set(newDescription(d.version, d.all, d.building))
			return nil
		case state == codeDeadlock || state == codeStale: // A writer interfered; try again.
		default:
			return err
		}
	}
}

func (b *builder) describe(ctx context.Context, d *draft) error {
	text, err := d.all.MarshalIndexes(d.building)
	if err != nil {
		return err
	}
	_, err = d.tx.Exec(ctx, "SELECT "+b.store.schema+"._describe($1,$2,$3)", b.collection.number, d.version, text)
	d.version++
	return err
}

// begin adds the index to the description, so that writers maintain it, and indexes the first page.
func (b *builder) begin(ctx context.Context, d *draft) error {
	if d.building != 0 && !b.isSame(&d.all.Indexes[d.all.IndexOf(d.building)]) { // Another process died while it built this other index.
		if err := b.forget(ctx, d); err != nil {
			return err
		}
	}
	exists, err := d.all.Existing(b.spec)
	if d.isAll = exists && d.building == 0; err != nil || d.isAll {
		return err
	}
	if !exists {
		x := engine.NewIndex(b.collection.name, b.spec)
		x.Number = d.all.NextNumber()
		d.all, d.building = d.all.WithIndex(x), x.Number
	}
	err = b.addPage(ctx, d)
	if d.isAll {
		d.building = 0
	}
	return err
}

func (b *builder) isSame(x *engine.Index) bool {
	exists, err := (&engine.Schema{Indexes: []engine.Index{*x}}).Existing(b.spec)
	return exists && err == nil
}

// forget removes the incomplete index, if there is one.
func (b *builder) forget(ctx context.Context, d *draft) error {
	at := d.all.IndexOf(d.building)
	if at < 0 {
		return nil
	}
	x := &d.all.Indexes[at]
	_, err := d.tx.Exec(ctx, b.collection.texts.of(x.Spec.Unique).clear, x.Number, x.Number+x.Numbers())
	d.all, d.building = d.all.WithoutIndex(at), 0
	return err
}

// addPage indexes the next page of documents. The documents are locked until the commit.
func (b *builder) addPage(ctx context.Context, d *draft) error {
	rows, err := d.tx.Query(ctx, b.collection.texts.page, int64(d.after), pageSize)
	if err != nil {
		return err
	}
	page, err := pgx.CollectRows(rows, b.read)
	if err != nil {
		return err
	}
	d.isAll = len(page) < pageSize
	at := d.all.IndexOf(d.building)
	var added []engine.Key
	var of []engine.Placed
	for _, one := range page {
		changes, err := d.all.ChangesIn(at, document.Object{}, one.Document)
		if err != nil {
			return err
		}
		if changes.Schema != nil {
			d.all = changes.Schema
		}
		d.all = withCut(d.all, changes.Add)
		for i := range changes.Add {
			added, of = append(added, changes.Add[i]), append(of, one)
		}
		d.after = one.Position
	}
	return b.add(ctx, d, added, of)
}

func (b *builder) read(row pgx.CollectableRow) (engine.Placed, error) {
	columns := row.RawValues()
	return b.store.readPlaced(b.collection.name, columns[0], columns[1])
}

// add adds entries of documents. It skips entries that writers have already added.
func (b *builder) add(ctx context.Context, d *draft, added []engine.Key, of []engine.Placed) error {
	if len(added) == 0 {
		return nil
	}
	var all entries
	for i := range added {
		all.add(&added[i], int64(of[i].Position))
	}
	texts := b.collection.texts.of(b.spec.Unique)
	if _, err := d.tx.Exec(ctx, texts.addOnce, all.numbers, all.keys, all.places); err != nil || !b.spec.Unique {
		return err
	}
	var clash int
	err := d.tx.QueryRow(ctx, texts.clash, all.numbers, all.keys, all.places).Scan(&clash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	default:
		return d.all.Duplicate(of[clash-1].Document, added[clash-1])
	}
}
