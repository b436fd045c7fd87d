package agendas

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// dies is a handler at which the worker dies.
func dies(context.Context, agenda.Run) error {
	runtime.Goexit()
	return nil
}

// dieOnce lets a worker claim what is due and die of it, and reports whether anything was due.
// Then its lease passes.
func (s *stand) dieOnce() bool {
	s.t.Helper()
	started := false
	victim := s.scheduler(func(ctx context.Context, run agenda.Run) error {
		started = true
		return dies(ctx, run)
	})
	var life sync.WaitGroup
	life.Go(func() { _, _ = victim.RunNext(s.ctx) })
	life.Wait()
	s.clock.advance(2 * defaultLease)
	return started
}

// deaths lets workers die until nothing is started any more, and returns how many did.
func (s *stand) deaths() int {
	s.t.Helper()
	for count := range 20 {
		if !s.dieOnce() {
			return count
		}
	}
	require.Fail(s.t, "it runs for ever")
	return 0
}

func TestLostRun_IsGivenUp(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(0, named("kills"))
		require.Equal(s.t, defaultLimit, s.deaths())
		r := s.get(id)
		require.True(s.t, r.Failed)
		require.False(s.t, r.Completed)
		require.EqualValues(s.t, defaultLimit, r.Failures)
		require.Contains(s.t, r.Error, "never came back")
		require.Zero(s.t, r.LeaseUntil)
		s.requireNothingDue(s.scheduler(succeed))
	})
}

func TestLostRun_PatternGoesOn(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(0, repeating("0 9 * * *"))
		require.Equal(s.t, defaultLimit, s.deaths())
		r := s.get(id)
		require.True(s.t, r.Failed)
		require.Equal(s.t, document.TimestampOf(start().Add(9*time.Hour)), r.NextRunAt)
		s.clock.set(start().Add(9 * time.Hour))
		s.runNext(s.scheduler(succeed))
		r = s.get(id)
		require.False(s.t, r.Failed)
		require.Zero(s.t, r.Failures)
		require.Empty(s.t, r.Error)
	})
}

func TestLostRun_CountsWithFailures(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(0)
		unlucky := s.scheduler(func(context.Context, agenda.Run) error { return errors.New("no luck") })
		s.runNext(unlucky)
		s.clock.advance(time.Hour)
		require.True(s.t, s.dieOnce())
		s.runNext(unlucky)
		s.clock.advance(time.Hour)
		require.Equal(s.t, 2, s.deaths())
		require.True(s.t, s.get(id).Failed)
	})
}

func TestLostRun_ScheduledAnewMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(0, named("tag"))
		require.True(s.t, s.dieOnce())
		_, err := s.service().UpdateAgenda(s.ctx, agenda.UpdateAgendaParams{
			MemberID: "m1", Tag: "tag", NextRunAt: document.TimestampOf(s.clock.Now()),
		})
		require.NoError(s.t, err)
		require.True(s.t, s.dieOnce())
		require.Zero(s.t, s.get(id).Failures, "what died before was another schedule")
	})
}

// mortal is a store that one process asks, until the process dies: then nothing of it is
// answered any more.
type mortal struct {
	store.Store

	isDead atomic.Bool
	end    context.Context // It ends with the test.
}

// live waits for ever where the process is dead.
func (m *mortal) live() {
	if m.isDead.Load() {
		<-m.end.Done()
		runtime.Goexit()
	}
}

func (m *mortal) Now(ctx context.Context) (time.Time, error) {
	m.live()
	return m.Store.Now(ctx)
}

func (m *mortal) Collection(name string) store.Collection {
	return &mortalCollection{Collection: m.Store.Collection(name), store: m}
}

// watchedMortal is one whose changes can be followed.
type watchedMortal struct {
	*mortal
	store.Watcher
}

// seen is the store as a scheduler sees it.
func (m *mortal) seen() store.Store {
	if watcher, ok := m.Store.(store.Watcher); ok {
		return watchedMortal{m, watcher}
	}
	return m
}

type mortalCollection struct {
	store.Collection

	store *mortal
}

func (c *mortalCollection) Find(ctx context.Context, f *query.Filter, o store.FindOptions) ([]document.Object, error) {
	c.store.live()
	return c.Collection.Find(ctx, f, o)
}

func (c *mortalCollection) Update(
	ctx context.Context, f *query.Filter, change query.Change, o store.UpdateOptions,
) (store.UpdateResult, error) {
	c.store.live()
	return c.Collection.Update(ctx, f, change, o)
}

