package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

const (
	// firstTurn is the time for which a write may delay others before it gives up its turn. The time is
	// multiplied by moreTime after each lost attempt.
	firstTurn = 10 * time.Millisecond
	moreTime  = 4
	// maxSearching is the largest number of long writes that search at the same time. Each holds a reader while
	// it waits for the writer. Some readers must stay free, because the writer calls watchers, which may read.
	maxSearching = maxReaders / 2
	// noLimit is longer than any write takes.
	noLimit = time.Hour
	// partSize is the number of documents from which a long write is applied in parts.
	partSize = 500
)

// Write implements engine.Port. A write that takes too long gives up its turn and searches on a reader, so it
// does not delay others; then the writer only applies its changes. If other writes have changed the same
// documents meanwhile, it starts again. Each time it may delay others longer, so it succeeds eventually. A
// write to many documents is applied in parts.
func (p *port) Write(ctx context.Context, op engine.Op) error {
	if p.store.isClosed() {
		return errClosed
	}
	if p.store.found(p.name) == nil { // Each collection has tables, so it is only created for a document.
		if inserts, err := engine.RunMissing(ctx, p.name, op); !inserts {
			return err
		}
	}
	call := query.NewEvaluation(ctx)
	first := p.store.firstTurn
	if _, isInsert := op.(*engine.Inserting); isInsert {
		first = noLimit // An insert does not search, so running it out of turn would save no time.
	}
	for patience := first; ; patience = moreTime * (patience + time.Millisecond) {
		err := p.inTurn(ctx, patience, func(t *transaction) error {
			call.Resume(t.ctx)
			return op.Run(call, t)
		})
		if err != engine.ErrTooLong { //nolint:errorlint // It is never wrapped.
			return err
		}
		if err = p.outOfTurn(ctx, call, op); err != engine.ErrLost { //nolint:errorlint // It is never wrapped.
			return err
		}
	}
}

// inTurn carries out a write in a group. It returns engine.ErrTooLong if the write took longer than patience.
func (p *port) inTurn(ctx context.Context, patience time.Duration, run func(t *transaction) error) error {
	return p.store.writer.do(&job{ctx: ctx, name: p.name, run: func(t *transaction) error {
		now := &turn{Context: ctx, limit: within(patience)}
		t.ctx, t.source.ctx = now, now
		err := run(t)
		if now.hasEnded {
			return engine.ErrTooLong
		}
		return err
	}})
}

// outOfTurn carries out a write that searches on a reader.
func (p *port) outOfTurn(ctx context.Context, call *query.Evaluation, op engine.Op) error {
	found := p.store.found(p.name)
	if found == nil {
		return engine.ErrLost // There is no collection to search. Try again with a longer turn.
	}
	select {
	case p.store.searching <- struct{}{}:
		defer func() { <-p.store.searching }()
	case <-ctx.Done():
		return engine.CheckEnded(ctx)
	case <-p.store.closing:
		return errClosed
	}
	w, err := p.store.follow(ctx, found)
	if err != nil {
		return err
	}
	defer w.view.Close()
	defer w.follower.Leave()
	many, isMany := op.(engine.Many)
	w.isMany = isMany && many.IsMany()
	call.Resume(ctx)
	if err := op.Run(call, w); err == errOutdated { //nolint:errorlint // It is never wrapped.
		return engine.ErrLost
	} else if err != nil {
		return err
	}
	w.view.Close() // An open reader would keep the log from being restarted.
	if len(w.positions) > partSize {
		w.follower.Leave()
		return p.inParts(ctx, call, many, w.positions)
	}
	return p.inTurn(ctx, noLimit, func(t *transaction) error { return w.settle(ctx, call, op, t) })
}

// noted is a transaction on a fixed snapshot. It records changes and does not make them.
type noted struct {
	view     engine.View
	follower engine.Follower
	isMany   bool
	changes  []engine.Change
	// positions has the positions of the documents that a write to many changes. If there are more than
	// partSize, changes is empty.
	positions []uint64
}

