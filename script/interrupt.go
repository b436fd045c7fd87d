package script

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
)

// interrupt ends the script at the next step of the language.
func (r *run) interrupt(cause error) {
	r.endedBy.Store(&cause)
	r.isInterrupted.Store(true)
	r.vm.Interrupt(cause)
}

// giveUp leaves the script behind. Others have its slot then.
func (r *run) giveUp() {
	r.isLeft.Store(true)
	r.leaveSlot()
	r.giveUpOnce.Do(func() { close(r.overdue) })
}

// leaveSlot gives the slot of the run back, where it has one.
func (r *run) leaveSlot() {
	if r.holdsSlot.Swap(false) {
		r.engine.slots.leave()
	}
}

// enterSlot takes a slot for the run, and waits for one. Where the run's time is over it has none: it ends with
// the next step of the language.
func (r *run) enterSlot() {
	if !r.engine.slots.enterAtOnce() && !r.queueForSlot() {
		r.interrupt(context.Cause(r.ctx))
		return
	}
	r.holdsSlot.Store(true)
	if r.isLeft.Load() { // Whoever left it behind may have found it without a slot.
		r.leaveSlot()
	}
}

// errTooLong is the error of a script whose deadline has come.
func errTooLong(deadline time.Duration) error {
	return boterr.New(boterr.ResourceExhausted, "", "the script ran for longer than %v: see Options.Deadline", deadline)
}

// errLeft ends what a script that was left behind still tries.
var errLeft = errors.New("nobody waits for the script any longer")

// leave returns the error of a script that did not end when it was interrupted.
func (r *run) leave(ended <-chan outcome) (any, error) {
	select {
	case out := <-ended:
		return out.value, out.err
	default:
		return nil, r.errorAt(boterr.New(boterr.ResourceExhausted, "",
			"one step of the script took too long; it was left behind, and ends by itself"), r.step.places())
	}
}

// step is where a script called a function of the language that may take long.
type step struct {
	mu     sync.Mutex
	frames []goja.StackFrame
}

// places returns where it was.
func (s *step) places() []place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return placesOf(s.frames)
}

// enterStep notes that the script calls such a function.
func (r *run) enterStep() {
	r.stopIfInterrupted()
	r.step.mu.Lock()
	defer r.step.mu.Unlock()
	r.step.frames = r.vm.CaptureCallStack(stepFrames, r.step.frames[:0])
}

// stepFrames is how many calls of a stack a step keeps: the function of the language, and what called it.
const stepFrames = 3

// stopIfInterrupted throws where the script was interrupted, for functions of the language that call
// others of Go again and again: an interruption is seen by what scripts say alone.
func (r *run) stopIfInterrupted() {
	if r.isInterrupted.Load() {
		panic(r.errorObject(*r.endedBy.Load()))
	}
}

// queueForSlot waits for a slot, and reports whether the run has it. The wait is no time of the script's.
func (r *run) queueForSlot() bool {
	resume := r.deadline.pause()
	defer resume()
	return r.engine.slots.enter(r.ctx) == nil
}

// wait calls a function for which the script waits: while it does, nothing is computed, and others may have
// its slot.
func (r *run) wait(function func()) {
	if r.isLeft.Load() {
		panic(errLeft)
	}
	r.waits.Store(true)
	r.leaveSlot()
	defer func() {
		r.enterSlot()
		r.watched.begin()
		r.waits.Store(false)
	}()
	function()
}

// waitTracker notes where the script waits for a promise, for errors about it.
type waitTracker struct{ run *run }

// Grab notes where the script is.
func (t waitTracker) Grab() any {
	t.run.lastWait = t.run.vm.CaptureCallStack(2, t.run.lastWait[:0])
	return nil
}

// Resumed has nothing to do.
func (waitTracker) Resumed(any) {}

// Exited has nothing to do.
func (waitTracker) Exited() {}

var _ goja.AsyncContextTracker = waitTracker{}
