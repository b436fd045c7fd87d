package script

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// run is one run of a script: a runtime of its own, and the context that the script works on.
type run struct {
	engine  *Engine
	program *Program
	vm      *goja.Runtime
	//nolint:containedctx // What the script calls gets it: functions of scripts have no ctx.
	ctx context.Context
	bot *botctx.Context

	this      *bag
	loop      loop
	watched   watched
	installed []bool
	// paths are objects of the global scope that guards are for.
	paths  map[string]*goja.Object
	loaded map[string]*goja.Object
	// lacksMade are the functions of lacks.js, where a source needs one.
	lacksMade *goja.Object
	causes    map[*goja.Object]error
	rejected  []*goja.Promise
	lastWait  []goja.StackFrame
	// lastThrown is what the script has thrown last, and lastThrow where.
	lastThrown goja.Value
	lastThrow  []goja.StackFrame
	calls      int

	overdue chan struct{}
	// giveUpOnce closes overdue.
	giveUpOnce sync.Once
	// waits tells that the script waits for something, and isLeft that nobody waits for the script
	// any longer.
	waits, isInterrupted, isLeft atomic.Bool
	step                         step
	// endedBy is why the script was interrupted.
	endedBy atomic.Pointer[error]
	// holdsSlot tells that the run has one of the engine's slots.
	holdsSlot atomic.Bool
	deadline  deadline
}

// Run runs the script on a context, and returns what the script returned as a value of documents:
// nil for nothing. What the script changed of its records and left on `this` is in the context then.
// Where it failed, the context has what it had changed before its last operation.
//
// The error is an *Error.
func (p *Program) Run(ctx context.Context, bot *botctx.Context) (any, error) {
	if err := p.engine.slots.enter(ctx); err != nil {
		return nil, &Error{File: p.name, Err: err}
	}
	r := p.newRun()
	r.holdsSlot.Store(true)
	r.program, r.bot = p, bot
	return r.inTime(ctx)
}

// outcome is what a run ended with.
type outcome struct {
	value any
	err   error
}

// inTime runs the script by itself, so that a step which cannot be interrupted keeps nobody waiting.
func (r *run) inTime(ctx context.Context) (any, error) {
	ended := make(chan outcome, 1)
	go func() { ended <- r.outcomeInTime(ctx) }()
	select {
	case out := <-ended:
		return out.value, out.err
	case <-r.overdue:
		return r.leave(ended)
	}
}

// outcomeInTime runs the script to its end within its deadline.
func (r *run) outcomeInTime(ctx context.Context) outcome {
	defer r.leaveSlot()
	limited := r.deadline.begin(ctx, r.engine.options.Deadline, r.engine.tooLong)
	defer r.deadline.end()
	r.ctx = limited
	value, err := r.execute()
	return outcome{value, err}
}

// execute runs the script to its end.
func (r *run) execute() (value any, err error) {
	defer func() {
		cause := recover()
		if thrown, isError := cause.(error); isError && isOfEngine(thrown) {
			err = r.failed(thrown)
		} else if cause != nil {
			err = r.failed(boterr.Recovered(cause))
		}
	}()
	r.this = newBag(r)
	r.install(r.program.code.needs)
	r.engine.watch.add(r) // From here on the time is the script's.
	defer r.engine.watch.remove(r)
	ended, err := r.main()
	if err == nil {
		value, err = r.finish(ended)
	}
	if err != nil {
		return nil, r.failed(err)
	}
	return value, nil
}

// now is the time of the context, and 1970 while modules run before there is one.
func (r *run) now() time.Time {
	if r.bot == nil {
		return time.Unix(0, 0)
	}
	return r.bot.Now()
}

// main calls the script, and waits until what it returned is there.
func (r *run) main() (goja.Value, error) {
	made, err := r.vm.RunProgram(r.program.code.program)
	if err != nil {
		return nil, err
	}
	body, _ := goja.AssertFunction(made)
	returned, err := body(r.this.object)
	if exception, isThrown := err.(*goja.Exception); isThrown { //nolint:errorlint // It is not wrapped.
		err = r.thrown(exception.Value()) // As what a promise was rejected with.
	}
	if err != nil {
		return nil, err
	}
	promise, err := r.promised(returned)
	if promise == nil || err != nil {
		return returned, err
	}
	if err := r.settle(promise); err != nil {
		return nil, err
	}
	if promise.State() == goja.PromiseStateRejected {
		return nil, r.thrown(promise.Result())
	}
	return promise.Result(), nil
}

var promiseType = reflect.TypeFor[*goja.Promise]()

// promised returns the promise of what a script returned, nil where it is there already.
func (r *run) promised(returned goja.Value) (promise *goja.Promise, err error) {
	object, isObject := returned.(*goja.Object)
	if !isObject {
		return nil, nil //nolint:nilnil // There is no promise.
	}
	if object.ExportType() == promiseType {
		promise, _ = object.Export().(*goja.Promise)
		return promise, nil
	}
	err = r.inScript(func() error { // What it calls is the script's, and may throw.
		if _, isCallable := goja.AssertFunction(object.Get("then")); !isCallable {
			return nil
		}
		made, resolve, _ := r.vm.NewPromise()
		promise = made
		return resolve(object)
	})
	return promise, err
}

// finish takes over what the script returned and changed.
func (r *run) finish(ended goja.Value) (value any, err error) {
	r.lastWait = r.lastWait[:0] // It waits no longer: what is wrong with what it left has a field, and no place.
	err = r.inScript(func() error {
		if err := r.replaceMember(ended); err != nil {
			return err
		}
		if err := r.store(); err != nil {
			return err
		}
		if value, err = r.fromScript(ended, nil); err != nil {
			return boterr.In("result", err)
		}
		value = orNull(value)
		return nil
	})
	r.tellRejected()
	return value, err
}

// inScript calls a function of Go as a script would, so that it may read what scripts made, and
// so that what is thrown there is its error.
func (r *run) inScript(function func() error) (err error) {
	defer func() {
		cause := recover()
		if ended, isError := cause.(error); isError && isOfEngine(ended) {
			err = ended
		} else if cause != nil {
			panic(cause)
		}
	}()
	if thrown := r.vm.Try(func() { err = function() }); thrown != nil {
		return thrown
	}
	return err
}
