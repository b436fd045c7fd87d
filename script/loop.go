package script

import (
	"context"
	"time"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
)

// loop is what a script has begun and not waited for yet: requests under way, and timers. The zero
// loop is empty.
type loop struct {
	// arrived has what is to be done with each request that has ended.
	arrived  chan func() error
	requests int
	timers   []*timer
	// elapsed is the time of the timers: it passes while the script waits for one.
	elapsed time.Duration
	made    int64
}

// settle does what has been begun until a promise is settled and no request is under way. Timers
// alone keep no script from ending.
func (r *run) settle(promise *goja.Promise) error {
	for promise.State() == goja.PromiseStatePending || r.loop.requests > 0 {
		job, err := r.next()
		if err != nil {
			return err
		}
		if err := job(); err != nil {
			return err
		}
	}
	return nil
}

// next waits for what comes first of what has been begun.
func (r *run) next() (job func() error, err error) {
	first := r.loop.firstTimer()
	switch {
	case r.loop.requests > 0:
		r.wait(func() { job, err = r.awaitRequest(first) })
	case first != nil:
		r.wait(func() { err = r.awaitTimer(first) })
		job = func() error { return r.fire(first) }
	default:
		err = boterr.New(boterr.FailedPrecondition, "",
			"the script waits for a promise that nothing can settle: no operation, request or timer is under way")
	}
	return job, err
}

// awaitRequest waits until a request has ended, or a timer is due by the clock of the machine, by
// which requests go.
func (r *run) awaitRequest(first *timer) (job func() error, err error) {
	var due <-chan time.Time
	if first != nil {
		left := time.NewTimer(first.due - r.loop.elapsed)
		defer left.Stop()
		due = left.C
	}
	select {
	case job = <-r.loop.arrived:
		r.loop.requests--
		return job, nil
	case <-due:
		r.loop.elapsed = first.due
		return func() error { return r.fire(first) }, nil
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// awaitTimer waits until a timer is due, by the clock of the context.
func (r *run) awaitTimer(first *timer) error {
	r.bot.Pause(r.ctx, first.due-r.loop.elapsed)
	r.loop.elapsed = first.due
	return context.Cause(r.ctx)
}

// begin runs a function that needs no script, such as a request, by itself. What it returns is done
// by the script's goroutine when the script waits.
func (r *run) begin(function func() (done func() error)) {
	if r.loop.arrived == nil {
		r.loop.arrived = make(chan func() error, r.engine.options.MaxCalls)
	}
	r.loop.requests++
	arrived := r.loop.arrived
	go func() { arrived <- function() }()
}
