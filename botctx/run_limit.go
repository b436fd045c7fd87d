package botctx

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// runLimit is the context of a run, which ends once the run has taken longer than Config.MaxRun. While
// the run waits for another run of its member the limit stands still, since MaxWait bounds that. A nil
// *runLimit is no limit.
//
// Most runs end before anybody waits for the end of their context, so that what a context takes to end
// while others wait, a timer among it, is made when it is first needed.
type runLimit struct {
	context.Context //nolint:containedctx // That of the caller: it is a context itself.

	runtime *Runtime
	ending  atomic.Pointer[ending]

	mu sync.Mutex
	// left is how much of the limit is left, counted from since.
	left  time.Duration
	since time.Time
	// isPaused is true while the limit stands still, hasStopped once the run has returned.
	isPaused, hasStopped bool
}

// ending is a context that can end while others wait for that.
type ending struct {
	context.Context //nolint:containedctx // It is a context itself.

	end   context.CancelCauseFunc
	timer *time.Timer
}

// limitRun returns a ctx that ends once what is done in it has taken longer than Config.MaxRun.
// Callers must call stop.
func (r *Runtime) limitRun(ctx context.Context) (context.Context, *runLimit) {
	if r.config.MaxRun < 0 {
		return ctx, nil
	}
	l := &runLimit{Context: ctx, runtime: r, left: r.config.MaxRun, since: machineTime()}
	return l, l
}

// machineTime is the time by the machine's clock, which limits go by.
func machineTime() time.Time { return time.Now() } //nolint:forbidigo // A limit bounds real work, whatever the host's clock says.

// Done implements context.Context.
func (l *runLimit) Done() <-chan struct{} { return l.made().Done() }

// Err implements context.Context.
func (l *runLimit) Err() error {
	if l.isOver() {
		l.expire()
	}
	if e := l.ending.Load(); e != nil {
		return e.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hasStopped {
		return context.Canceled
	}
	return l.Context.Err()
}

// Value implements context.Context. The context package finds by it what it has to end.
func (l *runLimit) Value(key any) any {
	if e := l.ending.Load(); e != nil {
		return e.Value(key)
	}
	return l.Context.Value(key)
}

// made returns the context that can end, which it makes if nobody has.
func (l *runLimit) made() *ending {
	if e := l.ending.Load(); e != nil {
		return e
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.ending.Load(); e != nil {
		return e
	}
	e := &ending{}
	e.Context, e.end = context.WithCancelCause(l.Context)
	e.timer = time.AfterFunc(l.left-machineTime().Sub(l.since), l.expire)
	if l.isPaused || l.hasStopped {
		e.timer.Stop()
	}
	if l.hasStopped {
		e.end(nil)
	}
	l.ending.Store(e)
	return e
}

// expire ends the context of a run that has taken too long.
func (l *runLimit) expire() { l.made().end(l.runtime.overdue()) }

// isOver reports whether the run has taken too long.
func (l *runLimit) isOver() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.isPaused && !l.hasStopped && machineTime().Sub(l.since) >= l.left
}

// pause lets the limit stand still until resume.
func (l *runLimit) pause() {
	if l == nil || l.isOver() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isPaused = true
	l.left -= machineTime().Sub(l.since)
	if e := l.ending.Load(); e != nil {
		e.timer.Stop()
	}
}

// resume ends a pause.
func (l *runLimit) resume() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isPaused {
		return
	}
	l.isPaused, l.since = false, machineTime()
	if e := l.ending.Load(); e != nil {
		e.timer.Reset(l.left)
	}
}

// stop ends the context, and returns the error of what was limited: of a run that took too long it says
// so. What the run returned stays behind it.
func (l *runLimit) stop(err error) error {
	if l == nil {
		return err
	}
	isOver := l.isOver()
	l.mu.Lock()
	l.hasStopped = true
	e := l.ending.Load()
	l.mu.Unlock()
	if e != nil {
		e.timer.Stop()
		e.end(nil)
	}
	if err == nil || !isOver {
		return err
	}
	return boterr.New(boterr.Unavailable, "", "%s: %w", l.runtime.overdueText(), err)
}

// overdue is the error of a run that took too long.
func (r *Runtime) overdue() error { return boterr.New(boterr.Unavailable, "", "%s", r.overdueText()) }

func (r *Runtime) overdueText() string {
	return "the run took longer than Config.MaxRun (" + r.config.MaxRun.String() +
		"): have it do less, leave what takes long to an agenda, or raise the limit"
}
