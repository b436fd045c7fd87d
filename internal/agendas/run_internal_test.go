package agendas

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// live is an engine in a synctest bubble, in which timers and the store's clock agree.
type live struct {
	*stand

	began   time.Time
	running context.Context
	stop    context.CancelFunc
	runs    sync.WaitGroup
}

// inBubble runs a test in a bubble, once with a watched store and once with a polled one. At the end of the test, it
// stops the schedulers.
func inBubble(t *testing.T, test func(l *live)) {
	t.Helper()
	for name, wrap := range wraps() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbleOn(t, func() store.Store { return wrap(memstore.New()) }, test)
		})
	}
}

// inBubbleOn is inBubble with a store that is made in the bubble.
func inBubbleOn(t *testing.T, newStore func() store.Store, test func(l *live)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		database := newStore()
		began, err := database.Now(t.Context())
		require.NoError(t, err)
		l := &live{stand: &stand{t: t, ctx: t.Context(), store: database, env: record.Env{Store: database}.WithDefaults()}, began: began}
		l.running, l.stop = context.WithCancel(t.Context())
		test(l)
		l.stop()
		l.runs.Wait()
	})
}

func (l *live) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// start runs a scheduler until stop is called.
func (l *live) start(handler agenda.Handler, settings ...func(*SchedulerConfig)) {
	l.t.Helper()
	scheduler := l.scheduler(handler, settings...)
	l.runs.Go(func() {
		if err := scheduler.Run(l.running); err != nil {
			l.t.Error(err)
		}
	})
}

// due adds an agenda that falls due a time after the beginning, and returns its id.
func (l *live) due(after time.Duration, settings ...func(*agenda.Record)) string {
	l.t.Helper()
	at := func(r *agenda.Record) { r.NextRunAt = document.TimestampOf(l.began.Add(after)) }
	return l.add(0, append([]func(*agenda.Record){at}, settings...)...)
}

// elapsed returns the time since the start of the test.
func (l *live) elapsed() time.Duration {
	now, err := l.store.Now(l.ctx)
	require.NoError(l.t, err)
	return now.Sub(l.began)
}

// tells returns a handler that sends the time since the start of the test.
func (l *live) tells(ran chan<- time.Duration) agenda.Handler {
	return func(context.Context, agenda.Run) error {
		ran <- l.elapsed()
		return nil
	}
}

// unendingWatch is a store whose watches end with a panic.
type unendingWatch struct {
	store.Store

	watcher store.Watcher
}

func (u unendingWatch) Watch(collection string, changed func(before, after document.Object), reset func()) func() {
	stop := u.watcher.Watch(collection, changed, reset)
	return func() {
		stop()
		panic("the watch does not end")
	}
}

func TestRun_AgainAfterAWatchThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		watcher, isWatched := l.store.(store.Watcher)
		if !isWatched {
			return
		}
		ran := make(chan time.Duration, 10)
		scheduler := l.scheduler(l.tells(ran), func(c *SchedulerConfig) { c.Env.Store = unendingWatch{l.store, watcher} })
		for range 2 {
			l.due(0)
			ctx, stop := context.WithTimeout(l.running, time.Minute)
			require.NoError(l.t, scheduler.Run(ctx))
			stop()
			require.Len(l.t, ran, 1)
			<-ran
		}
	})
}

func TestRun_RunsWhatFallsDue(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		ran := make(chan time.Duration, 10)
		l.start(l.tells(ran))
		l.due(2 * time.Minute)
		l.due(90 * time.Second)
		require.Equal(l.t, 90*time.Second, <-ran)
		require.Equal(l.t, 2*time.Minute, <-ran)
		l.due(3 * time.Minute)
		l.due(0)
		require.LessOrEqual(l.t, <-ran, 2*time.Minute+time.Second)
		require.Equal(l.t, 3*time.Minute, <-ran)
	})
}

func TestRun_WokenByNewAgenda(t *testing.T) {
	t.Parallel()
	inBubbleOn(t, func() store.Store { return memstore.New() }, func(l *live) {
		ran := make(chan time.Duration, 1)
		l.start(l.tells(ran), func(c *SchedulerConfig) { c.Poll = time.Hour })
		l.pass(time.Minute)
		l.due(time.Minute + time.Second)
		require.Equal(t, time.Minute+time.Second, <-ran)
	})
}

func TestRun_WokenByRestore(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	inBubbleOn(t, func() store.Store { return memory }, func(l *live) {
		id := l.due(time.Minute)
		snapshot := memory.Snapshot()
		l.remove(id)
		ran := make(chan time.Duration, 1)
		l.start(l.tells(ran), func(c *SchedulerConfig) { c.Poll = time.Hour })
		l.pass(2 * time.Minute)
		memory.Restore(snapshot)
		require.Equal(t, 2*time.Minute, <-ran)
	})
}

