package explore

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/absent"
)

// Property is a function that makes members write to a bot on a fresh platform, and then checks the outcome.
// It may run many times, and must do the same each time; its helpers take a fakes.TB.
type Property func(t *T, p *fakes.Platform)

// outcome is the result of one run of a property.
type outcome struct {
	// failure is the reason why the property fails, or "" if it holds.
	failure string
	// logged is the further output of a failing run. transcript is the platform's transcript.
	logged, transcript string
	// story lists the actions of turns in their order.
	story string
	// hangs is true if the run was abandoned, because it no longer made calls.
	hangs bool
}

func (o outcome) failed() bool { return o.failure != "" }

type run struct {
	*T

	settings settings
	// before is called with the platform before the property.
	before func(p *fakes.Platform)
	// onCall is called before each call of an operation, onRequest before each request, onArrival before each
	// event that reaches the bot.
	onCall    func(ctx context.Context, op botctx.Op)
	onRequest func(ctx context.Context, asked fakes.Request)
	onArrival func(from fakes.Service)
	within    func(ctx context.Context) context.Context
	config    func(c *botctx.Config)
	calls     atomic.Int64
}

func newRun(name string, s settings) *run {
	return &run{
		T: &T{name: name}, settings: s, before: func(*fakes.Platform) {},
		onCall: func(context.Context, botctx.Op) {}, onRequest: func(context.Context, fakes.Request) {},
		onArrival: func(fakes.Service) {},
		within:    func(ctx context.Context) context.Context { return ctx }, config: func(*botctx.Config) {},
	}
}

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
		r.Errorf("it hangs: no call was made for %v; end the wait or the loop that it is in%s",
			r.settings.patience, r.schedule.whoRuns())
		r.schedule.stop()
	}
	r.end()
	came := outcome{hangs: hangs}
	came.failure, came.logged = r.text()
	if !hangs && r.platform != nil { // A run that hangs may still set the platform.
		came.transcript = r.platform.Transcript()
	}
	return came
}

// play creates the platform, and runs the property on it.
func (r *run) play(property Property) {
	r.platform = fakes.New(append(append([]fakes.Option{fakes.For(r.T)}, r.settings.platform...),
		fakes.Within(r.within), fakes.PausingAtOnce(),
		fakes.OnRequest(func(ctx context.Context, asked fakes.Request) {
			r.count()
			r.onRequest(ctx, asked)
		}),
		fakes.OnArrival(func(from fakes.Service) { r.onArrival(from) }),
		fakes.Config(func(c *botctx.Config) {
			c.Interceptors = append([]botctx.Interceptor{r.intercept}, c.Interceptors...)
			r.config(c)
		}))...)
	r.before(r.platform)
	property(r.T, r.platform)
	r.Wait()
}

func (r *run) intercept(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	r.count()
	r.onCall(ctx, call.Op)
	return next(ctx)
}

// count counts a call, and ends the run if it has made too many.
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

