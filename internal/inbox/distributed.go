package inbox

import (
	"container/heap"
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
)

// distributed is the source of an inbox over a store that processes share. It finds lanes in three ways: those
// known to have something to do, at once; those that wait for a time, when it comes; and all others by
// passes, which follow the queue of events from its beginning to its end. What was found takes turns: apps,
// within an app its channels, and within a channel its lanes.
type distributed struct {
	*Inbox

	// taking is held by who takes.
	taking sync.Mutex
	pass   pass

	mu sync.Mutex
	// fresh are the names of lanes to look at, by channel, each lane once.
	fresh   fair.Ring[*list.List]
	isFresh map[string]bool
	// sights are fresh lanes that were looked at ahead of their turn. looking are the lanes of the look
	// under way of which nothing new was heard since it began, at lookedAt by the own clock.
	sights   map[string]seenLane
	looking  map[string]bool
	lookedAt time.Time
	// waiting is until when lanes wait, by the store's clock, and times is that in the order of time,
	// with others that count no more.
	waiting map[string]time.Time
	times   waits
	// now is the latest reading of the store's clock.
	now time.Time
}

type seenLane struct {
	work work
	at   time.Time
}

// maxSights is the number of lanes that are looked at ahead of their turn at most.
const maxSights = 4 * window

var _ source = (*distributed)(nil)

func newDistributed(b *Inbox) *distributed {
	return &distributed{
		Inbox: b, isFresh: map[string]bool{}, sights: map[string]seenLane{}, looking: map[string]bool{}, waiting: map[string]time.Time{},
	}
}

func (s *distributed) take(ctx context.Context, want want) (taken []work, pause time.Duration, err error) {
	s.taking.Lock()
	defer s.taking.Unlock()
	isBack := false
	defer func() {
		if !isBack { // The store has ended the goroutine.
			for _, w := range taken {
				w.leave()
			}
		}
	}()
	pause, err = s.takeInto(ctx, want, &taken)
	isBack = true
	return taken, pause, err
}

func (s *distributed) takeInto(ctx context.Context, want want, taken *[]work) (pause time.Duration, err error) {
	if want.isNew && !s.pass.isUnderWay {
		s.pass = pass{isUnderWay: true}
	}
	if !s.hasWork() && !s.suspects.IsDraining() {
		return s.config.Poll, nil
	}
	now, err := s.leases.Now(ctx)
	if err != nil {
		return s.config.Poll, err
	}
	s.ripen(now)
	if s.pass.isUnderWay { // A little at a time, so that lanes that are known do not hide the others.
		if err := s.further(ctx, now, want); err != nil {
			return s.config.Poll, err
		}
	}
	return s.takeFresh(ctx, now, want, taken)
}

// takeFresh adds lanes until there are as many as are wanted, or no others can be taken.
func (s *distributed) takeFresh(ctx context.Context, now time.Time, want want, taken *[]work) (pause time.Duration, err error) {
	for len(*taken) < want.lanes {
		if isOnly, err := s.takeOnly(ctx, now, want, taken); isOnly || err != nil {
			return s.config.Poll, err // It is woken when a lane is left.
		}
		lane, isFound := s.pop(want)
		switch {
		case isFound:
			if err := s.takeFound(ctx, lane, now, want, taken); err != nil {
				return s.config.Poll, err
			}
		case s.resumes(want):
		case s.pass.isUnderWay:
			if err := s.further(ctx, now, want); err != nil {
				return s.config.Poll, err
			}
		default:
			return s.untilNext(now), nil
		}
	}
	return 0, nil
}

// hasWork reports whether there are lanes to look at, or times to wait for.
func (s *distributed) hasWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pass.isUnderWay || len(s.pass.skipped) > 0 || s.fresh.Len() > 0 || len(s.times) > 0
}

// pop takes the next lane to look at, with a place for it.
func (s *distributed) pop(want want) (lane string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		k, lanes, ok := s.fresh.Next(func(k fair.Key, _ *list.List) bool { return want.take(k) })
		if !ok {
			return "", false
		}
		lane, _ = lanes.Front().Value.(string)
		s.dropFirst(k, lanes)
		if s.busy.note(lane) {
			return lane, true
		}
		want.release(k) // It is being handled here, and looked at when it is left.
	}
}

// dropFirst takes the first lane out of a list of fresh lanes. The caller holds mu.
func (s *distributed) dropFirst(k fair.Key, lanes *list.List) {
	lane, _ := lanes.Remove(lanes.Front()).(string)
	delete(s.isFresh, lane)
	if lanes.Len() == 0 {
		s.fresh.Drop(k)
	}
}

