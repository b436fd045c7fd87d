package botctx

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/store"
)

// A run takes one lane, its member's, so that runs of one member take turns. Within a process this uses a
// lock. If other processes share the store, the run also holds the lane's lease there, the same lease that
// the inbox uses. Runs that wait for each other fail after Config.MaxWait.

// laneKey names a lane: a member of an app, or, over a store that processes share, the lane of the inbox.
type laneKey struct{ app, name string }

// ownLane is the lane that a run has taken. It is empty if the run needs none or the inbox has taken it.
type ownLane struct {
	lock  *lock
	lease *lease.Lease
	// room is the memory that lock points to.
	room lock
	// lost ends the run if its lease in the store is lost.
	lost context.CancelCauseFunc
}

// isShared reports whether other processes may change documents of a store: it is not a store.Watcher, whose
// documents all change through this process.
func isShared(database store.Store) bool {
	_, isAlone := database.(store.Watcher)
	return !isAlone
}

// enterLane is called by the inbox before it claims a lane. It refuses while there is no logic, so that
// events wait for logic, which another process may have.
func (r *Runtime) enterLane(lane string) (leave func(), ok bool) {
	if !r.hasLogic() {
		return nil, false
	}
	if !r.isShared || r.config.ParallelRuns {
		return func() {}, true
	}
	entered := &lock{key: laneKey{name: lane}}
	if !r.locks.tryAcquire(entered) {
		return nil, false
	}
	return func() { r.locks.release(entered) }, true
}

// losable returns a context that ends with the run, or earlier if the lease in the store is lost. If runs
// have no leases there it returns ctx itself.
func (r *Runtime) losable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if !r.isShared || r.config.ParallelRuns {
		return ctx, func(error) {}
	}
	return context.WithCancelCause(ctx)
}

// steady returns a clock for measuring leases outside of runs. While the host's clock panics it repeats the
// last time, because no caller could receive an error.
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

// takeLane waits until a run has its member's lane. Callers must call leaveLane if there is no error.
//
// FailedPrecondition: a run that waits for this one has the lane. Unavailable: another run has had it for
// Config.MaxWait. Canceled: ctx ended first. Otherwise it returns the store's error. Runs of the scheduler and the
// inbox are postponed instead of Unavailable.
func (r *Runtime) takeLane(ctx context.Context, in runInput, started *run) (err error) {
	if r.config.ParallelRuns {
		return nil
	}
	if started.lane, err = r.laneOf(ctx, in); err != nil {
		return err
	}
	if r.isShared && in.isAccepted() && in.delivery.Lease().Lane() == started.lane.name {
		return nil // The inbox has taken the lane.
	}
	taken := &started.own
	taken.room.key = started.lane
	if !r.isShared && ctx.Err() == nil && r.locks.tryAcquire(&taken.room) { // Mostly the lane is free.
		taken.lock = &taken.room
		return nil
	}
	if in.outer.isWithin(started.lane) {
		return boterr.New(boterr.FailedPrecondition, "", "a run of member %s waits for this one, of member %s, which would wait "+
			"for it: do not redirect back, or make an agenda that does so later", in.scope.Member, in.outer.run.read.memberID)
	}
	return r.waitForLane(ctx, in, taken)
}

// waitForLane waits for a lane for as long as the run may.
func (r *Runtime) waitForLane(ctx context.Context, in runInput, taken *ownLane) error {
	most := r.maxWait(in, taken.room.key)
	if most == 0 {
		return agenda.Postpone(agendaPause)
	}
	waiting, stop := context.WithTimeout(ctx, most)
	defer stop()
	err := r.acquireLane(waiting, taken)
	if err == nil {
		return nil
	}
	r.leaveLane(ctx, taken)
	if ctx.Err() == nil && waiting.Err() == nil && !errors.Is(err, boterr.Canceled) { // A store may end a call early with Canceled.
		return err
	}
	return r.waitedInVain(ctx, in)
}

// waitedInVain returns the error of a run that did not get its lane in time, or whose ctx ended.
func (r *Runtime) waitedInVain(ctx context.Context, in runInput) error {
	who := "member " + in.scope.Member
	if in.outer != nil {
		who += ", for which a run of member " + in.outer.run.read.memberID + " waits"
	}
	switch {
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "the context ended before the run of %s could begin: %w", who, context.Cause(ctx))
	case in.agenda != nil:
		return agenda.Postpone(agendaPause)
	case in.isAccepted():
		return inbox.Postpone(acceptedPause)
	default:
		return boterr.New(boterr.Unavailable, "", "another run has been under way for %v, before that of %s: perhaps they wait for each "+
			"other; let only one of them redirect the other, and have actions pass their ctx on", r.config.MaxWait, who)
	}
}

// isWithin reports whether the step's run, or an outer run, has a lane.
func (s *step) isWithin(lane laneKey) bool {
	for ; s != nil; s = s.run.outer {
		if s.run.lane == lane {
			return true
		}
	}
	return false
}

// isAccepted reports whether the inbox began the run.
func (in runInput) isAccepted() bool { return in.delivery != nil && in.outer == nil }

