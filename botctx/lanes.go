package botctx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Runs of one member take turns. Within a process memberLocks see to that. Where the store is
// shared by processes, a run also has a lease in the store (lease.Lease) of the member's lane, the
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

// losable returns a context that ends where the lease in the store is lost, and with the run. Where runs
// have no leases there it is ctx itself.
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
	lane           *lease.Lease
	// atOnce is member where nobody was to be waited for.
	atOnce turn
	// lost ends the run where its lease in the store is lost.
	lost context.CancelCauseFunc
}

// wantedTurns are what a run is to take: of its member, and where other processes work on the store of
// its lane, "" where none do.
type wantedTurns struct {
	member memberKey
	lane   string
}

func (r *Runtime) wantedBy(ctx context.Context, in runInput) (wanted wantedTurns, err error) {
	wanted.member = memberKey{app: in.scope.App, member: in.scope.Member}
	if r.isShared {
		wanted.lane, err = r.laneOfRun(ctx, in)
	}
	return wanted, err
}

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
		held = in.delivery.Lease().Lane()
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
	taken.lane, err = r.leases.Acquire(ctx, lane, purposeRun, taken.lost)
	return taken.inLane, err
}

// purposeRun is what the leases of lanes are for that runs take which the inbox did not begin.
const purposeRun = "run"

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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.leases.Duration())
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

// laneLease returns the lease in the store that a run has: its own, or the inbox's. It is nil where it
// has none.
func (r *run) laneLease() *lease.Lease {
	switch {
	case r.turns.lane != nil:
		return r.turns.lane
	case r.delivery != nil && r.outer == nil:
		return r.delivery.Lease()
	default:
		return nil
	}
}

type memberKey struct{ app, member string }

// turn is the time in which one run has a member to itself. A run that is nested in
// another one, since bot logic redirected a member to a node, has that one's turn as
// its parent, which does not end before it.
type turn struct {
	key    memberKey
	parent *turn
	// What follows is guarded by the mutex of memberLocks.

	// isHeld tells that the turn has begun and not ended.
	isHeld bool
	// first and last are the ends of the queue behind a turn that is held.
	first, last *turn
	// previous and next are the neighbours of a turn in a queue.
	previous, next *turn
	// begun is closed when a turn that had to wait begins.
	begun chan struct{}
}

// memberLocks lets the runs of each member take turns, first come first served. Its
// zero value is ready, and it is safe for concurrent use.
type memberLocks struct {
	// onWait, if any, is told of a turn that has to wait, before it does.
	onWait func(ctx context.Context, member string, begun <-chan struct{})

	mutex sync.Mutex
	// held has the turns that are held; those that wait are queued behind them.
	held map[memberKey]*turn
}

// acquire waits for the turn of a member. parent is the turn of the run that the new
// one is nested in, or nil. What it returns is to be released.
//
// FailedPrecondition: the wait would never end, since what holds the member waits for
// a member that parent, or a turn that parent is nested in, holds itself. Of the waits
// that close such a circle only the last one fails. Canceled: ctx ended first.
func (l *memberLocks) acquire(ctx context.Context, key memberKey, parent *turn) (*turn, error) {
	if ctx.Err() != nil {
		return nil, notWaited(ctx, key)
	}
	t := &turn{key: key, parent: parent}
	if err := l.enter(t); err != nil {
		return nil, err
	}
	if t.begun == nil {
		return t, nil
	}
	if !l.await(ctx, t) {
		return nil, notWaited(ctx, key)
	}
	return t, nil
}

// await waits until a turn begins, and reports whether it has. It is given up where ctx ends.
func (l *memberLocks) await(ctx context.Context, t *turn) (hasBegun bool) {
	defer func() {
		if !hasBegun { // Also where onWait panics.
			l.abandon(t)
		}
	}()
	if l.onWait != nil {
		l.onWait(ctx, t.key.member, t.begun)
	}
	select {
	case <-t.begun:
		return true
	case <-ctx.Done():
		return false
	}
}

// tryAcquire begins a turn of a member that nobody has, and reports whether nobody did.
func (l *memberLocks) tryAcquire(t *turn) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.held[t.key] != nil {
		return false
	}
	l.hold(t)
	return true
}

// hold begins the turn of a member that nobody has, for a caller that holds the mutex.
func (l *memberLocks) hold(t *turn) {
	if l.held == nil {
		l.held = map[memberKey]*turn{}
	}
	t.isHeld = true
	l.held[t.key] = t
}

// enter begins a turn, or puts it at the end of the queue.
func (l *memberLocks) enter(t *turn) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	holder := l.held[t.key]
	if holder == nil {
		l.hold(t)
		return nil
	}
	if circle := l.circle(t, holder); circle != nil {
		return waitsForItself(circle, t.isWithin(holder))
	}
	t.begun = make(chan struct{})
	holder.enqueue(t)
	return nil
}

