package agendas

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// history is the same random history of two workers, one that claims agendas together and one that
// claims them one by one.
//
// Two things may differ while suspects wait, and do no harm. Channels may take turns in another order, since a channel
// whose suspect waits has had its turn; within a channel the order is the same. And a worker that takes over its own
// expired lease marks the agendas that it holds at that moment as lost beside others, and the two workers may hold
// different ones.
type history struct {
	t       *testing.T
	random  *rand.Rand
	workers [2]*worker
	held    [2][]*Claim
	made    int
}

// both does something with each of the stands.
func (h *history) both(do func(w *worker) error) {
	h.t.Helper()
	require.Equal(h.t, do(h.workers[0]), do(h.workers[1]))
}

// operate calls an operation, which may be about an agenda that is held.
func (h *history) operate() {
	memberID, tag := "m"+strconv.Itoa(h.random.IntN(3)), "t"+strconv.Itoa(h.random.IntN(4))
	next := document.TimestampOf(h.workers[0].clock.Now().Add(time.Duration(h.random.IntN(60)-40) * time.Second))
	priority, what, replace := int64(h.random.IntN(2)), h.random.IntN(8), h.random.IntN(4) == 0
	h.made++
	h.both(func(w *worker) error {
		ctx, agendas := w.ctx, w.service()
		switch what {
		case 0:
			_, err := agendas.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: memberID, Tag: tag})
			return err
		case 1:
			_, err := agendas.UpdateAgenda(ctx, agenda.UpdateParams{MemberID: memberID, Tag: tag, NextRunAt: next, Priority: &priority})
			return err
		case 2:
			_, err := agendas.NewAgenda(ctx, agenda.NewParams{
				MemberID: memberID, Tag: tag, NodeCompositeID: "n", NextRunAt: next, Pattern: "*/7 * * * * *",
				RunUntil: next + 100_000, Replace: replace,
			})
			return err
		case 3:
			w.add(0, named(tag), func(r *agenda.Record) { // What a host or an older version may have stored.
				r.Member, r.NextRunAt, r.RetryAt, r.Failed = memberID, next, next, replace
				r.LeaseUntil = []document.Timestamp{0, next, next}[h.made%3]
				r.Attempts = []int64{0, 0, 2, 1}[h.made%4]
			})
			return nil
		default:
			_, err := agendas.NewAgenda(ctx, agenda.NewParams{
				MemberID: memberID, Tag: tag, NodeCompositeID: "n", NextRunAt: next, Replace: replace, Priority: &priority,
			})
			return err
		}
	})
}

// claim lets both claim what is due.
func (h *history) claim() {
	h.t.Helper()
	var claims [2][]*Claim
	for i, w := range h.workers {
		claims[i] = w.claimAll()
		slices.SortStableFunc(claims[i], func(a, b *Claim) int { return strings.Compare(a.channel.Channel, b.channel.Channel) })
		h.held[i] = append(h.held[i], claims[i]...)
	}
	require.Equal(h.t, told(claims[0]), told(claims[1]))
}

// compare compares the stores. If one worker has marked an agenda as lost beside others, it is marked in both from
// then on.
func (h *history) compare() {
	h.t.Helper()
	one, other := h.workers[0].all(), h.workers[1].all()
	if !slices.EqualFunc(one, other, isAlike) {
		require.Fail(h.t, "they differ", "one by one: %v\ntogether: %v", one, other)
	}
	for i, o := range one {
		if document.Equal(document.Get(o, fieldBeside, false), document.Get(other[i], fieldBeside, false)) {
			continue
		}
		for _, w := range h.workers {
			w.edit(idOf(o), document.O(fieldBeside, true))
		}
	}
}

