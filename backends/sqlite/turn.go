package sqlite

import (
	"context"
	"time"
)

// limit is a deadline. It uses the machine's clock, since it bounds how long callers wait.
type limit struct{ end time.Time }

func within(span time.Duration) limit {
	return limit{end: time.Now().Add(span)} //nolint:forbidigo // See above.
}

func (l limit) isOver() bool {
	return time.Now().After(l.end) //nolint:forbidigo // See above.
}

// turn is the context of a write in a group. It ends when the write has kept the others waiting long enough.
type turn struct {
	context.Context //nolint:containedctx // It is one.

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