// takeLane takes a lane that has a place, if there is something to do in it and it can be entered.
// Otherwise the place is given back.
func (s *distributed) takeLane(ctx context.Context, lane string, now time.Time, want want) (w work, isTaken bool, err error) {
	k := keyOf(lane)
	defer func() {
		if !isTaken {
			want.release(k)
		}
	}()
	w, isSeen := s.sightOf(lane)
	if !isSeen {
		if err := s.lookAtAll(ctx, append(s.upcoming(want), lane), now); err != nil {
			return work{}, false, err
		}
		if w, isSeen = s.sightOf(lane); !isSeen {
			return work{}, false, nil
		}
	}
	allowed := untilSuspect(w.events[:min(len(w.events), want.each)])
	leave := s.enterFirst(lane, allowed[0])
	if leave == nil {
		return work{}, false, nil
	}
	w.hasMore = w.hasMore || len(w.events) > len(allowed)
	w.events = allowed
	w.leave = func() {
		leave()
		want.release(k)
	}
	return w, true, nil
}

// takeFound adds a lane that has a place, if takeLane takes it.
func (s *distributed) takeFound(ctx context.Context, lane string, now time.Time, want want, taken *[]work) error {
	w, isTaken, err := s.takeLane(ctx, lane, now, want)
	if isTaken {
		*taken = append(*taken, w)
	}
	return err
}

// sightOf takes what was seen of a lane, unless that is too old: it must be younger than a lease.
func (s *distributed) sightOf(lane string) (w work, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.sights[lane]
	delete(s.sights, lane)
	age := s.config.Env.Now().Sub(seen.at)
	return seen.work, ok && age >= 0 && age < s.leases.Duration()/lease.BeatsPerLease
}

// upcoming returns lanes whose turn comes next, and of which nothing was seen yet.
func (s *distributed) upcoming(want want) (lanes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh.All(func(k fair.Key, of *list.List) bool {
		if !want.may(k) {
			return true
		}
		for at := of.Front(); at != nil && len(lanes) < window-1; at = at.Next() {
			lane, _ := at.Value.(string)
			if _, isSeen := s.sights[lane]; !isSeen {
				lanes = append(lanes, lane)
			}
		}
		return len(lanes) < window-1
	})
	return lanes
}

// lookAtAll looks at lanes, and notes what is to be done with each.
func (s *distributed) lookAtAll(ctx context.Context, lanes []string, now time.Time) error {
	s.beginLook(lanes)
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
	s.noteSeen(lanes, seen)
	return nil
}

// beginLook notes which lanes are being looked at.
func (s *distributed) beginLook(lanes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookedAt = s.config.Env.Now()
	clear(s.looking)
	if len(s.sights) > maxSights {
		clear(s.sights)
	}
	for _, lane := range lanes {
		s.looking[lane] = true
	}
}

// noteSeen notes what was seen of lanes. Those of which something new was heard meanwhile are looked at
// again.
func (s *distributed) noteSeen(lanes []string, seen snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range seen.free {
		if s.looking[w.lane] {
			s.sights[w.lane] = seenLane{w, s.lookedAt}
		}
	}
	for lane, at := range seen.waiting {
		s.waitUntilLocked(lane, at)
	}
	for lane, at := range seen.held {
		heap.Push(&s.times, wait{lane: lane, at: at})
	}
	done := map[string]bool{} // Nothing is to be done there now.
	for _, lane := range lanes {
		if _, isFree := s.sights[lane]; !isFree && s.looking[lane] && s.isFresh[lane] {
			done[lane] = true
		}
	}
	clear(s.looking)
	s.dropLocked(done)
}

// dropLocked takes lanes out of the fresh ones. The caller holds mu.
func (s *distributed) dropLocked(names map[string]bool) {
	for lane := range names {
		k := keyOf(lane)
		lanes, ok := s.fresh.Find(k)
		if !ok {
			continue
		}
		for at := lanes.Front(); at != nil; at = at.Next() {
			if at.Value == any(lane) {
				lanes.Remove(at)
				break
			}
		}
		delete(s.isFresh, lane)
		if lanes.Len() == 0 {
			s.fresh.Drop(k)
		}
	}
}

func (s *distributed) hasReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh.Len() > 0 || len(s.pass.skipped) > 0
}

