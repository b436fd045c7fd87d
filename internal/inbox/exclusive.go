package inbox

import (
	"container/list"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// exclusive is the source of an inbox over a store that this process has to itself (store.Watcher): what
// waits is kept in memory, and follows the store. No lane has a document there. Instead one inbox
// leads, and notes in one document what it has begun (see leader.go).
type exclusive struct {
	*Inbox

	watcher store.Watcher
	notes   store.Collection

	// taking is held by who takes the lead, fills the queue or writes the note. It is taken before
	// the store's locks, and these before mu.
	taking sync.Mutex
	// stop ends the watching; empty where it has not begun.
	stop []func()
	// lost is what the inbox that led before has begun, as far as it was not looked at.
	lost []begun

	mu sync.Mutex
	// queue is nil where it has to be filled. early are the changes while it is.
	queue     *queue
	isFilling bool
	early     []documentChange
	// fence is the leader's. isLeader is whether this inbox leads, isDeposed whether another one has taken over.
	fence               int64
	isLeader, isDeposed bool
	// begun are the lanes that are being handled.
	begun map[string]begun
}

type documentChange struct{ before, after document.Object }

var _ source = (*exclusive)(nil)

func newExclusive(b *Inbox, watcher store.Watcher, notes store.Collection) *exclusive {
	return &exclusive{Inbox: b, watcher: watcher, notes: notes, begun: map[string]begun{}}
}

func (a *exclusive) take(ctx context.Context, want want) (taken []work, pause time.Duration, err error) {
	a.taking.Lock()
	defer a.taking.Unlock()
	isNoted := false
	defer func() {
		if !isNoted {
			a.untake(taken)
			taken = nil
		}
	}()
	isLeader, err := a.lead(ctx, want)
	if err != nil || !isLeader {
		return nil, a.config.Poll, err
	}
	now, err := a.leases.Now(ctx)
	if err != nil {
		return nil, a.config.Poll, err
	}
	if want.isNew {
		a.askAgain()
	}
	for len(taken) < want.lanes {
		w, ok := a.takeOne(int64(document.TimestampOf(now)), want)
		if !ok {
			break
		}
		taken = append(taken, w)
	}
	if len(taken) > 0 {
		if err := a.writeNote(ctx); err != nil {
			return taken, a.config.Poll, err
		}
	}
	isNoted = true
	if _, isOnly := a.suspects.Only(a.config.Env.Now()); isOnly {
		return taken, a.config.Poll, nil // It is woken when a lane is left.
	}
	return taken, a.idle(now, want), nil
}

// takeOne takes the next lane that can be entered.
func (a *exclusive) takeOne(now int64, want want) (w work, ok bool) {
	for {
		lane, events, fence := a.nextAllowed(now, want)
		if lane == nil {
			return work{}, false
		}
		events = untilSuspect(events)
		leave, ok := a.enter(lane.name, events[0], a.handling())
		if !ok {
			want.release(lane.key)
			a.refuse(lane.name)
			continue
		}
		w := work{lane: lane.name, events: events, held: a.leases.Grant(lane.name, fence), leave: func() {
			leave()
			want.release(lane.key)
		}}
		a.noteBegun(w)
		return w, true
	}
}

// nextAllowed is nextReady, unless a suspect runs alone or is to: then it takes that one's lane once nothing
// is under way.
func (a *exclusive) nextAllowed(now int64, want want) (lane *queued, events []stored, fence int64) {
	for {
		own := a.config.Env.Now()
		only, isOnly := a.suspects.Only(own)
		if !isOnly {
			return a.nextReady(now, want)
		}
		if only == "" || a.handling() > 0 {
			return nil, nil, 0
		}
		if lane, events, fence = a.takeOnly(only, now, want); lane != nil {
			return lane, events, fence
		}
		a.suspects.Drop(only, own)
	}
}

// takeOnly takes a lane out of the queue, nil if it is not ready.
func (a *exclusive) takeOnly(name string, now int64, want want) (lane *queued, events []stored, fence int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return nil, nil, 0
	}
	lane, events = a.queue.takeOnly(name, now, want.take)
	return lane, events, a.fence
}

