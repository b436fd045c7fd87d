package botctx

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/store"
)

// Runs of one member take turns. Within a process memberLocks see to that. Where the store is
// shared by processes, a run also has a turn in the store (lease.Turns) of the member's lane, the
// same that the inbox has for what it handles. What a run takes it takes in this order, so that none
// waits for another one in a circle without that being seen: the lane here, the lane in the
// store, the member.

// isShared reports whether other processes may work on a store: it is not one whose documents all
// change through this process.
func isShared(database store.Store) bool {
	_, isAlone := database.(store.Watcher)
	return !isAlone
}

// laneKey is the key of a lane among the locks of members.
func laneKey(lane string) memberKey { return memberKey{member: lane} }

// enterLane is what the inbox asks before it claims a lane. What arrived waits for logic that would
// answer it, which another process may have.
func (r *Runtime) enterLane(lane string) (leave func(), ok bool) {
	if !r.hasLogic() {
		return nil, false
	}
	if !r.isShared || r.config.ParallelRuns {
		return func() {}, true
	}
	entered := &turn{key: laneKey(lane)}
	if !r.locks.tryAcquire(entered) {
		return nil, false
	}
	r.entered.Store(lane, entered)
	return func() {
		r.entered.Delete(lane)
		r.locks.release(entered)
	}, true
}

// losable returns a context that ends where the turn in the store is lost, and with the run. Where runs
// have no turns there it is ctx itself.
func (r *Runtime) losable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if !r.isShared || r.config.ParallelRuns {
		return ctx, func(error) {}
	}
	return context.WithCancelCause(ctx)
}

// steady returns a clock that stands still while the host's panics, for what measures leases beside
// runs, where nobody would take an error.
func steady(now func() time.Time) func() time.Time {
	var last atomic.Pointer[time.Time]
	return func() (at time.Time) {
		defer func() {
			if recover() != nil {
				if known := last.Load(); known != nil {
					at = *known
				}
			}
		}()
		at = now()
		last.Store(&at)
		return at
	}
}

// turns are what a run has taken.
type turns struct {
	// member keeps other runs of this process out, and lane those of other processes; nil where
	// no others are there.
	member, inLane *turn
	lane           *lease.Turn
	// atOnce is member where nobody was to be waited for.
	atOnce turn
	// lost ends the run where its turn in the store is lost.
	lost context.CancelCauseFunc
}

// wantedTurns are what a run is to take: of its member, and where other processes work on the store of
// its lane, "" where none do.
type wantedTurns struct {
	member memberKey
	lane   string
}

// wantedBy returns what a run is to take.
func (r *Runtime) wantedBy(ctx context.Context, in runInput) (wanted wantedTurns, err error) {
	wanted.member = memberKey{app: in.scope.App, member: in.scope.Member}
	if r.isShared {
		wanted.lane, err = r.laneOfRun(ctx, in)
	}
	return wanted, err
}

// takeTurns waits for what a run takes.
func (r *Runtime) takeTurns(ctx context.Context, in runInput, taken *turns) error {
	if r.config.ParallelRuns {
		return nil
	}
	if !r.isShared && ctx.Err() == nil { // Mostly nobody is to be waited for.
		taken.atOnce = turn{key: memberKey{app: in.scope.App, member: in.scope.Member}, parent: in.outer.turn()}
		if r.locks.tryAcquire(&taken.atOnce) {
			taken.member = &taken.atOnce
			return nil
		}
	}
	wanted, err := r.wantedBy(ctx, in)
	if err != nil {
		return err
	}
	most := r.config.MaxWait
	if in.agenda != nil {
		if most = r.agendaWait(wanted); most == 0 {
			return agenda.Postpone(agendaPause)
		}
	}
	waiting, stop := context.WithTimeout(ctx, most)
	defer stop()
	err = r.waitForTurns(waiting, in, wanted, taken)
	if err == nil {
		return nil
	}
	r.giveTurnsBack(ctx, taken)
	switch {
	case ctx.Err() != nil, waiting.Err() == nil && !errors.Is(err, boterr.Canceled): // A store may say so ahead of the deadline.
		return err
	case in.agenda != nil:
		return agenda.Postpone(agendaPause)
	case in.delivery != nil:
		return inbox.Postpone(acceptedPause)
	default:
		return boterr.New(boterr.Unavailable, "", "a run of member %s has been under way for %v: "+
			"perhaps it waits for this one, since an action did not pass its ctx on", in.scope.Member, r.config.MaxWait)
	}
}

// waitForTurns takes what a run takes, one after the other.
func (r *Runtime) waitForTurns(ctx context.Context, in runInput, wanted wantedTurns, taken *turns) (err error) {
	parent := in.outer.turn()
	var held string
	if in.delivery != nil && in.outer == nil {
		held = in.delivery.Turn().Lane()
		if entered, ok := r.entered.Load(held); ok {
			parent, _ = entered.(*turn)
		}
	}
	if r.isShared {
		if parent, err = r.waitForLane(ctx, wanted.lane, held, parent, taken); err != nil {
			return err
		}
	}
	taken.member, err = r.locks.acquire(ctx, wanted.member, parent)
	return err
}

// waitForLane takes the lane of a run's member, unless the run holds it already, and returns the turn
// in which the run is nested then.
func (r *Runtime) waitForLane(ctx context.Context, lane, held string, parent *turn, taken *turns) (_ *turn, err error) {
	if lane == held {
		return parent, nil
	}
	if taken.inLane, err = r.locks.acquire(ctx, laneKey(lane), parent); err != nil {
		return parent, err
	}
	taken.lane, err = r.turns.Acquire(ctx, lane, purposeRun, taken.lost)
	return taken.inLane, err
}

// purposeRun is what the turns of lanes are for that runs take which the inbox did not begin.
const purposeRun = "run"

// laneOfRun returns the lane of the member of a run.
func (r *Runtime) laneOfRun(ctx context.Context, in runInput) (string, error) {
	if in.sender != "" {
		return inbox.Lane(in.scope.App, in.scope.Channel, in.sender), nil
	}
	found, err := members.Load(ctx, r.Operations(in.scope).members(), members.ByRequiredID(in.scope.Member))
	if err != nil {
		return "", err
	}
	if found.ExternalID == "" {
		return inbox.Lane(found.App, found.Channel, "\x00"+found.ID), nil // No sender has this id.
	}
	return inbox.Lane(found.App, found.Channel, found.ExternalID), nil
}

// giveTurnsBack ends what a run has taken.
func (r *Runtime) giveTurnsBack(ctx context.Context, taken *turns) {
	if taken.member != nil {
		r.locks.release(taken.member)
	}
	if taken.lane != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.turns.Lease())
		defer cancel()
		if err := taken.lane.Release(ctx); err != nil && !errors.Is(err, lease.ErrLost) {
			r.logNotReleased(ctx, taken.lane, err)
		}
	}
	if taken.inLane != nil {
		r.locks.release(taken.inLane)
		r.inbox.LaneLeft(taken.inLane.key.member)
	}
}

// laneTurn returns the turn in the store that a run has: its own, or the inbox's. It is nil where it
// has none.
func (r *run) laneTurn() *lease.Turn {
	switch {
	case r.turns.lane != nil:
		return r.turns.lane
	case r.delivery != nil && r.outer == nil:
		return r.delivery.Turn()
	default:
		return nil
	}
}
