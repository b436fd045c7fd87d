package agendas

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func completed(r *agenda.Record) { r.Completed = true }

// failed marks an agenda as failed for good, a time after the start.
func failed(after time.Duration) func(*agenda.Record) {
	return func(r *agenda.Record) { r.Failed, r.FailedAt = true, document.TimestampOf(start().Add(after)) }
}

func (s *stand) tags() []string {
	s.t.Helper()
	found, err := s.service().Find(s.ctx, record.Query{SortBy: document.O("tag", 1)})
	require.NoError(s.t, err)
	tags := make([]string, len(found))
	for i, r := range found {
		tags[i] = r.Tag
	}
	return tags
}

func TestRetention_RemovesOld(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		completed, failed time.Duration
		left              []string
	}{
		"default":          {left: []string{"failed", "new", "open", "pattern that goes on"}},
		"longer":           {completed: 32 * day, left: []string{"failed", "new", "old", "open", "pattern that goes on"}},
		"shorter":          {failed: 5 * day, left: []string{"new", "open", "pattern that goes on"}},
		"for ever":         {completed: -1, left: []string{"failed", "new", "old", "open", "pattern that goes on"}},
		"failed, for ever": {failed: -1, left: []string{"failed", "failed long ago", "new", "open", "pattern that goes on"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				s.add(-31*day, named("old"), completed)
				s.add(-29*day, named("new"), completed)
				s.add(-31*day, named("open"))
				s.add(-100*day, named("failed"), failed(-10*day))
				s.add(-100*day, named("failed long ago"), failed(-91*day))
				s.add(-100*day, named("pattern that goes on"), repeating("0 * * * *"), func(r *agenda.Record) { r.Failed = true })
				scheduler := s.scheduler(succeed, func(c *SchedulerConfig) { c.Retention, c.FailedRetention = test.completed, test.failed })
				removed, err := scheduler.RemoveCompleted(s.ctx)
				require.NoError(s.t, err)
				require.EqualValues(s.t, 6-len(test.left), removed)
				require.Equal(s.t, test.left, s.tags())
			})
		})
	}
}

func TestRetention_UsesIndex(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	_, err := s.scheduler(succeed).RemoveCompleted(s.ctx)
	require.NoError(t, err)
	for _, filter := range []document.Object{completedBefore(start()), failedBefore(start())} {
		old, err := query.CompileFilter(filter)
		require.NoError(t, err)
		explanation, err := s.store.(*memstore.Store).Explain(s.ctx, schema.Collection, old, store.FindOptions{})
		require.NoError(t, err)
		require.Equal(t, "completed_1_failedAt_1_nextRunAt_1", explanation.Index)
	}
}

func TestRetention_CountsFromTheLastFailure(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(*agenda.Record){
		"once":            func(*agenda.Record) {},
		"last occurrence": func(r *agenda.Record) { r.Pattern, r.RunUntil = "0 * * * *", r.NextRunAt },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				scheduler := s.scheduler(fail, limited(1))
				id := s.add(-200*day, settings)
				s.runNext(scheduler)
				r := s.get(id)
				require.Equal(s.t, document.TimestampOf(start()), r.FailedAt)
				require.False(s.t, r.Completed)
				s.requireNothingDue(scheduler)
				for _, want := range []int64{0, 1} {
					removed, err := scheduler.RemoveCompleted(s.ctx)
					require.NoError(s.t, err)
					require.Equal(s.t, want, removed)
					s.clock.advance(91 * day)
				}
			})
		})
	}
}

func TestRetention_RunRemovesCompleted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		l.start(succeed, func(c *SchedulerConfig) { c.Retention, c.Poll = 90*time.Minute, time.Minute })
		for i := range 3 {
			l.due(time.Duration(i)*time.Hour, named(strconv.Itoa(i)))
		}
		l.pass(2*time.Hour + time.Minute)
		require.Equal(l.t, []string{"1", "2"}, l.tags())
		l.pass(day)
		require.Empty(l.t, l.tags())
	})
}

// leakyClock is a store whose clock fails or panics with a text that contains a credential.
type leakyClock struct {
	store.Store

	panics bool
}

func (c leakyClock) Now(context.Context) (time.Time, error) {
	err := errors.New("no clock at https://u:S3CRET@h?token=S3CRET")
	if c.panics {
		panic(err)
	}
	return time.Time{}, err
}

func TestRetention_LogHidesCredentials(t *testing.T) {
	t.Parallel()
	for name, panics := range map[string]bool{"fails": false, "panics": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			var lines strings.Builder
			scheduler := s.scheduler(succeed, func(c *SchedulerConfig) {
				c.Env.Store = leakyClock{Store: s.store, panics: panics}
				c.Log = slog.New(slog.NewTextHandler(&lines, nil))
			})
			require.NotPanics(t, func() { scheduler.applyRetention(s.ctx) })
			require.Contains(t, lines.String(), "completed agendas not removed")
			require.Contains(t, lines.String(), "no clock")
			require.NotContains(t, lines.String(), "S3CRET")
		})
	}
}

func TestQueue_FailedCostNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for range 500 {
		s.add(-day, failed(0))
	}
	s.add(0, named("due"))
	scheduler := standOn(t, s.clock, unwatched{s.store}).scheduler(succeed)
	found, _, err := scheduler.candidates.take(s.ctx, start(), 1, 0, fair.NewShares(1))
	require.NoError(t, err)
	require.Len(t, found, 1)
	explanation, err := s.store.(*memstore.Store).Explain(s.ctx, schema.Collection, query.Must(query.CompileFilter(isDue(start()))),
		store.FindOptions{Sort: query.Must(query.CompileSort(document.O(fieldPriority, 1, fieldNextRunAt, 1, record.FieldCreatedAt, 1))), Limit: 10})
	require.NoError(t, err)
	require.EqualValues(t, 1, explanation.Examined)
}
