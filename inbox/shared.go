package inbox

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/lease"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// shared is the feed of an inbox over a store that processes share. It finds lanes in three ways: those
// of which it knows that there is something to do, as soon as it does; those that wait for a time, when
// it comes; and all others by passes, which follow the queue of events from its beginning to its end. No
// look begins at the beginning for another reason, so that what waits is not read again and again.
type shared struct {
	*Inbox

	// taking is held by who takes.
	taking sync.Mutex
	// found are lanes that were found and not taken yet, and foundAt when that was by the own clock.
	found   []work
	foundAt time.Time
	pass    pass

	mu sync.Mutex
	// fresh are lanes to look at, each once.
	fresh   []string
	isFresh map[string]bool
	// waiting is until when lanes wait, by the store's clock, and times is that in the order of time,
	// with others that count no more.
	waiting map[string]time.Time
	times   waits
}

var _ feed = (*shared)(nil)

func newShared(b *Inbox) *shared {
	return &shared{Inbox: b, isFresh: map[string]bool{}, waiting: map[string]time.Time{}}
}

// take implements feed.
func (s *shared) take(ctx context.Context, want want) (taken []work, pause time.Duration, err error) {
	s.taking.Lock()
	defer s.taking.Unlock()
	if want.isNew && !s.pass.isUnderWay {
		s.pass = pass{isUnderWay: true}
	}
	s.dropStale()
	for {
		for len(s.found) > 0 && len(taken) < want.lanes {
			w := s.found[0]
			s.found = s.found[1:]
			if w.leave = s.enter(w.lane); w.leave != nil {
				w.events = w.events[:min(len(w.events), want.each)]
				taken = append(taken, w)
			}
		}
		if len(taken) == want.lanes {
			return taken, 0, nil
		}
		pause, err = s.lookOn(ctx)
		if err != nil || len(s.found) == 0 && pause > 0 {
			return taken, pause, err
		}
	}
}

// dropStale looks at lanes again that were found long ago: what was seen of them must not be older
// than a lease.
func (s *shared) dropStale() {
	age := s.config.Env.Now().Sub(s.foundAt)
	if age >= 0 && age < s.turns.Lease()/lease.BeatsPerLease {
		return
	}
	for _, w := range s.found {
		s.lookAt(w.lane)
	}
	s.found = nil
}

// lookOn looks for lanes: at those of which is known that it is their time, else further along the
// queue. Where there is nowhere to look it returns how long.
func (s *shared) lookOn(ctx context.Context) (pause time.Duration, err error) {
	isKnown := s.hasFresh()
	if !isKnown && !s.pass.isUnderWay && !s.hasWaits() {
		return s.config.Poll, nil
	}
	s.foundAt = s.config.Env.Now()
	now, err := s.turns.Now(ctx)
	if err != nil {
		return s.config.Poll, err
	}
	lanes := s.due(now)
	if len(lanes) == 0 && s.pass.isUnderWay {
		if lanes, err = s.further(ctx, now); err != nil {
			return s.config.Poll, err
		}
	} else if len(lanes) == 0 {
		return s.untilNext(now), nil
	}
	return 0, s.lookAtAll(ctx, lanes, now)
}

// lookAtAll looks at lanes, and notes what is to be done with each.
func (s *shared) lookAtAll(ctx context.Context, lanes []string, now time.Time) error {
	for _, lane := range lanes { // Before it is looked, so that none is missed that is left meanwhile.
		s.busy.refuse(lane)
	}
	seen, err := s.lookInto(ctx, lanes, now)
	if err != nil {
		for _, lane := range lanes {
			s.lookAt(lane)
		}
		return err
	}
	for _, lane := range lanes {
		if _, isHeld := seen.held[lane]; !isHeld {
			s.busy.isFree(lane)
		}
	}
	s.found = seen.free
	for lane, at := range seen.waiting {
		s.waitUntil(lane, at)
	}
	for lane, at := range seen.held {
		s.remindAt(lane, at)
	}
	for _, lane := range seen.unseen {
		s.lookAt(lane)
	}
	return nil
}

// pass is a way through the queue of events, in the order of their acceptance.
type pass struct {
	isUnderWay bool
	// after is when the last event was accepted that was looked at, and there are the ids of those that
	// were accepted at that time.
	after int64
	there []any
}

