package script

import (
	"context"
	"time"
)

// deadline ends the context of a run when its time is over. The time stands still while the run waits for a
// slot. It is used by the goroutine of the run.
type deadline struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
	// left is what is left of the time since it last ran on, at since.
	left  time.Duration
	since time.Time
}

// begin returns a context that ends after some time, with a cause. end has to be called.
func (d *deadline) begin(ctx context.Context, limit time.Duration, cause func() error) context.Context {
	limited, cancel := context.WithCancelCause(ctx)
	d.cancel, d.left = cancel, limit
	d.since = time.Now() //nolint:forbidigo // How long it takes in fact, which no clock that is handed in tells.
	d.timer = time.AfterFunc(limit, func() { cancel(cause()) })
	return limited
}

// end ends the context.
func (d *deadline) end() {
	d.timer.Stop()
	d.cancel(context.Canceled)
}

// pause lets the time stand still, and returns what lets it run on.
func (d *deadline) pause() (resume func()) {
	if !d.timer.Stop() {
		return func() {} // It is over.
	}
	d.left -= time.Since(d.since) //nolint:forbidigo // As where it began.
	return func() {
		d.since = time.Now() //nolint:forbidigo // As where it began.
		d.timer.Reset(max(0, d.left))
	}
}
