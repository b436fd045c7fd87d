package background_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/background"
)

func TestGo_StartsWorkAgainThatBreaks(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	var log strings.Builder
	begun := 0
	background.Go(&group, slog.New(slog.NewTextHandler(&log, nil)), "it broke", func() {
		begun++
		switch begun {
		case 1:
			runtime.Goexit()
		case 2:
			panic("no more")
		}
	})
	group.Wait()
	require.Equal(t, 3, begun)
	require.Contains(t, log.String(), `msg="it broke" panic="no more"`)
}

func TestEvery_UntilTheContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Second)
		defer cancel()
		done := 0
		background.Every(ctx, time.Minute, func() { done++ })
		require.Equal(t, 6, done)
	})
}

func TestServe_WaitsForWork(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	for name, test := range map[string]struct {
		// takes is the time of the work after ctx has ended. isDeaf is true if the work ignores its context.
		takes  time.Duration
		isDeaf bool
		cause  error
		want   bool
	}{
		"within the time":        {takes: time.Minute, want: true},
		"until its context ends": {takes: time.Hour, cause: stopped, want: true},
		"not forever":            {takes: time.Hour, isDeaf: true, cause: stopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				causes := make(chan error, 1)
				time.AfterFunc(time.Second, cancel)
				got := background.Serve(ctx, 2*time.Minute, stopped, func(runs context.Context) {
					<-ctx.Done()
					select {
					case <-time.After(test.takes):
					case <-runs.Done():
					}
					cause := context.Cause(runs)
					if test.isDeaf {
						<-time.After(test.takes)
					}
					causes <- cause
				})
				require.Equal(t, test.want, got)
				require.Equal(t, test.cause, <-causes)
			})
		})
	}
}

func TestBackoff_GrowsAndVaries(t *testing.T) {
	t.Parallel()
	b := background.Backoff{First: 10 * time.Second, Growth: 2, Most: time.Hour, Random: 2}
	for failures, want := range map[int]time.Duration{
		1: 10 * time.Second, 2: 20 * time.Second, 9: 2560 * time.Second, 10: time.Hour, 1_000_000: time.Hour,
	} {
		require.Equal(t, want, b.After(t.Context(), failures, true))
		for range 100 {
			pause := b.After(t.Context(), failures, false)
			require.GreaterOrEqual(t, pause, want/2)
			require.LessOrEqual(t, pause, want)
		}
	}
}
