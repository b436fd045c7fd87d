package agendas

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Run claims and runs agendas as they fall due, in real time, until ctx ends. Then it claims no more agendas, and
// waits for current runs. After ShutdownTimeout, the contexts of runs end with the cause agenda.ErrShutdown, and
// unfinished agendas are released. If runs still do not return, Run returns 5 seconds after that, their leases expire,
// and their results are not stored; see Claim.IsAbandoned. The context of a run has the values of ctx, but does not
// end with it.
//
// FailedPrecondition: Run is already running. Canceled: Run returned before all runs or calls of the store did;
// the error and the log name them. Errors of the store are logged, and do not end Run.
func (s *Scheduler) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return boterr.New(boterr.FailedPrecondition, "",
			"this scheduler is already running: give it more workers, or make another one")
	}
	defer s.running.Store(false)

	p := newPool(s)
	if background.Serve(ctx, s.config.ShutdownTimeout, agenda.ErrShutdown, func(runs context.Context) { p.serve(ctx, runs) }) {
		return nil
	}
	return p.abandonAll(ctx)
}

// A pool is the state of one Run, which its workers share.
type pool struct {
	*Scheduler

	held *leases
	// ready are agendas that were taken but not started. Each holds a place, so there is a worker for it.
	ready chan *taken
	// turn is a lock for taking due agendas. Its single element is the turn.
	turn chan struct{}
	// hasFailed is true if a claim has failed since agendas were last taken.
	hasFailed atomic.Bool
	// places divides the workers among the channels. An agenda holds a place from when it is taken until its run
	// ends.
	places *fair.Shares
	// isStarved is true if a due agenda may be waiting for a place of its channel. freed then receives when a place
	// is released.
	isStarved atomic.Bool
	freed     chan struct{}
	// suspects decides when agendas that may kill the process can run.
	suspects blame.Suspects
}

// taken is a due agenda that holds a place of its channel.
type taken struct {
	place fair.Key
	seen  document.Object
	// at is the time at which the agenda was found, by the store's clock.
	at time.Time
	// isSuspect is true if the agenda may kill the process, see package blame. isSpent is passed on to its claim.
	isSuspect, isSpent bool
}

func newPool(s *Scheduler) *pool {
	p := &pool{
		Scheduler: s,
		held:      lease.NewHeld[*Claim](agenda.ErrLeaseLost),
		ready:     make(chan *taken, s.config.Workers),
		turn:      make(chan struct{}, 1),
		places:    fair.NewShares(s.config.Workers),
		freed:     make(chan struct{}, 1),
	}
	p.turn <- struct{}{}
	return p
}

// serve works until ctx has ended and all runs have returned.
func (p *pool) serve(ctx, runs context.Context) {
	p.startServing()
	defer p.endServing(ctx)
	var workers, beating sync.WaitGroup
	idle := make(chan struct{})
	background.Go(&beating, p.log, "agenda: renewal panicked", func() { //nolint:contextcheck // It logs panics of the worker.
		lease.Keep(p.config.Lease, idle, func() { p.renewAll(runs, p.held) })
	})
	beating.Go(func() { background.Every(ctx, retentionPause, func() { p.applyRetention(ctx) }) })
	for range p.config.Workers {
		//nolint:contextcheck // It logs panics of the worker.
		background.Go(&workers, p.log, "agenda: worker panicked", func() { p.work(ctx, runs) })
	}
	workers.Wait()
	close(idle)
	beating.Wait()
}

func (p *pool) startServing() {
	p.serving.Lock()
	defer p.serving.Unlock()
	p.server = p
}

// endServing closes the candidates, unless this Run was abandoned and another one has begun since.
func (p *pool) endServing(ctx context.Context) {
	defer safelog.Recovered(ctx, p.log, "agenda: watch not ended", nil)
	p.serving.Lock()
	defer p.serving.Unlock()
	if p.server == p {
		p.server = nil
		p.candidates.close()
	}
}

