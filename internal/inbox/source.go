package inbox

import (
	"container/list"
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// source finds what can be handled, and keeps lanes apart. There is one for a store that processes
// share, and one for a store that this process has to itself.
type source interface {
	overview

	// take enters lanes that can be handled now: apps take turns, within an app its channels, and within a
	// channel its lanes. pause is how long there will be no others unless the inbox is woken. The caller
	// must leave each lane.
	take(ctx context.Context, want want) (taken []work, pause time.Duration, err error)
	// begin begins the lease of a lane that was taken. It is nil where somebody else had one since.
	begin(ctx context.Context, w work) (*lease.Lease, error)
	// hold takes a lane for an event that is about to be accepted, if it can begin with that: then its
	// document has fieldBegun. confirm is told that the store has it, and reports whether it begins. The
	// lane is to be left in either case.
	hold(lane string, of fair.Key) (w work, isFree bool)
	confirm(w *work, e stored) bool
	// leave leaves a lane.
	leave(ctx context.Context, w work, left laneState)
	// next returns when a lane can be handled, by the store's clock. ok is false where there is none to
	// wait for.
	next(ctx context.Context) (at time.Time, ok bool, err error)
	// accepted is told that an event was accepted here, or put back, for a lane.
	accepted(lane string)
	// isFree is told that a lane may be entered that could not be.
	isFree(lane string)
	// hasReady reports whether lanes wait for their turn.
	hasReady() bool
	// handling returns the number of lanes that this process is handling.
	handling() int
	// close gives back what serves further calls of take.
	close(ctx context.Context)
}

// overview is what a source knows of all events, or does with them in its own way.
type overview interface {
	// pending returns how many events wait or are handled, and pendingOf the same for an app. oldest
	// returns when the first of them was accepted, zero if there are none.
	pending(ctx context.Context) (int64, error)
	pendingOf(ctx context.Context, app string) (int64, error)
	oldest(ctx context.Context) (time.Time, error)
	// findOld returns at most retentionBatch of the events that a filter matches. The filter bounds a field,
	// which is fieldDoneAt or fieldDiedAt.
	findOld(ctx context.Context, which document.Object, field string) ([]document.Object, error)
	// findDead returns a page of dead letters, in the order of the page.
	findDead(ctx context.Context, p deadPage) ([]document.Object, error)
	// erase removes what the source keeps of a lane whose events were removed, unless it is in use.
	erase(ctx context.Context, lane string) error
}

// want is what is asked of a source.
type want struct {
	// lanes is the number of lanes, and each the number of events of one lane.
	lanes, each int
	// shares are the places of workers: a lane takes one as it is taken, and gives it back as it is left.
	// nil if lanes need no place.
	shares *fair.Shares
	// part takes a part of a pause.
	part func(time.Duration) time.Duration
	// isNew tells to look at everything anew: at lanes that could not be entered, and at what other
	// processes have done.
	isNew bool
	// isForced tells to take over from an inbox that has taken over from this one.
	isForced bool
}

// take takes a place for a lane of a channel, if one is to be had.
func (w want) take(k fair.Key) bool { return w.shares == nil || w.shares.Take(k) }

// may reports whether take would get a place.
func (w want) may(k fair.Key) bool { return w.shares == nil || w.shares.May(k) }

// release gives back what take got.
func (w want) release(k fair.Key) {
	if w.shares != nil {
		w.shares.Release(k)
	}
}

// work is a lane that can be handled.
type work struct {
	lane string
	// seen is the lane's document as it was when its events were read after it, where there are any.
	seen   document.Object
	events []stored
	// hasMore tells that there may be more events than these.
	hasMore bool
	// leave leaves the lane in this process.
	leave func()
	// held is the lane's lease where it has begun with the lane's being taken.
	held *lease.Lease
	// isAtOnce tells that the first event has begun with its acceptance.
	isAtOnce bool
}

// laneState says how a lane is left.
type laneState struct {
	// hasMore tells that there may be more to do at once.
	hasMore bool
	// isGivenBack tells that events are left that were not begun, or whose runs were ended.
	isGivenBack bool
	// isBroken tells that the store failed, so that the lane waits for the next poll.
	isBroken bool
	// retryAt is when the lane's first event is tried again, zero where none is.
	retryAt time.Time
}

// fill fills the queue where that is needed, and follows the store from then on. The caller holds
// taking.
func (a *exclusive) fill(ctx context.Context) error {
	for !a.isFilled() {
		if err := a.watch(); err != nil {
			return err
		}
		found, err := a.find(ctx, document.O(fieldState, document.O("$in", document.A(statePending, stateDead))), store.FindOptions{})
		q := newQueue()
		for _, o := range found {
			q.change(document.Object{}, o)
		}
		a.filled(q, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// isFilled reports whether there is a queue, and notes that it is being filled where there is none.
func (a *exclusive) isFilled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isFilling, a.early = a.queue == nil, nil
	return a.queue != nil
}

// filled sets the queue, unless all has changed meanwhile.
func (a *exclusive) filled(q *queue, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.isFilling {
		for _, c := range a.early {
			q.catchUp(c.before, c.after)
		}
		for lane := range a.begun {
			q.hold(lane)
		}
		a.queue = q
	}
	a.isFilling, a.early = false, nil
}

// watch begins to follow the store. A panic of the watcher is an error.
func (a *exclusive) watch() (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = boterr.Recovered(thrown)
		}
	}()
	if len(a.stop) == 0 {
		a.stop = append(a.stop, a.watcher.Watch(collection, a.changed, a.reset))
	}
	if len(a.stop) == 1 {
		a.stop = append(a.stop, a.watcher.Watch(noteCollection, a.noteChanged, a.reset))
	}
	return nil
}

// changed is told each change of an event.
func (a *exclusive) changed(before, after document.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.isFilling:
		a.early = append(a.early, documentChange{before, after})
	case a.queue != nil && a.queue.change(before, after):
		a.signal()
	}
}