// end ends some runs that are held, in one way.
func (h *history) end() {
	if len(h.held[0]) == 0 {
		return
	}
	count := 1 + h.random.IntN(min(3, len(h.held[0])))
	first, how := h.random.IntN(len(h.held[0])-count+1), h.random.IntN(8)
	if how == 5 && slices.ContainsFunc(h.held[0][first:first+count], func(c *Claim) bool { return c.isSuspect }) {
		how = 7 // One that runs alone changes the turns of the others.
	}
	for i, w := range h.workers {
		chosen := slices.Clone(h.held[i][first : first+count])
		h.held[i] = slices.Delete(h.held[i], first, first+count)
		if how == 5 {
			for _, c := range chosen {
				w.lose(c)
			}
			w.restart()
			continue
		}
		w.endAll(chosen, []error{3: errors.New("no luck"), 4: agenda.Postpone(5 * time.Second), 7: nil}[how])
	}
}

func (h *history) step() {
	switch h.random.IntN(6) {
	case 0:
		h.claim()
	case 1, 2:
		h.end()
	case 3:
		by := time.Duration(h.random.IntN(15_000)+2) * time.Millisecond
		h.both(func(w *worker) error { w.clock.advance(by); return nil })
	default:
		h.operate()
	}
}

func TestClaimTogether_SameHistoriesAsOneByOne(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(store.Store) store.Store{
		"watched": func(s store.Store) store.Store { return s },
		"polled":  func(s store.Store) store.Store { return unwatched{s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range rounds.Of(t, 20, 1000) {
				synctest.Test(t, func(t *testing.T) {
					t.Helper()
					defer func() {
						if t.Failed() {
							t.Logf("seed %d", seed)
						}
					}()
					h := &history{t: t, random: rand.New(rand.NewPCG(uint64(seed), 7))}
					h.workers = [2]*worker{newWorker(t, wrap, 1), newWorker(t, wrap, 8)}
					for range 120 {
						h.step()
						h.compare()
					}
				})
			}
		})
	}
}

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
				s.runNext(s.scheduler(handler)) // One that knows nothing of the time before.
			})
		})
	}
}

func TestClockThatGoesBack_DelaysNoLease(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(-2 * time.Hour)
		s.clock.advance(3 * defaultLease) // So that dieOnce ends where it began.
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

// requireNothingDueAfter runs one agenda, and fails if anything else is due.
func (s *stand) requireNothingDueAfter(scheduler *Scheduler, id string) {
	s.t.Helper()
	require.Equal(s.t, id, s.runNext(scheduler).Run.Agenda.ID)
	s.requireNothingDue(scheduler)
}

func (s *stand) rawOf(id string) document.Object {
	s.t.Helper()
	found, err := s.scheduler(succeed).byID(s.ctx, id)
	require.NoError(s.t, err)
	require.Len(s.t, found, 1)
	return found[0]
}

// step is what happens to a worker at one of its steps: what it asks of its store, and
// what its handler does.
type step func(number int, act func())

// stepped is a store that lets a worker take its steps.
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

// watchedSteps is a stepped store whose changes can be followed.
type watchedSteps struct{ *stepped }

func (s watchedSteps) Watch(name string, changed func(before, after document.Object), reset func()) (stop func()) {
	return s.Store.(store.Watcher).Watch(name, changed, reset)
}

type steppedCollection struct {
	store.Collection

	store *stepped
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

// crash is a store with agendas of all kinds, a worker that meets with an accident, and
// the count of the runs that went well.
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

// wrapping returns the store that a worker sees.
type wrapping func(steps *stepped) store.Store

// wrappings are one whose changes can be followed, and one where they cannot.
func wrappings() []wrapping {
	return []wrapping{
		func(steps *stepped) store.Store { return watchedSteps{steps} },
		func(steps *stepped) store.Store { return steps },
	}
}

// worker returns a scheduler whose steps, those of its handler included, are taken so.
func (c *crash) worker(wrap wrapping, step step) *Scheduler {
	steps := &stepped{Store: c.store, step: step}
	store := wrap(steps)
	return c.scheduler(func(ctx context.Context, run agenda.Run) (err error) {
		steps.take(func() { err = c.handler(ctx, run) })
		return err
	}, limited(5), func(config *SchedulerConfig) { config.Env.Store = store })
}

// requireAllDone lets the leases pass, runs what is left by another worker, and asserts
// that nothing was lost and nothing left unfinished.
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

// mostSteps is more than any worker takes here.
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

// isSpared runs all that is due by a worker that is killed at a step, and reports
// whether it took fewer.
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