// work runs taken agendas until ctx ends. If there are none, it takes due ones.
func (p *pool) work(ctx, runs context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case t := <-p.ready:
			p.begin(ctx, runs, t)
		case <-p.turn:
			p.takeInTurn(ctx)
		}
	}
	for {
		select {
		case t := <-p.ready:
			p.begin(ctx, runs, t) // begin releases the place.
		default:
			return
		}
	}
}

// takeInTurn takes due agendas and releases the turn. If the store ends the goroutine, it pauses before it releases
// the turn.
func (p *pool) takeInTurn(ctx context.Context) {
	done := false
	defer func() {
		if !done {
			p.waitForMore(ctx, p.config.Poll)
		}
		p.turn <- struct{}{}
	}()
	p.takeOrWait(ctx)
	done = true
}

// takeOrWait takes due agendas, unless agendas that were taken have not begun yet. If none is due, it waits
// until one may be.
func (p *pool) takeOrWait(ctx context.Context) {
	if len(p.ready) > 0 {
		return
	}
	if p.hasFailed.Swap(false) {
		p.waitForMore(ctx, p.config.Poll)
	}
	wait, err := p.takeDue(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		p.logNotClaimed(ctx, err)
		wait = p.config.Poll
	}
	if wait > 0 && len(p.ready) == 0 {
		p.waitForMore(ctx, wait)
	}
}

func (p *pool) logNotClaimed(ctx context.Context, err error) {
	p.log.LogAttrs(ctx, slog.LevelWarn, "agenda: not claimed", slog.String("error", display.Text(err)))
}

// waitForMore waits until another agenda may be due or ctx ends, but not longer than most.
func (p *pool) waitForMore(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-p.candidates.woken():
	case <-p.freed: // The value may be stale; then there is one search too many.
	}
}

func (p *pool) release(channel fair.Key) {
	p.places.Release(channel)
	if !p.isStarved.Load() {
		return
	}
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// takeDue takes due agendas whose channels have places. It returns how long to wait for more.
func (p *pool) takeDue(ctx context.Context) (wait time.Duration, err error) {
	back := p.inFlight.begin("the search for due agendas")
	defer back()
	now, err := p.clock.Now(ctx)
	if err != nil {
		return 0, err
	}
	p.isStarved.Store(true) // take may miss a place that is released from here on.
	if only, isOnly := p.suspects.Only(timelimit.Now()); isOnly {
		return p.takeOnly(ctx, only, now)
	}
	found, isLeft, err := p.candidates.take(ctx, now, p.config.Workers, p.config.Poll, p.places)
	p.isStarved.Store(isLeft || p.suspects.IsWaiting())
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return p.candidates.idle(now, p.config.Poll), nil
	}
	return 0, p.handAll(ctx, found, now)
}

// handAll passes due agendas to the workers, in order. It prepares and admits possible suspects and edited agendas,
// because the following agendas may have to wait for them.
func (p *pool) handAll(ctx context.Context, found []document.Object, now time.Time) error {
	defer func() { // Deferred, because the store may end the goroutine.
		for _, seen := range found {
			p.candidates.putBack(seen)
			p.release(keyOf(seen))
		}
	}()
	var failed []error
	for len(found) > 0 {
		seen := found[0]
		if only, isOnly := p.suspects.Only(timelimit.Now()); isOnly && only != idOf(seen) {
			break // The deferred function puts the remaining agendas back.
		}
		t := &taken{place: keyOf(seen), seen: seen, at: now}
		if !isSound(seen) || lossesOf(seen) > 0 {
			var err error
			t, err = p.admit(ctx, seen, now, p.places.Held()-len(found))
			failed = append(failed, err)
		}
		found = found[1:]
		if t == nil {
			p.release(keyOf(seen))
			continue
		}
		p.ready <- t
	}
	return errors.Join(failed...)
}