func (s *distributed) begin(ctx context.Context, w work) (*lease.Lease, error) {
	return s.claim(ctx, w)
}

// hold implements source: the claim of a lane is a write of its own.
func (*distributed) hold(string, fair.Key) (w work, isFree bool) { return work{}, false }

func (*distributed) confirm(*work, stored) bool { return false }

func (s *distributed) leave(_ context.Context, w work, left laneState) {
	w.leave()
	if s.suspects.IsDraining() {
		s.signal()
	}
	switch {
	case left.isBroken:
	case !left.retryAt.IsZero():
		s.waitUntil(w.lane, left.retryAt)
		s.signal()
	case left.hasMore || left.isGivenBack:
		s.lookAt(w.lane)
		s.signal()
	}
}

// enterFirst enters a lane, for its first event, and returns how to leave it: nil if it cannot be entered now.
func (s *distributed) enterFirst(lane string, first stored) (leave func()) {
	underWay := s.busy.count()
	if !s.busy.enter(lane) {
		return nil
	}
	s.busy.refuse(lane) // Before it is asked, so that none is missed that is free meanwhile.
	further, ok := s.enter(lane, first, underWay)
	if !ok {
		s.busy.leave(lane)
		return nil
	}
	s.busy.isFree(lane)
	return func() {
		isLast := s.busy.leave(lane)
		further()
		if isLast {
			s.look(lane)
		}
	}
}

func (s *distributed) handling() int { return s.busy.count() }

func (s *distributed) accepted(lane string) {
	if s.busy.note(lane) {
		s.look(lane)
	}
}

func (s *distributed) isFree(lane string) {
	if s.busy.isFree(lane) {
		s.look(lane)
	}
}

func (s *distributed) look(lane string) {
	if s.running.Load() {
		s.lookAt(lane)
		s.signal()
	}
}

func (s *distributed) close(context.Context) {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.pass = pass{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh, s.times = fair.Ring[*list.List]{}, nil
	clear(s.isFresh)
	clear(s.sights)
	clear(s.waiting)
}

func (s *distributed) next(ctx context.Context) (at time.Time, ok bool, err error) {
	fresh := newDistributed(s.Inbox)
	taken, _, err := fresh.take(ctx, want{lanes: 1, each: 1, isNew: true})
	if err != nil {
		return time.Time{}, false, err
	}
	now, err := s.leases.Now(ctx)
	if len(taken) > 0 || err != nil {
		for _, w := range taken {
			w.leave()
		}
		return now, err == nil, err
	}
	retried, err := s.findSorted(ctx, document.O(
		fieldState, statePending, fieldRetryAt, document.O("$gt", int64(document.TimestampOf(now)))), fieldRetryAt, store.FindOptions{Limit: 1})
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

func (s *distributed) lookAt(lane string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookAtLocked(lane)
}

// lookAtLocked is lookAt for a caller that holds mu. What was seen of the lane counts no more.
func (s *distributed) lookAtLocked(lane string) {
	delete(s.sights, lane)
	delete(s.looking, lane)
	if !s.isFresh[lane] {
		s.isFresh[lane] = true
		s.fresh.Get(keyOf(lane), list.New).PushBack(lane)
	}
}

// waitUntil notes until when a lane waits.
func (s *distributed) waitUntil(lane string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waitUntilLocked(lane, at)
}

// waitUntilLocked is waitUntil for a caller that holds mu.
func (s *distributed) waitUntilLocked(lane string, at time.Time) {
	if !s.waiting[lane].Equal(at) {
		s.waiting[lane] = at
		heap.Push(&s.times, wait{lane: lane, at: at})
	}
}

// ripen adds the lanes whose time has come to the fresh ones.
func (s *distributed) ripen(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.now.Add(-clockSlack * time.Millisecond)) { // It was set back: see isPaused.
		for lane := range s.waiting {
			s.lookAtLocked(lane)
		}
		clear(s.waiting)
	}
	s.now = now
	for len(s.times) > 0 && !s.times[0].at.After(now) {
		w, _ := heap.Pop(&s.times).(wait)
		if until, waits := s.waiting[w.lane]; waits && !until.After(now) {
			delete(s.waiting, w.lane)
		}
		s.lookAtLocked(w.lane)
	}
}

// untilNext returns how long nothing is to be looked at.
func (s *distributed) untilNext(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.times) == 0 {
		return s.config.Poll
	}
	return max(time.Millisecond, min(s.config.Poll, s.times[0].at.Sub(now)))
}
