package agendas

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
)

func TestRun_SingleRunAtItsTime(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var runs []agenda.Run
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			runs = append(runs, run)
			return nil
		})
		id := s.add(time.Hour)
		s.requireNothingDue(scheduler)
		at, ok, err := scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		require.True(s.t, ok)
		require.Equal(s.t, start().Add(time.Hour), at)
		s.clock.set(at)
		result := s.runNext(scheduler)
		require.NoError(s.t, result.Err)
		require.Len(s.t, runs, 1)
		require.Equal(s.t, id, runs[0].Agenda.ID)
		require.Equal(s.t, start().Add(time.Hour), runs[0].ScheduledAt)
		require.Equal(s.t, 1, runs[0].Attempt)
		require.Equal(s.t, id+":1767229200000", runs[0].Key)
		require.True(s.t, s.get(id).Completed)
		s.clock.advance(24 * time.Hour)
		s.requireNothingDue(scheduler)
		_, ok, err = scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		require.False(s.t, ok)
	})
}

func TestRun_PatternUntilInclusive(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(succeed)
		id := s.add(9*time.Hour, repeating("0 9 * * *"), func(r *agenda.Record) {
			r.RunUntil = document.TimestampOf(start().Add(48*time.Hour + 9*time.Hour))
		})
		var times []time.Time
		for {
			at, ok, err := scheduler.Next(s.ctx)
			require.NoError(s.t, err)
			if !ok {
				break
			}
			s.clock.set(at)
			times = append(times, s.runNext(scheduler).Run.ScheduledAt)
		}
		nine := start().Add(9 * time.Hour)
		require.Equal(s.t, []time.Time{nine, nine.AddDate(0, 0, 1), nine.AddDate(0, 0, 2)}, times)
		require.True(s.t, s.get(id).Completed)
	})
}