// admit prepares the claim of an agenda that may be a suspect. underWay is the number of other agendas that run. It
// returns nil if the agenda has changed meanwhile, or cannot run now.
func (p *pool) admit(ctx context.Context, seen document.Object, now time.Time, underWay int) (*taken, error) {
	ctx, cancel := p.claiming(ctx)
	defer cancel()
	ready, isSpent, err := p.prepare(ctx, seen, now)
	if err != nil || ready.IsZero() {
		p.candidates.giveBack(seen)
		return nil, err
	}
	t := &taken{place: keyOf(seen), seen: ready, at: now, isSpent: isSpent}
	if isSpent {
		return t, nil
	}
	run := suspicion(ready)
	if !p.suspects.Admit(run, underWay, timelimit.Now()) {
		p.candidates.deferUntil(seen, now.Add(p.config.Poll))
		return nil, nil //nolint:nilnil // No agenda and no error: the agenda waits.
	}
	t.isSuspect = run.Level > blame.None
	return t, nil
}

// claiming returns the context for the write of a claim. It does not end with ctx, so that no lease remains
// without a holder.
func (p *pool) claiming(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), p.config.Lease)
}

// takeOnly takes the agenda that must run alone, once no other agenda is running. An empty id means that none
// may begin. It returns how long to wait for more.
func (p *pool) takeOnly(ctx context.Context, id string, now time.Time) (wait time.Duration, err error) {
	if id == "" || p.places.Held() > 0 {
		return p.config.Poll, nil // The end of a run wakes the worker earlier.
	}
	defer p.suspects.Drop(id, timelimit.Now())
	which, err := query.CompileFilter(isDue(now).With(record.FieldID, id))
	if err != nil {
		return 0, err
	}
	found, err := p.agendas.Find(ctx, which, store.FindOptions{})
	if err != nil || len(found) == 0 || !p.places.Take(keyOf(found[0])) {
		return 0, err
	}
	return 0, p.handAll(ctx, found, now)
}

// begin claims and runs a taken agenda.
func (p *pool) begin(ctx, runs context.Context, t *taken) {
	defer p.release(t.place)
	if t.isSuspect {
		defer func() { p.suspects.End(idOf(t.seen), timelimit.Now()) }()
	}
	if c := p.claimTaken(ctx, t); c != nil {
		p.perform(runs, c)
	}
}

// claimTaken claims an agenda that was taken. It returns nil if the agenda has changed meanwhile, it cannot be
// claimed now, or ctx has ended.
func (p *pool) claimTaken(ctx context.Context, t *taken) (c *Claim) {
	back := p.inFlight.begin("the claim of a due agenda")
	defer back()
	if ctx.Err() != nil {
		p.candidates.giveBack(t.seen)
		return nil
	}
	hasFailed := true
	defer func() { // Deferred, because the store may end the goroutine.
		if hasFailed {
			p.hasFailed.Store(true)
		}
		if c == nil {
			p.candidates.giveBack(t.seen)
		}
	}()
	claiming, cancel := p.claiming(ctx)
	defer cancel()
	c, err := p.claim(claiming, t.seen, t.at)
	if hasFailed = err != nil; hasFailed {
		p.logNotClaimed(ctx, err)
	}
	if c != nil {
		c.isLive, c.isSpent = true, t.isSpent
	}
	return c
}

// perform runs a claim and stores the outcome.
func (p *pool) perform(runs context.Context, c *Claim) {
	ctx, cancel := context.WithCancelCause(runs)
	defer cancel(nil)
	p.held.Add(c, cancel)
	defer p.held.End(c)
	p.tellClaimed(ctx, agenda.Event{Run: c.run, At: c.claimedAt})
	failure := errGoroutineEnded
	defer func() { p.settle(ctx, c, failure) }() // Deferred, because the handler may end the goroutine.
	failure = p.handle(ctx, c)
}

// errGoroutineEnded is the failure of a handler that ended its goroutine.
var errGoroutineEnded = error(boterr.New(boterr.Internal, "", "the handler ended its goroutine: return an error instead"))