var _ engine.Recorder = (*noted)(nil)

func (*noted) IsRecorder() {}

// follow returns a snapshot of a collection, and starts to collect later changes.
func (s *Store) follow(ctx context.Context, c *collection) (*noted, error) {
	view, err := s.view(ctx, c)
	if err != nil {
		return nil, err
	}
	w := &noted{view: view}
	isFollowing := false
	defer func() {
		if !isFollowing { // This also handles a panic of the context.
			w.follower.Leave()
			view.Close()
		}
	}()
	err = s.writer.do(&job{ctx: ctx, between: func() error {
		reader, _ := view.Source.(*source)
		reader.schema = c.schema.Load() // A write after the creation of the view may have changed the schema.
		w.view.Schema = reader.schema
		c.followers.Add(&w.follower)
		if err := reader.begin(); err != nil {
			return err
		}
		_, err := reader.conn.number(context.Background(), "SELECT count(*) FROM botctx_collections") // The first statement fixes the snapshot.
		return err
	}})
	if err != nil {
		return nil, err
	}
	isFollowing = true
	return w, nil
}

func (w *noted) View() engine.View { return w.view }

func (w *noted) Insert(o document.Object) error { return w.note(engine.Change{After: o}) }

func (w *noted) Replace(position uint64, before, after document.Object) error {
	return w.note(engine.Change{Position: position, Before: before, After: after})
}

func (w *noted) Remove(position uint64, o document.Object) error {
	return w.note(engine.Change{Position: position, Before: o})
}

// note records a change. It returns an error if an index cannot take the change. Unique indexes are checked
// only when the change is applied.
func (w *noted) note(made engine.Change) error {
	if _, err := w.view.Changes(made.Before, made.After); err != nil {
		return err
	}
	if w.isMany && !made.Before.IsZero() {
		w.positions = append(w.positions, made.Position)
		if len(w.positions) > partSize {
			w.changes = nil
			return nil
		}
	}
	w.changes = append(w.changes, made)
	return nil
}

// settle applies the recorded changes. It returns engine.ErrLost if other writes have changed the result of the
// search.
func (w *noted) settle(ctx context.Context, call *query.Evaluation, op engine.Op, t *transaction) error {
	if w.follower.IsFull {
		return engine.ErrLost
	}
	call.Resume(ctx)
	others := slices.Clone(w.follower.Changes)
	for _, earlier := range t.writer.performed {
		if earlier.collection == t.job.collection {
			others = append(others, earlier.changes...)
		}
	}
	for i := range others {
		if others[i].Affects(call, op) {
			return engine.ErrLost
		}
	}
	for i := range w.changes {
		if err := w.changes[i].Repeat(t); err != nil {
			return err
		}
	}
	return nil
}

// inParts applies a write to the documents at these positions, in parts. Each part has the documents that fit
// into firstTurn. Other writes run between the parts.
func (p *port) inParts(ctx context.Context, call *query.Evaluation, op engine.Many, positions []uint64) error {
	for all := len(positions); len(positions) > 0; {
		applied := 0
		err := p.store.writer.do(&job{ctx: ctx, name: p.name, run: func(t *transaction) error {
			if err := store.Refusal(ctx); err != nil {
				return err
			}
			applied = 0
			call.Resume(ctx)
			part := within(p.store.firstTurn)
			for applied < len(positions) && (applied == 0 || !part.isOver()) {
				if err := t.apply(call, op, positions[applied]); err != nil {
					return err
				}
				applied++
			}
			return nil
		}})
		if err != nil {
			return engine.Partly(all-len(positions), all, err)
		}
		positions = positions[applied:]
	}
	return nil
}

// apply applies a write to the current version of the document at a position.
func (t *transaction) apply(call *query.Evaluation, op engine.Many, position uint64) error {
	now, err := t.source.one(t.job.collection.texts.byPosition, position)
	if err != nil {
		return err
	}
	return op.Apply(call, t, now)
}
