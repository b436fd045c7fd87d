package background

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/botctx/go-sdk/internal/safelog"
)

// Backoff determines the pauses before further attempts.
type Backoff struct {
	// First is the default pause after one failure. Each further failure multiplies it by Growth, up to Most. A random part
	// of it is left out, so that work that failed together is not tried again together: at most a Random-th part.
	First, Most    time.Duration
	Growth, Random int
	// Chosen is the host's function, or nil for the default pauses.
	Chosen func(failures int) time.Duration
	// Log receives Message if Chosen panics. Then the default pause applies, with no random part.
	Log     *slog.Logger
	Message string
}

// After returns the pause after a number of failures. isExact turns off the random part.
func (b *Backoff) After(ctx context.Context, failures int, isExact bool) (pause time.Duration) {
	pause = b.First
	for i := 1; i < failures && pause < b.Most; i++ {
		pause *= time.Duration(b.Growth)
	}
	pause = min(pause, b.Most)
	switch {
	case b.Chosen != nil:
		defer safelog.Recovered(ctx, b.Log, b.Message, nil)
		return max(0, b.Chosen(failures))
	case isExact:
		return pause
	default:
		return pause - rand.N(pause/time.Duration(b.Random)+1) //nolint:gosec // Spreading load needs no secrecy.
	}
}
