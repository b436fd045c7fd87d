package inbox

import (
	"context"
	"log/slog"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/store/query"
)

// An event begins with its acceptance where a worker is idle and nothing of its lane waits or is under
// way, over a store that this process has to itself. That it has begun is stored with it, so that no
// note of the seat is needed: a crash from then on is a start that never came back.

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
		if s.work, isFree = b.feed.hold(lane, of); isFree {
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
	if s != nil && s.pool.feed.confirm(&s.work, e) {
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
		s.work.turn.Abandon()
		s.pool.leave(ctx, s.work, rest{hasMore: true})
	}
}

// hold implements feed.
func (a *alone) hold(lane string, of fair.Key) (w work, isFree bool) {
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
	w = work{lane: lane, leave: leave, turn: a.turns.Grant(lane, fence), isAtOnce: true}
	if a.isHeld(w) {
		return w, true
	}
	leave()
	return work{}, false
}

// isHeld notes that a lane has begun, and reports false where the seat was lost since.
func (a *alone) isHeld(w work) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	isHeld := a.isSeated && a.fence == w.turn.Fence()
	if isHeld {
		a.begun[w.lane] = begun{lane: w.lane, turn: w.turn}
	}
	return isHeld
}

// holdFree takes a lane of which nothing waits or is under way, unless others of its channel wait for a
// place.
func (a *alone) holdFree(lane string, of fair.Key) (fence int64, isFree bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.isSeated || a.queue == nil || a.queue.has(lane) || a.queue.isBusy(of) {
		return 0, false
	}
	a.queue.hold(lane)
	return a.fence, true
}

// confirm implements feed: the event is the first of its lane, unless another one was accepted at the
// same time.
func (a *alone) confirm(w *work, e stored) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue == nil || a.begun[w.lane].turn != w.turn {
		return false // The seat was lost since.
	}
	first, ok := a.queue.firstOf(w.lane)
	if !ok || first.id != e.id {
		return false
	}
	w.events = []stored{e}
	return true
}

// lostAtOnce returns what has begun with its acceptance, and is not handled by this inbox.
func (a *alone) lostAtOnce() (lost []begun) {
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
func (a *alone) tellNotBegun(ctx context.Context, w work) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.turns.Lease())
	defer cancel()
	filter, err := query.CompileFilter(document.O(fieldID, w.events[0].id, fieldState, statePending))
	if err == nil {
		_, err = a.update(ctx, filter, a.updates().giveBack, document.Object{})
	}
	if err != nil {
		a.log.LogAttrs(ctx, slog.LevelWarn, "inbox: what was given back was not stored", slog.String("error", display.Text(err)))
	}
}