// hasQueue reports whether a turn of a member waits already.
func (l *memberLocks) hasQueue(key memberKey) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	holder := l.held[key]
	return holder != nil && holder.first != nil
}

// release ends a turn, and begins the one that waits for the member the longest.
// Releasing a turn again does nothing.
func (l *memberLocks) release(t *turn) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.end(t)
}

// abandon ends a turn whose wait was given up. It may have begun at the last moment.
func (l *memberLocks) abandon(t *turn) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if t.isHeld {
		l.end(t)
		return
	}
	l.held[t.key].dequeue(t)
}

func (l *memberLocks) end(t *turn) {
	if !t.isHeld {
		return
	}
	t.isHeld = false
	next := t.first
	if next == nil {
		delete(l.held, t.key)
		return
	}
	t.dequeue(next)
	next.first, next.last = t.first, t.last
	t.first, t.last = nil, nil
	next.isHeld = true
	l.held[t.key] = next
	close(next.begun)
}

// enqueue puts a turn at the end of the queue behind t.
func (t *turn) enqueue(waiter *turn) {
	waiter.previous = t.last
	if t.last == nil {
		t.first = waiter
	} else {
		t.last.next = waiter
	}
	t.last = waiter
}

// dequeue takes a turn out of the queue behind t.
func (t *turn) dequeue(waiter *turn) {
	if waiter.previous == nil {
		t.first = waiter.next
	} else {
		waiter.previous.next = waiter.next
	}
	if waiter.next == nil {
		t.last = waiter.previous
	} else {
		waiter.next.previous = waiter.previous
	}
	waiter.previous, waiter.next = nil, nil
}

// circle returns the members that would wait for each other if t waited for holder:
// the first one waits for the second and so on, and the last one is the first. It is
// nil where the wait ends.
//
// A turn that t is nested in cannot end before t does. Nor can a turn that waits for
// one of these, and all that it is nested in, and so on: the holder must not be among
// them. The turns that wait for the holder before t need not be looked at, since they
// wait for nothing else.
func (l *memberLocks) circle(t, holder *turn) []string {
	if t.parent == nil {
		return nil
	}
	b := blocking{by: map[*turn]*turn{}}
	b.add(t)
	for i := 0; i < len(b.found); i++ { //nolint:intrange // The list grows meanwhile.
		if b.found[i] == holder {
			return l.membersOf(b, holder, t)
		}
		for waiter := b.found[i].first; waiter != nil; waiter = waiter.next {
			b.add(waiter)
		}
	}
	return nil
}

// blocking collects turns that are held and cannot end before another one.
type blocking struct {
	found []*turn
	// by is the turn, nested in the one that was found, that has to wait.
	by map[*turn]*turn
}

// add adds the turns that a waiting one is nested in. A turn that outlived its parent
// does not keep it from ending.
func (b *blocking) add(waiter *turn) {
	for t := waiter.parent; t != nil && t.isHeld; t = t.parent {
		if _, known := b.by[t]; known {
			return
		}
		b.by[t] = waiter
		b.found = append(b.found, t)
	}
}

// membersOf returns the members of the circle that t would close, from the turn that t
// is nested in and that is waited for at last.
func (l *memberLocks) membersOf(b blocking, holder, t *turn) []string {
	var members []string
	from := holder
	for b.by[from] != t {
		members = append(members, from.membersDownTo(b.by[from])...)
		from = l.held[b.by[from].key]
	}
	return slices.Concat(from.membersDownTo(t), members, []string{from.key.member})
}

// membersDownTo returns the members of t and of the turns between it and nested, which
// is left out.
func (t *turn) membersDownTo(nested *turn) []string {
	var members []string
	for nested != t {
		nested = nested.parent
		members = append(members, nested.key.member)
	}
	slices.Reverse(members)
	return members
}

// isWithin reports whether a turn is nested in another one.
func (t *turn) isWithin(outer *turn) bool {
	for at := t.parent; at != nil; at = at.parent {
		if at == outer {
			return true
		}
	}
	return false
}

// circleError is the wait of members for each other.
type circleError struct {
	// members are those who wait, each for the next one.
	members []string
	// isOwn tells that the run waits for itself, whenever it runs. Else it waits for a run that
	// waits for it, and which ends.
	isOwn bool
}

// Error names the members.
func (c *circleError) Error() string {
	return fmt.Sprintf("the wait would never end: %s waits for %s; let only one of them redirect the other, "+
		"or make an agenda that does so later", c.members[0], strings.Join(c.members[1:], ", which waits for "))
}

// waitsForItself is the error for members that would wait for each other.
func waitsForItself(circle []string, isOwn bool) error {
	return &boterr.Error{Code: boterr.FailedPrecondition, Err: &circleError{members: circle, isOwn: isOwn}}
}

func notWaited(ctx context.Context, key memberKey) error {
	return boterr.New(boterr.Canceled, "", "the context ended before the run of member %s could begin: %w",
		key.member, context.Cause(ctx))
}
