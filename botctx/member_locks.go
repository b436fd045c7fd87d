package botctx

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// memberKey names a member of an app.
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

// end hands the member of a turn on.
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

// notWaited is the error for a wait that was given up.
func notWaited(ctx context.Context, key memberKey) error {
	return boterr.New(boterr.Canceled, "", "the context ended before the run of member %s could begin: %w",
		key.member, context.Cause(ctx))
}
