package inbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/lease"
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
	p := &pool{Inbox: b, places: make(chan struct{}, b.config.Workers), held: map[*lease.Turn]string{}}
	if lease.Serve(ctx, b.config.ShutdownTimeout, ErrShutdown, func(runs context.Context) { p.serve(ctx, runs) }) {
		return nil
	}
	return p.abandonAll()
}

// pool is what the workers of one Run share.
type pool struct {
	*Inbox

	// places has an element for each lane that is being handled.
	places chan struct{}
	all    sync.WaitGroup

	mu sync.Mutex
	// held are the turns with the events that are handled in them.
	held map[*lease.Turn]string
}

// serve works until ctx has ended and all that runs has returned.
func (p *pool) serve(ctx, runs context.Context) {
	p.start(func() { p.runRetention(ctx) })
	p.startDispatch(ctx, runs)
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
			if !done && ctx.Err() == nil {
				p.wait(ctx, p.config.Poll)
				p.startDispatch(ctx, runs)
			}
		}()
		for ctx.Err() == nil {
			p.wait(ctx, p.dispatch(ctx, runs))
		}
		done = true
	})
}

// dispatch has what can be handled now handled, and returns how long to wait before the next time.
func (p *pool) dispatch(ctx, runs context.Context) time.Duration {
	except := p.busy.all()
	pause := p.config.Poll
	for ctx.Err() == nil {
		found, err := p.look(ctx, except)
		if err != nil {
			if ctx.Err() == nil {
				p.log.LogAttrs(ctx, slog.LevelWarn, "inbox: not read", slog.String("error", boterr.Text(err)))
			}
			return p.config.Poll
		}
		notEntered := p.beginAll(ctx, runs, found.free)
		if len(found.free) > len(notEntered) && !found.isWhole {
			return 0 // Others may have become free meanwhile.
		}
		except = append(except, notEntered...)
		for lane, from := range found.waiting {
			except = append(except, lane)
			pause = min(pause, from.Sub(found.now))
		}
		if found.isWhole {
			return pause
		}
	}
	return 0
}

// wait waits for a while, or until there may be something to do, or ctx ends.
func (p *pool) wait(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-p.wake:
	}
}

// beginAll begins lanes, and returns those that could not be entered.
func (p *pool) beginAll(ctx, runs context.Context, free []work) (notEntered []string) {
	for _, w := range free {
		if !p.begin(ctx, runs, w) {
			notEntered = append(notEntered, w.lane)
		}
	}
	return notEntered
}

// begin has a lane handled as soon as there is a place. It reports false where the lane cannot be
// entered now, or ctx has ended before.
func (p *pool) begin(ctx, runs context.Context, w work) bool {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	leave, ok := p.enter(w.lane)
	if !ok {
		<-p.places
		return false
	}
	p.start(func() {
		defer func() { <-p.places }()
		defer leave()
		p.handleLane(ctx, runs, w)
	})
	return true
}

// handleLane handles the events of a lane, one after the other, until one fails that is to be tried
// again, or ctx ends.
func (p *pool) handleLane(ctx, runs context.Context, w work) {
	turn, err := p.claim(runs, w)
	if err != nil {
		p.log.LogAttrs(runs, slog.LevelWarn, "inbox: turn not claimed", slog.String("lane", w.lane), slog.String("error", boterr.Text(err)))
	}
	if turn == nil {
		return
	}
	run, cancel := context.WithCancelCause(runs)
	defer cancel(nil)
	turn.Keep(cancel) //nolint:contextcheck // What renews goes on for other turns when this run has ended.
	isKept := true
	defer func() {
		p.forget(turn)
		if isKept && turn.Err() == nil {
			p.release(runs, turn)
		} else {
			turn.Abandon() // Nobody is to renew it.
		}
	}()
	lost, err := p.countLost(run, turn, w.events[0], jittered)
	isKept = !isLost(err)
	if err != nil || lost.failure != nil {
		p.lookAgain(w, err)
		return
	}
	for _, e := range w.events {
		if ctx.Err() != nil {
			return
		}
		p.note(turn, e.id)
		done, err := p.handle(run, turn, e, jittered)
		isKept = !isLost(err)
		if err != nil || !done.isOver {
			p.lookAgain(w, err)
			return
		}
	}
	if w.hasMore {
		p.busy.note(w.lane) // There may be more than was seen.
	}
}

// lookAgain sees to it that a lane whose events are left is looked at once it is free, which tells
// when they can be handled. Where the store failed that waits for the next poll.
func (p *pool) lookAgain(w work, err error) {
	if err == nil || isLost(err) {
		p.busy.note(w.lane)
	}
}

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
		boterr.List(len(events), func(i int) string { return "event " + events[i] }))
}