func TestLease_KeptByLongRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		var runs atomic.Int64
		done := make(chan struct{})
		handler := func(ctx context.Context, _ agenda.Run) error {
			runs.Add(1)
			<-time.After(10 * time.Minute)
			close(done)
			return ctx.Err()
		}
		id := l.due(0)
		for range 3 {
			l.start(handler, func(c *SchedulerConfig) { c.Lease = time.Minute })
		}
		<-done
		synctest.Wait()
		require.EqualValues(l.t, 1, runs.Load())
		require.True(l.t, l.get(id).Completed)
	})
}

func TestLease_AgendaTaken(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		causes := make(chan error, 1)
		l.start(func(ctx context.Context, run agenda.Run) error {
			l.patch(run.Agenda.ID, document.Set(fieldFence, 7, fieldLeaseUntil, document.TimestampOf(l.began.Add(time.Hour))))
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		})
		id := l.due(0)
		require.ErrorIs(l.t, <-causes, agenda.ErrLeaseLost)
		require.Less(l.t, l.elapsed(), time.Minute)
		synctest.Wait()
		r := l.get(id)
		require.False(l.t, r.Completed)
		require.Zero(l.t, r.Failures)
		require.Equal(l.t, document.TimestampOf(l.began.Add(time.Hour)), r.LeaseUntil)
	})
}

// mute returns a store whose writes fail while isMute is true.
func mute(inner store.Store, isMute *atomic.Bool) store.Store {
	return store.Wrap(unwatched{inner}, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		isUpdate := call.Method == "update"
		if !isMute.Load() || !isUpdate && call.Method != "findAndModify" {
			return ctx, nil, nil
		}
		if isUpdate {
			<-ctx.Done()
		}
		return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
	})
}

func TestLease_CannotBeRenewed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		var isMute atomic.Bool
		ended := make(chan time.Duration, 1)
		again := make(chan time.Duration, 1)
		l.start(func(ctx context.Context, _ agenda.Run) error {
			isMute.Store(true)
			<-ctx.Done()
			ended <- l.elapsed()
			return context.Cause(ctx)
		}, func(c *SchedulerConfig) { c.Env.Store, c.ShutdownTimeout = mute(l.store, &isMute), 2*defaultLease })
		l.due(0)
		l.pass(5 * time.Second)
		l.start(l.tells(again))
		first, second := <-ended, <-again
		require.Greater(l.t, first, 30*time.Second)
		require.LessOrEqual(l.t, first, second)
		require.LessOrEqual(l.t, second, time.Minute+2*time.Second)
		isMute.Store(false)
	})
}

// Agendas that were taken but not begun when Run ends can be claimed again at once.
func TestRun_GivesBackWhatNobodyBegan(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(fail, func(c *SchedulerConfig) { c.Workers = 32 })
		s.add(0, func(r *agenda.Record) { r.Lost = 1 })
		for range 4 {
			s.add(0)
		}
		p := newPool(scheduler)
		_, err := p.takeDue(s.ctx)
		require.NoError(s.t, err)
		require.Len(s.t, p.ready, 5)
		due, err := s.scheduler(succeed).Due(s.ctx)
		require.NoError(s.t, err)
		require.Equal(s.t, 5, due)
		ended, end := context.WithCancel(s.ctx)
		end()
		p.work(ended, s.ctx)
		require.Empty(s.t, p.held.All())
		require.Zero(s.t, p.places.Held())
		other := s.scheduler(succeed)
		for range 5 {
			require.Equal(s.t, 1, s.runNext(other).Run.Attempt, "a claim that was given back is no attempt")
		}
	})
}

func TestRun_ClaimsWhatItCanBegin(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		release := make(chan struct{})
		var running atomic.Int64
		l.start(func(context.Context, agenda.Run) error {
			running.Add(1)
			<-release
			return nil
		}, func(c *SchedulerConfig) { c.Workers = 12 })
		for range 10 {
			l.due(0)
		}
		l.pass(time.Minute)
		require.EqualValues(l.t, 3, running.Load(), "a quarter of the workers, as they are of one channel")
		claimed, err := l.service().Find(l.ctx, record.Query{Filter: document.O(fieldFence, document.O("$gt", 0))})
		require.NoError(l.t, err)
		require.Len(l.t, claimed, 3)
		close(release)
	})
}

