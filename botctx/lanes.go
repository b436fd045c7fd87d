package botctx

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/members"
)

// Each member has a lane. A run takes its member's lane, so that runs of one member take turns. The lane is a
// lock in this process and, if other processes share the store, also a lease in the store. The inbox uses the
// same lease. If two runs wait for each other, one of them fails after Config.MaxWait.

// laneKey identifies a lane: by app and member, or, if processes share the store, by the name of the inbox's lane.
type laneKey struct{ app, name string }

// ownLane is the lane that a run has taken. It is empty if runs take no lanes or if the inbox has taken it.
type ownLane struct {
	lock  *lock
	lease *lease.Lease
	// room is the memory for lock, which saves an allocation.
	room lock
	// lost ends the run if its lease in the store is lost.
	lost context.CancelCauseFunc
}

// enterLane takes the lock of a lane for the inbox. ok is false if a run holds the lock, or if the Runtime has no
// bot logic, so that events wait for logic or for another process. If ok is true, the caller must call leave.
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

// losable returns a context for a run, and a function that cancels it if the run loses its lease. If runs have no
// leases, it returns ctx itself.
func (r *Runtime) losable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if !r.isShared || r.config.ParallelRuns {
		return ctx, func(error) {}
	}
	return context.WithCancelCause(ctx)
}

// steady returns a clock for leases. If now panics, the clock returns the last time again, because the code that
// measures leases has no caller that could get an error.
func steady(now func() time.Time) func() time.Time {
	var mu sync.Mutex
	var last time.Time
	return func() (at time.Time) {
		defer func() {
			if recover() != nil {
				mu.Lock()
				defer mu.Unlock()
				at = last
			}
		}()
		at = now()
		mu.Lock()
		defer mu.Unlock()
		last = at
		return at
	}
}

// takeLane waits until a run has its member's lane. Callers must call leaveLane, even after an error.
//
// Errors:
//   - FailedPrecondition: a run that waits for this one has the lane.
//   - Unavailable: another run had the lane for Config.MaxWait. Runs of the scheduler and the inbox get an error
//     that postpones them instead.
//   - Canceled: ctx ended first.
//
// Other errors come from the store.
func (r *Runtime) takeLane(ctx context.Context, started *run) (err error) {
	if r.config.ParallelRuns {
		return nil
	}
	if started.lane, err = r.laneOf(ctx, started); err != nil {
		return err
	}
	if r.isShared && started.isAccepted() && started.delivery.Lease().Lane() == started.lane.name {
		return nil // The inbox has taken the lane.
	}
	taken := &started.own
	taken.room.key = started.lane
	if !r.isShared && ctx.Err() == nil && r.locks.tryAcquire(&taken.room) { // The fast path: usually the lane is free.
		taken.lock = &taken.room
		return nil
	}
	if started.outer.isWithin(started.lane) {
		return boterr.New(boterr.FailedPrecondition, "", "the run of member %s is waiting for this run of member %s, so neither could "+
			"continue: do not redirect back, or do it in an agenda", started.scope.Member, started.outer.run.scope.Member)
	}
	return r.waitForLane(ctx, started)
}

// waitForLane waits for a lane, at most as long as maxWait allows.
func (r *Runtime) waitForLane(ctx context.Context, starting *run) error {
	taken := &starting.own
	most := r.maxWait(starting, taken.room.key)
	if most == 0 {
		return agenda.Postpone(agendaPause)
	}
	waiting, stop := context.WithTimeout(ctx, most)
	defer stop()
	err := r.acquireLane(waiting, taken)
	if err != nil && (waiting.Err() != nil || errors.Is(err, boterr.Canceled)) { // Some stores return Canceled before the deadline.
		return r.waitedInVain(ctx, starting)
	}
	return err
}

