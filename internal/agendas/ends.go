package agendas

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// On a database each write is a command, so what follows from several runs is stored by one where it is
// the same for all, as for those of a campaign. No end waits for company: one that comes while no other
// is being written is written at once, and those that come meanwhile go with the next write.
//
// A write that finds all of its agendas has stored all ends. Of one that finds fewer, or fails, it is not
// known which: then each is written alone, and finds what has been stored already.

func newEnds(agendas store.Collection, patience time.Duration) *ends {
	return &ends{
		agendas: agendas, patience: patience,
		held: mustFilter(document.O("$or", document.A(
			document.O(fieldLeaseUntil, document.O("$gt", 0)), document.O(fieldClaim, document.O("$gt", "")),
		))),
	}
}

// ends writes what follows from runs.
type ends struct {
	agendas store.Collection
	// held finds agendas whose claim has not ended. It tells a database that each end changes what it finds.
	held *query.Filter
	// patience is how long an end waits for the writes before it, and how long one of them may take.
	patience time.Duration

	mu        sync.Mutex
	isWriting bool
	waiting   []*ending
}

// ending is an end that waits to be written.
type ending struct {
	claim   *Claim
	outcome outcome
	// isStored receives whether it was stored together with others; false where that is not known.
	isStored chan bool
}

// write stores what follows from a run, and reports whether the agenda was as it was claimed.
func (e *ends) write(ctx context.Context, c *Claim, o outcome) (stored bool, err error) {
	waiting := e.enter(c, o)
	if waiting == nil {
		defer e.leave(ctx)
		return c.store(ctx, o)
	}
	if waiting.wasStored(ctx, e.patience) {
		return true, nil
	}
	unchanged, err := c.unchanged()
	if err != nil {
		return false, err
	}
	return c.storeIn(ctx, query.And(unchanged, e.held), o) // An end that is stored already must not count twice.
}

// enter begins to write an end, or lets it wait where another one is being written.
func (e *ends) enter(c *Claim, o outcome) (waits *ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.isWriting {
		e.isWriting = true
		return nil
	}
	waits = &ending{claim: c, outcome: o, isStored: make(chan bool, 1)}
	e.waiting = append(e.waiting, waits)
	return waits
}

// leave lets those that wait be written, by a goroutine that belongs to none of them.
func (e *ends) leave(ctx context.Context) {
	if waiting := e.take(); len(waiting) > 0 {
		go e.writeAll(context.WithoutCancel(ctx), waiting)
	}
}

// take takes those that wait. Where there are none, nothing is being written any more.
func (e *ends) take() []*ending {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.waiting
	e.waiting, e.isWriting = nil, len(taken) > 0
	return taken
}

// writeAll writes ends, those that are alike together, and lets those follow that came meanwhile.
func (e *ends) writeAll(ctx context.Context, waiting []*ending) {
	defer e.leave(ctx) // Also where the store ends the goroutine.
	defer func() {
		for _, left := range waiting {
			left.isStored <- false
		}
	}()
	for len(waiting) > 0 {
		var alike, others []*ending
		for _, next := range waiting {
			if next.isLike(waiting[0]) {
				alike = append(alike, next)
			} else {
				others = append(others, next)
			}
		}
		areStored := len(alike) > 1 && e.writeAlike(ctx, alike)
		waiting = others
		for _, one := range alike {
			one.isStored <- areStored
		}
	}
}

// writeAlike writes ends that are alike, and reports whether it is known that all are stored.
func (e *ends) writeAlike(ctx context.Context, alike []*ending) bool {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	ids := make([]any, len(alike))
	for i, one := range alike {
		ids[i] = one.claim.id
	}
	among, err := query.CompileFilter(document.O(record.FieldID, document.O("$in", document.A(ids...))))
	if err != nil {
		return false
	}
	unchanged, err := fieldsAre(alike[0].claim.decisive(nil))
	if err != nil {
		return false
	}
	options := store.UpdateOptions{Multi: true, Partly: true}
	written, err := e.agendas.Update(ctx, query.And(among, e.held, unchanged), alike[0].outcome.change(), options)
	return err == nil && written.Matched == int64(len(alike))
}

// isLike reports whether one filter and one change write both ends.
func (e *ending) isLike(other *ending) bool {
	return e.outcome.update == other.outcome.update && document.Identical(e.outcome.stamps, other.outcome.stamps) &&
		slices.EqualFunc(e.claim.decisive(nil), other.claim.decisive(nil), func(a, b query.FieldValue) bool {
			return a.Name == b.Name && document.Identical(a.Value, b.Value)
		})
}

// wasStored waits until the end was written, or for too long, and reports whether it is stored. Where
// that is not known, it is false.
func (e *ending) wasStored(ctx context.Context, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case isStored := <-e.isStored:
		return isStored
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}
