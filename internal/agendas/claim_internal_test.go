package agendas

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

func TestClockThatGoesBack_DelaysNoRetry(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]error{
		"failure": boterr.New(boterr.Unavailable, "", "no answer"), "postponed": agenda.Postpone(10 * time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				handler := with(outcome)
				scheduler := s.scheduler(handler)
				s.add(-2 * time.Hour)
				s.runNext(scheduler)
				s.requireNothingDue(scheduler)
				s.clock.advance(-time.Hour)
				s.clock.advance(10 * time.Second)
				s.runNext(scheduler)
				s.requireNothingDue(scheduler)
				s.clock.advance(-time.Hour)
				s.clock.advance(20 * time.Second)
				s.runNext(s.scheduler(handler)) // A new scheduler has not seen the clock go back.
			})
		})
	}
}

func TestClockThatGoesBack_DelaysNoLease(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(-2 * time.Hour)
		s.clock.advance(3 * defaultLease)
		watching := s.scheduler(succeed)
		s.requireNothingDueAfter(watching, id)
		s.add(-2*time.Hour, named("dies"))
		require.True(s.t, s.dieOnce())
		s.clock.advance(-time.Hour)
		for _, scheduler := range []*Scheduler{watching, s.scheduler(succeed)} {
			s.requireNothingDue(scheduler)
		}
		s.clock.advance(defaultLease + time.Second)
		require.Equal(s.t, "dies", s.runNext(watching).Run.Agenda.Tag)
	})
}

func TestClockThatGoesBack_LeavesALiveLease(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(-2 * time.Hour)
		holder, other := s.scheduler(succeed), s.scheduler(succeed)
		c, err := holder.claimHere(s.ctx, s.rawOf(id), s.clock.Now())
		require.NoError(s.t, err)
		s.clock.advance(-time.Hour)
		s.requireNothingDue(other)
		held := newPool(holder).held
		held.Add(c, func(error) {})
		s.clock.advance(defaultLease / 2)
		holder.renewAll(s.ctx, held)
		s.clock.advance(defaultLease - time.Second)
		s.requireNothingDue(other)
		_, err = holder.finish(s.ctx, c, nil)
		require.NoError(s.t, err)
		require.True(s.t, s.get(id).Completed)
	})
}

func with(failure error) agenda.Handler {
	return func(context.Context, agenda.Run) error { return failure }
}

// requireNothingDueAfter runs one agenda, and fails if another one is due.
func (s *stand) requireNothingDueAfter(scheduler *Scheduler, id string) {
	s.t.Helper()
	require.Equal(s.t, id, s.runNext(scheduler).Run.Agenda.ID)
	s.requireNothingDue(scheduler)
}

func (s *stand) rawOf(id string) document.Object {
	s.t.Helper()
	stored, exists, err := s.store.Collection(schema.Collection).Get(s.ctx, id)
	require.NoError(s.t, err)
	require.True(s.t, exists)
	return stored
}

// step is called before each step of a worker, which is a call of the store or the work of the handler, with the step's
// number. The worker calls after when the step is done.
type step func(number int) (after func())

// crash is a store with agendas of all kinds, and the number of successful runs. Workers on it die.
type crash struct {
	*stand

	mu   sync.Mutex
	runs map[string]int
}

func (c *crash) kinds() []string { return []string{"once", "daily", "fails first"} }

func newCrash(s *stand) *crash {
	c := &crash{stand: s, runs: map[string]int{}}
	s.add(0, named("once"))
	s.add(0, named("daily"), repeating("0 9 * * *"))
	s.add(0, named("fails first"))
	return c
}