// further returns the next lanes of the pass that are not known to be held or to wait.
func (s *shared) further(ctx context.Context, now time.Time) ([]string, error) {
	page, err := s.page(ctx, now)
	if err != nil {
		return nil, err
	}
	s.pass.isUnderWay = len(page) == window
	for _, o := range page {
		at, _ := o.Value(fieldAcceptedAt).(int64)
		if at != s.pass.after {
			s.pass.after, s.pass.there = at, nil
		}
		s.pass.there = append(s.pass.there, idOf(o))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lanes []string
	for _, lane := range lanesOf(page) {
		if until, waits := s.waiting[lane]; !s.busy.has(lane) && (!waits || !until.After(now)) {
			lanes = append(lanes, lane)
		}
	}
	return lanes, nil
}

// page returns the next events of the pass. Those that are tried again later are not among them.
func (s *shared) page(ctx context.Context, now time.Time) ([]document.Object, error) {
	which := document.O(
		fieldState, statePending, fieldAcceptedAt, document.O("$gte", s.pass.after),
		fieldRetryAt, document.O("$not", document.O("$gt", int64(document.At(now)))),
	)
	if len(s.pass.there) > 0 {
		which = which.With(fieldID, document.O("$nin", document.A(s.pass.there...)))
	}
	shown, err := query.CompileProjection(document.O(fieldLane, 1, fieldAcceptedAt, 1))
	if err != nil {
		return nil, err
	}
	return s.findSorted(ctx, which, fieldAcceptedAt, store.FindOptions{Limit: window, Projection: shown})
}

// begin implements feed.
func (s *shared) begin(ctx context.Context, w work) (*lease.Turn, error) { return s.claim(ctx, w) }

// ready implements feed: only a look tells.
func (s *shared) ready() int { return s.config.Workers }

// hold implements feed: the claim of a lane is a write of its own.
func (*shared) hold(string) (w work, isFree bool) { return work{}, false }

// confirm implements feed.
func (*shared) confirm(*work, stored) bool { return false }

// leave implements feed.
func (s *shared) leave(_ context.Context, w work, rest rest) {
	w.leave()
	switch {
	case rest.isBroken:
	case !rest.retryAt.IsZero():
		s.waitUntil(w.lane, rest.retryAt)
		s.signal()
	case rest.hasMore || rest.isGivenBack:
		s.lookAt(w.lane)
		s.signal()
	}
}

// enter enters a lane, here and where Config.Enter says, and returns how to leave it: nil where it cannot
// be entered now.
func (s *shared) enter(lane string) (leave func()) {
	if !s.busy.enter(lane) {
		return nil
	}
	s.busy.refuse(lane) // Before it is asked, so that none is missed that is free meanwhile.
	further, ok := s.config.Enter(lane)
	if !ok {
		s.busy.leave(lane)
		return nil
	}
	s.busy.isFree(lane)
	return func() {
		further()
		if s.busy.leave(lane) {
			s.look(lane)
		}
	}
}

// handling implements feed.
func (s *shared) handling() int { return s.busy.count() }

// accepted implements feed.
func (s *shared) accepted(lane string) {
	if s.busy.note(lane) {
		s.look(lane)
	}
}

// isFree implements feed.
func (s *shared) isFree(lane string) {
	if s.busy.isFree(lane) {
		s.look(lane)
	}
}

// look implements feed.
func (s *shared) look(lane string) {
	if s.running.Load() {
		s.lookAt(lane)
		s.signal()
	}
}

// close implements feed.
func (s *shared) close(context.Context) {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.found, s.pass = nil, pass{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh, s.times = nil, nil
	clear(s.isFresh)
	clear(s.waiting)
}

// next implements feed.
func (s *shared) next(ctx context.Context) (at time.Time, ok bool, err error) {
	fresh := newShared(s.Inbox)
	taken, _, err := fresh.take(ctx, want{lanes: 1, each: 1, isNew: true})
	if err != nil {
		return time.Time{}, false, err
	}
	now, err := s.turns.Now(ctx)
	if len(taken) > 0 || err != nil {
		for _, w := range taken {
			w.leave()
		}
		return now, err == nil, err
	}
	retried, err := s.findSorted(ctx, document.O(
		fieldState, statePending, fieldRetryAt, document.O("$gt", int64(document.At(now)))), fieldRetryAt, store.FindOptions{Limit: 1})
	if err != nil {
		return time.Time{}, false, err
	}
	if len(retried) > 0 {
		at, ok = document.Timestamp(retryAtOf(retried[0])).Time(), true
	}
	if len(fresh.times) > 0 && (!ok || fresh.times[0].at.Before(at)) {
		at, ok = fresh.times[0].at, true
	}
	return at, ok, nil
}

// lookAt notes a lane to look at.
func (s *shared) lookAt(lane string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookAtLocked(lane)
}

// lookAtLocked is lookAt for a caller that holds mu.
func (s *shared) lookAtLocked(lane string) {
	if !s.isFresh[lane] {
		s.isFresh[lane] = true
		s.fresh = append(s.fresh, lane)
	}
}

func (s *shared) hasFresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fresh) > 0
}

func (s *shared) hasWaits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.times) > 0
}

// waitUntil notes until when a lane waits.
func (s *shared) waitUntil(lane string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.waiting[lane].Equal(at) {
		s.waiting[lane] = at
		heap.Push(&s.times, wait{lane: lane, at: at})
	}
}

// remindAt has a lane looked at when a time comes, or before.
func (s *shared) remindAt(lane string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heap.Push(&s.times, wait{lane: lane, at: at})
}

// due returns some of the lanes to look at now.
func (s *shared) due(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.times) > 0 && !s.times[0].at.After(now) {
		w, _ := heap.Pop(&s.times).(wait)
		if until, waits := s.waiting[w.lane]; waits && !until.After(now) {
			delete(s.waiting, w.lane)
		}
		s.lookAtLocked(w.lane)
	}
	var lanes []string
	for len(s.fresh) > 0 && len(lanes) < window {
		lane := s.fresh[0]
		s.fresh = s.fresh[1:]
		delete(s.isFresh, lane)
		if !s.busy.has(lane) {
			lanes = append(lanes, lane)
		}
	}
	return lanes
}

// untilNext returns how long nothing is to be looked at.
func (s *shared) untilNext(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.times) == 0 {
		return s.config.Poll
	}
	return max(time.Millisecond, min(s.config.Poll, s.times[0].at.Sub(now)))
}

// wait is a lane that waits for a time.
type wait struct {
	lane string
	at   time.Time
}

// waits are in the order of time.
type waits []wait

// Len implements heap.Interface.
func (w waits) Len() int { return len(w) }

// Less implements heap.Interface.
func (w waits) Less(i, j int) bool { return w[i].at.Before(w[j].at) }

// Swap implements heap.Interface.
func (w waits) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push implements heap.Interface.
func (w *waits) Push(x any) {
	next, _ := x.(wait)
	*w = append(*w, next)
}

// Pop implements heap.Interface.
func (w *waits) Pop() any {
	last := len(*w) - 1
	popped := (*w)[last]
	*w = (*w)[:last]
	return popped
}