// settle stores the outcome of a run. ctx is the context of the run.
func (p *pool) settle(ctx context.Context, c *Claim, failure error) {
	back := p.inFlight.begin("the end of the run of agenda " + c.id)
	defer back()
	// Without a time limit, a store that does not answer would block the worker forever.
	stored, stop := context.WithTimeout(context.WithoutCancel(ctx), p.config.Lease)
	defer stop()
	switch {
	case c.isAbandoned.Load():
		p.tellFailed(stored, slog.LevelWarn, agenda.Event{Run: c.run, At: c.claimedAt, Err: agenda.ErrShutdown})
	case failure != nil && errors.Is(context.Cause(ctx), agenda.ErrLeaseLost):
		p.tellFailed(stored, slog.LevelWarn, agenda.Event{Run: c.run, At: c.claimedAt, Err: agenda.ErrLeaseLost})
	case failure != nil && ctx.Err() != nil && !c.isSpent:
		if _, err := p.abandon(stored, c, failure, released); err != nil {
			p.report(stored, slog.LevelWarn, "agenda: not given back", agenda.Event{Run: c.run, At: c.claimedAt},
				slog.String("error", display.Text(err)))
		}
	default:
		_, _ = p.finish(stored, c, failure) // finish logs its errors.
	}
}

// abandonAll abandons current runs, whose leases will expire. It returns an error that names them, and the calls
// of the store that have not returned.
func (p *pool) abandonAll(ctx context.Context) error {
	var ids, left []string
	abandoned := p.held.Take(func(c *Claim) { c.isAbandoned.Store(true) })
	slices.SortFunc(abandoned, func(a, b *Claim) int { return strings.Compare(a.id, b.id) })
	for _, c := range abandoned {
		p.report(ctx, slog.LevelError, "agenda: left running", agenda.Event{Run: c.run, At: c.claimedAt})
		ids = append(ids, c.id)
	}
	if len(ids) > 0 {
		left = append(left, fmt.Sprintf("%d runs, which start again once their leases have expired: the agendas %s",
			len(ids), strings.Join(ids, ", ")))
	}
	if calls := p.inFlight.names(); len(calls) > 0 {
		p.log.LogAttrs(ctx, slog.LevelError, "agenda: calls of the store do not return", slog.Any("calls", calls))
		left = append(left, "calls of the store, for "+strings.Join(calls, ", "))
	}
	return boterr.New(boterr.Canceled, "", "not all work ended before Run returned; still running: %s", strings.Join(left, "; "))
}

type leases = lease.Held[*Claim]

func (s *Scheduler) renewAll(ctx context.Context, held *leases) {
	if len(held.All()) == 0 {
		return
	}
	back := s.inFlight.begin("the renewal of leases")
	defer back()
	beat, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Lease/lease.BeatsPerLease)
	defer cancel()
	renewal, err := s.renewal(beat)
	held.RenewAll(beat, err, func(ctx context.Context, c *Claim) (bool, error) {
		return lease.Renew(ctx, s.agendas, c.id, c.fence, renewal)
	}, func(c *Claim, err error) {
		s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: lease not renewed",
			slog.String("agenda", c.id), slog.String("error", display.Text(err)))
	})
}

// renewal returns the change that renews leases now.
func (s *Scheduler) renewal(ctx context.Context) (query.Change, error) {
	now, err := s.clock.Now(ctx)
	if err != nil {
		return query.Change{}, err
	}
	update, err := query.CompileUpdate(document.O("$set", document.O(
		fieldLeaseUntil, millis(now.Add(s.config.Lease)), fieldHeldAt, millis(now))))
	return query.Change{Update: update}, err
}

// inFlight counts the calls of the store that have not returned, by purpose. It is safe for concurrent use.
type inFlight struct {
	mu    sync.Mutex
	calls map[string]int
}

// begin counts a call until end is called.
func (u *inFlight) begin(what string) (end func()) {
	u.add(what, 1)
	return func() { u.add(what, -1) }
}

// add adds n to the number of calls with a purpose.
func (u *inFlight) add(what string, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = map[string]int{}
	}
	if u.calls[what] += n; u.calls[what] == 0 {
		delete(u.calls, what)
	}
}

// names returns the sorted purposes of calls in progress.
func (u *inFlight) names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.calls))
}
