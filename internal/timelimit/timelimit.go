// Package timelimit limits the duration of calls. It is cheap for calls that end in time.
package timelimit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// Rule is the time limit for one kind of call.
type Rule struct {
	// Most is the maximum duration by the machine's clock.
	Most time.Duration
	// Over is the context.Cause of a call that takes too long.
	Over *boterr.Error
	// IsPausable makes Of find the limit, so that code inside the call can pause it.
	IsPausable bool
}

// Limit is a context that ends when a call takes too long. It is safe for concurrent use. The
// methods Pause, Resume, Restart, IsOver and End do nothing for a nil *Limit.
//
// Most calls end before anyone waits for Done, so the first use creates the timer and the cancelable
// context.
type Limit struct {
	context.Context //nolint:containedctx // The parent: a Limit is a context.

	rule   *Rule
	ending atomic.Pointer[ending]

	mu sync.Mutex
	// left is the time that remained at since.
	left  time.Duration
	since time.Time
	// isPaused is true during a pause. hasStopped is true once the call has returned.
	isPaused, hasStopped bool
}

// ending is the cancelable context of a Limit.
type ending struct {
	context.Context //nolint:containedctx // The context that end cancels.

	end   context.CancelCauseFunc
	timer *time.Timer
}

// Begin returns the context of a call. The context ends when the call takes too long or when ctx
// ends. Callers must call End.
func (r *Rule) Begin(ctx context.Context) *Limit {
	return &Limit{Context: ctx, rule: r, left: r.Most, since: Now()}
}

// Of returns the innermost pausable limit of ctx, or nil if there is none.
func Of(ctx context.Context) *Limit {
	l, _ := ctx.Value(pausable{}).(*Limit)
	return l
}

// pausable is the context key used by Of.
type pausable struct{}

// Now returns the machine's time, whatever the host's clock says. It is for limits of real work. It is
// monotonic, like the clock of timers.
func Now() time.Time { return time.Now() } //nolint:forbidigo // See above.

// Done implements context.Context.
func (l *Limit) Done() <-chan struct{} { return l.made().Done() }

// Err implements context.Context.
func (l *Limit) Err() error {
	if l.IsOver() {
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

// Value implements context.Context. It also asks the cancelable context, because package context finds a
// parent's cancelable context by a call of Value.
func (l *Limit) Value(key any) any {
	if _, isWanted := key.(pausable); isWanted && l.rule.IsPausable {
		return l
	}
	if e := l.ending.Load(); e != nil {
		return e.Value(key)
	}
	return l.Context.Value(key)
}

// made returns the cancelable context. It creates it if necessary.
func (l *Limit) made() *ending {
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
	e.timer = time.AfterFunc(l.left-Now().Sub(l.since), l.expire)
	if l.isPaused || l.hasStopped {
		e.timer.Stop()
	}
	if l.hasStopped {
		e.end(nil)
	}
	l.ending.Store(e)
	return e
}

// expire ends the context if the limit is over.
func (l *Limit) expire() {
	if l.IsOver() {
		l.made().end(l.rule.Over)
	}
}

// IsOver reports whether the call is running, not paused, and has taken too long.
func (l *Limit) IsOver() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isOver()
}

// isOver reports whether the call is running, not paused, and has taken too long. Callers must hold mu.
func (l *Limit) isOver() bool {
	return !l.isPaused && !l.hasStopped && Now().Sub(l.since) >= l.left
}

// Pause stops the clock until Resume or Restart.
func (l *Limit) Pause() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isPaused || l.isOver() {
		return
	}
	l.isPaused = true
	l.left -= Now().Sub(l.since)
	if e := l.ending.Load(); e != nil {
		e.timer.Stop()
	}
}

// Resume ends a pause.
func (l *Limit) Resume() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resume()
}

// Restart ends a pause and sets the remaining time to Rule.Most. It does nothing unless paused.
func (l *Limit) Restart() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isPaused {
		l.left = l.rule.Most
	}
	l.resume()
}

// resume ends a pause. Callers must hold mu.
func (l *Limit) resume() {
	if !l.isPaused {
		return
	}
	l.isPaused, l.since = false, Now()
	if e := l.ending.Load(); e != nil && !l.hasStopped {
		e.timer.Reset(l.left)
	}
}

// Wait waits between two attempts of a call, whose time limit is paused meanwhile. If ctx ends, Wait returns its error.
func Wait(ctx context.Context, wait time.Duration) error {
	call := Of(ctx)
	call.Pause()
	defer call.Restart()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// End ends the context and returns err. If the call failed and took too long, the result is an error
// with the code of Rule.Over that wraps Over's message and err.
func (l *Limit) End(err error) error {
	if l == nil {
		return err
	}
	isOver := l.stop()
	switch {
	case err == nil || !isOver:
		return err
	case errors.Is(err, l.rule.Over) && boterr.CodeOf(err) == l.rule.Over.Code:
		return err // The error already names the limit.
	default:
		return boterr.New(l.rule.Over.Code, "", "%w: %w", l.rule.Over.Err, err)
	}
}

// stop ends the context and reports whether the call took too long.
func (l *Limit) stop() (wasOver bool) {
	l.mu.Lock()
	wasOver = l.isOver()
	l.hasStopped = true
	e := l.ending.Load()
	l.mu.Unlock()
	if e != nil {
		e.timer.Stop()
		e.end(nil)
	}
	return wasOver
}
