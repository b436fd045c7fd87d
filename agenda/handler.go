package agenda

import (
	"context"
	"time"
)

// MaxMissed is the number up to which the occurrences that an agenda missed are counted.
const MaxMissed = 1000

// Run is one attempt to run an agenda, as the scheduler tells it to the handler.
type Run struct {
	// Agenda is the agenda as it was claimed.
	Agenda Agenda
	// ScheduledAt is the time for which it was scheduled, in UTC.
	ScheduledAt time.Time
	// Missed is how many occurrences of the pattern have passed since ScheduledAt, for
	// which it does not run any more. It is counted up to MaxMissed.
	Missed int
	// Attempt counts the claims for ScheduledAt, from 1 on.
	Attempt int
	// Key is the idempotency key: it is the same for every attempt at one scheduled
	// time, and different for every other.
	Key string
}

// Handler runs an agenda. An error, or a panic, is a failure: the scheduler tries again
// later. ctx ends with the cause ErrLeaseLost where the worker lost its claim, and with
// ErrShutdown where a shutdown does not wait any longer; what it returns then is no
// failure.
type Handler func(ctx context.Context, run Run) error
