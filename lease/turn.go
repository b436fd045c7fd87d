package lease

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
)

// Turn is the time in which a run has a lane to itself. It is safe for concurrent use.
type Turn struct {
	turns *Turns
	lane  string
	fence int64
	// claimedAt is when it was claimed, by the store's clock, and began the same by the own one.
	claimedAt, began time.Time
	// wasLost tells that the turn before never came back, and lostPurpose what that was for.
	wasLost     bool
	lostPurpose string
	// isOvertaken tells that a turn before never came back, and none since was marked; isMarked
	// that this one is.
	isOvertaken bool
	isMarked    atomic.Bool
	// confirmedAt is when the store was last asked and answered that it holds, by the own clock.
	confirmedAt atomic.Pointer[time.Time]
	isOver      atomic.Bool
}

// Lane returns the name of the lane.
func (t *Turn) Lane() string { return t.lane }

// Fence returns the fencing token: later turns of the lane have greater ones.
func (t *Turn) Fence() int64 { return t.fence }

// Lost returns what the turn before was for, where that one never came back: its process died, or
// lost it.
func (t *Turn) Lost() (purpose string, wasLost bool) { return t.lostPurpose, t.wasLost }

// IsOvertaken reports whether a turn before, of any purpose, never came back and none since was
// marked: its run may still be alive, and store what it does. A run that keeps it from that, by its
// Fence in what it stores, calls Mark.
func (t *Turn) IsOvertaken() bool { return t.isOvertaken }

// Mark notes that what IsOvertaken tells needs no more care once the turn is released.
func (t *Turn) Mark() { t.isMarked.Store(true) }

// Err returns ErrLost where the turn may be another one's: it was released, it was found lost, or
// its lease has passed, by the clock that was handed in, since the store last said that it holds.
// It asks nobody, so that it can be asked before each thing that a run does.
func (t *Turn) Err() error {
	if t.isOver.Load() || t.turns.now().Sub(*t.confirmedAt.Load()) >= t.turns.lease {
		return ErrLost
	}
	return nil
}

// confirmed notes that the turn held, by the store, when it was asked at a time of the own clock.
func (t *Turn) confirmed(at time.Time) { t.confirmedAt.Store(&at) }

// Keep renews the turn until it is released or lost; then it calls cancel with ErrLost.
func (t *Turn) Keep(cancel context.CancelCauseFunc) {
	t.turns.held.Add(t)
	t.turns.held.Begin(t, func(cause error) {
		t.isOver.Store(true)
		cancel(cause)
	})
	t.turns.startBeating()
}

// Abandon gives the turn up without telling the store: nothing that its run still does counts, and
// its lease passes.
func (t *Turn) Abandon() {
	t.isOver.Store(true)
	t.turns.held.End(t)
}

// Release ends the turn, so that another one can begin. The error is ErrLost where it held no
// more, or one of the store: then the lease passes.
func (t *Turn) Release(ctx context.Context) error {
	t.turns.held.End(t)
	wasOver := t.isOver.Swap(true)
	freedAt := t.claimedAt.Add(t.turns.now().Sub(t.began))
	update := t.turns.updates().release
	if t.isMarked.Load() {
		update = t.turns.updates().releaseMarked
	}
	change := query.Change{
		Update: update,
		Stamps: query.Stamps{Set: document.O(fieldFreedAt, int64(document.At(freedAt)))},
	}
	released, err := t.turns.update(ctx, Holds(t.lane, t.fence), change)
	if err == nil && (!released || wasOver) {
		return ErrLost
	}
	return err
}
