package script

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// run is one run of a script, in an instance of the engine and with a context for its operations.
type run struct {
	engine   *Engine
	program  *Program
	prepared *prepared
	in       *quickjs.Instance
	//nolint:containedctx // What the script calls gets it: functions of scripts have no ctx.
	ctx context.Context
	// limit is the time limit of ctx. It is paused while the run waits for a slot. It is nil while helpers are loaded.
	limit *timelimit.Limit
	bot   *botctx.Context
	// turn is the app and channel for which the run takes a slot.
	turn fair.Key

	spent
	// counted is the part of the script's computing time that spend has already added.
	counted time.Duration

	loop loop
	// seen are the records and values that the script last received or stored.
	seen map[string]any
	// causes are the most recent errors that the script received, by number. causeCount is the last number.
	causes     map[int]error
	causeCount int
	// sizes are the JSON lengths of the values that this script and earlier ones have left. left is their sum. sizes is
	// nil until the script leaves a value, and after an operation with scripts in it.
	sizes map[string]int
	left  int
	// lines is the number of lines that the script has logged.
	lines int
	// err is the reason for ending the run: a value that the script threw, or an error that it cannot catch.
	err error
}

// want selects which part of the script's result a run returns.
type want string

const (
	wantValue   want = "value"
	wantTruth   want = "truth"
	wantNothing want = "nothing"
)

// Run runs the script on a context. It returns the script's result as a document value, or nil if there is none. The
// context then contains the script's changes to records, and the values that it left on `this`. After a failure, the
// context contains the changes up to the last operation. The error is an *Error.
func (p *Program) Run(ctx context.Context, bot *botctx.Context) (any, error) {
	return p.run(ctx, bot, wantValue)
}

func (p *Program) run(ctx context.Context, bot *botctx.Context, wanted want) (any, error) {
	e := p.engine
	r := &run{engine: e, program: p, bot: bot, turn: fair.Key{App: bot.Scope().App, Channel: bot.Scope().Channel}, seen: map[string]any{}}
	ctx, err := r.within(ctx)
	if err != nil {
		return nil, &Error{File: p.name, Err: err}
	}
	if e.slots.Take(ctx, r.turn) != nil {
		return nil, &Error{File: p.name, Err: boterr.Wrap("", context.Cause(ctx))}
	}
	defer e.slots.Release(r.turn)
	r.limit = e.deadline.Begin(ctx)
	defer func() { _ = r.limit.End(nil) }()
	r.ctx = r.limit
	value, err := r.execute(wanted) //nolint:contextcheck // It has the run's.
	if err != nil {
		return nil, r.failed(err)
	}
	return value, nil
}

