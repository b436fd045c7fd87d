package agendas

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

func fail(context.Context, agenda.Run) error { return errors.New("no luck") }

// limited sets the limit of failures, and a pause of a minute after each failure.
func limited(limit int) func(*SchedulerConfig) {
	return func(c *SchedulerConfig) {
		c.Limit = limit
		c.Backoff = func(failures int) time.Duration { return time.Duration(failures) * time.Minute }
	}
}

func TestFailure_TriedAgainAfterPause(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var attempts []int
		var keys []string
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			attempts = append(attempts, run.Attempt)
			keys = append(keys, run.Key)
			if len(attempts) < 3 {
				return errors.New("no luck")
			}
			return nil
		}, limited(5))
		id := s.add(0)
		require.ErrorContains(s.t, s.runNext(scheduler).Err, "no luck")
		s.requireNothingDue(scheduler)
		r := s.get(id)
		require.Equal(s.t, "no luck", r.Error)
		require.False(s.t, r.Failed)
		require.EqualValues(s.t, 1, r.Failures)
		require.Zero(s.t, r.LeaseUntil)
		require.Equal(s.t, document.TimestampOf(start().Add(time.Minute)), r.RetryAt)
		at, ok, err := scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		require.True(s.t, ok)
		require.Equal(s.t, start().Add(time.Minute), at)
		s.clock.advance(time.Minute)
		require.Equal(s.t, start().Add(3*time.Minute), s.runNext(scheduler).Next)
		s.clock.advance(2 * time.Minute)
		require.NoError(s.t, s.runNext(scheduler).Err)
		require.Equal(s.t, []int{1, 2, 3}, attempts)
		require.Equal(s.t, []string{keys[0], keys[0], keys[0]}, keys)
		r = s.get(id)
		require.True(s.t, r.Completed)
		require.Empty(s.t, r.Error, "the marks of the failure are gone")
		require.Zero(s.t, [...]int64{r.Failures, r.Attempts, int64(r.RetryAt), int64(r.LeaseUntil)})
	})
}

func TestFailure_SingleRunIsKeptAndMarked(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(fail, limited(3))
		id := s.add(0)
		for range 3 {
			s.runNext(scheduler)
			s.clock.advance(time.Hour)
		}
		s.requireNothingDue(scheduler)
		_, ok, err := scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		require.False(s.t, ok)
		failed, err := s.service().Find(s.ctx, record.Query{Filter: document.O("failed", true)})
		require.NoError(s.t, err)
		require.Len(s.t, failed, 1)
		require.Equal(s.t, id, failed[0].ID)
		require.Equal(s.t, "no luck", failed[0].Error)
		require.EqualValues(s.t, 3, failed[0].Failures)
		require.False(s.t, failed[0].Completed)

		_, err = s.service().UpdateAgenda(s.ctx, agenda.UpdateParams{
			MemberID: "m1", NextRunAt: document.TimestampOf(s.clock.Now().Add(time.Hour)),
		})
		require.NoError(s.t, err)
		s.clock.advance(time.Hour)
		require.Equal(s.t, 1, s.runNext(scheduler).Run.Attempt, "a new schedule starts afresh")
	})
}

func TestFailure_PatternGoesOn(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		failing := true
		scheduler := s.scheduler(func(context.Context, agenda.Run) error {
			if failing {
				return errors.New("no luck")
			}
			return nil
		}, limited(2))
		id := s.add(0, repeating("0 * * * *"))
		s.runNext(scheduler)
		s.clock.advance(time.Minute)
		require.Equal(s.t, start().Add(time.Hour), s.runNext(scheduler).Next)
		r := s.get(id)
		require.True(s.t, r.Failed)
		require.Equal(s.t, "no luck", r.Error)
		require.False(s.t, r.Completed)
		require.Zero(s.t, r.Attempts)
		s.requireNothingDue(scheduler)
		s.clock.advance(time.Hour)
		require.Equal(s.t, 1, s.runNext(scheduler).Run.Attempt)
		require.True(s.t, s.get(id).Failed, "the mark stays until a run succeeds")
		failing = false
		s.clock.advance(time.Hour)
		require.NoError(s.t, s.runNext(scheduler).Err)
		r = s.get(id)
		require.False(s.t, r.Failed)
		require.Empty(s.t, r.Error)
	})
}

