package inbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/safelog"
)

// Run handles accepted events, in real time, until ctx ends. Then it starts no further runs, and waits for
// current ones. After Config.ShutdownTimeout, the contexts of runs end with the cause ErrShutdown, and their
// events are handled again later. If runs still do not return, Run returns 5 seconds after that, their leases
// expire, and their results are not stored. The context of a run has the values of ctx, but does not end with
// it.
//
// FailedPrecondition: Run is already running. Canceled: Run returned before all runs did. Errors of the store
// are logged, and do not end Run.
func (b *Inbox) Run(ctx context.Context) error {
	if !b.running.CompareAndSwap(false, true) {
		return boterr.New(boterr.FailedPrecondition, "",
			"this inbox is already running: give it more workers, or make another one")
	}
	defer b.running.Store(false)
	polls := time.NewTicker(b.config.Poll)
	defer polls.Stop()
	p := &pool{Inbox: b, shares: fair.NewShares(b.config.Workers), handled: map[*lease.Lease]string{}, polls: polls.C, isPollDue: true}
	if shared, ok := b.source.(*distributed); ok {
		stop := shared.listen()
		defer stop()
	}
	if background.Serve(ctx, b.config.ShutdownTimeout, ErrShutdown, func(runs context.Context) { p.serve(ctx, runs) }) {
		b.source.base().taking.Lock()
		b.close(ctx)
		return nil
	}
	err := p.abandonAll()
	b.closeSoon(ctx)
	return err
}

// closeWait is the maximum time that an abandoned Run waits for the store to give up the lead.
const closeWait = time.Second

// closeSoon closes the source, but does not wait long for the store. If a call of the store that looks for work does
// not return, the source stays open.
func (b *Inbox) closeSoon(ctx context.Context) {
	if !b.source.base().taking.TryLock() {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		b.close(ctx)
	}()
	background.IsClosedWithin(closed, closeWait)
}

// close closes the source, and unlocks taking.
func (b *Inbox) close(ctx context.Context) {
	defer safelog.Recovered(ctx, b.log, "inbox: watch not ended", nil)
	defer b.source.base().taking.Unlock()
	b.source.close(context.WithoutCancel(ctx))
}

// A pool is the state of one Run, which its workers share.
type pool struct {
	*Inbox

	// shares are the places of lanes that are being handled. isShort is true while lanes may wait for a
	// place.
	shares  *fair.Shares
	isShort atomic.Bool
	// polls receives when it is time to look for work of other processes.
	polls <-chan time.Time
	all   sync.WaitGroup
	// isPollDue is true once a poll is due. Only dispatch and wait use it, one after the other.
	isPollDue bool

	// handleNow handles a lane for which Accept has reserved a place.
	handleNow func(w work)

	mu sync.Mutex
	// isClosed is true once no new work may start.
	isClosed bool
	// handled maps each lease to the id of the event that is being handled under it.
	handled map[*lease.Lease]string
}

// serve works until ctx has ended and all runs have returned.
func (p *pool) serve(ctx, runs context.Context) {
	p.handleNow = func(w work) { p.begin(ctx, runs, w) }
	p.pool.Store(p)
	p.all.Go(func() { background.Every(ctx, retentionPause, func() { p.applyRetention(ctx) }) })
	hasBegun := false
	background.Go(&p.all, p.log, "inbox: search for events panicked", func() { //nolint:contextcheck // It logs panics of the worker.
		if hasBegun { // The store panicked or ended the goroutine.
			p.wait(ctx, p.config.Poll)
		}
		hasBegun = true
		for ctx.Err() == nil {
			p.wait(ctx, p.dispatch(ctx, runs))
		}
		p.close()
	})
	p.all.Wait()
}

// dispatch starts all work that can be done now, and returns how long to wait before the next call.
func (p *pool) dispatch(ctx, runs context.Context) time.Duration {
	p.isShort.Store(true) // Set before the shares are checked, so as not to miss a released place.
	free := p.shares.Free()
	if free == 0 {
		return p.config.Poll
	}
	taken, pause, err := take(ctx, p.source, want{
		lanes: free, each: perLease, isNew: p.takePoll(), shares: p.shares,
	})
	for _, w := range taken {
		p.begin(ctx, runs, w)
	}
	if !p.source.base().hasReady() {
		p.isShort.Store(false)
	}
	switch {
	case err != nil && !isLost(err) && ctx.Err() == nil:
		p.log.LogAttrs(ctx, slog.LevelWarn, "inbox: events not read", slog.String("error", display.Text(err)))
		return p.config.Poll
	case len(taken) == free:
		return 0
	default:
		return pause
	}
}

// leave puts back a lane and its place, and wakes the inbox if lanes wait for a place.
func (p *pool) leave(ctx context.Context, w work, left laneState) {
	p.source.left(ctx, w, left)
	p.placeFreed()
}

