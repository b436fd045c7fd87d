package agendas

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/botctx/go-sdk/internal/display"
)

// The default pauses after failures.
const (
	firstPause = 10 * time.Second
	maxPause   = time.Hour
)

// exponential is the default back-off without jitter: firstPause, doubled with each failure, at
// most maxPause.
func exponential(failures int) time.Duration {
	pause := firstPause
	for ; failures > 1 && pause < maxPause; failures-- {
		pause *= 2
	}
	return min(pause, maxPause)
}

// jittered is a random part of the exponential back-off.
func jittered(failures int) time.Duration {
	return rand.N(exponential(failures) + 1) //nolint:gosec // Spreading load needs no secrecy.
}

// pauseAfter returns the pause after that many failures: the host's, or the default one where the
// host's function panics.
func (s *Scheduler) pauseAfter(
	ctx context.Context, failures int, pause func(failures int) time.Duration,
) (chosen time.Duration) {
	defer func() {
		if thrown := recover(); thrown != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "agenda: back-off panicked",
				slog.String("panic", display.Text(thrown)), slog.String("stack", string(debug.Stack())))
			chosen = exponential(failures)
		}
	}()
	return max(0, pause(failures))
}
