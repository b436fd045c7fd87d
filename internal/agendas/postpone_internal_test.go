package agendas

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
)

func TestPostpone_IsNoFailureOrAttempt(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		e := &events{}
		busy := true
		scheduler := s.scheduler(func(context.Context, agenda.Run) error {
			if busy {
				return fmt.Errorf("busy: %w", agenda.Postpone(time.Minute))
			}
			return nil
		}, limited(1), e.set)
		id := s.add(0, named("a"))
		for range 3 {
			result := s.runNext(scheduler)
			require.True(s.t, result.Postponed)
			require.NoError(s.t, result.Err)
			require.Equal(s.t, s.clock.Now().Add(time.Minute), result.Next)
			require.Equal(s.t, 1, result.Run.Attempt)
			r := s.get(id)
			require.Zero(s.t, [...]int64{r.Attempts, r.Failures, int64(r.LeaseUntil)})
			require.Equal(s.t, document.TimestampOf(result.Next), r.RetryAt)
			s.requireNothingDue(scheduler)
			s.clock.advance(time.Minute)
		}
		busy = false
		require.False(s.t, s.runNext(scheduler).Postponed)
		require.True(s.t, s.get(id).Completed)
		require.Equal(s.t, []string{
			"claimed a 1 <nil>", "claimed a 1 <nil>", "claimed a 1 <nil>", "late a 1 <nil>", "claimed a 1 <nil>", "late a 1 <nil>",
			"finished a 1 <nil>",
		}, e.told)
	})
}

func TestPostpone_ScheduleGivenMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(func(ctx context.Context, _ agenda.Run) error {
			_, err := s.service().UpdateAgenda(ctx, agenda.UpdateAgendaParams{
				MemberID: "m1", NextRunAt: document.TimestampOf(start().Add(time.Hour)),
			})
			require.NoError(s.t, err)
			return agenda.Postpone(-time.Minute)
		})
		id := s.add(0)
		require.Equal(s.t, start().Add(time.Hour), s.runNext(scheduler).Next)
		require.Zero(s.t, s.get(id).RetryAt)
		require.Zero(s.t, s.get(id).LeaseUntil)
	})
}

func TestPostpone_RunStands(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(s *stand, id string)
		stands bool
	}{
		"left alone": {change: func(*stand, string) {}, stands: true},
		"other meta": {change: func(s *stand, id string) { s.patch(id, document.Set("meta.a", 1)) }, stands: true},
		"removed":    {change: func(s *stand, id string) { s.remove(id) }},
		"taken":      {change: func(s *stand, id string) { s.patch(id, document.Set(fieldFence, 9)) }},
		"rescheduled": {change: func(s *stand, _ string) {
			_, err := s.service().UpdateAgenda(s.ctx, agenda.UpdateAgendaParams{MemberID: "m1", NextRunAt: document.TimestampOf(start())})
			require.NoError(s.t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				id := s.add(0)
				var last *Claim
				scheduler := s.scheduler(func(ctx context.Context, _ agenda.Run) error {
					last = ClaimOf(ctx)
					test.change(s, id)
					stands, err := last.IsCurrent(ctx)
					require.NoError(s.t, err)
					require.Equal(s.t, test.stands, stands)
					return nil
				})
				_, err := scheduler.RunNext(s.ctx)
				if name == "taken" {
					require.ErrorIs(s.t, err, agenda.ErrLeaseLost)
				} else {
					require.NoError(s.t, err)
				}
				stands, err := last.IsCurrent(s.ctx)
				require.NoError(s.t, err)
				require.False(s.t, stands, "a run that has ended")
			})
		})
	}
	stands, err := ClaimOf(t.Context()).IsCurrent(t.Context())
	require.NoError(t, err)
	require.True(t, stands, "a run that no scheduler made")
}
