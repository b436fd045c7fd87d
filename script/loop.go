package script

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// loop is what a script has begun and not waited for yet: requests under way, and timers. The zero loop is empty.
type loop struct {
	// arrived has the answers of requests that have ended.
	arrived  chan answer
	requests map[int]sending
	// held is the sum of their sizes.
	held   int
	last   int
	timers []timer
	// elapsed is the time of the timers: it passes while the script waits for one.
	elapsed time.Duration
}

// sending is a request under way: what cancels it, and how many bytes the script has given for it.
type sending struct {
	cancel context.CancelFunc
	size   int
}

// answer is how a request has ended.
type answer struct {
	id       int
	url      string
	response *outbound.Response
	err      error
}

// timer is what setTimeout or setInterval has set.
type timer struct {
	id  int
	due time.Duration
	// every is the pause of an interval, 0 if it fires once.
	every time.Duration
}

// untilDone does what has been begun until the script has returned and no request is under way, and returns what is left
// of the run, see this.js. Timers alone keep no script from ending.
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

// next waits for what comes first of what has been begun, and gives it to the script.
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
			"the script waits for a promise that nothing can settle: no operation, request or timer is under way")
	}
	switch {
	case err != nil:
		return err
	case ended != nil:
		return r.wake(*ended)
	}
	return r.fire(first)
}

// awaitRequest waits until a request has ended, or a timer is due by the clock of the machine, by which requests go.
func (r *run) awaitRequest(first *timer) (*answer, error) {
	var due <-chan time.Time
	began := time.Now() //nolint:forbidigo // Requests go by the machine's clock.
	if first != nil {
		left := time.NewTimer(first.due - r.loop.elapsed)
		defer left.Stop()
		due = left.C
	}
	select {
	case ended := <-r.loop.arrived:
		if first != nil {
			r.loop.elapsed = min(first.due, r.loop.elapsed+time.Since(began)) //nolint:forbidigo // As above.
		}
		return &ended, nil
	case <-due:
		r.loop.elapsed = first.due
		return nil, nil //nolint:nilnil // The timer is due.
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

// wake gives the script the answer of a request.
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

// fire gives the script a timer that is due.
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

// callWith calls a function of the prelude with a number, and more.
func (r *run) callWith(function quickjs.Value, id int, more ...quickjs.Value) error {
	number, err := r.in.NewNumber(float64(id))
	if err != nil {
		return err
	}
	_, err = r.in.Call(function, append([]quickjs.Value{number}, more...)...)
	return err
}

// first returns the timer that is due first, nil if there is none.
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

// hostTimer sets a timer: [id, milliseconds, whether it fires again].
func (r *run) hostTimer(payload string) (any, error) {
	var set [3]json.RawMessage
	var id int
	var pause float64
	var isEvery bool
	if json.Unmarshal([]byte(payload), &set) != nil || json.Unmarshal(set[0], &id) != nil ||
		json.Unmarshal(set[1], &pause) != nil || json.Unmarshal(set[2], &isEvery) != nil {
		return nil, boterr.Invalid("", "a timer needs a number of milliseconds")
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

// milliseconds is a number of milliseconds, as setTimeout reads them, up to a day.
func milliseconds(number float64) time.Duration {
	if math.IsNaN(number) || number < 0 {
		return 0
	}
	const day = 24 * time.Hour
	return time.Duration(min(number, float64(day/time.Millisecond))) * time.Millisecond
}

// hostClear removes a timer.
func (r *run) hostClear(payload string) (any, error) {
	var id int
	err := json.Unmarshal([]byte(payload), &id)
	r.loop.remove(id)
	return nil, err
}