// nextReady takes the next lane that is ready out of the queue, nil if there is none.
func (a *exclusive) nextReady(now int64, want want) (lane *queued, events []stored, fence int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return nil, nil, 0
	}
	lane, events = a.queue.take(now, want.each, want.take)
	return lane, events, a.fence
}

// refuse sets a lane aside that could not be entered.
func (a *exclusive) refuse(lane string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue != nil {
		a.queue.refuse(lane)
	}
}

// askAgain puts the lanes back that could not be entered.
func (a *exclusive) askAgain() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue != nil {
		a.queue.askAgain()
	}
}

// untake leaves lanes whose events were not begun.
func (a *exclusive) untake(taken []work) {
	for _, w := range taken {
		w.held.Abandon()
		a.putBack(w, laneState{})
	}
}

// idle returns how long nothing can be taken, unless a place is given back.
func (a *exclusive) idle(now time.Time, want want) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return 0
	}
	a.queue.ripen(int64(document.TimestampOf(now)))
	isReady := false
	a.queue.ready.All(func(k fair.Key, _ *list.List) bool {
		isReady = want.may(k)
		return !isReady
	})
	if isReady {
		return 0
	}
	at, ok := a.queue.nextRetry()
	if !ok {
		return a.config.Poll
	}
	return max(0, min(a.config.Poll, document.Timestamp(at).Time().Sub(now)))
}

func (a *exclusive) hasReady() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queue != nil && a.queue.ready.Len() > 0
}

func (*exclusive) begin(_ context.Context, w work) (*lease.Lease, error) { return w.held, nil }

func (a *exclusive) leave(ctx context.Context, w work, left laneState) {
	if a.putBack(w, left) || a.suspects.IsDraining() {
		a.signal()
	}
	switch {
	case !left.isGivenBack:
	case w.isAtOnce:
		a.tellNotBegun(ctx, w)
	default:
		a.tellNote(ctx)
	}
}

// putBack puts a lane back into the queue, and reports whether there is something to do or to wait for.
func (a *exclusive) putBack(w work, left laneState) bool {
	w.leave()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.begun[w.lane].held != w.held {
		return false // The lead was lost since.
	}
	delete(a.begun, w.lane)
	if a.queue == nil {
		return false
	}
	if left.isBroken {
		a.queue.refuse(w.lane)
		return false
	}
	return a.queue.leave(w.lane)
}

func (a *exclusive) next(ctx context.Context) (at time.Time, ok bool, err error) {
	a.taking.Lock()
	defer a.taking.Unlock()
	if err := a.fill(ctx); err != nil {
		return time.Time{}, false, err
	}
	now, err := a.leases.Now(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	a.askAgain()
	for {
		lane, _, _ := a.nextReady(int64(document.TimestampOf(now)), want{})
		if lane == nil {
			break
		}
		leave, canEnter := a.config.Enter(lane.name)
		a.refuse(lane.name)
		if canEnter {
			leave()
			a.askAgain()
			return now, true, nil
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return now, true, nil // All has changed meanwhile.
	}
	first, ok := a.queue.next(int64(document.TimestampOf(now)))
	return document.Timestamp(first).Time(), ok, nil
}

func (a *exclusive) handling() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.begun)
}

// accepted implements source: the store tells it.
func (*exclusive) accepted(string) {}

func (a *exclusive) isFree(lane string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue != nil && a.queue.askFor(lane) {
		a.signal()
	}
}

// An event begins with its acceptance where a worker is idle and nothing of its lane waits or is under
// way, over a store that this process has to itself. That it has begun is stored with it, so that no
// note of the leader is needed: a crash from then on is a start that never came back.

// start is a worker's place and a lane for an event that is being accepted.
type start struct {
	pool *pool
	work work
	// isGiven tells that a worker has it.
	isGiven bool
}

// reserve takes a place and the lane for an event, nil if one of them is not free. The caller must release
// it.
func (b *Inbox) reserve(lane string, of fair.Key) *start {
	p := b.pool.Load()
	if p == nil || !p.isOpen() {
		return nil
	}
	if p.shares.Take(of) {
		s := &start{pool: p}
		var isFree bool
		if s.work, isFree = b.source.hold(lane, of); isFree {
			leave := s.work.leave
			s.work.leave = func() {
				leave()
				p.shares.Release(of)
			}
			return s
		}
		p.shares.Release(of)
	}
	p.all.Done()
	return nil
}