// await waits for the end of a run. It returns false if the run makes no calls for too long.
func (r *run) await(done <-chan struct{}) bool {
	for before := int64(0); ; {
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

func (o outcome) printed() string {
	text := o.failure
	if o.logged != "" {
		text += "\n" + o.logged
	}
	return text + "\n"
}

// Go adds a turn to the run: the actions of a member, an agent or the time, simultaneous with other turns.
// name identifies it in a failure. Wait runs the turns.
//
//	t.Go("Ada", func() { ada.Says("buy") })
//	t.Go("time", func() { p.Advance(time.Hour) })
//	t.Wait()
func (t *T) Go(name string, run func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turns = append(t.turns, turn{name, run})
}

// Wait runs the turns added since the last Wait, and returns when all have ended: one after the other under
// Faults, and in the order of the round under Orders. It is also called at the end of the property. If a
// failed turn has ended the run, Wait does not return.
func (t *T) Wait() {
	t.mu.Lock()
	turns := t.turns
	t.turns = nil
	t.mu.Unlock()
	switch {
	case len(turns) == 0:
	case t.schedule != nil:
		t.schedule.runAll(turns, t.guarded)
	default:
		for _, one := range turns {
			one.run()
		}
	}
	t.mu.Lock()
	isOver := t.isOver
	t.mu.Unlock()
	if isOver {
		runtime.Goexit()
	}
}

// Switch is a point of the test at which another turn may continue under Orders, such as in a fake of the
// test that a bot calls. at describes the point.
func (t *T) Switch(at string) {
	if t.schedule != nil {
		t.schedule.yield(t.ctx, point{name: at})
	}
}

// isUnderLock reports whether the SDK holds a lock during a request to the store, so that no other turn can continue
// there. The inbox makes such requests to keep its own records.
func isUnderLock(asked fakes.Request) bool {
	_, collection, _ := strings.Cut(asked.Name, " ")
	return asked.Service == fakes.ServiceStore && strings.HasPrefix(collection, "inbox") || strings.HasPrefix(asked.Name, "ensureIndex ")
}

// Variable is the environment variable that repeats one round of a search. A failing round prints its value,
// such as "faults:sendResponse#1=timesOut" or "orders:3>0". A number is a Seed for all searches.
const Variable = "BOTCTX_EXPLORE"

// The kinds of searches, as named in Variable.
const (
	kindFaults = "faults"
	kindOrders = "orders"
)

// The defaults of the options.
const (
	defaultSeed     = 1
	defaultMost     = 3
	defaultCalls    = 100_000
	defaultPatience = 10 * time.Second
)

type settings struct {
	seed     uint64
	most     int
	calls    int64
	patience time.Duration
	platform []fakes.Option
}

// Option is a setting of a search.
type Option func(*settings)

// Seed makes a search draw other rounds. The default is 1, so that a test does the same each time.
func Seed(seed uint64) Option { return func(s *settings) { s.seed = seed } }

// MaxFaults bounds the faults, or switches, of a round. The default is 3.
func MaxFaults(most int) Option { return func(s *settings) { s.most = max(1, most) } }

// MaxCalls limits the calls of operations and services in one run: more are considered an endless loop. The
// default is 100,000.
func MaxCalls(most int) Option { return func(s *settings) { s.calls = int64(max(1, most)) } }

// PlatformOptions gives options to the platforms, such as fakes.WithInbox.
func PlatformOptions(options ...fakes.Option) Option {
	return func(s *settings) { s.platform = append(s.platform, options...) }
}

// Timeout is the time, in real time, after which a run without calls is considered hanging. It must be positive. The
// default is ten seconds.
func Timeout(d time.Duration) Option { return func(s *settings) { s.patience = d } }

// settingsOf applies the options of a search with a number of rounds, and ends the test if one of them is impossible. A
// seed in Variable takes precedence.
func settingsOf(t fakes.TB, rounds int, options []Option) settings {
	t.Helper()
	s := settings{seed: defaultSeed, most: defaultMost, calls: defaultCalls, patience: defaultPatience}
	if err := absent.CheckList("options", options); err != nil {
		t.Fatalf("explore: %v", err)
		return s
	}
	for _, option := range options {
		option(&s)
	}
	if seed, err := strconv.ParseUint(os.Getenv(Variable), 10, 64); err == nil {
		s.seed = seed
	}
	switch {
	case rounds < 1:
		t.Fatalf("explore: a search has at least one round, got %d", rounds)
	case s.patience <= 0:
		t.Fatalf("explore: Timeout(%v): give a positive duration", s.patience)
	}
	return s
}

// smallest returns a part of a list for which fails is true, but is false if any single item is removed. It uses
// delta debugging, which removes halves, quarters and so on.
func smallest[A any](list []A, fails func([]A) bool) []A {
	for parts := 2; len(list) > 0; {
		size := (len(list) + parts - 1) / parts
		if rest, found := without(list, size, fails); found {
			list, parts = rest, max(2, parts-1)
			continue
		}
		if size == 1 {
			return list
		}
		parts = min(2*parts, len(list))
	}
	return list
}

// without removes a part of the given size from a list, if fails is still true for the rest.
func without[A any](list []A, size int, fails func([]A) bool) (rest []A, found bool) {
	for from := 0; from < len(list); from += size {
		rest = slices.Concat(list[:from], list[min(from+size, len(list)):])
		if fails(rest) {
			return rest, true
		}
	}
	return nil, false
}

// story lists the actions of turns, in order.
type story struct{ segments []segment }

// segment lists the actions of one turn until another one continued.
type segment struct {
	task string
	// calls are the operations that the turn called. stoppedAt is the point at which it stopped.
	calls     []string
	stoppedAt string
}

func (s *story) continues(t *task) { s.segments = append(s.segments, segment{task: t.name}) }

// stops records the point at which the last turn stopped, or nil for none.
func (s *story) stops(t *task) {
	if last := len(s.segments) - 1; last >= 0 && t != nil {
		s.segments[last].stoppedAt = t.at.name
	}
}

func (s *story) did(call string) {
	last := &s.segments[len(s.segments)-1]
	last.calls = append(last.calls, call)
}

// String returns the story, a line for each segment.
func (s *story) String() string {
	lines := make([]string, len(s.segments))
	for i, one := range s.segments {
		lines[i] = fmt.Sprintf("%d. %s", i+1, one.task)
		if len(one.calls) > 0 {
			lines[i] += " does " + strings.Join(one.calls, ", ")
		}
		if one.stoppedAt != "" {
			lines[i] += ", up to " + one.stoppedAt
		}
	}
	return strings.Join(lines, "\n")
}