// placeFreed wakes the inbox if lanes wait for a place.
func (p *pool) placeFreed() {
	if p.isShort.Swap(false) {
		p.signal()
	}
}

// takePoll reports whether it is time to look for work of other processes.
func (p *pool) takePoll() (isDue bool) {
	select {
	case <-p.polls:
		return true
	default:
		isDue, p.isPollDue = p.isPollDue, false
		return isDue
	}
}

// wait waits for at most the duration most, until there may be work or ctx ends.
func (p *pool) wait(ctx context.Context, most time.Duration) {
	if most <= 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-p.polls:
		p.isPollDue = true
	case <-p.wake:
	}
}

// begin starts handling a lane that was taken.
func (p *pool) begin(ctx, runs context.Context, w work) {
	p.all.Go(func() {
		defer safelog.Recovered(runs, p.log, "inbox: worker panicked", nil)
		left := laneState{isBroken: true} // This state remains if the lane cannot be handled.
		defer func() { p.leave(runs, w, left) }()
		p.handleLane(ctx, runs, w, &left)
	})
}

// handleLane handles the events of a lane in order until one must be tried again or ctx ends. It sets left to the
// state of the lane.
func (p *pool) handleLane(ctx, runs context.Context, w work, left *laneState) {
	held, err := p.claim(runs, w)
	if err != nil {
		p.log.LogAttrs(runs, slog.LevelWarn, "inbox: lease not claimed", slog.String("lane", w.lane), slog.String("error", display.Text(err)))
	}
	if held == nil {
		return // The store failed, or another process has had the lane since it was read.
	}
	run, cancel := context.WithCancelCause(runs)
	defer cancel(nil)
	held.Keep(cancel) //nolint:contextcheck // The beat outlives the run.
	var end error
	defer func() {
		p.forget(held)
		if w.held == nil { // Releasing the lease is a write, and other lanes need not wait for it.
			w.free()
			p.placeFreed()
		}
		p.end(runs, held, errors.Join(end, held.Err()))
	}()
	done, err := p.countLost(run, held, w.events[0])
	if err == nil && done.failure == nil {
		done, err = p.handleAll(ctx, run, held, w)
	}
	end = err
	*left = done.state(err)
	left.hasMore = left.hasMore || w.hasMore
}

// handleAll handles the events of a lane under its lease, for about longLease, and returns the outcome of the
// last one.
func (p *pool) handleAll(ctx, run context.Context, held *lease.Lease, w work) (done outcome, err error) {
	began := p.config.Env.Now()
	for i, e := range w.events {
		if held.Err() != nil {
			return outcome{}, lease.ErrLost
		}
		if hasEnded(ctx) || i > 0 && p.config.Env.Now().Sub(began) >= longLease {
			return outcome{}, nil // The lane goes back to the source.
		}
		p.note(held, e.id)
		if done, err = p.handle(run, held, e); err != nil || !done.isOver {
			return done, err
		}
	}
	return done, nil
}

// hasEnded is a function so that the end of ctx does not look like an error that is dropped.
func hasEnded(ctx context.Context) bool { return ctx.Err() != nil }

// note records the event that is being handled under a lease.
func (p *pool) note(held *lease.Lease, event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handled[held] = event
}

func (p *pool) forget(held *lease.Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.handled, held)
}

// abandonAll abandons current runs, whose leases will expire, and returns an error that names them.
func (p *pool) abandonAll() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	events := make([]string, 0, len(p.handled))
	for held, event := range p.handled {
		held.Abandon()
		events = append(events, event)
	}
	return boterr.New(boterr.Canceled, "", "not all work ended before Run returned; still running: %s",
		display.List(len(events), func(i int) string { return "event " + events[i] }))
}

// In a store that this process has to itself, an event begins with its acceptance if a worker is idle and no
// other event of the lane waits or runs. It is stored as begun, which saves a separate write. After a crash it
// counts as a start that never came back.

// start is a place and a lane that are reserved for an event that is being accepted.
type start struct {
	pool   *pool
	source *exclusive
	work   work
	// isGiven is true once a worker has the event.
	isGiven bool
}

// reserve takes a place and the lane for an event that is being accepted. It returns nil if one of them is not
// free. The caller must release the result.
func (b *Inbox) reserve(lane string, of fair.Key) *start {
	source, isAlone := b.source.(*exclusive)
	p := b.pool.Load()
	if !isAlone || p == nil || !p.isOpen() {
		return nil
	}
	if p.shares.Take(of) {
		s := &start{pool: p, source: source}
		var isFree bool
		if s.work, isFree = source.hold(lane, of); isFree {
			leave := s.work.leave
			p.underWay.Add(1)
			s.work.leave = func() {
				leave()
				p.underWay.Add(-1)
				p.shares.Release(of)
			}
			return s
		}
		p.shares.Release(of)
	}
	p.all.Done()
	return nil
}