// acquireLane takes the lock of a lane and, over a store that processes share, its lease.
func (r *Runtime) acquireLane(ctx context.Context, taken *ownLane) (err error) {
	if err := r.locks.acquire(ctx, &taken.room); err != nil {
		return err
	}
	taken.lock = &taken.room
	if r.isShared {
		taken.lease, err = r.leases.Acquire(ctx, taken.room.key.name, purposeRun, taken.lost)
	}
	return err
}

// purposeRun is the purpose of lane leases for runs that the inbox did not begin.
const purposeRun = "run"

// laneOf returns the lane of a run's member.
func (r *Runtime) laneOf(ctx context.Context, in runInput) (laneKey, error) {
	switch {
	case !r.isShared:
		return laneKey{app: in.scope.App, name: in.scope.Member}, nil
	case in.sender != "":
		return laneKey{name: inbox.Lane(in.scope.App, in.scope.Channel, in.sender)}, nil
	}
	found, err := members.Load(ctx, r.Operations(in.scope).members(), members.ByRequiredID(in.scope.Member))
	if err != nil {
		return laneKey{}, err
	}
	sender := found.ExternalID
	if sender == "" {
		sender = "\x00" + found.ID // No sender has this id.
	}
	return laneKey{name: inbox.Lane(found.App, found.Channel, sender)}, nil
}

// leaveLane releases the lease and the lock of a lane.
func (r *Runtime) leaveLane(ctx context.Context, taken *ownLane) {
	if taken.lease != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.leases.Duration())
		defer cancel()
		if err := taken.lease.Release(ctx); err != nil && !errors.Is(err, lease.ErrLost) {
			r.logNotReleased(ctx, taken.lease, err)
		}
	}
	if taken.lock != nil {
		r.locks.release(taken.lock)
		if r.isShared {
			r.inbox.LaneLeft(taken.lock.key.name)
		}
	}
}

// laneLease returns the run's lease in the store, its own or the inbox's. It is nil if the run has none.
func (r *run) laneLease() *lease.Lease {
	switch {
	case r.own.lease != nil:
		return r.own.lease
	case r.delivery != nil && r.outer == nil:
		return r.delivery.Lease()
	default:
		return nil
	}
}

// lock is a run's place at a lane: the run has the lane, or waits for it.
type lock struct {
	key laneKey
	// begun is closed once a waiting lock has the lane. It is nil if the lock got the lane at once.
	begun chan struct{}
	// next is the lock waiting behind this one. laneLocks.mu guards it.
	next *lock
}

// laneLocks gives each lane to one run at a time, first come first served. The zero laneLocks is ready, and
// safe for concurrent use.
type laneLocks struct {
	// onWait, if any, is called before a run waits for a lane.
	onWait func(ctx context.Context, lane string, begun <-chan struct{})

	mu sync.Mutex
	// first maps each lane to the lock that has it; waiting locks follow through next.
	first map[laneKey]*lock
}

// acquire blocks until a lock has its lane or ctx is done, and then returns Canceled. Unless it returns an
// error, callers must call release.
func (l *laneLocks) acquire(ctx context.Context, own *lock) error {
	if err := ctx.Err(); err != nil {
		return boterr.New(boterr.Canceled, "", "%w", err)
	}
	if l.enter(own) {
		return nil
	}
	hasBegun := false
	defer func() {
		if !hasBegun { // Also if onWait panics.
			l.release(own)
		}
	}()
	if l.onWait != nil {
		l.onWait(ctx, own.key.name, own.begun)
	}
	select {
	case <-own.begun:
		hasBegun = true
		return nil
	case <-ctx.Done():
		return boterr.New(boterr.Canceled, "", "%w", ctx.Err())
	}
}

// tryAcquire takes a free lane, and reports whether it was free.
func (l *laneLocks) tryAcquire(own *lock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(own)
}

// enter takes a free lane, or puts the lock at the end of the lane's queue. It reports whether it took the
// lane.
func (l *laneLocks) enter(own *lock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.take(own) {
		return true
	}
	own.begun = make(chan struct{})
	last := l.first[own.key]
	for last.next != nil {
		last = last.next
	}
	last.next = own
	return false
}

// take is tryAcquire for callers that hold mu.
func (l *laneLocks) take(own *lock) bool {
	if l.first[own.key] != nil {
		return false
	}
	if l.first == nil {
		l.first = map[laneKey]*lock{}
	}
	l.first[own.key] = own
	return true
}

// hasQueue reports whether a lock waits for a lane.
func (l *laneLocks) hasQueue(key laneKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.first[key]
	return first != nil && first.next != nil
}

// release gives a lane to the lock that has waited the longest, or ends a wait. Releasing a lock twice has no
// effect.
func (l *laneLocks) release(own *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.first[own.key]
	if first != own {
		for before := first; before != nil; before = before.next {
			if before.next == own {
				before.next = own.next
			}
		}
		return
	}
	if own.next == nil {
		delete(l.first, own.key)
		return
	}
	l.first[own.key] = own.next
	close(own.next.begun)
	own.next = nil
}
