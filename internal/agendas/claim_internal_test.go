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
	"github.com/botctx/go-sdk/store/query"
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
		held.Add(c)
		s.clock.advance(defaultLease / 2)
		holder.renewAll(s.ctx, held)
		s.clock.advance(defaultLease - time.Second)
		s.requireNothingDue(other)
		_, err = holder.finish(s.ctx, c, nil, holder.backoff)
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

// step is called at each step of a worker with the step's number. act performs the step: a call of the store, or
// the work of the handler.
type step func(number int, act func())

// stepped is a store that makes its calls through step.
type stepped struct {
	store.Store

	step   step
	number int
}

func (s *stepped) take(act func()) {
	s.number++
	s.step(s.number, act)
}

func (s *stepped) Now(ctx context.Context) (now time.Time, err error) {
	s.take(func() { now, err = s.Store.Now(ctx) })
	return now, err
}

func (s *stepped) Collection(name string) store.Collection {
	return &steppedCollection{Collection: s.Store.Collection(name), store: s}
}

// watchedSteps is a stepped store that can be watched.
type watchedSteps struct{ *stepped }

func (s watchedSteps) Watch(name string, changed func(before, after document.Object), reset func()) (stop func()) {
	return s.Store.(store.Watcher).Watch(name, changed, reset)
}

type steppedCollection struct {
	store.Collection

	store *stepped
}

func (c *steppedCollection) Get(ctx context.Context, id any) (found document.Object, exists bool, err error) {
	c.store.take(func() { found, exists, err = c.Collection.Get(ctx, id) })
	return found, exists, err
}

func (c *steppedCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) (found []document.Object, err error) {
	c.store.take(func() { found, err = c.Collection.Find(ctx, filter, options) })
	return found, err
}

func (c *steppedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (result store.UpdateResult, err error) {
	c.store.take(func() { result, err = c.Collection.Update(ctx, filter, change, options) })
	return result, err
}

func (c *steppedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (result store.FindAndModifyResult, err error) {
	c.store.take(func() { result, err = c.Collection.FindAndModify(ctx, filter, change, options) })
	return result, err
}

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

// wrapping returns the store as a worker sees it.
type wrapping func(steps *stepped) store.Store

// wrappings returns wrappings for a watched store and for an unwatched store.
func wrappings() []wrapping {
	return []wrapping{
		func(steps *stepped) store.Store { return watchedSteps{steps} },
		func(steps *stepped) store.Store { return steps },
	}
}

// worker returns a scheduler whose calls of the store and of the handler go through step.
func (c *crash) worker(wrap wrapping, step step) *Scheduler {
	steps := &stepped{Store: c.store, step: step}
	store := wrap(steps)
	return c.scheduler(func(ctx context.Context, run agenda.Run) (err error) {
		steps.take(func() { err = c.handler(ctx, run) })
		return err
	}, limited(5), func(config *SchedulerConfig) { config.Env.Store = store })
}

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
	for name, kill := range map[string]func(act func()){
		"before it": func(func()) { runtime.Goexit() },
		"after it":  func(act func()) { act(); runtime.Goexit() },
	} {
		for _, wrap := range wrappings() {
			t.Run(name, func(t *testing.T) {
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
func (c *crash) isSpared(wrap wrapping, at int, kill func(act func())) bool {
	c.t.Helper()
	spared := false
	victim := c.worker(wrap, func(number int, act func()) {
		if number == at {
			kill(act)
		}
		act()
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
	for _, wrap := range wrappings() {
		late := 0
		for at := 1; at < mostSteps; at++ {
			c := newCrash(newStand(t))
			stopped, goOn, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			sleeper := c.worker(wrap, func(number int, act func()) {
				if number == at {
					close(stopped)
					<-goOn
				}
				act()
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
			close(goOn)
			<-over
			require.Equal(t, before, c.stored(), "what it does at step %d and later", at)
			if result.Ran {
				late++
			}
		}
	}
}