// isOpen reports whether new work may begin. If it returns true, the caller must call all.Done.
func (p *pool) isOpen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isClosed {
		p.all.Add(1)
	}
	return !p.isClosed
}

// close prevents new work. From now on, other processes get notices of the events that this one accepts.
func (p *pool) close() {
	p.pool.CompareAndSwap(p, nil) // Another Run may have begun, if this one was abandoned.
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isClosed = true
}

// give handles the event, which is now stored, if it is the first of its lane.
func (s *start) give(e stored) {
	if s != nil && s.source.confirm(&s.work, e) {
		s.isGiven = true
		s.pool.handleNow(s.work)
	}
}

// release releases the place and the lane, unless a worker has the event.
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

// Result is the result of RunNext, see botctx.EventResult.
type Result struct {
	Ran         bool
	ID          string
	Event       Event
	Err         error
	IsDead      bool
	Next        time.Time
	IsPostponed bool
}

// Next returns the time, by the store's clock, at which the next event can be handled. It is the current time
// if an event can be handled now. ok is false if no event waits. Events whose lanes Config.Enter refuses do
// not count, so that a loop that calls RunNext until nothing runs, and then waits for Next, terminates. Errors
// come from the store.
func (b *Inbox) Next(ctx context.Context) (at time.Time, ok bool, err error) {
	defer boterr.Recover(&err)
	return b.source.next(ctx)
}

// LaneLeft tells the inbox that a lane can now be entered, after Config.Enter refused it or while this process
// held its lease for other work. Run then tries the lane at once, and not only at the next poll.
func (b *Inbox) LaneLeft(lane string) { b.source.base().markFree(lane) }

// RunNext handles the first event that can be handled, and stores the result. It is for hosts that drive the
// inbox themselves, for example in virtual time. The lease is not renewed: if the handler outlasts it, the
// result is not stored. The error comes from the store, or is lease.ErrLost.
func (b *Inbox) RunNext(ctx context.Context) (result Result, err error) {
	defer boterr.Recover(&err)
	from := b.source
	if _, isDistributed := from.(*distributed); isDistributed {
		from = newDistributed(b) // A new source reads everything again, and does not affect Run.
	}
	for isFirst := true; ; isFirst = false {
		taken, _, err := take(ctx, from, want{lanes: 1, each: 1, isNew: isFirst, isForced: true})
		if err != nil || len(taken) == 0 {
			return Result{}, err
		}
		if result, err := b.runFirst(ctx, from, taken[0]); err != nil || result.Ran {
			return result, err
		}
	}
}

// runFirst handles the first event of a taken lane.
func (b *Inbox) runFirst(ctx context.Context, from source, w work) (Result, error) {
	left := laneState{isBroken: true} // This state remains if the store ends the goroutine.
	defer func() { from.left(ctx, w, left) }()
	held, err := b.claim(ctx, w)
	if err != nil || held == nil {
		return Result{}, err
	}
	defer func() { b.end(ctx, held, held.Err()) }()
	e := w.events[0]
	e.isExact = true
	done, err := b.countLost(ctx, held, e)
	if err == nil && done.failure == nil {
		done, err = b.handle(ctx, held, e)
	}
	left = done.state(err)
	return Result{
		Ran: true, ID: e.id, Event: e.Event, Err: done.failure, IsDead: done.isDead, Next: done.retryAt, IsPostponed: done.isPostponed,
	}, err
}

// claim returns the lease of a lane that was taken, or nil if another process has had a lease since the lane
// was read.
func (b *Inbox) claim(ctx context.Context, w work) (*lease.Lease, error) {
	if w.held != nil {
		return w.held, nil
	}
	now, err := b.leases.Cached(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(w.events))
	for i, e := range w.events {
		ids[i] = e.id
	}
	return b.leases.Claim(ctx, w.lane, w.seen, now, lease.Work{Purpose: purpose, Items: ids})
}

// end releases a lease. If that fails, it logs the error, and the lease expires. If the lease is lost, end only stops
// its renewal.
func (b *Inbox) end(ctx context.Context, held *lease.Lease, err error) {
	if isLost(err) {
		held.Abandon()
		return
	}
	ctx, stop := b.ending(ctx)
	defer stop()
	if err := held.Release(ctx); err != nil {
		b.log.LogAttrs(ctx, slog.LevelWarn, "inbox: lease not released",
			slog.String("lane", held.Lane()), slog.String("error", display.Text(err)))
	}
}

// ending returns a context for a write that must happen although ctx has ended. It has a time limit, so that a store
// that does not respond cannot block a worker forever.
func (b *Inbox) ending(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), b.leases.Duration())
}
