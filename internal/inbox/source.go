package inbox

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
)

// A source finds the lanes with work, and ensures that each is handled by one worker at a time. distributed is
// for stores that processes share, and exclusive for a store that this process has to itself. An inbox takes
// lanes from its source, handles their events, and puts the lanes back.
type source interface {
	// base returns the shared part of all sources.
	base() *taker
	// prepare updates the lanes and returns the time of the store's clock. ok is false if no lane can be taken now.
	// The caller holds taking.
	prepare(ctx context.Context, want want) (now time.Time, ok bool, err error)
	// more searches for further lanes if none are ready. It reports whether one may be ready now.
	more(ctx context.Context, want want) (bool, error)
	// open returns the first events of a taken lane that can be handled now. If there are none, ok is false and the
	// source has put the lane back.
	open(ctx context.Context, name string, want want) (w work, ok bool, err error)
	// begun records the taken lanes, in case the process dies.
	begun(ctx context.Context, taken []work) error
	// left puts back a lane that was taken.
	left(ctx context.Context, w work, left laneState)
	// accepted reports that this process accepted an event of a lane, or put one back.
	accepted(name string)
	// next returns the time, by the store's clock, at which a lane can be handled. ok is false if no lane waits.
	next(ctx context.Context) (at time.Time, ok bool, err error)
	// counted returns the number of events of an app that wait or are being handled. An empty app means all
	// apps; then it also returns the oldest event. ok is false if the source does not know the number.
	counted(app string) (pending int64, oldest document.Object, ok bool)
	// close releases everything that take uses. A later take starts from scratch. The caller holds taking.
	close(ctx context.Context)
}

// taker is the common part of all sources. It chooses lanes.
type taker struct {
	*Inbox

	// taking is locked while lanes are taken. The order of locks is taking, the store's locks, mu.
	taking sync.Mutex
	mu     sync.Mutex
	// lanes is nil if the source knows no lanes. hasSkipped is true if it has omitted lanes that may be ready.
	lanes      *lanes
	hasSkipped bool
}

// want describes what an inbox wants from a source.
type want struct {
	// lanes is the maximum number of lanes, and each the maximum number of events per lane.
	lanes, each int
	// shares are the places of workers, or nil if the caller takes lanes one by one. Taking a lane takes a place, and leaving
	// the lane returns it.
	shares *fair.Shares
	// isNew makes the source read everything again, including lanes that could not be entered and work of other
	// processes.
	isNew bool
	// isForced makes the source take the lead back from another inbox. Pauses after failures are exact then.
	isForced bool
	// now is the time of the store's clock, set by take.
	now time.Time
}

// work is a lane that was taken.
type work struct {
	lane string
	// seen is the lane's document as it was before the events were read, if the lane has one.
	seen   document.Object
	events []stored
	// hasMore is true if there may be more events than these.
	hasMore bool
	// leave ends the use of the lane in this process, and returns its place. free returns the place earlier;
	// it is nil if that is not possible.
	leave, free func()
	// held is the lane's lease if it started when the lane was taken.
	held *lease.Lease
}

// laneState is the state of a lane when it is left.
type laneState struct {
	// hasMore is true if there may be more work at once.
	hasMore bool
	// isBroken is true if the store failed or another process has the lane. The lane then waits for the next poll.
	isBroken bool
	// retryAt is the time of the next attempt at the lane's first event, or zero.
	retryAt time.Time
}

func sourceOf(b *Inbox, database store.Store, guarded store.Store) source {
	if watcher, isAlone := database.(store.Watcher); isAlone {
		return newExclusive(b, watcher, guarded.Collection(noteCollection))
	}
	return newDistributed(b)
}

func (t *taker) base() *taker { return t }