func (c *crash) handler(_ context.Context, run agenda.Run) error {
	if run.Agenda.Tag == "fails first" && c.get(run.Agenda.ID).Failures == 0 {
		return errors.New("no luck")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[run.Agenda.Tag]++
	return nil
}

// worker returns a scheduler on a wrapped store that makes its steps through step.
func (c *crash) worker(wrap func(store.Store) store.Store, step step) *Scheduler {
	number := 0
	begin := func() (after func()) {
		number++
		return step(number)
	}
	stepped := store.Wrap(wrap(c.store), func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		after := begin()
		return ctx, func(_ int, err error) error { after(); return err }, nil
	})
	return c.scheduler(func(ctx context.Context, run agenda.Run) error {
		after := begin()
		err := c.handler(ctx, run)
		after()
		return err
	}, limited(5), func(config *SchedulerConfig) { config.Env.Store = stepped })
}

// goOn is a step that does nothing more.
func goOn() {}

// requireAllDone lets the leases expire and runs the remaining agendas in another worker. It fails if an agenda was
// lost or left unfinished.
func (c *crash) requireAllDone(about string) {
	c.t.Helper()
	heir := c.scheduler(c.handler, limited(5))
	for range 3 {
		c.clock.advance(2 * time.Minute)
		c.drain(heir)
	}
	found, err := c.service().Find(c.ctx, queryAll())
	require.NoError(c.t, err)
	require.Len(c.t, found, len(c.kinds()), about)
	for _, r := range found {
		require.GreaterOrEqual(c.t, c.runs[r.Tag], 1, "%s: %s never ran", about, r.Tag)
		require.Equal(c.t, r.Pattern == "", r.Completed, "%s: %s", about, r.Tag)
		require.Zero(c.t, r.LeaseUntil, "%s: %s", about, r.Tag)
		require.False(c.t, r.Failed, "%s: %s", about, r.Tag)
		if r.Pattern != "" {
			require.Equal(c.t, document.TimestampOf(start().Add(9*time.Hour)), r.NextRunAt, about)
		}
	}
}

// mostSteps is more than the steps that any worker in these tests makes.
const mostSteps = 200

func TestScheduler_KilledAtAnyStep(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func() (after func()){
		"before it": func() (after func()) { runtime.Goexit(); return nil },
		"after it":  func() (after func()) { return runtime.Goexit },
	} {
		for kind, wrap := range wraps() {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				last := 1
				for ; last < mostSteps; last++ {
					c := newCrash(newStand(t))
					if c.isSpared(wrap, last, kill) {
						break
					}
					c.requireAllDone(name)
				}
				require.Greater(t, last, 10, "the worker was killed at each of its steps")
				require.Less(t, last, mostSteps)
			})
		}
	}
}

// isSpared runs all due agendas in a worker that is killed at a step. It reports whether the worker finished
// before that step.
func (c *crash) isSpared(wrap func(store.Store) store.Store, at int, kill func() (after func())) bool {
	c.t.Helper()
	spared := false
	victim := c.worker(wrap, func(number int) (after func()) {
		if number == at {
			return kill()
		}
		return goOn
	})
	var life sync.WaitGroup
	life.Go(func() {
		for {
			if result, err := victim.RunNext(c.ctx); err != nil || !result.Ran {
				break
			}
		}
		spared = true
	})
	life.Wait()
	return spared
}

func TestFinish_Late(t *testing.T) {
	t.Parallel()
	for _, wrap := range wraps() {
		late := 0
		for at := 1; at < mostSteps; at++ {
			c := newCrash(newStand(t))
			stopped, wakes, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			sleeper := c.worker(wrap, func(number int) (after func()) {
				if number == at {
					close(stopped)
					<-wakes
				}
				return goOn
			})
			var result agenda.Result
			go func() {
				defer close(over)
				result, _ = sleeper.RunNext(c.ctx)
			}()
			select {
			case <-over:
				require.Greater(t, at, 3)
				require.Positive(t, late)
				at = mostSteps
				continue
			case <-stopped:
			}
			c.requireAllDone("while it sleeps")
			before := c.stored()
			close(wakes)
			<-over
			require.Equal(t, before, c.stored(), "what it does at step %d and later", at)
			if result.Ran {
				late++
			}
		}
	}
}
