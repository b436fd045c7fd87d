package explore

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

// Property is what must hold: it makes members say things on a fresh platform, and states what is true
// then. It may run many times, and does the same each time; its helpers take a fakes.TB.
type Property func(t *T, p *fakes.Platform)

// outcome is what came of one run of a property.
type outcome struct {
	// failure is why the property does not hold, "" where it does.
	failure string
	// logged is what else a failing run prints, and transcript what happened on the platform.
	logged, transcript string
	// story is what turns did in their order.
	story string
	// hangs tells that the run was left behind, since it called nothing any more.
	hangs bool
}

func (o outcome) failed() bool { return o.failure != "" }

// run is one run of a property.
type run struct {
	*T

	settings settings
	// before is called with the platform before the property.
	before func(p *fakes.Platform)
	// onCall is told of each call of an operation, onRequest of each request, before it is made.
	onCall    func(ctx context.Context, op botctx.Op)
	onRequest func(ctx context.Context, asked fakes.Request)
	within    func(ctx context.Context) context.Context
	config    func(c *botctx.Config)
	calls     atomic.Int64
}

// newRun returns a run with nothing to tell.
func newRun(name string, s settings) *run {
	return &run{
		T: &T{name: name}, settings: s, before: func(*fakes.Platform) {},
		onCall: func(context.Context, botctx.Op) {}, onRequest: func(context.Context, fakes.Request) {},
		within: func(ctx context.Context) context.Context { return ctx }, config: func(*botctx.Config) {},
	}
}

// of runs a property.
func (r *run) of(property Property) outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.ctx = ctx
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.guarded(func() { r.play(property) })
	}()
	hangs := !r.await(done)
	if hangs {
		r.Errorf("it hangs: nothing was called for %v, since something waits that nothing in the test ends, or a loop has no end%s",
			r.settings.patience, r.schedule.whoRuns())
		r.schedule.stop()
	}
	r.end()
	came := outcome{hangs: hangs}
	came.failure, came.logged = r.text()
	if r.platform != nil && !hangs {
		came.transcript = r.platform.Transcript()
	}
	return came
}

// play makes the platform, and lets the property run on it.
func (r *run) play(property Property) {
	r.platform = fakes.New(append(append([]fakes.Option{fakes.For(r.T)}, r.settings.platform...),
		fakes.Within(r.within), fakes.PausingAtOnce(),
		fakes.OnRequest(func(ctx context.Context, asked fakes.Request) {
			r.count()
			r.onRequest(ctx, asked)
		}),
		fakes.Config(func(c *botctx.Config) {
			c.Interceptors = append([]botctx.Interceptor{r.intercept}, c.Interceptors...)
			r.config(c)
		}))...)
	r.before(r.platform)
	property(r.T, r.platform)
	r.Wait()
}

// intercept is the interceptor that tells of calls.
func (r *run) intercept(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	r.count()
	r.onCall(ctx, call.Op)
	return next(ctx)
}

// count ends a run that calls without end.
func (r *run) count() {
	switch calls := r.calls.Add(1); {
	case calls == r.settings.calls:
		r.Errorf("it has no end: %d calls were made%s", calls, r.schedule.whoRuns())
		r.schedule.stop()
		fallthrough
	case calls > r.settings.calls:
		runtime.Goexit()
	}
}

// await waits for the end of a run, and reports whether it came: false where the run calls nothing for
// too long.
func (r *run) await(done <-chan struct{}) bool {
	for before := int64(-1); ; {
		timer := time.NewTimer(r.settings.patience)
		select {
		case <-done:
			timer.Stop()
			return true
		case <-timer.C:
		}
		now := r.calls.Load()
		if now == before {
			return false
		}
		before = now
	}
}

// printed returns an outcome for a reader.
func (o outcome) printed() string {
	text := o.failure
	if o.logged != "" {
		text += "\n" + o.logged
	}
	return text + "\n"
}
