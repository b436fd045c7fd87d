package agendas

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
)

// runOut runs what falls due until nothing does any more, or so often that something is wrong.
func runOut(s *stand, scheduler *Scheduler) {
	s.t.Helper()
	for range 100 {
		result, err := scheduler.RunNext(s.ctx)
		require.NoError(s.t, err)
		if result.Ran {
			continue
		}
		next, ok, err := scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		if !ok {
			return
		}
		s.clock.set(next)
	}
}

func TestRunNext_PatternWithoutRunUntilIsGivenUp(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		runs := 0
		scheduler := s.scheduler(func(context.Context, agenda.Run) error { runs++; return errors.New("no luck") })
		id := s.add(0, func(r *agenda.Record) { r.Pattern = "0 9 * * *" })
		runOut(s, scheduler)
		require.Equal(s.t, defaultLimit, runs)
		require.True(s.t, s.get(id).Failed)
	})
}

func TestRunNext_ZoneThatThisProcessDoesNotKnowEndsNoPattern(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var failed []error
		scheduler := s.scheduler(func(context.Context, agenda.Run) error {
			s.t.Error("it must not begin")
			return nil
		}, func(c *SchedulerConfig) {
			c.Hooks.Failed = func(_ context.Context, e agenda.Event) { failed = append(failed, e.Err) }
		})
		id := s.add(0, repeating("CRON_TZ=Europe/Unknown 0 9 * * *"))
		for range 2 * defaultLimit {
			require.ErrorContains(s.t, s.runNext(scheduler).Err, `"Europe/Unknown" is not in the time-zone database`)
			s.clock.advance(time.Hour)
		}
		require.Len(s.t, failed, 2*defaultLimit)
		require.False(s.t, s.get(id).Completed, "a process that knows the zone runs it")
	})
}

func TestZone_RunThatFailedBeforeItBeganWaitsInTheWest(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := newTraveller(s, "Europe/London")
		id := m.adds("0 9 * * 1", "2026-02-02T09:00:00Z")
		m.zone, m.failure = "America/New_York", boterr.New(boterr.Unavailable, "", "no answer")
		require.ErrorIs(s.t, s.runNext(m.scheduler).Err, boterr.Unavailable)
		m.failure = nil
		s.clock.advance(time.Minute)
		require.True(s.t, s.runNext(m.scheduler).Relocated, "it is four in the morning there")
		require.Empty(s.t, m.ran)
		m.requireNext(id, "2026-02-02T09:00:00-05:00", "America/New_York")
	})
}
