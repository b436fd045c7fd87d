package inbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
)

// Run handles what was accepted, in real time, until ctx ends. Then it begins nothing more, and
// waits for what runs: after Config.ShutdownTimeout the contexts of the runs end with the cause
// ErrShutdown, and their events are handled again. It returns when all have returned, or 5 seconds
// later: of runs that ignore their contexts the leases pass, and nothing that they still do counts.
// The context of a run has the values of ctx, but does not end with it.
//
// FailedPrecondition: Run is at work already. Canceled: runs were left. Errors of the store are logged,
// and do not end it.
func (b *Inbox) Run(ctx context.Context) error {
	if !b.running.CompareAndSwap(false, true) {
		return boterr.New(boterr.FailedPrecondition, "",
			"this inbox runs already: give it more workers, or make another one")
	}
	defer b.running.Store(false)
	polls := time.NewTicker(b.config.Poll)
	defer polls.Stop()
	p := &pool{Inbox: b, shares: fair.NewShares(b.config.Workers), held: map[*lease.Turn]string{}, polls: polls.C, isPollDue: true}
	defer b.feed.close(context.WithoutCancel(ctx))
	if lease.Serve(ctx, b.config.ShutdownTimeout, ErrShutdown, func(runs context.Context) { p.serve(ctx, runs) }) {
		return nil
	}
	return p.abandonAll()
}

// pool is what the workers of one Run share.
type pool struct {
	*Inbox

	// shares has a place for each lane that is being handled. isShort is set while lanes may wait for one.
	shares  *fair.Shares
	isShort atomic.Bool
	// polls receives when it is time to look for what other processes have done.
	polls <-chan time.Time
	all   sync.WaitGroup
	// isPollDue tells that it is that time. Only dispatch and wait use it, one after the other.
	isPollDue bool

	// handleNow has a lane handled whose place was reserved by Accept.
	handleNow func(w work)

	mu sync.Mutex
	// isClosed tells that nothing begins any more.
	isClosed bool
	// held are the turns with the events that are handled in them.
	held map[*lease.Turn]string
}

// serve works until ctx has ended and all that runs has returned.
func (p *pool) serve(ctx, runs context.Context) {
	p.handleNow = func(w work) { p.begin(ctx, runs, w) }
	p.start(func() { p.runRetention(ctx) })
	p.startDispatch(ctx, runs)
	p.pool.Store(p)
	defer p.pool.Store(nil)
	p.all.Wait()
}

// start runs something that serve waits for.
func (p *pool) start(work func()) { p.all.Go(work) }

// startDispatch starts what finds lanes and has them handled, and starts it again where the store
// ends its goroutine.
func (p *pool) startDispatch(ctx, runs context.Context) {
	p.start(func() {
		done := false
		defer func() {
			if done || ctx.Err() != nil {
				p.close()
				return
			}
			p.wait(ctx, p.config.Poll)
			p.startDispatch(ctx, runs)
		}()
		for ctx.Err() == nil {
			p.wait(ctx, p.dispatch(ctx, runs))
		}
		done = true
	})
}

// dispatch has what can be handled now handled, and returns how long to wait before the next time.
func (p *pool) dispatch(ctx, runs context.Context) time.Duration {
	p.isShort.Store(true) // Before it is asked, so that no place is missed that is given back meanwhile.
	free := p.shares.Free()
	if free == 0 {
		return p.config.Poll
	}
	taken, pause, err := p.feed.take(ctx, want{
		lanes: free, each: perTurn, part: jittered, isNew: p.takePoll(), shares: p.shares,
	})
	for _, w := range taken {
		p.begin(ctx, runs, w)
	}
	if !p.feed.hasReady() {
		p.isShort.Store(false)
	}
	switch {
	case err != nil && !isLost(err) && ctx.Err() == nil:
		p.log.LogAttrs(ctx, slog.LevelWarn, "inbox: not read", slog.String("error", display.Text(err)))
		return p.config.Poll
	case len(taken) == free:
		return 0
	default:
		return pause
	}
}

// leave leaves a lane, with its place. Lanes that wait for a place are looked at.
func (p *pool) leave(ctx context.Context, w work, left rest) {
	p.feed.leave(ctx, w, left)
	if p.isShort.Swap(false) {
		p.signal()
	}
}

// takePoll reports whether it is time to look for what other processes have done.
func (p *pool) takePoll() (isDue bool) {
	select {
	case <-p.polls:
		return true
	default:
		isDue, p.isPollDue = p.isPollDue, false
		return isDue
	}
}

// wait waits for a while, or until there may be something to do, or ctx ends.
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

// begin has a lane handled that was taken.
func (p *pool) begin(ctx, runs context.Context, w work) {
	p.start(func() {
		left := rest{isBroken: true} // Where the goroutine ends.
		defer func() { p.leave(runs, w, left) }()
		p.handleLane(ctx, runs, w, &left)
	})
}

// handleLane handles the events of a lane, one after the other, until one fails that is to be tried
// again, or ctx ends. It says how the lane is left.
func (p *pool) handleLane(ctx, runs context.Context, w work, left *rest) {
	turn, err := p.feed.begin(runs, w)
	if err != nil {
		p.log.LogAttrs(runs, slog.LevelWarn, "inbox: turn not claimed", slog.String("lane", w.lane), slog.String("error", display.Text(err)))
		return
	}
	if turn == nil {
		*left = rest{} // Somebody else has it.
		return
	}
	run, cancel := context.WithCancelCause(runs)
	defer cancel(nil)
	turn.Keep(cancel) //nolint:contextcheck // What renews goes on for other turns when this run has ended.
	var end error
	defer func() {
		p.forget(turn)
		p.end(runs, turn, errors.Join(end, turn.Err()))
	}()
	done, err := p.countLost(run, turn, w.events[0], jittered)
	if err == nil && done.failure == nil {
		done, err = p.handleAll(ctx, run, turn, w)
	}
	end = err
	*left = done.rest(err)
	left.hasMore = left.hasMore || w.hasMore
}

// handleAll handles the events of a lane within its turn, until the turn has been long enough, and returns
// what came of the last one.
func (p *pool) handleAll(ctx, run context.Context, turn *lease.Turn, w work) (done outcome, err error) {
	began := p.config.Env.Now()
	for i, e := range w.events {
		if turn.Err() != nil {
			return outcome{}, lease.ErrLost
		}
		if hasEnded(ctx) || i > 0 && p.config.Env.Now().Sub(began) >= longTurn {
			return outcome{}, nil // It is given back.
		}
		p.note(turn, e.id)
		if done, err = p.handle(run, turn, e, jittered); err != nil || !done.isOver {
			return done, err
		}
	}
	return done, nil
}

// hasEnded reports whether a context has ended.
func hasEnded(ctx context.Context) bool { return ctx.Err() != nil }

// note notes which event is handled in a turn.
func (p *pool) note(turn *lease.Turn, event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[turn] = event
}

// forget forgets a turn that has ended.
func (p *pool) forget(turn *lease.Turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, turn)
}

// abandonAll leaves what runs to its leases, and returns the error that tells it.
func (p *pool) abandonAll() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	events := make([]string, 0, len(p.held))
	for turn, event := range p.held {
		turn.Abandon()
		events = append(events, event)
	}
	return boterr.New(boterr.Canceled, "", "not all came back after the end of its context; left were %s",
		display.List(len(events), func(i int) string { return "event " + events[i] }))
}
