package sqlite

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
)

// documentsAtOnce is the number of documents that are read together to be indexed.
const documentsAtOnce = 200

// EnsureIndex implements engine.Port. A store builds one index at a time. If the process ends before the index is
// complete, the next Open removes it.
func (p *port) EnsureIndex(ctx context.Context, spec store.Index) error {
	if p.store.isClosed() {
		return errClosed
	}
	if found := p.store.found(p.name); found != nil {
		if exists, err := found.schema.Load().Existing(spec); exists {
			return err
		}
	}
	select {
	case p.store.indexing <- struct{}{}:
		defer func() { <-p.store.indexing }()
	case <-ctx.Done():
		return engine.CheckEnded(ctx)
	}
	return engine.BuildIndex(ctx, spec, p.changeIndexes)
}

// changeIndexes runs a transaction of engine.BuildIndex. The writer carries out one write at a time.
func (p *port) changeIndexes(ctx context.Context, _ bool, do func(engine.IndexDraft) error) error {
	return p.store.writer.do(&job{ctx: ctx, name: p.name, endsGroup: true, run: func(t *transaction) error {
		if err := t.save(); err != nil {
			return err
		}
		c := t.job.collection
		before := c.draft
		err := do(&indexDraft{transaction: t, collection: c, part: within(p.store.firstTurn)})
		if err != nil {
			c.draft = before
		}
		return err
	}})
}

// indexDraft is a transaction of engine.BuildIndex.
type indexDraft struct {
	*transaction
	*collection

	part limit
}

var _ engine.IndexDraft = (*indexDraft)(nil)

func (d *indexDraft) Indexes() *engine.Schema { return d.draft }

// SetIndexes implements engine.IndexDraft. The commit shows readers the complete indexes.
func (d *indexDraft) SetIndexes(all *engine.Schema) { d.draft = all }

func (d *indexDraft) Page(after uint64) (page []engine.Placed, isLast bool, err error) {
	_, err = d.source.visit(engine.Yield(func(position uint64, o document.Object) bool {
		page = append(page, engine.Placed{Document: o, Position: position})
		return true
	}), d.texts.after, after, documentsAtOnce)
	return page, len(page) < documentsAtOnce, err
}

func (d *indexDraft) Add(keys []engine.Key, of []engine.Placed) error {
	for i := range keys {
		if err := d.add(of[i], keys[i:i+1]); err != nil {
			return err
		}
	}
	return engine.CheckEnded(d.ctx)
}

func (d *indexDraft) Clear(x *engine.Index) (isClear bool, err error) {
	removed, err := d.writer.conn.exec(d.texts.table(x.Spec.Unique).clear, x.Number, x.Number+x.Numbers(), partSize)
	return removed < partSize, err
}

func (d *indexDraft) HasTime() bool { return !d.part.isOver() }
