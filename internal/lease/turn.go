package lease

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// Turn is the time in which a run has a lane to itself. It is safe for concurrent use.
type Turn struct {
	turns *Turns
	lane  string
	fence int64
	// claimedAt is when it was claimed, by the store's clock, and began the same by the own one.
	claimedAt, began time.Time
	// wasLost tells that the turn before never came back, and lost what that was for.
	wasLost bool
	lost    Work
	// wasAlone is true if the process of the lost turn had no other one then.
	wasAlone bool
	// isOvertaken tells that a turn before never came back, and none since was marked; isMarked
	// that this one is.
	isOvertaken bool
	isMarked    atomic.Bool
	// confirmedAt is when the store was last asked and answered that it holds, by the own clock.
	confirmedAt atomic.Pointer[time.Time]
	isOver      atomic.Bool
	// isGranted tells that the store knows nothing of it; end ends its run then.
	isGranted bool
	end       atomic.Pointer[context.CancelCauseFunc]
}

// Grant begins a turn of which the store is not told, for a process that has the store to itself: it
// has no lease, and lasts until it is released, abandoned or revoked. That no other one of the lane is
// under way is for the caller to see to, and that Revoke is called where another process has the store.
func (t *Turns) Grant(lane string, fence int64) *Turn {
	return &Turn{turns: t, lane: lane, fence: fence, isGranted: true}
}

// Revoke ends a turn that was granted, and its run with the cause ErrLost.
func (t *Turn) Revoke() {
	t.isOver.Store(true)
	if end := t.end.Load(); end != nil {
		(*end)(ErrLost)
	}
}

// Lane returns the name of the lane.
func (t *Turn) Lane() string { return t.lane }

// Fence returns the fencing token: later turns of the lane have greater ones.
func (t *Turn) Fence() int64 { return t.fence }

// Lost returns what the turn before was for, where that one never came back: its process died, or
// lost it.
func (t *Turn) Lost() (work Work, wasLost bool) { return t.lost, t.wasLost }

// WasAlone reports whether the turn that Lost tells of was the only one of its process that never came
// back: if that process died, nothing else that it did in a turn can have ended it.
func (t *Turn) WasAlone() bool { return t.wasAlone }

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
	if t.isGranted && !t.isOver.Load() {
		return nil
	}
	if t.isOver.Load() || t.turns.now().Sub(*t.confirmedAt.Load()) >= t.turns.lease {
		return ErrLost
	}
	return nil
}

// Check asks the store whether the turn holds. The error is ErrLost if it does not, or one of the store.
func (t *Turn) Check(ctx context.Context) error {
	if err := t.Err(); err != nil || t.isGranted {
		return err
	}
	filter, err := query.CompileFilter(Holds(t.lane, t.fence))
	if err != nil {
		return err
	}
	held, err := t.turns.records.Count(ctx, filter)
	if err == nil && held == 0 {
		err = ErrLost
	}
	return err
}

// confirmed notes that the turn held, by the store, when it was asked at a time of the own clock.
func (t *Turn) confirmed(at time.Time) { t.confirmedAt.Store(&at) }

// Keep renews the turn until it is released or lost; then it calls cancel with ErrLost.
func (t *Turn) Keep(cancel context.CancelCauseFunc) {
	if t.isGranted {
		t.keepGranted(cancel)
		return
	}
	t.turns.held.Add(t)
	t.turns.held.Begin(t, func(cause error) {
		t.isOver.Store(true)
		cancel(cause)
	})
	t.turns.startBeating()
}

// keepGranted is Keep for a turn that was granted.
func (t *Turn) keepGranted(cancel context.CancelCauseFunc) {
	t.end.Store(&cancel)
	if t.isOver.Load() {
		cancel(ErrLost) // It was revoked meanwhile.
	}
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
	if t.isGranted && wasOver {
		return ErrLost
	}
	if t.isGranted {
		return nil
	}
	freedAt := t.claimedAt.Add(t.turns.now().Sub(t.began))
	update := t.turns.updates().release
	if t.isMarked.Load() {
		update = t.turns.updates().releaseMarked
	}
	change := query.Change{
		Update: update,
		Stamps: query.Stamps{Set: document.O(fieldFreedAt, int64(document.TimestampOf(freedAt)))},
	}
	released, err := t.turns.update(ctx, Holds(t.lane, t.fence), change)
	if err != nil {
		return err
	}
	if !released || wasOver {
		return ErrLost
	}
	return nil
}
