package agendas

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/store"
)

// dies is a handler that kills its worker.
func dies(context.Context, agenda.Run) error {
	runtime.Goexit()
	return nil
}

// dieOnce has a worker claim a due agenda and die, and then lets the lease expire. It reports whether an agenda was
// due.
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

// deaths has workers die until no more agendas start. It returns the number of deaths.
func (s *stand) deaths() int {
	s.t.Helper()
	for count := range 20 {
		if !s.dieOnce() {
			return count
		}
	}
	require.Fail(s.t, "it runs forever")
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
		require.Contains(s.t, r.Error, "never finished")
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
		_, err := s.service().UpdateAgenda(s.ctx, agenda.UpdateParams{
			MemberID: "m1", Tag: "tag", NextRunAt: document.TimestampOf(s.clock.Now()),
		})
		require.NoError(s.t, err)
		require.True(s.t, s.dieOnce())
		require.Zero(s.t, s.get(id).Failures, "what died before was another schedule")
	})
}

// mortal is the store as one process sees it. After the process dies, no call returns.
type mortal struct {
	store.Store

	isDead atomic.Bool
	end    context.Context // The context ends with the test.
}

func (l *live) newMortal() *mortal {
	m := &mortal{end: l.running}
	m.Store = store.Wrap(l.store, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		m.live()
		return ctx, nil, nil
	})
	return m
}

// live blocks forever if the process is dead.
func (m *mortal) live() {
	if m.isDead.Load() {
		<-m.end.Done()
		runtime.Goexit()
	}
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
					ids = append(ids, l.due(0, func(r *agenda.Record) {
						r.Failures, r.Failed, r.Error = int64(c.failures), c.failed, display.Brief(errNeverCameBack)
						if c.failed {
							r.Pattern, r.RunUntil = "0 9 * * *", document.TimestampOf(l.began)
						}
					}))
				}
				l.pass(10 * time.Minute)
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
				id := l.due(0, func(r *agenda.Record) {
					r.Attempts, r.Failures, r.LeaseUntil = defaultLimit, defaultLimit-1, document.TimestampOf(l.began)
				})
				l.pass(time.Minute)
				takes(l, l.scheduler(succeed, func(c *SchedulerConfig) {
					// The shutdown begins in the hook, before the end of the claim.
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

// crashTogether makes a scheduler claim agendas and then crash.
func (s *stand) crashTogether(ids ...string) {
	s.t.Helper()
	victim := s.scheduler(succeed)
	for _, id := range ids {
		c, err := victim.claimHere(s.ctx, s.rawOf(id), s.clock.Now())
		require.NoError(s.t, err)
		require.NotNil(s.t, c)
	}
	s.clock.advance(2 * defaultLease)
}

func TestBlame_NobodyBesideOthers(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var ids []string
		for i := range 3 {
			ids = append(ids, s.add(0, named(strconv.Itoa(i))))
		}
		s.crashTogether(ids...)
		once := s.scheduler(succeed, limited(1))
		require.Equal(s.t, []string{"0", "1", "2"}, s.drain(once))
		for _, id := range ids {
			require.True(s.t, s.get(id).Completed)
		}
	})
}

func TestBlame_OtherProcessesCountNot(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		alone, other := s.add(0), s.add(0)
		c, err := s.scheduler(succeed).claimHere(s.ctx, s.rawOf(other), s.clock.Now())
		require.NoError(s.t, err)
		require.NotNil(s.t, c)
		s.crashTogether(alone)
		_, err = s.scheduler(fail).RunNext(s.ctx)
		require.NoError(s.t, err)
		_, err = s.scheduler(fail).RunNext(s.ctx)
		require.NoError(s.t, err)
		require.EqualValues(s.t, 2, s.get(alone).Failures)
		require.EqualValues(s.t, 2, s.get(other).Failures)
	})
}

func TestBlame_BesideAnEditedRecord(t *testing.T) {
	t.Parallel()
	for _, field := range []string{fieldClaim, fieldNotAlone, fieldLost, fieldLeaseUntil, fieldHeldAt, fieldAttempts} {
		for _, value := range []any{nil, "x", -1, 2.5, true, document.O("n", 1)} {
			eachStoreOf(t, func(s *stand) {
				edited, other := s.add(0, named("edited")), s.add(0, named("other"))
				s.crashTogether(edited, other)
				s.edit(edited, document.O(field, value))
				s.clock.advance(2 * defaultLease)
				next := s.scheduler(succeed)
				s.drain(next)
				s.clock.advance(2 * defaultLease)
				s.drain(next)
				for _, id := range []string{edited, other} {
					require.True(s.t, s.get(id).Completed, "%s %v: %v", field, value, s.stored())
				}
			})
		}
	}
}

// If several agendas run, only the one that kills each process fails.
func TestBlame_GuiltyAgendaIsFound(t *testing.T) {
	t.Parallel()
	const innocent, limit = 5, 3
	inBubble(t, func(l *live) {
		guilty := l.due(0, named("kills"))
		var others []string
		for i := range 2 * innocent {
			others = append(others, l.due(0, named(strconv.Itoa(i))))
		}
		crashes := 0
		for ; l.dies(limit); crashes++ {
			require.Less(l.t, crashes, limit+2)
		}
		require.EqualValues(l.t, limit, l.get(guilty).Failures)
		require.True(l.t, l.get(guilty).Failed)
		for _, id := range others {
			r := l.get(id)
			require.True(l.t, r.Completed && !r.Failed && r.Failures == 0, "%v", l.stored())
		}
	})
}

