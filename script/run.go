package script

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// run is one run of a script: an instance of the engine, and the context that the script works on.
type run struct {
	engine   *Engine
	program  *Program
	prepared *prepared
	in       *quickjs.Instance
	//nolint:containedctx // What the script calls gets it: functions of scripts have no ctx.
	ctx context.Context
	bot *botctx.Context
	app string

	spent
	// counted is how much of the script's own time spend has counted.
	counted time.Duration

	loop     loop
	deadline deadline
	// seen are the records and values as the script was given them, or has changed them since.
	seen map[string]any
	// causes are the last errors that the script was given, by their numbers. causeCount is the last number.
	causes     map[int]error
	causeCount int
	// sizes are the lengths, as JSON, of what the script has left for those after it. left is their sum.
	sizes map[string]int
	left  int
	// lines is how many lines the script has logged.
	lines int
	// err is why the run has to end: what the script threw, or what it may not catch.
	err error
}

// want is what a run is to return of what the script returned.
type want string

const (
	wantValue   want = "value"
	wantTruth   want = "truth"
	wantNothing want = "nothing"
)

// Run runs the script on a context, and returns what the script returned as a value of documents: nil for nothing. What
// the script changed of its records and left on `this` is in the context then. If it failed, the context has what it
// had changed before its last operation.
//
// The error is an *Error.
func (p *Program) Run(ctx context.Context, bot *botctx.Context) (any, error) {
	return p.run(ctx, bot, wantValue)
}

func (p *Program) run(ctx context.Context, bot *botctx.Context, wanted want) (any, error) {
	e := p.engine
	r := &run{engine: e, program: p, bot: bot, app: bot.Scope().App, seen: map[string]any{}}
	ctx, err := r.within(ctx)
	if err != nil {
		return nil, &Error{File: p.name, Err: err}
	}
	if err := e.slots.Enter(ctx, r.app); err != nil {
		return nil, &Error{File: p.name, Err: err}
	}
	defer e.slots.Leave(r.app)
	r.ctx = r.deadline.begin(ctx, e.options.Deadline, e.tooLong)
	defer r.deadline.end()
	value, err := r.execute(wanted) //nolint:contextcheck // It has the run's.
	if err != nil {
		return nil, r.failed(err)
	}
	return value, nil
}

// processors is how many scripts compute at once.
func processors() int { return runtime.GOMAXPROCS(0) }

// tooLong is the error of a script whose deadline has come.
func (e *Engine) tooLong() error {
	return boterr.New(boterr.ResourceExhausted, "", "the script ran for longer than %v: see Options.Deadline", e.options.Deadline)
}

// execute runs the script to its end.
func (r *run) execute(wanted want) (value any, err error) {
	r.prepared, r.in, err = r.program.take(r.ctx, quickjs.Run{
		Host: r.host, Now: r.now, Zone: r.engine.options.Zone, Busy: r.engine.options.MaxBusy - r.computed(),
		MaxText: longestText(r.engine.options.MaxResultBytes),
	})
	if err != nil {
		return nil, err
	}
	defer r.in.Release()
	defer r.spend()
	if err := r.start(); err != nil {
		return nil, err
	}
	left, err := r.untilDone(wanted)
	if err != nil {
		return nil, err
	}
	return r.end(left)
}

// start calls the script.
func (r *run) start() error {
	script, err := r.in.Load(r.program.bytecode)
	if err != nil {
		return err
	}
	names := ""
	if left := r.leftNames(); len(left) > 0 {
		text, err := json.Marshal(left)
		if err != nil {
			return err
		}
		names = string(text)
	}
	given, isThere := r.prepared.texts[names]
	if !isThere {
		if given, err = r.in.NewString(names); err != nil {
			return err
		}
	}
	_, err = r.in.Call(r.prepared.start, script, given)
	return err
}

// leftNames returns the names of what earlier scripts have left, in order.
func (r *run) leftNames() []string {
	if len(r.bot.Values) == 0 {
		return nil
	}
	names := make([]string, 0, len(r.bot.Values))
	for name := range r.bot.Values {
		if !slices.Contains(recordNames, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// finish returns what is left of the run, "" if the script has not returned yet.
func (r *run) finish(wanted want) (string, error) {
	left, err := r.in.Call(r.prepared.finish, r.prepared.texts[string(wanted)])
	if err != nil {
		return "", err
	}
	return r.in.Text(left)
}

// end takes over what the script returned and changed.
func (r *run) end(text string) (any, error) {
	read := &reader{text: text, largest: r.engine.options.MaxResultBytes}
	read.want('[')
	value, err := read.value(forData)
	if err != nil {
		return nil, boterr.PrefixField("result", err)
	}
	read.want(',')
	if err := r.store(read); err != nil {
		return nil, err
	}
	read.want(',')
	if err := r.logRejected(read.rest()); err != nil {
		return nil, err
	}
	return orNull(value), nil
}

// now is the time of the context, and 1970 while helpers are loaded before there is one.
func (r *run) now() (now time.Time) {
	if r.bot == nil {
		return time.Unix(0, 0)
	}
	defer func() {
		if cause := recover(); cause != nil {
			r.fail(boterr.Recovered(cause))
		}
	}()
	return r.bot.Now()
}

// fail notes why the run has to end. The first reason stays.
func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// wait calls a function that takes time which is not the script's. Other scripts compute meanwhile.
func (r *run) wait(function func()) {
	if r.bot == nil {
		function()
		return
	}
	r.engine.slots.Leave(r.app)
	defer func() {
		resume := r.deadline.pause()
		r.engine.slots.Take(r.app)
		resume()
	}()
	function()
}