func TestRun_OnlyOnceAtATime(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(succeed)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- scheduler.Run(ctx) }()
		for !scheduler.running.Load() {
			select {
			case err := <-done:
				require.NoError(t, err)
			default:
			}
		}
		require.ErrorIs(t, scheduler.Run(ctx), boterr.FailedPrecondition)
		cancel()
		require.NoError(t, <-done)
	}
}

func TestRun_SixteenWorkers(t *testing.T) {
	t.Parallel()
	count := rounds.Of(t, 500, 10_000)
	eachStore(t, func(s *stand) {
		for i := range count {
			s.add(time.Duration(i%7)*time.Millisecond, named(strconv.Itoa(i)))
		}
		s.clock.advance(time.Second)
		handled := make([]atomic.Int64, count)
		var total atomic.Int64
		ctx, cancel := context.WithCancel(s.ctx)
		handler := func(_ context.Context, run agenda.Run) error {
			i, err := strconv.Atoi(run.Agenda.Tag)
			handled[i].Add(1)
			if int(total.Add(1)) == count {
				cancel()
			}
			return err
		}
		var runs sync.WaitGroup
		for range 4 {
			scheduler := s.scheduler(handler, func(c *SchedulerConfig) { c.Workers = 4 })
			runs.Go(func() {
				if err := scheduler.Run(ctx); err != nil {
					s.t.Error(err)
				}
			})
		}
		runs.Wait()
		for i := range handled {
			require.EqualValues(s.t, 1, handled[i].Load(), "agenda %d", i)
		}
		open, err := s.service().Find(s.ctx, record.Query{Filter: document.O(fieldCompleted, false)})
		require.NoError(s.t, err)
		require.Empty(s.t, open)
	})
}

func TestRun_WorkerWithWrongClock(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var workers []*Scheduler
		for _, wrong := range []time.Duration{-365 * 24 * time.Hour, 365 * 24 * time.Hour} {
			workers = append(workers, s.scheduler(succeed, func(c *SchedulerConfig) {
				c.Env.Now = func() time.Time { return s.clock.Now().Add(wrong) }
			}))
		}
		s.add(time.Hour)
		s.add(time.Hour)
		for _, worker := range workers {
			s.requireNothingDue(worker)
		}
		s.clock.advance(time.Hour)
		for i, worker := range workers {
			other := workers[1-i]
			worker.config.Handler = func(ctx context.Context, _ agenda.Run) error {
				due, err := other.Due(ctx)
				require.NoError(s.t, err)
				require.Equal(s.t, 1-i, due, "what another worker holds is not due")
				return nil
			}
			require.NoError(s.t, s.runNext(worker).Err)
		}
	})
}

func TestRun_HandlerEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		ran := make(chan struct{})
		l.start(func(_ context.Context, run agenda.Run) error {
			if run.Agenda.Tag == "ends" {
				runtime.Goexit()
			}
			close(ran)
			return nil
		}, limited(3), func(c *SchedulerConfig) { c.Workers = 2 })
		var ids []string
		for range 4 {
			ids = append(ids, l.due(0, named("ends")))
		}
		l.due(time.Hour)
		<-ran
		for _, id := range ids {
			r := l.get(id)
			require.True(l.t, r.Failed)
			require.Contains(l.t, r.Error, "ended its goroutine")
		}
	})
}

func TestShutdown_WaitsForRuns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		begun := make(chan struct{})
		l.start(func(ctx context.Context, _ agenda.Run) error {
			close(begun)
			<-time.After(10 * time.Second)
			return ctx.Err()
		}, func(c *SchedulerConfig) { c.Workers = 1 })
		first, second := l.due(0), l.due(0)
		<-begun
		l.stop()
		l.runs.Wait()
		require.LessOrEqual(l.t, l.elapsed(), 11*time.Second)
		require.True(l.t, l.get(first).Completed)
		require.Zero(l.t, l.get(second).Fence, "nothing is claimed any more")
	})
}

func TestShutdown_GivesBackTheUnfinished(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		begun := make(chan struct{})
		var cause error
		l.start(func(ctx context.Context, _ agenda.Run) error {
			close(begun)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return errors.New("it was not done")
		}, func(c *SchedulerConfig) { c.ShutdownTimeout, c.Lease = 10*time.Minute, time.Minute })
		id := l.due(0)
		<-begun
		began := l.elapsed()
		l.stop()
		l.runs.Wait()
		require.Equal(l.t, 10*time.Minute, l.elapsed()-began)
		require.ErrorIs(l.t, cause, agenda.ErrShutdown)
		r := l.get(id)
		require.Zero(l.t, r.Failures)
		require.Zero(l.t, r.LeaseUntil)
		require.False(l.t, r.Completed)
		require.EqualValues(l.t, 1, r.Attempts)
	})
}