func TestFailure_OfLastOccurrence(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(fail, limited(1))
	id := s.add(0, repeating("0 * * * *"), func(r *agenda.Record) { r.RunUntil = r.NextRunAt })
	require.Zero(t, s.runNext(scheduler).Next)
	r := s.get(id)
	require.False(t, r.Completed)
	require.True(t, r.Failed)
	s.requireNothingDue(scheduler)
	_, err := s.service().UpdateAgenda(s.ctx, agenda.UpdateParams{MemberID: "m1", RunUntil: r.RunUntil + 7_200_000, NextRunAt: r.NextRunAt + 3_600_000})
	require.NoError(t, err)
	s.clock.advance(time.Hour)
	require.Equal(t, start().Add(2*time.Hour), s.runNext(scheduler).Next, "it goes on by its pattern")
}

func TestFailure_PanicWithItsCause(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	cause := boterr.New(boterr.NotFound, "", "nothing")
	for _, thrown := range []any{"a text", cause, nil} {
		scheduler := s.scheduler(func(context.Context, agenda.Run) error { panic(thrown) })
		id := s.add(0)
		err := s.runNext(scheduler).Err
		require.ErrorIs(t, err, boterr.Internal)
		require.ErrorContains(t, err, "panic: ")
		require.Contains(t, s.get(id).Error, "panic: ")
		if thrown == any(cause) {
			require.ErrorIs(t, err, boterr.NotFound)
		}
		s.remove(id)
	}
}

func TestFailure_TextIsRedactedAndCut(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(func(context.Context, agenda.Run) error {
		return errors.New("token=abcdef " + strings.Repeat("ä", 2000))
	})
	id := s.add(0)
	s.runNext(scheduler)
	text := s.get(id).Error
	require.NotContains(t, text, "abcdef")
	require.Greater(t, len(text), 990)
	require.LessOrEqual(t, len(text), 1000)
	require.True(t, utf8.ValidString(text))
}

func TestMissed_PatternRunsOnceAndGoesOn(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(succeed)
		s.add(0, repeating("0 * * * *"), named("hourly"))
		s.add(0, named("once"))
		s.clock.advance(5*time.Hour + time.Minute)
		first, second := s.runNext(scheduler), s.runNext(scheduler)
		require.Equal(s.t, "hourly", first.Run.Agenda.Tag)
		require.Equal(s.t, start(), first.Run.ScheduledAt)
		require.Equal(s.t, 5, first.Run.Missed)
		require.Equal(s.t, start().Add(6*time.Hour), first.Next)
		require.Equal(s.t, "once", second.Run.Agenda.Tag)
		require.Zero(s.t, second.Run.Missed)
		s.requireNothingDue(scheduler)
		s.clock.advance(365 * 24 * time.Hour)
		require.Equal(s.t, agenda.MaxMissed, s.runNext(scheduler).Run.Missed)
		s.requireNothingDue(scheduler)
	})
}

func TestMissed_EndsWithRunUntil(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(succeed)
	id := s.add(0, repeating("0 * * * *"), func(r *agenda.Record) { r.RunUntil = document.TimestampOf(start().Add(2 * time.Hour)) })
	s.clock.advance(24 * time.Hour)
	require.Equal(t, 2, s.runNext(scheduler).Run.Missed)
	require.True(t, s.get(id).Completed)
}

func TestFinish_AgendaRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, outcome := range []error{nil, errors.New("no luck")} {
		eachStore(t, func(s *stand) {
			scheduler := s.scheduler(func(ctx context.Context, _ agenda.Run) error {
				_, err := s.service().DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: "m1"})
				require.NoError(s.t, err)
				return outcome
			})
			s.add(0, repeating("0 * * * *"))
			require.Equal(s.t, outcome, s.runNext(scheduler).Err)
			require.Empty(s.t, s.stored())
			s.clock.advance(24 * time.Hour)
			s.requireNothingDue(scheduler)
		})
	}
}