func (c *mortalCollection) FindAndModify(
	ctx context.Context, f *query.Filter, change query.Change, o store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	c.store.live()
	return c.Collection.FindAndModify(ctx, f, change, o)
}

// oneProcess runs what is due by a process of its own, which dies in the middle of the agenda
// with the tag "kills", and returns when it is dead or an hour has passed.
func (l *live) oneProcess() {
	l.t.Helper()
	store := &mortal{Store: l.store, end: l.running}
	scheduler := l.scheduler(func(ctx context.Context, run agenda.Run) error {
		if run.Agenda.Tag == "kills" {
			<-time.After(time.Second)
			store.isDead.Store(true)
		}
		<-time.After(10 * time.Second)
		store.live()
		return ctx.Err()
	}, func(c *SchedulerConfig) { c.Env.Store = store.seen() })
	go func() { _ = scheduler.Run(l.running) }()
	for range 60 {
		l.pass(time.Minute)
		if store.isDead.Load() {
			break
		}
	}
	store.isDead.Store(true)
	l.pass(2 * defaultLease)
}

func TestLostRun_OthersBesideItGoOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		killer := l.add(0, named("kills"), func(r *agenda.Record) { r.NextRunAt = document.TimestampOf(l.began) })
		var others []string
		for i := range 10 {
			others = append(others, l.add(0, named(strconv.Itoa(i)), func(r *agenda.Record) { r.NextRunAt = document.TimestampOf(l.began) }))
		}
		for range 8 {
			l.oneProcess()
		}
		require.True(l.t, l.get(killer).Failed)
		require.False(l.t, slices.ContainsFunc(others, func(id string) bool {
			r := l.get(id)
			return r.Failed || !r.Completed
		}), "%s", l.stored())
	})
}

func TestLostRun_HowManyAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failures, limit int
		failed          bool
		atOnce          int64
	}{
		"never":                   {limit: 5, atOnce: 3},
		"once":                    {failures: 1, limit: 5, atOnce: 1},
		"twice":                   {failures: 2, limit: 5, atOnce: 1},
		"before the last attempt": {failures: 1, limit: 2, atOnce: 1},
		"at the time before":      {failed: true, limit: 5, atOnce: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(l *live) {
				var running, most atomic.Int64
				l.start(func(context.Context, agenda.Run) error {
					most.Store(max(most.Load(), running.Add(1)))
					<-time.After(time.Minute)
					running.Add(-1)
					return nil
				}, func(s *SchedulerConfig) { s.Limit = c.limit })
				var ids []string
				for range 3 {
					ids = append(ids, l.add(0, func(r *agenda.Record) {
						r.NextRunAt = document.TimestampOf(l.began)
						r.Failures, r.Failed, r.Error = int64(c.failures), c.failed, textOf(errNeverCameBack)
						if c.failed {
							r.Pattern, r.RunUntil = "0 9 * * *", document.TimestampOf(l.began)
						}
					}))
				}
				l.pass(time.Hour)
				require.Equal(l.t, c.atOnce, most.Load())
				for _, id := range ids {
					require.True(l.t, l.get(id).Completed)
				}
			})
		})
	}
}

func TestLostRun_LastStartAtShutdown(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]func(l *live, s *Scheduler){
		"Run": func(l *live, s *Scheduler) {
			l.runs.Go(func() { _ = s.Run(l.running) })
			l.runs.Wait()
		},
		"RunNext": func(l *live, s *Scheduler) {
			_, err := s.RunNext(l.running)
			require.NoError(l.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(l *live) {
				id := l.add(0, func(r *agenda.Record) {
					r.NextRunAt = document.TimestampOf(l.began)
					r.Attempts, r.Failures, r.LeaseUntil = defaultLimit, defaultLimit-1, document.TimestampOf(l.began)
				})
				l.pass(time.Minute)
				takes(l, l.scheduler(succeed, func(c *SchedulerConfig) {
					// What is told of a claim comes before its end: then the shutdown begins.
					c.Hooks.Claimed = func(context.Context, agenda.Event) {
						l.stop()
						<-time.After(time.Second)
					}
					c.ShutdownTimeout = time.Nanosecond
				}))
				r := l.get(id)
				require.True(l.t, r.Failed, "%s", l.stored())
				require.EqualValues(l.t, defaultLimit, r.Failures)
			})
		})
	}
}