// isOpen reports whether work can begin. Then serve waits until it is told that it is done.
func (p *pool) isOpen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isClosed {
		p.all.Add(1)
	}
	return !p.isClosed
}

// close has nothing begin any more.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isClosed = true
}

// give has the worker handle the event, which is in the store now.
func (s *start) give(e stored) {
	if s != nil && s.pool.source.confirm(&s.work, e) {
		s.isGiven = true
		s.pool.handleNow(s.work)
	}
}

// release gives back what the worker did not get.
func (s *start) release(ctx context.Context) {
	if s == nil {
		return
	}
	defer s.pool.all.Done()
	if !s.isGiven {
		s.work.held.Abandon()
		s.pool.leave(ctx, s.work, laneState{hasMore: true})
	}
}

func (a *exclusive) hold(lane string, of fair.Key) (w work, isFree bool) {
	_, isOnly := a.suspects.Only(a.config.Env.Now())
	if isOnly {
		return work{}, false // A suspect runs alone.
	}
	fence, isFree := a.holdFree(lane, of)
	if !isFree {
		return work{}, false
	}
	leave, canEnter := a.config.Enter(lane)
	if !canEnter {
		a.refuse(lane)
		return work{}, false
	}
	w = work{lane: lane, leave: leave, held: a.leases.Grant(lane, fence), isAtOnce: true}
	if a.isHeld(w) {
		return w, true
	}
	leave()
	return work{}, false
}

// isHeld notes that a lane has begun, and reports false where the lead was lost since.
func (a *exclusive) isHeld(w work) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	isHeld := a.isLeader && a.fence == w.held.Fence()
	if isHeld {
		a.begun[w.lane] = begun{lane: w.lane, held: w.held}
	}
	return isHeld
}

// holdFree takes a lane of which nothing waits or is under way, unless others of its channel wait for a
// place.
func (a *exclusive) holdFree(lane string, of fair.Key) (fence int64, isFree bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.isLeader || a.queue == nil || a.queue.has(lane) || a.queue.isBusy(of) {
		return 0, false
	}
	a.queue.hold(lane)
	return a.fence, true
}

// confirm implements source: the event is the first of its lane, unless another one was accepted at the
// same time.
func (a *exclusive) confirm(w *work, e stored) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil || a.begun[w.lane].held != w.held {
		return false // The lead was lost since.
	}
	first, ok := a.queue.firstOf(w.lane)
	if !ok || first.id != e.id {
		return false
	}
	w.events = []stored{e}
	return true
}

// lostAtOnce returns what has begun with its acceptance, and is not handled by this inbox.
func (a *exclusive) lostAtOnce() (lost []begun) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil {
		return nil
	}
	for name := range a.queue.lanes {
		if kept, ok := a.queue.firstOf(name); ok && kept.document.Has(fieldBegun) {
			lost = append(lost, begunWith(name, nil, []stored{read(kept.document)}))
		}
	}
	return lost
}

// tellNotBegun stores that an event is not under way that had begun with its acceptance. Where that fails
// it counts as begun until it is handled.
func (a *exclusive) tellNotBegun(ctx context.Context, w work) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.leases.Duration())
	defer cancel()
	filter, err := query.CompileFilter(document.O(fieldID, w.events[0].id, fieldState, statePending))
	if err == nil {
		_, err = a.update(ctx, filter, a.updates().giveBack, document.Object{})
	}
	if err != nil {
		a.log.LogAttrs(ctx, slog.LevelWarn, "inbox: what was given back was not stored", slog.String("error", display.Text(err)))
	}
}

type wait struct {
	lane string
	at   time.Time
}

// waits are in the order of time.
type waits []wait

func (w waits) Len() int { return len(w) }

func (w waits) Less(i, j int) bool { return w[i].at.Before(w[j].at) }

func (w waits) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

func (w *waits) Push(x any) {
	next, _ := x.(wait)
	*w = append(*w, next)
}

func (w *waits) Pop() any {
	last := len(*w) - 1
	popped := (*w)[last]
	*w = (*w)[:last]
	return popped
}
