package script

import (
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// timer is what setTimeout or setInterval has set.
type timer struct {
	id  int64
	due time.Duration
	// every is the pause of an interval, 0 where it fires once.
	every    time.Duration
	function goja.Callable
	args     []goja.Value
}

// installTimers gives scripts setTimeout and what belongs to it.
func (r *run) installTimers() {
	r.global("setTimeout", func(call goja.FunctionCall) goja.Value { return r.setTimer(call, false) })
	r.global("setInterval", func(call goja.FunctionCall) goja.Value { return r.setTimer(call, true) })
	r.global("clearTimeout", r.clearTimer)
	r.global("clearInterval", r.clearTimer)
	r.global("setImmediate", func(call goja.FunctionCall) goja.Value {
		now := append([]goja.Value{call.Argument(0), r.vm.ToValue(0)}, call.Arguments[min(1, len(call.Arguments)):]...)
		return r.setTimer(goja.FunctionCall{This: call.This, Arguments: now}, false)
	})
	r.global("queueMicrotask", func(call goja.FunctionCall) goja.Value {
		promise, resolve, _ := r.vm.NewPromise()
		_ = resolve(goja.Undefined())
		then, _ := goja.AssertFunction(r.vm.ToValue(promise).ToObject(r.vm).Get("then"))
		if _, err := then(r.vm.ToValue(promise), call.Argument(0)); err != nil {
			panic(err)
		}
		return goja.Undefined()
	})
}

// global sets a function of the global scope.
func (r *run) global(name string, function func(goja.FunctionCall) goja.Value) {
	_ = r.vm.GlobalObject().DefineDataProperty(name, r.vm.ToValue(function), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// setTimer sets a timer, and returns its id.
func (r *run) setTimer(call goja.FunctionCall, repeats bool) goja.Value {
	function, isCallable := goja.AssertFunction(call.Argument(0))
	if !isCallable {
		panic(r.vm.NewTypeError("the first argument must be a function"))
	}
	r.countCall()
	pause := milliseconds(call.Argument(1).ToFloat())
	r.loop.made++
	set := &timer{id: r.loop.made, due: r.loop.elapsed + pause, function: function}
	if repeats {
		set.every = max(pause, time.Millisecond)
	}
	if len(call.Arguments) > 2 {
		set.args = slices.Clone(call.Arguments[2:])
	}
	r.loop.timers = append(r.loop.timers, set)
	return r.vm.ToValue(set.id)
}

// milliseconds is a number of milliseconds, as setTimeout reads them, up to a day.
func milliseconds(number float64) time.Duration {
	if math.IsNaN(number) || number < 0 {
		return 0
	}
	const day = 24 * time.Hour
	return time.Duration(min(number, float64(day/time.Millisecond))) * time.Millisecond
}

// clearTimer removes a timer.
func (r *run) clearTimer(call goja.FunctionCall) goja.Value {
	id := call.Argument(0).ToInteger()
	r.loop.timers = slices.DeleteFunc(r.loop.timers, func(t *timer) bool { return t.id == id })
	return goja.Undefined()
}

// firstTimer returns the timer that is due first, nil where there is none.
func (l *loop) firstTimer() *timer {
	if len(l.timers) == 0 {
		return nil
	}
	return slices.MinFunc(l.timers, func(a, b *timer) int {
		if a.due != b.due {
			return int(max(-1, min(1, a.due-b.due)))
		}
		return int(a.id - b.id)
	})
}

// fire calls the function of a timer.
func (r *run) fire(due *timer) error {
	if due.every > 0 {
		r.calls++
		due.due += due.every
	} else {
		r.loop.timers = slices.DeleteFunc(r.loop.timers, func(t *timer) bool { return t == due })
	}
	if r.calls > r.engine.options.MaxCalls {
		return r.tooManyCalls()
	}
	_, err := due.function(goja.Undefined(), due.args...)
	return err
}