func TestFinish_AgendaReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(func(ctx context.Context, run agenda.Run) error {
			if run.Agenda.NodeCompositeID == "n2" {
				return nil
			}
			_, err := s.service().NewAgenda(ctx, agenda.NewParams{
				MemberID: "m1", NodeCompositeID: "n2", NextRunAt: document.TimestampOf(start().Add(time.Hour)), Tag: "a", Replace: true,
			})
			return err
		})
		s.add(0, repeating("0 * * * *"), named("a"))
		s.runNext(scheduler)
		require.Len(s.t, s.stored(), 1)
		s.clock.advance(24 * time.Hour)
		require.Equal(s.t, "n2", s.runNext(scheduler).Run.Agenda.NodeCompositeID)
		s.requireNothingDue(scheduler)
	})
}

func TestFinish_ScheduleGivenMeanwhile(t *testing.T) {
	t.Parallel()
	soon := document.TimestampOf(start().Add(time.Minute))
	for name, test := range map[string]struct {
		update  agenda.UpdateParams
		pattern string
		outcome error
		want    document.Timestamp
	}{
		"another time of a single run":  {update: agenda.UpdateParams{NextRunAt: soon}, want: soon},
		"the same time of a single run": {update: agenda.UpdateParams{NextRunAt: document.TimestampOf(start())}, want: document.TimestampOf(start())},
		"another time though it failed": {update: agenda.UpdateParams{NextRunAt: soon}, outcome: errors.New("no luck"), want: soon},
		"another time of a pattern":     {pattern: "0 * * * *", update: agenda.UpdateParams{NextRunAt: soon}, want: soon},
		"another pattern": {
			pattern: "0 * * * *", update: agenda.UpdateParams{Pattern: "30 * * * *"}, want: document.TimestampOf(start().Add(30 * time.Minute)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				scheduler := s.scheduler(func(ctx context.Context, run agenda.Run) error {
					update := test.update
					update.MemberID = "m1"
					if run.Attempt == 1 && s.get(run.Agenda.ID).Fence == 1 {
						_, err := s.service().UpdateAgenda(ctx, update)
						require.NoError(s.t, err)
						return test.outcome
					}
					return nil
				}, limited(1))
				var settings []func(*agenda.Record)
				if test.pattern != "" {
					settings = append(settings, repeating(test.pattern))
				}
				id := s.add(0, settings...)
				s.runNext(scheduler)
				r := s.get(id)
				require.Equal(s.t, test.want, r.NextRunAt)
				require.False(s.t, r.Completed)
				require.False(s.t, r.Failed)
				require.Zero(s.t, r.LeaseUntil)
				s.clock.set(r.NextRunAt.Time())
				again := s.runNext(scheduler)
				require.Equal(s.t, 1, again.Run.Attempt)
				require.NoError(s.t, again.Err)
			})
		})
	}
}

func TestFinish_RunUntilGivenMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			s.patch(run.Agenda.ID, document.Set(fieldRunUntil, document.TimestampOf(start().Add(time.Minute))))
			return nil
		})
		id := s.add(0, repeating("0 * * * *"))
		require.Zero(s.t, s.runNext(scheduler).Next)
		require.True(s.t, s.get(id).Completed)
	})
}

func TestFinish_CallEnds(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ctx, cancel := context.WithCancel(t.Context())
	scheduler := s.scheduler(func(ctx context.Context, _ agenda.Run) error {
		cancel()
		return ctx.Err()
	})
	id := s.add(0)
	result, err := scheduler.RunNext(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, result.Err, context.Canceled)
	r := s.get(id)
	require.Zero(t, r.Failures)
	require.Zero(t, r.LeaseUntil)
	require.Equal(t, 2, s.runNext(s.scheduler(succeed)).Run.Attempt, "it can be claimed at once")
}

