package sqlite

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
)

// documentsAtOnce is the number of documents that are read together to be indexed.
const documentsAtOnce = 200

// EnsureIndex implements engine.Port. An index is built in parts, and other writes run between the parts. Writes
// maintain the index from the start, and searches use it once it is complete. A store builds one index at a
// time. If the process ends before the index is complete, the next Open removes it.
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
	b := &building{port: p, spec: spec}
	err := b.begin(ctx)
	if b.left != nil {
		if err := b.left.drop(ctx); err != nil {
			return err
		}
		err = b.begin(ctx)
	}
	if err != nil || b.exists {
		return err
	}
	err = b.fill(ctx)
	if err == nil {
		err = b.finish(ctx)
	}
	if err != nil {
		_ = b.drop(context.WithoutCancel(ctx)) // If this fails, the next EnsureIndex or Open removes the index.
	}
	return err
}

// building is an incomplete index.
type building struct {
	port *port
	spec store.Index
	// exists is true if the same index already exists, so that there is nothing to build.
	exists bool
	// left is an incomplete index that could not be removed, for example because the disk was full.
	left   *building
	number int
	// after is the position of the last indexed document.
	after uint64
	isAll bool
}

func (b *building) do(ctx context.Context, run func(t *transaction, c *collection) error) error {
	return b.port.store.writer.do(&job{ctx: ctx, name: b.port.name, run: func(t *transaction) error {
		return run(t, t.job.collection)
	}})
}

// begin adds the index to the description, so that writes maintain it.
func (b *building) begin(ctx context.Context) error {
	return b.do(ctx, func(t *transaction, c *collection) (err error) {
		if at := c.draft.IndexOf(c.building); at >= 0 {
			b.left = &building{port: b.port, spec: c.draft.Indexes[at].Spec, number: c.building}
			return nil
		}
		if b.exists, err = c.draft.Existing(b.spec); b.exists {
			return err
		}
		x := engine.NewIndex(c.name, b.spec)
		x.Number = c.draft.NextNumber()
		b.number = x.Number
		if err := t.save(); err != nil {
			return err
		}
		c.draft, c.building = c.draft.WithIndex(x), x.Number
		return nil
	})
}

// fill indexes all documents.
func (b *building) fill(ctx context.Context) error {
	for !b.isAll {
		after := b.after
		err := b.do(ctx, func(t *transaction, c *collection) error {
			b.after, b.isAll = after, false // The function may run again.
			part := within(b.port.store.firstTurn)
			for {
				page, err := t.page(b.after)
				if err != nil {
					return err
				}
				if err := b.add(t, c, page); err != nil {
					return err
				}
				if b.isAll = len(page) < documentsAtOnce; b.isAll || part.isOver() {
					return nil
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// page returns the next documents after a position.
func (t *transaction) page(after uint64) (page []engine.Placed, err error) {
	_, err = t.source.visit(engine.Yield(func(position uint64, o document.Object) bool {
		page = append(page, engine.Placed{Document: o, Position: position})
		return true
	}), t.job.collection.texts.after, after, documentsAtOnce)
	return page, err
}

func (b *building) add(t *transaction, c *collection, page []engine.Placed) error {
	if err := t.save(); err != nil {
		return err
	}
	for _, one := range page {
		changes, err := c.draft.ChangesIn(c.draft.IndexOf(b.number), document.Object{}, one.Document)
		if err != nil {
			return err
		}
		if changes.Schema != nil {
			c.grow(changes.Schema)
		}
		if err := t.add(one, changes.Add); err != nil {
			return err
		}
		b.after = one.Position
	}
	return nil
}

// finish makes searches use the index.
func (b *building) finish(ctx context.Context) error {
	return b.do(ctx, func(t *transaction, c *collection) error {
		if err := t.save(); err != nil {
			return err
		}
		c.building = 0
		return nil
	})
}

// drop removes an incomplete index.
func (b *building) drop(ctx context.Context) error {
	isGone := false
	for !isGone {
		err := b.do(ctx, func(t *transaction, c *collection) error {
			if err := t.save(); err != nil {
				return err
			}
			x := engine.NewIndex(c.name, b.spec)
			removed, err := t.writer.conn.exec(c.texts.table(b.spec.Unique).clear, b.number, b.number+x.Numbers(), partSize)
			if err != nil || removed == partSize {
				return err
			}
			isGone = true
			if c.building == b.number {
				c.draft, c.building = c.ready(), 0
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
