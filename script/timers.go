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

// timerNames are what timers give the global scope.
var timerNames = []string{"setTimeout", "setInterval", "clearTimeout", "clearInterval", "setImmediate", "queueMicrotask"}

// installTimers gives scripts setTimeout and what belongs to it.
func (r *run) installTimers() {
	r.globalFunction("setTimeout", r.setTimeout)
	r.globalFunction("setInterval", r.setInterval)
	r.globalFunction("clearTimeout", r.clearTimer)
	r.globalFunction("clearInterval", r.clearTimer)
	r.globalFunction("setImmediate", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(r.newTimer(call.Argument(0), goja.Undefined(), call.Arguments[min(1, len(call.Arguments)):]).id)
	})
	r.globalFunction("queueMicrotask", r.queueMicrotask)
}

// setTimeout sets a timer that fires once, and returns its id.
func (r *run) setTimeout(call goja.FunctionCall) goja.Value {
	return r.vm.ToValue(r.newTimer(call.Argument(0), call.Argument(1), call.Arguments[min(2, len(call.Arguments)):]).id)
}

// setInterval sets a timer that fires again and again, and returns its id.
func (r *run) setInterval(call goja.FunctionCall) goja.Value {
	set := r.newTimer(call.Argument(0), call.Argument(1), call.Arguments[min(2, len(call.Arguments)):])
	set.every = max(set.due-r.loop.elapsed, time.Millisecond)
	return r.vm.ToValue(set.id)
}

// queueMicrotask calls a function once what is under way has ended.
func (r *run) queueMicrotask(call goja.FunctionCall) goja.Value {
	promise, resolve, _ := r.vm.NewPromise()
	if err := resolve(goja.Undefined()); err != nil {
		panic(err)
	}
	resolved := r.vm.ToValue(promise)
	then, _ := goja.AssertFunction(resolved.ToObject(r.vm).Get("then"))
	r.orThrow(then(resolved, call.Argument(0)))
	return goja.Undefined()
}

// newTimer sets a timer.
func (r *run) newTimer(function, pause goja.Value, args []goja.Value) *timer {
	called, isCallable := goja.AssertFunction(function)
	if !isCallable {
		panic(r.vm.NewTypeError("the first argument must be a function"))
	}
	r.countCall()
	r.loop.made++
	set := &timer{
		id: r.loop.made, due: r.loop.elapsed + milliseconds(pause.ToFloat()), function: called, args: slices.Clone(args),
	}
	r.loop.timers = append(r.loop.timers, set)
	return set
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
