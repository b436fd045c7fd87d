package sqlite

import (
	"context"
	"time"
)

// limit is a deadline. It uses the machine's clock, because it limits how long callers wait.
type limit struct{ end time.Time }

func within(span time.Duration) limit {
	return limit{end: time.Now().Add(span)} //nolint:forbidigo // Callers wait in real time.
}

func (l limit) isOver() bool {
	return time.Now().After(l.end) //nolint:forbidigo // Callers wait in real time.
}

// turn is the context of a write in a group. It ends when the write has delayed the others long enough.
type turn struct {
	context.Context //nolint:containedctx // A turn is a context.

	limit    limit
	hasEnded bool
}

func (t *turn) Err() error {
	if err := t.Context.Err(); err != nil {
		return err
	}
	if t.hasEnded || t.limit.isOver() {
		t.hasEnded = true
		return context.DeadlineExceeded
	}
	return nil
}