// waitedInVain returns the error for a run that did not get its lane in time or whose ctx ended.
func (r *Runtime) waitedInVain(ctx context.Context, in *run) error {
	who := "member " + in.scope.Member
	if in.outer != nil {
		who += ", which a run of member " + in.outer.run.scope.Member + " waits for,"
	}
	switch {
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "the context ended before the run of %s could begin; try again: %w", who, context.Cause(ctx))
	case in.agenda != nil:
		return agenda.Postpone(agendaPause)
	case in.isAccepted():
		return inbox.Postpone(acceptedPause)
	default:
		return boterr.New(boterr.Unavailable, "", "another run blocked the run of %s for %v: try again later; if both wait for each other, "+
			"let only one redirect to the other, and pass ctx on in actions", who, r.config.MaxWait)
	}
}

// isWithin reports whether the step's run, or a run that it belongs to, has this lane.
func (s *step) isWithin(lane laneKey) bool {
	for ; s != nil; s = s.run.outer {
		if s.run.lane == lane {
			return true
		}
	}
	return false
}

// isAccepted reports whether the inbox started the run.
func (r *run) isAccepted() bool { return r.delivery != nil && r.outer == nil }

// acquireLane takes the lock of a lane and, if processes share the store, the lease.
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

// purposeRun is the purpose in the leases of runs that the inbox did not start.
const purposeRun = "run"

// laneOf returns the lane of a run's member.
func (r *Runtime) laneOf(ctx context.Context, in *run) (laneKey, error) {
	switch {
	case !r.isShared:
		return laneKey{app: in.scope.App, name: in.scope.Member}, nil
	case in.sender != "":
		return laneKey{name: inbox.Lane(in.scope.App, in.scope.Channel, in.sender)}, nil
	}
	found, err := members.Load(ctx, r.Operations(Scope(in.scope)).members(), members.ByRequiredID(in.scope.Member))
	if err != nil {
		return laneKey{}, err
	}
	sender := found.ExternalID
	if sender == "" {
		sender = "\x00" + found.ID // No sender has this id.
	}
	return laneKey{name: inbox.Lane(found.App, found.Channel, sender)}, nil
}

// leaveLane releases the lease and the lock of a lane, if the run has them.
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

// laneLease returns the lease of the run's lane, which the run or the inbox has taken. It returns nil if there is
// none.
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

// lock is an entry in the queue of a lane. The first entry has the lane.
type lock struct {
	key laneKey
	// begun is closed when a waiting lock gets the lane. It is nil if the lock did not have to wait.
	begun chan struct{}
	// next is the lock waiting behind this one. laneLocks.mu guards it.
	next *lock
}

// laneLocks is a set of locks by lane. Waiting runs get a lane in the order of their arrival. The zero laneLocks is
// ready to use. It is safe for concurrent use.
type laneLocks struct {
	// onWait, if not nil, is called before a run waits for a lane.
	onWait func(ctx context.Context, lane string, begun <-chan struct{})

	mu sync.Mutex
	// first maps each lane to the lock that has it; waiting locks follow through next.
	first map[laneKey]*lock
}

// acquire blocks until a lock has its lane, or returns Canceled when ctx is done. If there is no error, callers must
// call release.
func (l *laneLocks) acquire(ctx context.Context, own *lock) error {
	if err := ctx.Err(); err != nil {
		return boterr.New(boterr.Canceled, "", "%w", err)
	}
	if l.enter(own) {
		return nil
	}
	hasBegun := false
	defer func() {
		if !hasBegun { // ctx ended, or onWait panicked.
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

// tryAcquire takes a lane if it is free, and reports whether it did.
func (l *laneLocks) tryAcquire(own *lock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(own)
}

// enter takes a lane and returns true if it is free. Otherwise it appends the lock to the lane's queue.
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

// take takes a lane and returns true if it is free. Callers must hold mu.
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

// hasQueue reports whether a lock is waiting for a lane.
func (l *laneLocks) hasQueue(key laneKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.first[key]
	return first != nil && first.next != nil
}

// release gives the lane of a lock to the next lock in the queue, or removes a waiting lock from the queue. A second
// release has no effect.
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