func TestRunNext_UnreadableAgenda(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(succeed, limited(2))
		id := s.add(0)
		s.patch(id, document.Set(fieldMeta, "no object"))
		for range 2 {
			require.ErrorIs(s.t, s.runNext(scheduler).Err, boterr.FailedPrecondition)
			s.requireNothingDue(scheduler)
			s.clock.advance(time.Hour)
		}
		s.requireNothingDue(scheduler)
		s.patch(id, document.Set(fieldMeta, document.O()))
		r := s.get(id)
		require.True(s.t, r.Failed, "it has failed for good")
		require.NotZero(s.t, r.FailedAt)
		require.EqualValues(s.t, 2, r.Failures)
		_, err := s.service().UpdateAgenda(s.ctx, agenda.UpdateParams{MemberID: "m1", NextRunAt: document.TimestampOf(s.clock.Now())})
		require.NoError(s.t, err)
		require.NoError(s.t, s.runNext(scheduler).Err, "once it can be read, updateAgenda schedules it again")
	})
}

func TestRunNext_UnreadablePattern(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(succeed)
	id := s.add(0, repeating("no pattern"))
	require.NoError(t, s.runNext(scheduler).Err)
	r := s.get(id)
	require.False(t, r.Completed, "it can be scheduled again")
	require.True(t, r.Failed)
	require.Contains(t, r.Error, "pattern")
}

// askedToWaitError is a failure that carries the pause before the next attempt.
type askedToWaitError struct{ error }

func (askedToWaitError) RetryAfter() time.Duration { return 20 * time.Minute }

func TestFailure_WaitsForAsLongAsItAsks(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(func(context.Context, agenda.Run) error { return askedToWaitError{errors.New("too many messages")} })
	s.add(0)
	require.Equal(t, start().Add(20*time.Minute), s.runNext(scheduler).Next)
}

func TestFailure_MethodOfTheErrorPanics(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(func(context.Context, agenda.Run) error { return (*askedToWaitError)(nil) })
	s.add(0)
	require.ErrorContains(t, s.runNext(scheduler).Err, "panic: ")
}

func TestBackoff_DefaultGrowsToAnHour(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(fail, func(c *SchedulerConfig) { c.Limit = 20 })
	s.add(0)
	for _, seconds := range []int{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600} {
		next := s.runNext(scheduler).Next
		require.Equal(t, time.Duration(seconds)*time.Second, next.Sub(s.clock.Now()))
		s.clock.set(next)
	}
}

func TestBackoff_RunVariesTheDefault(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		l.start(fail)
		pauses := map[document.Timestamp]bool{}
		var ids []string
		for range 10 {
			ids = append(ids, l.due(time.Hour))
		}
		l.pass(time.Hour)
		for _, id := range ids {
			r := l.get(id)
			require.LessOrEqual(l.t, r.RetryAt-r.HeldAt, document.Timestamp(10_000))
			pauses[r.RetryAt-r.HeldAt] = true
		}
		require.Greater(l.t, len(pauses), 2, "what failed together is not tried again together")
	})
}

func TestBackoff_PanicGivesTheDefault(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(fail, func(c *SchedulerConfig) { c.Backoff = func(int) time.Duration { panic("no pause") } })
	s.add(0)
	require.Equal(t, start().Add(10*time.Second), s.runNext(scheduler).Next)
}

func TestMissed_WhileItRuns(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var told int
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			told += 1 + run.Missed
			s.clock.advance(3 * time.Minute)
			return nil
		})
		s.add(0, repeating("* * * * *"))
		require.Equal(s.t, start().Add(time.Minute), s.runNext(scheduler).Next)
		second := s.runNext(scheduler)
		require.Equal(s.t, start().Add(time.Minute), second.Run.ScheduledAt)
		require.Equal(s.t, 2, second.Run.Missed)
		require.Equal(s.t, start().Add(4*time.Minute), second.Next)
		s.runNext(scheduler)
		require.Equal(s.t, 7, told, "those of the minutes 0 to 6")
	})
}

// runOut runs agendas until none is left. It fails after too many runs.
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
			s.t.Error("the run must not begin")
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
			_, err := s.service().UpdateAgenda(ctx, agenda.UpdateParams{
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
			_, err := s.service().UpdateAgenda(s.ctx, agenda.UpdateParams{MemberID: "m1", NextRunAt: document.TimestampOf(start())})
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
