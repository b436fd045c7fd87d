package agendas

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
)

// crashTogether has a scheduler claim these agendas, and never come back.
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
	for _, field := range []string{fieldClaim, fieldBeside, fieldLost, fieldLeaseUntil, fieldHeldAt, fieldAttempts} {
		for _, value := range []any{nil, "x", -1, 2.5, true, document.O("n", 1)} {
			eachStoreOf(t, func(s *stand) {
				edited, beside := s.add(0, named("edited")), s.add(0, named("beside"))
				s.crashTogether(edited, beside)
				s.edit(edited, document.O(field, value))
				s.clock.advance(2 * defaultLease)
				next := s.scheduler(succeed)
				s.drain(next)
				s.clock.advance(2 * defaultLease)
				s.drain(next)
				for _, id := range []string{edited, beside} {
					require.True(s.t, s.get(id).Completed, "%s %v: %v", field, value, s.stored())
				}
			})
		}
	}
}

// Of agendas that are under way together, only the one that ends each process fails.
func TestBlame_GuiltyAgendaIsFound(t *testing.T) {
	t.Parallel()
	const innocent, limit = 5, 3
	inBubble(t, func(l *live) {
		guilty := l.add(0, named("kills"), dueNow(l))
		var others []string
		for i := range 2 * innocent {
			others = append(others, l.add(0, named(strconv.Itoa(i)), dueNow(l)))
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

// dueNow has an agenda due when the test begins.
func dueNow(l *live) func(*agenda.Record) {
	return func(r *agenda.Record) { r.NextRunAt = document.TimestampOf(l.began) }
}

// dies runs what is due by a process of its own, in which the agenda "kills" ends the process while others
// run, and reports whether it did.
func (l *live) dies(limit int) bool {
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
	}, limited(limit), func(c *SchedulerConfig) { c.Env.Store = store.seen() })
	ctx, stop := context.WithCancel(l.running)
	defer stop()
	go func() { _ = scheduler.Run(ctx) }()
	l.pass(20 * time.Minute)
	isDead := store.isDead.Swap(true)
	l.pass(2 * defaultLease)
	return isDead
}

// One app's suspects hold up those of another one by a run at a time.
func TestBlame_AppsTakeTurns(t *testing.T) {
	t.Parallel()
	const long, suspects = time.Minute, 20
	inBubble(t, func(l *live) {
		ran := make(chan string, 100)
		for i := range suspects {
			l.add(0, dueNow(l), func(r *agenda.Record) { r.Tag, r.Lost = fmt.Sprint("a", i), 1 })
		}
		l.pass(time.Millisecond)
		l.edit(l.add(0, dueNow(l), func(r *agenda.Record) { r.Tag, r.Lost = "b", 1 }), document.O("app", "b"))
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

// Suspects that run alone leave other agendas half of the time.
func TestBlame_SuspectsLeaveTimeForOthers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		for i := range 20 {
			l.add(0, dueNow(l), func(r *agenda.Record) { r.Tag, r.Lost = fmt.Sprint("alone", i), 2 })
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
		l.add(0, dueNow(l), named("other"))
		l.pass(45 * time.Second)
		require.Contains(l.t, []string{<-ran, <-ran}, "other")
	})
}

// A suspect that ignores the end of its context holds up others for a time only. If the process ends then,
// neither the suspect nor what runs beside it has failed.
func TestBlame_SuspectThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for lost := range int64(2) {
		inBubble(t, func(l *live) {
			stuck := l.add(0, dueNow(l), func(r *agenda.Record) { r.Tag, r.Lost, r.Priority = "stuck", 1+lost, -1 })
			var others []string
			for i := range 3 {
				others = append(others, l.add(0, dueNow(l), func(r *agenda.Record) { r.Tag, r.Lost = strconv.Itoa(i), 1 }))
			}
			store := &mortal{Store: l.store, end: l.running}
			ran := make(chan string, 10)
			scheduler := l.scheduler(func(_ context.Context, run agenda.Run) error {
				ran <- run.Agenda.Tag
				if run.Agenda.Tag == "stuck" || run.Agenda.Tag == "2" {
					<-l.running.Done()
				}
				store.live()
				return nil
			}, func(c *SchedulerConfig) { c.Env.Store = store.seen() })
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