// dies runs the due agendas in a process that the agenda "kills" kills while others run. It reports whether that
// happened.
func (l *live) dies(limit int) bool {
	l.t.Helper()
	store := l.newMortal()
	scheduler := l.scheduler(func(ctx context.Context, run agenda.Run) error {
		if run.Agenda.Tag == "kills" {
			<-time.After(time.Second)
			store.isDead.Store(true)
		}
		<-time.After(10 * time.Second)
		store.live()
		return ctx.Err()
	}, limited(limit), func(c *SchedulerConfig) { c.Env.Store = store.Store })
	ctx, stop := context.WithCancel(l.running)
	defer stop()
	go func() { _ = scheduler.Run(ctx) }()
	l.pass(20 * time.Minute)
	isDead := store.isDead.Swap(true)
	l.pass(2 * defaultLease)
	return isDead
}

// Apps take turns with their suspects, so one app delays another app's suspects by one run at a time.
func TestBlame_AppsTakeTurns(t *testing.T) {
	t.Parallel()
	const long, suspects = time.Minute, 20
	inBubble(t, func(l *live) {
		ran := make(chan string, 100)
		for i := range suspects {
			l.due(0, func(r *agenda.Record) { r.Tag, r.Lost = fmt.Sprint("a", i), 1 })
		}
		l.pass(time.Millisecond)
		l.edit(l.due(0, func(r *agenda.Record) { r.Tag, r.Lost = "b", 1 }), document.O("app", "b"))
		l.start(func(ctx context.Context, run agenda.Run) error {
			ran <- run.Agenda.Tag
			select {
			case <-time.After(long):
			case <-ctx.Done():
			}
			return nil
		})
		l.pass(long + 5*time.Second)
		require.Len(l.t, ran, 2)
		require.Contains(l.t, []string{<-ran, <-ran}, "b")
	})
}

func TestBlame_StoreThatEndsTheGoroutineLeavesThePlace(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var isBroken atomic.Bool
		isBroken.Store(true)
		database := s.breakingIn("findAndModify", &isBroken, runtime.Goexit)
		p := newPool(s.scheduler(succeed, func(c *SchedulerConfig) { c.Env.Store = database }))
		id := s.add(0, func(r *agenda.Record) { r.Attempts, r.LeaseUntil = 1, document.TimestampOf(start()) })
		var taking sync.WaitGroup
		taking.Go(func() { _, _ = p.takeOnly(s.ctx, id, s.clock.Now()) })
		taking.Wait()
		require.Zero(s.t, p.places.Held())
	})
}

// Suspects that run alone must leave half of the time to other agendas.
func TestBlame_SuspectsLeaveTimeForOthers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		for i := range 20 {
			l.due(0, func(r *agenda.Record) { r.Tag, r.Lost = fmt.Sprint("alone", i), 2 })
		}
		ran := make(chan string, 100)
		l.start(func(_ context.Context, run agenda.Run) error {
			ran <- run.Agenda.Tag
			if run.Agenda.Tag != "other" {
				<-time.After(30 * time.Second)
			}
			return nil
		})
		l.pass(time.Second)
		require.Len(l.t, ran, 1)
		l.due(0, named("other"))
		l.pass(45 * time.Second)
		require.Contains(l.t, []string{<-ran, <-ran}, "other")
	})
}

// A suspect that ignores the end of its context delays others only for a limited time. If the process then ends,
// neither the suspect nor the agendas that ran with it count as failed.
func TestBlame_SuspectThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for lost := range int64(2) {
		inBubble(t, func(l *live) {
			stuck := l.due(0, func(r *agenda.Record) { r.Tag, r.Lost, r.Priority = "stuck", 1+lost, -1 })
			var others []string
			for i := range 3 {
				others = append(others, l.due(0, func(r *agenda.Record) { r.Tag, r.Lost = strconv.Itoa(i), 1 }))
			}
			store := l.newMortal()
			ran := make(chan string, 10)
			scheduler := l.scheduler(func(_ context.Context, run agenda.Run) error {
				ran <- run.Agenda.Tag
				if run.Agenda.Tag == "stuck" || run.Agenda.Tag == "2" {
					<-l.running.Done()
				}
				store.live()
				return nil
			}, func(c *SchedulerConfig) { c.Env.Store = store.Store })
			go func() { _ = scheduler.Run(l.running) }()
			l.pass(time.Minute)
			require.Len(l.t, ran, 1, "suspects run one at a time")
			l.pass(9 * time.Minute)
			require.Len(l.t, ran, 4)
			store.isDead.Store(true)
			l.pass(2 * defaultLease)
			require.ElementsMatch(l.t, []string{"stuck", "2"}, l.drain(l.scheduler(succeed, limited(1))))
			require.True(l.t, l.get(stuck).Completed && l.get(others[2]).Completed, "%v", l.stored())
		})
	}
}

func TestLostRun_OutageOfTheStoreCountsForNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		var isOut atomic.Bool
		out := store.Wrap(l.store, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
			if isOut.Load() {
				return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
			}
			return ctx, nil, nil
		})
		ran := make(chan int, 10)
		for range 2 {
			l.start(func(ctx context.Context, run agenda.Run) error {
				ran <- run.Attempt
				<-ctx.Done()
				return context.Cause(ctx)
			}, func(c *SchedulerConfig) { c.Env.Store = out })
		}
		for range 3 {
			l.due(0)
		}
		l.pass(10 * time.Second)
		isOut.Store(true)
		l.pass(5 * time.Minute)
		isOut.Store(false)
		l.pass(5 * time.Second)
		require.Len(l.t, ran, 6, "the interrupted runs run again at the same time, although several were lost")
	})
}
