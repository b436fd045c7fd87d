package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
)

// pageSize is the number of documents that are indexed in one transaction.
const pageSize = 500

// EnsureIndex implements engine.Port. A process builds one index at a time, and other calls wait without a connection.
// For each collection, one process builds at a time.
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
	if exists, err := c.newest.Load().ready.Existing(spec); exists { // This process has built it meanwhile.
		return err
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
	return engine.BuildIndex(ctx, spec, (&builder{store: s, collection: c, conn: conn}).change)
}

type builder struct {
	store      *Store
	collection *collection
	conn       *pgxpool.Conn
}

// change runs a transaction of engine.BuildIndex.
func (b *builder) change(ctx context.Context, isAlone bool, do func(engine.IndexDraft) error) error { //nolint:revive // See ChangeIndexes.
	ctx, cancel := within(ctx, b.store.timeout)
	defer cancel()
	first := ""
	if isAlone {
		first = b.collection.texts.lockTable
	}
	for cancels := 0; ; {
		d := draft{builder: b, ctx: ctx}
		err := pgx.BeginFunc(ctx, b.conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, first); err != nil {
				return err
			}
			known, err := readDescription(ctx, tx, b.store.schema, b.collection)
			if err != nil {
				return err
			}
			d.description, d.tx = *known, tx
			if err := do(&d); err != nil || d.all == known.all {
				return err
			}
			text, err := d.all.MarshalIndexes()
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, "SELECT "+b.store.schema+"._describe($1,$2,$3)", b.collection.number, d.version, text)
			d.version++
			return err
		})
		switch state := stateOf(err); {
		case err == nil:
			b.collection.set(newDescription(d.version, d.all))
			return nil
		case state == codeDeadlock || state == codeStale: // A writer interfered; try again.
		case state == codeCanceled && cancels < maxCancels && ctx.Err() == nil:
			cancels++
		default:
			return err
		}
	}
}

// draft is a transaction of engine.BuildIndex.
type draft struct {
	*builder
	description

	ctx context.Context //nolint:containedctx // A draft lives for one transaction.
	tx  pgx.Tx
}

var _ engine.IndexDraft = (*draft)(nil)

func (d *draft) Indexes() *engine.Schema { return d.all }

func (d *draft) SetIndexes(all *engine.Schema) { d.all = all }

// Page implements engine.IndexDraft. The documents are locked until the commit.
func (d *draft) Page(after uint64) (page []engine.Placed, isLast bool, err error) {
	rows, err := d.tx.Query(d.ctx, d.collection.texts.page, int64(after), pageSize)
	if err != nil {
		return nil, false, err
	}
	page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (engine.Placed, error) {
		columns := row.RawValues()
		return d.store.readPlaced(d.collection.name, columns[0], columns[1])
	})
	return page, len(page) < pageSize, err
}

func (d *draft) Add(keys []engine.Key, of []engine.Placed) error {
	if len(keys) == 0 {
		return nil
	}
	d.all = withCut(d.all, keys)
	var all entries
	for i := range keys {
		all.add(&keys[i], int64(of[i].Position))
	}
	texts := d.collection.texts.of(keys[0].IsUnique)
	if _, err := d.tx.Exec(d.ctx, texts.addOnce, all.numbers, all.keys, all.places); err != nil || !keys[0].IsUnique {
		return err
	}
	var clash int
	err := d.tx.QueryRow(d.ctx, texts.clash, all.numbers, all.keys, all.places).Scan(&clash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	default:
		return d.all.Duplicate(of[clash-1].Document, keys[clash-1])
	}
}

func (d *draft) Clear(x *engine.Index) (isClear bool, err error) {
	_, err = d.tx.Exec(d.ctx, d.collection.texts.of(x.Spec.Unique).clear, x.Number, x.Number+x.Numbers())
	return true, err
}

func (*draft) HasTime() bool { return false }
