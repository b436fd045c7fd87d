package botctx

import (
	"context"
	"time"
)

// Pause waits for a while by the Runtime's clock, or until ctx ends: between two messages, for example.
// In the fakes it takes next to no time. The member's turn stays the run's meanwhile: for what is to
// come in minutes, an agenda is better, and Config.MaxRun ends longer runs.
func (c *Context) Pause(ctx context.Context, d time.Duration) { c.runtime.config.Pause(ctx, d) }

// pause waits by the machine's clock.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