func TestShutdown_RunIgnoresItsContext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		begun, release, ended := make(chan *Claim), make(chan struct{}), make(chan struct{})
		var lines strings.Builder
		scheduler := l.scheduler(func(ctx context.Context, _ agenda.Run) error {
			begun <- ClaimOf(ctx)
			<-release
			return nil
		}, func(c *SchedulerConfig) {
			c.ShutdownTimeout, c.Lease = 10*time.Second, time.Minute
			c.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError}))
			c.Hooks.Failed = func(context.Context, agenda.Event) { close(ended) }
		})
		id := l.due(0)
		var left error
		l.runs.Go(func() { left = scheduler.Run(l.running) })
		claim := <-begun
		require.False(l.t, claim.IsAbandoned())
		began := l.elapsed()
		l.stop()
		l.runs.Wait()
		require.Equal(l.t, 10*time.Second+background.LastWait, l.elapsed()-began)
		require.Equal(l.t, boterr.Canceled, boterr.CodeOf(left))
		require.ErrorContains(l.t, left, id)
		require.Contains(l.t, lines.String(), "agenda: left running")
		require.True(l.t, claim.IsAbandoned())

		claimed := l.get(id)
		require.NotZero(l.t, claimed.LeaseUntil, "its lease is left to pass")
		close(release)
		<-ended
		require.Equal(l.t, claimed, l.get(id), "what it does late is not stored")
		l.pass(2 * time.Minute)
		require.Equal(l.t, id, l.runNext(l.scheduler(succeed)).Run.Agenda.ID, "it runs again")
	})
}

// stuck returns a store in which calls of a method block until release is closed.
func stuck(inner store.Store, method string, release <-chan struct{}) store.Store {
	return store.Wrap(unwatched{inner}, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Method == method {
			<-release
		}
		return ctx, nil, nil
	})
}

func TestShutdown_NamesLostStoreCalls(t *testing.T) {
	t.Parallel()
	for call, named := range map[string]string{
		"delete":        "still running: calls of the store, for the removal of completed agendas",
		"findAndModify": "still running: calls of the store, for the claim of a due agenda",
		"update":        "the end of the run of agenda ",
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(l *live) {
				release := make(chan struct{})
				var lines strings.Builder
				scheduler := l.scheduler(succeed, func(c *SchedulerConfig) {
					c.Env.Store = stuck(l.store, call, release)
					c.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError}))
				})
				l.due(-31*day, completed)
				l.due(0)
				var left error
				l.runs.Go(func() { left = scheduler.Run(l.running) })
				l.pass(time.Second)
				began := l.elapsed()
				l.stop()
				l.runs.Wait()
				require.Equal(l.t, 25*time.Second, l.elapsed()-began, "it fits into what orchestrators give")
				require.Equal(l.t, boterr.Canceled, boterr.CodeOf(left))
				require.ErrorContains(l.t, left, named)
				require.Contains(l.t, lines.String(), "calls of the store do not return")
				close(release)
			})
		})
	}
}

func TestShutdown_EndOfAnAbandonedRunDoesNotAffectTheNextOne(t *testing.T) {
	t.Parallel()
	for name, newStore := range map[string]func() store.Store{
		"watched":             func() store.Store { return memstore.New() },
		"polled with notices": func() store.Store { return sharedtest.New(memstore.New()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbleOn(t, newStore, func(l *live) {
				begun, release := make(chan string, 2), make(chan struct{})
				stuck := l.due(0)
				scheduler := l.scheduler(func(_ context.Context, run agenda.Run) error {
					begun <- run.Agenda.ID
					if run.Agenda.ID == stuck {
						<-release
					}
					return nil
				}, func(c *SchedulerConfig) { c.Poll, c.Lease = time.Hour, lease.Longest })
				run := func() (stop func()) {
					ctx, cancel := context.WithCancel(l.ctx)
					l.runs.Go(func() { _ = scheduler.Run(ctx) })
					synctest.Wait()
					return cancel
				}
				stop := run()
				require.Equal(l.t, stuck, <-begun)
				stop()
				l.runs.Wait()
				stop = run()
				close(release)
				synctest.Wait()
				due := l.elapsed() + time.Minute
				id := l.due(due)
				notify(l.store, l.began.Add(due))
				l.pass(time.Minute)
				require.Len(l.t, begun, 1, "the agenda is late")
				require.Equal(l.t, id, <-begun)
				stop()
			})
		})
	}
}
