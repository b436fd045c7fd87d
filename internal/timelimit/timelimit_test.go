package timelimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/timelimit"
)

func over() *boterr.Error { return boterr.New(boterr.Unavailable, "", "took too long") }

// waited returns the time from now until ctx ends.
func waited(ctx context.Context) time.Duration {
	begun := time.Now() //nolint:forbidigo // The clock of synctest.
	<-ctx.Done()
	return time.Since(begun) //nolint:forbidigo // The clock of synctest.
}

func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // The clock of synctest.
	synctest.Wait()
}

func TestLimit_EndsWithItsCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := over()
		for _, asksBefore := range []bool{true, false} {
			l := (&timelimit.Rule{Most: time.Second, Over: cause}).Begin(t.Context())
			child, cancel := context.WithCancel(l)
			if asksBefore {
				require.NoError(t, l.Err())
				require.Equal(t, time.Second, waited(child))
			}
			pass(time.Second)
			require.ErrorIs(t, l.Err(), context.Canceled)
			require.ErrorIs(t, child.Err(), context.Canceled)
			require.Same(t, cause, context.Cause(l))
			require.Same(t, cause, context.Cause(child))
			require.True(t, l.IsOver())
			cancel()
			require.NoError(t, l.End(nil), "what succeeds late has succeeded")
		}
	})
}

func TestLimit_PauseResumeRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, isWatched := range []bool{true, false} {
			l := (&timelimit.Rule{Most: 10 * time.Second, Over: over(), IsPausable: true}).Begin(t.Context())
			if isWatched {
				_ = l.Done()
			}
			pass(4 * time.Second)
			l.Pause()
			l.Pause()
			pass(time.Hour)
			require.NoError(t, l.Err())
			l.Resume()
			l.Resume()
			pass(4 * time.Second)
			require.NoError(t, l.Err())
			l.Pause()
			l.Restart()
			require.Equal(t, 10*time.Second, waited(l))
			l.Pause()
			l.Restart()
			require.Error(t, l.Err(), "what is over stays over")
			require.Error(t, l.End(context.Canceled))
		}
		l := (&timelimit.Rule{Most: 10 * time.Second, Over: over(), IsPausable: true}).Begin(t.Context())
		pass(4 * time.Second)
		l.Restart()
		require.Equal(t, 6*time.Second, waited(l), "only a pause starts anew")
		require.NoError(t, l.End(nil))
	})
}

func TestLimit_End(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failure, cause := errors.New("reset"), over()
		l := (&timelimit.Rule{Most: time.Second, Over: cause}).Begin(t.Context())
		require.Same(t, failure, l.End(failure))
		require.ErrorIs(t, l.Err(), context.Canceled)
		l = (&timelimit.Rule{Most: time.Second, Over: cause}).Begin(t.Context())
		pass(time.Second)
		err := l.End(failure)
		require.ErrorIs(t, err, failure)
		require.EqualError(t, err, "unavailable: took too long: reset")
		l = (&timelimit.Rule{Most: time.Second, Over: cause}).Begin(t.Context())
		pass(time.Second)
		require.Same(t, cause, l.End(cause), "not said twice")

		var none *timelimit.Limit
		none.Pause()
		none.Resume()
		none.Restart()
		require.False(t, none.IsOver())
		require.Same(t, failure, none.End(failure))
	})
}

func TestOf_FindsTheInnermostPausable(t *testing.T) {
	t.Parallel()
	require.Nil(t, timelimit.Of(t.Context()))
	run := (&timelimit.Rule{Most: time.Minute, Over: over()}).Begin(t.Context())
	require.Nil(t, timelimit.Of(run))
	outer := (&timelimit.Rule{Most: time.Minute, Over: over(), IsPausable: true}).Begin(run)
	inner := (&timelimit.Rule{Most: time.Minute, Over: over(), IsPausable: true}).Begin(outer)
	ctx, cancel := context.WithCancel((&timelimit.Rule{Most: time.Minute, Over: over()}).Begin(inner))
	defer cancel()
	require.Same(t, inner, timelimit.Of(ctx))
	require.Same(t, outer, timelimit.Of(outer))
	for _, l := range []*timelimit.Limit{inner, outer, run} {
		require.NoError(t, l.End(nil))
	}
}