// reset is told that everything changed: who leads is to be found out anew, and what is under
// way belongs to what was.
func (a *exclusive) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endLocked()
	a.isDeposed, a.isFilling, a.early = false, false, nil
	a.signal()
}

func (a *exclusive) close(ctx context.Context) {
	a.taking.Lock()
	defer a.taking.Unlock()
	a.resign(ctx)
	for _, stop := range a.stop {
		stopQuietly(stop)
	}
	a.stop = nil
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = nil
}

// stopQuietly ends the watching. What it panics with is dropped: nothing that is told later counts.
func stopQuietly(stop func()) {
	defer func() { _ = recover() }()
	stop()
}

// pass is a way through the queue of events, in the order of their acceptance.
type pass struct {
	isUnderWay bool
	// after is when the last event was accepted that was looked at, and there are the ids of those that
	// were accepted at that time.
	after int64
	there []any
	// skipped are channels that the pass has left out, since enough of their lanes are known, and since is
	// after at the first of them.
	skipped map[fair.Key]bool
	since   int64
	// long are lanes with so many events that the rest of the pass leaves them out.
	long []any
}

const (
	// skips is the number of channels, and of lanes, that a pass leaves out at most.
	skips = 64
	// many is the number of events in a page from which on a lane is left out of the next ones.
	many = pageSize / 16
)

// further adds the next lanes of the pass to the fresh ones that are not known to be held or to wait.
func (s *distributed) further(ctx context.Context, now time.Time, want want) error {
	page, err := s.page(ctx, now, s.crowded(want))
	if err != nil {
		return err
	}
	s.pass.isUnderWay = len(page) == pageSize
	for _, o := range page {
		at, _ := o.Value(fieldAcceptedAt).(int64)
		if at != s.pass.after {
			s.pass.after, s.pass.there = at, nil
		}
		s.pass.there = append(s.pass.there, idOf(o))
	}
	s.leaveOutLong(page)
	if err := s.repairLanes(ctx, page); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range page {
		if retryAtOf(o) > int64(document.TimestampOf(now)) {
			delete(s.waiting, laneOf(o)) // The clock was set back: see isPaused.
		}
	}
	for _, lane := range lanesOf(page) {
		if until, waits := s.waiting[lane]; !s.busy.has(lane) && (!waits || !until.After(now)) {
			s.lookAtLocked(lane)
		}
	}
	return nil
}

// leaveOutLong leaves the lanes that fill a page out of the next ones.
func (s *distributed) leaveOutLong(page []document.Object) {
	events := map[string]int{}
	for _, o := range page {
		lane := laneOf(o)
		events[lane]++
		if events[lane] == many && len(s.pass.long) < skips {
			s.pass.long = append(s.pass.long, lane)
		}
	}
}

// crowded returns the channels that have no place to give and of which enough lanes are known: the pass
// leaves them out, so that their backlog hides nobody.
func (s *distributed) crowded(want want) []fair.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []fair.Key
	s.fresh.All(func(k fair.Key, lanes *list.List) bool {
		if lanes.Len() >= window && !want.may(k) {
			if s.pass.skipped == nil {
				s.pass.skipped, s.pass.since = map[fair.Key]bool{}, s.pass.after
			}
			s.pass.skipped[k] = true
			keys = append(keys, k)
		}
		return len(keys) < skips
	})
	return keys
}

// resumes begins a pass where the last one began to leave a channel out, if no more of its lanes are known
// and it has a place.
func (s *distributed) resumes(want want) bool {
	if s.pass.isUnderWay {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.pass.skipped {
		if _, isKnown := s.fresh.Find(k); !isKnown && want.may(k) {
			s.pass = pass{isUnderWay: true, after: s.pass.since}
			return true
		}
	}
	return false
}

// page returns the next events of the pass. Those that are tried again later are not among them, nor
// those of some channels.
func (s *distributed) page(ctx context.Context, now time.Time, but []fair.Key) ([]document.Object, error) {
	at := int64(document.TimestampOf(now))
	which := document.O(
		fieldState, statePending, fieldAcceptedAt, document.O("$gte", s.pass.after),
		"$or", document.A( // See isPaused.
			document.O(fieldRetryAt, document.O("$not", document.O("$gt", at))),
			document.O(fieldPausedAt, document.O("$gt", at+clockSlack)),
		),
	)
	if len(s.pass.there) > 0 {
		which = which.With(fieldID, document.O("$nin", document.A(s.pass.there...)))
	}
	if len(s.pass.long) > 0 {
		which = which.With(fieldLane, document.O("$nin", document.A(s.pass.long...)))
	}
	if len(but) > 0 {
		var channels []any
		for _, k := range but {
			channels = append(channels, document.O(fieldApp, k.App, fieldChannel, k.Channel))
		}
		which = which.With("$nor", document.A(channels...))
	}
	shown, err := query.CompileProjection(document.O(fieldLane, 1, fieldState, 1, fieldAcceptedAt, 1, fieldRetryAt, 1))
	if err != nil {
		return nil, err
	}
	return s.findSorted(ctx, which, fieldAcceptedAt, store.FindOptions{Limit: pageSize, Projection: shown})
}