// take enters lanes that can be handled now. Apps take turns, and so do the channels of an app and the lanes of a
// channel. pause is the maximum wait for the next lane unless the inbox is woken. The caller must leave each lane.
func take(ctx context.Context, from source, want want) (taken []work, pause time.Duration, err error) {
	t := from.base()
	t.taking.Lock()
	defer t.taking.Unlock()
	hasBegun := false
	defer func() {
		if !hasBegun { // The store failed, or ended the goroutine.
			for _, w := range taken {
				from.left(ctx, w, laneState{isBroken: true})
			}
			taken = nil
		}
	}()
	now, ok, err := from.prepare(ctx, want)
	if err != nil || !ok {
		return nil, t.config.Poll, err
	}
	want.now = now
	for len(taken) < want.lanes {
		w, ok, err := t.takeNext(ctx, from, want)
		if err != nil {
			return taken, t.config.Poll, err
		}
		if !ok {
			break
		}
		taken = append(taken, w)
	}
	if err := from.begun(ctx, taken); err != nil {
		return taken, t.config.Poll, err
	}
	hasBegun = true
	if _, isOnly := t.suspects.Only(t.config.Env.Now()); isOnly {
		return taken, t.config.Poll, nil // The inbox is woken when a lane is left.
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lanes == nil {
		return taken, 0, nil // The store's content was replaced meanwhile.
	}
	return taken, t.lanes.pause(want.shares.May, t.config.Poll), nil
}

// takeNext takes and enters the next lane that can be entered. While a suspect must run alone, this can only be its
// lane.
func (t *taker) takeNext(ctx context.Context, from source, want want) (w work, ok bool, err error) {
	for {
		only, isOnly := t.suspects.Only(t.config.Env.Now())
		if isOnly && (only == "" || t.underWay.Load() > 0) {
			return work{}, false, nil
		}
		name, isTaken := t.takeLane(only, want)
		if isTaken {
			if w, ok, err = t.enterLane(ctx, from, name, want); ok || err != nil {
				return w, ok, err
			}
		}
		if isOnly {
			t.suspects.Drop(only, t.config.Env.Now())
		} else if !isTaken {
			if hasMore, err := from.more(ctx, want); err != nil || !hasMore {
				return work{}, false, err
			}
		}
	}
}

// takeLane takes a lane and a place for it: the lane only or, if that is "", the next ready lane.
func (t *taker) takeLane(only string, want want) (name string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next *lane
	switch {
	case t.lanes == nil:
	case only != "":
		next = t.lanes.takeOnly(only, want.shares.Take)
	default:
		next = t.lanes.take(want.shares.Take)
	}
	if next == nil {
		return "", false
	}
	return next.name, true
}

// enterLane enters a lane that was taken, if it has work. Otherwise it returns the lane's place.
func (t *taker) enterLane(ctx context.Context, from source, name string, want want) (w work, ok bool, err error) {
	isOurs := true
	defer func() {
		if isOurs { // The lane cannot be entered, or the store failed or ended the goroutine.
			t.setAside(name)
		}
		if !ok {
			want.shares.Release(keyOf(name))
		}
	}()
	w, ok, err = from.open(ctx, name, want)
	if isOurs = ok || err != nil; !ok {
		return work{}, false, err
	}
	allowed := untilSuspect(w.events)
	w.hasMore = w.hasMore || len(w.events) > len(allowed)
	w.events = allowed
	leave, ok := t.enter(name, allowed[0])
	if !ok {
		return work{}, false, nil
	}
	isOurs = false
	w.free = sync.OnceFunc(func() { want.shares.Release(keyOf(name)) })
	w.leave = func() {
		leave()
		w.free()
	}
	return w, true, nil
}

// setAside parks a taken lane, unless the lane has changed meanwhile.
func (t *taker) setAside(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lanes == nil || t.lanes.known[name] == nil {
		return
	}
	of := t.lanes.known[name]
	isNews := of.isNews
	t.lanes.park(of, 0)
	if isNews {
		t.lanes.ask(name)
	}
}

func (t *taker) hasReady() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lanes != nil && t.lanes.ready.Len() > 0 || t.hasSkipped
}

// markFree makes a parked lane ready, because it may be entered now, and wakes the inbox.
func (t *taker) markFree(name string) {
	t.mu.Lock()
	isReady := t.lanes != nil && t.lanes.ask(name)
	t.mu.Unlock()
	if isReady {
		t.signal()
	}
}