// execute runs the script to its end.
func (r *run) execute(wanted want) (value any, err error) {
	r.prepared, r.in, err = r.program.take(r.ctx, quickjs.Run{
		Host: r.host, Now: r.now, Zone: r.engine.options.Zone, Busy: r.engine.options.MaxBusy - r.computed(),
		Clock: r.engine.options.clock(), MaxText: longestText(r.engine.options.MaxResultBytes),
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

// leftNames returns the sorted names of the values that earlier scripts left.
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

// finish returns the script's result and changes, or "" if the script has not returned yet.
func (r *run) finish(wanted want) (string, error) {
	left, err := r.in.Call(r.prepared.finish, r.prepared.texts[string(wanted)])
	if err != nil {
		return "", err
	}
	return r.in.Text(left)
}

// end stores the script's changes and returns its result.
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

// now returns the time of the context. Helpers are loaded without a context, in 1970.
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

// fail records the reason for ending the run. The first reason wins.
func (r *run) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// wait calls a function whose time does not count as the script's. Meanwhile, other scripts may compute.
func (r *run) wait(function func()) {
	if r.bot == nil {
		function()
		return
	}
	r.engine.slots.Release(r.turn)
	defer func() {
		r.limit.Pause()
		defer r.limit.Resume()
		_ = r.engine.slots.Take(context.WithoutCancel(r.ctx), r.turn) // It waits for its turn, even if the run has ended.
	}()
	function()
}

// spent is a run's usage of its limits. It includes scripts that run within its operations, such as the scripts of a
// node that it redirects to. Each of these scripts has its own instance.
type spent struct {
	depth int
	*shared
}

// shared is the part of spent that nested scripts share.
type shared struct {
	calls atomic.Int64
	// busy is the computing time of scripts. work is the work of the store's calls within operations, as counted by
	// query.CountWork.
	busy, work atomic.Int64
}

// spentKey is the key of spent in the context of operations.
type spentKey struct{}

// deepestNested limits the nesting of scripts within operations of other scripts, because each level takes the memory
// of an instance.
const deepestNested = 8

// within makes the run share the limits of the outer run if it runs within an operation of another script. It returns
// the context for the run's operations.
func (r *run) within(ctx context.Context) (context.Context, error) {
	outer, isNested := ctx.Value(spentKey{}).(spent)
	if !isNested {
		outer.shared = &shared{}
		ctx = query.CountWork(ctx, &outer.work)
	}
	if outer.depth == deepestNested {
		return nil, boterr.New(boterr.ResourceExhausted, "",
			"scripts that call each other through operations are nested more than %d deep", deepestNested)
	}
	r.spent = spent{outer.depth + 1, outer.shared}
	return context.WithValue(ctx, spentKey{}, r.spent), nil
}

// computed returns the computing time of all scripts so far, as counted by spend, and of the store.
func (s spent) computed() time.Duration { return time.Duration(s.busy.Load() + s.work.Load()) }

// spend adds the time that the script has computed since the last call.
func (r *run) spend() {
	busy := r.in.Busy()
	r.busy.Add(int64(busy - r.counted))
	r.counted = busy
}

// sharing calls an operation. Its computing time, of the store and of scripts within it, counts against this script.
func (r *run) sharing(operation func()) {
	r.spend()
	before, scripts := r.computed(), r.busy.Load()
	operation()
	others := r.computed() - before
	r.in.Charge(others)
	r.counted += others
	if r.busy.Load() > scripts {
		r.sizes = nil
	}
}

// loop holds the pending requests and timers of a script. The zero loop is empty.
type loop struct {
	// arrived receives the answers of finished requests.
	arrived  chan answer
	requests map[int]sending
	// places is full while mostAtOnce requests are sent or have an answer that waits.
	places chan struct{}
	// held is the number of bytes that the pending requests hold.
	held   int
	last   int
	timers []timer
	// elapsed is the time on the timers' clock. It advances while the script waits for a timer.
	elapsed time.Duration
}

// sending is a pending request: a function that cancels it, and the number of bytes that it holds.
type sending struct {
	cancel context.CancelFunc
	size   int
}

// answer is the outcome of a request.
type answer struct {
	id       int
	url      string
	response *outbound.Response
	err      error
}

// timer is a timer of setTimeout or setInterval.
type timer struct {
	id  int
	due time.Duration
	// every is the period of setInterval, or 0 for setTimeout.
	every time.Duration
}

// untilDone processes requests and timers until the script has returned and no request is pending. It returns the
// result and changes, see this.js. Pending timers do not keep a script running.
func (r *run) untilDone(wanted want) (text string, err error) {
	for {
		if err := r.in.RunJobs(); err != nil {
			return "", err
		}
		if r.err == nil && len(r.loop.requests) == 0 {
			if text, err = r.finish(wanted); err != nil || text != "" {
				return text, err
			}
		}
		if r.err != nil {
			return "", r.err
		}
		if err := r.next(); err != nil {
			return "", err
		}
	}
}

// next waits for the first request or timer, and passes it to the script.
func (r *run) next() (err error) {
	var ended *answer
	first := r.loop.first()
	switch {
	case len(r.loop.requests) > 0:
		r.wait(func() { ended, err = r.awaitRequest(first) })
	case first != nil:
		r.wait(func() { err = r.awaitTimer(first) })
	default:
		err = boterr.New(boterr.FailedPrecondition, "",
			"the script waits for a promise that nothing can settle: no operation, request or timer is pending")
	}
	switch {
	case err != nil:
		return err
	case ended != nil:
		return r.wake(*ended)
	}
	return r.fire(first)
}

// awaitRequest waits until a request has finished or the first timer is due. It uses the machine's clock, because
// requests take real time.
func (r *run) awaitRequest(first *timer) (*answer, error) {
	var due <-chan time.Time
	began := timelimit.Now()
	if first != nil {
		left := time.NewTimer(first.due - r.loop.elapsed)
		defer left.Stop()
		due = left.C
	}
	select {
	case ended := <-r.loop.arrived:
		if first != nil {
			r.loop.elapsed = min(first.due, r.loop.elapsed+timelimit.Now().Sub(began))
		}
		return &ended, nil
	case <-due:
		r.loop.elapsed = first.due
		return nil, nil //nolint:nilnil // The timer is due.
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// awaitTimer waits on the context's clock until a timer is due.
func (r *run) awaitTimer(first *timer) error {
	r.bot.Pause(r.ctx, first.due-r.loop.elapsed)
	r.loop.elapsed = first.due
	return context.Cause(r.ctx)
}

// wake passes the answer of a request to the script.
func (r *run) wake(ended answer) error {
	sent := r.loop.requests[ended.id]
	delete(r.loop.requests, ended.id)
	r.loop.held -= sent.size
	sent.cancel()
	told, err := r.textOf(ended)
	if err != nil {
		return err
	}
	text, err := r.in.NewString(told)
	if err != nil {
		return err
	}
	return r.callWith(r.prepared.wake, ended.id, text)
}

// fire passes a due timer to the script.
func (r *run) fire(due *timer) error {
	id := due.id
	if due.every > 0 {
		if err := r.countCall(); err != nil {
			return err
		}
		due.due += due.every
	} else {
		r.loop.remove(id)
	}
	return r.callWith(r.prepared.fire, id)
}

// callWith calls a function of the prelude with an id and further arguments.
func (r *run) callWith(function quickjs.Value, id int, more ...quickjs.Value) error {
	number, err := r.in.NewNumber(float64(id))
	if err != nil {
		return err
	}
	_, err = r.in.Call(function, append([]quickjs.Value{number}, more...)...)
	return err
}

// first returns the timer that is due first, or nil if there are none.
func (l *loop) first() *timer {
	var first *timer
	for i := range l.timers {
		if one := &l.timers[i]; first == nil || one.due < first.due || one.due == first.due && one.id < first.id {
			first = one
		}
	}
	return first
}

func (l *loop) remove(id int) {
	l.timers = slices.DeleteFunc(l.timers, func(t timer) bool { return t.id == id })
}

// hostTimer creates a timer. payload is [id, milliseconds, whether it repeats].
func (r *run) hostTimer(payload string) (any, error) {
	var set [3]json.RawMessage
	var id int
	var pause float64
	var isEvery bool
	if json.Unmarshal([]byte(payload), &set) != nil || json.Unmarshal(set[0], &id) != nil ||
		json.Unmarshal(set[1], &pause) != nil || json.Unmarshal(set[2], &isEvery) != nil {
		return nil, boterr.Invalid("", "the delay of a timer must be a number of milliseconds")
	}
	if err := r.countCall(); err != nil {
		return nil, err
	}
	made := timer{id: id, due: r.loop.elapsed + milliseconds(pause)}
	if isEvery {
		made.every = max(milliseconds(pause), time.Millisecond)
		made.due = r.loop.elapsed + made.every
	}
	r.loop.timers = append(r.loop.timers, made)
	return nil, nil
}

// milliseconds converts the delay of a timer as setTimeout does. The maximum is a day.
func milliseconds(number float64) time.Duration {
	if math.IsNaN(number) || number < 0 {
		return 0
	}
	const day = 24 * time.Hour
	return time.Duration(min(number, float64(day/time.Millisecond))) * time.Millisecond
}

// hostClear removes a timer.
func (r *run) hostClear(id int) (any, error) {
	r.loop.remove(id)
	return nil, nil
}
