package agendas

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

// aroundKey is the key of what a wrapper leaves for the handler.
type aroundKey struct{}

func TestAround_SeesEachRun(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var seen []string
		scheduler := s.scheduler(func(ctx context.Context, _ agenda.Run) error {
			return boterr.New(boterr.Conflict, "", "%v", ctx.Value(aroundKey{}))
		}, func(c *SchedulerConfig) {
			c.Around = func(next agenda.Handler) agenda.Handler {
				return func(ctx context.Context, run agenda.Run) error {
					err := next(context.WithValue(ctx, aroundKey{}, "from around"), run)
					seen = append(seen, run.Agenda.Tag+": "+err.Error())
					return err
				}
			}
		})
		s.add(0, named("a"))
		require.ErrorIs(t, s.runNext(scheduler).Err, boterr.Conflict)
		require.Equal(t, []string{"a: conflict: from around"}, seen)
	})
}

func TestAround_GivesNoHandler(t *testing.T) {
	t.Parallel()
	_, err := NewScheduler(SchedulerConfig{
		Env: record.Env{Store: memstore.New()}, Handler: succeed,
		SchedulerOptions: SchedulerOptions{Around: func(agenda.Handler) agenda.Handler { return nil }},
	})
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, "around", e.Field)
	require.Equal(t, boterr.InvalidArgument, e.Code)
}

func TestPostponed(t *testing.T) {
	t.Parallel()
	pause, ok := agenda.Postponed(fmt.Errorf("not now: %w", agenda.Postpone(time.Minute)))
	require.True(t, ok)
	require.Equal(t, time.Minute, pause)
	for _, err := range []error{nil, errors.New("no luck"), agenda.ErrShutdown} {
		_, ok := agenda.Postponed(err)
		require.False(t, ok)
	}
}

func TestAround_Panics(t *testing.T) {
	t.Parallel()
	_, err := NewScheduler(SchedulerConfig{
		Env: record.Env{Store: memstore.New()}, Handler: succeed,
		SchedulerOptions: SchedulerOptions{Around: func(agenda.Handler) agenda.Handler { panic("no tracer") }},
	})
	require.ErrorIs(t, err, boterr.Internal)
	var panicked *boterr.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "no tracer", panicked.Cause)
	require.ErrorContains(t, err, "around")
}
