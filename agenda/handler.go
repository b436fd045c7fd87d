package agenda

import (
	"context"
	"errors"
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
	// Missed is how many occurrences of the pattern after ScheduledAt have passed and are skipped,
	// counted up to MaxMissed.
	Missed int
	// Attempt counts the claims for ScheduledAt, from 1 on.
	Attempt int
	// Key is the idempotency key: it is the same for every attempt at one scheduled
	// time, also where the agenda is scheduled anew for that time, and different for every other.
	Key string

	// GroupExternalID is the id on the platform of the group in which the member was talking
	// with the bot when the agenda was made, and in which it is answered. "" for none.
	GroupExternalID string

	// claim is that of the scheduler, nil where no scheduler made the run.
	claim *claim
}

// IsCurrent reports whether the agenda is still to be run as the run tells: it is there,
// this claim of it holds, and it was not given another schedule. A handler that had to
// wait before it begins asks it, and returns nil where it does not. It is true for a Run
// that no scheduler made. The errors are those of the store.
func (r Run) IsCurrent(ctx context.Context) (bool, error) {
	if r.claim == nil {
		return true, nil
	}
	return r.claim.isCurrent(ctx)
}

// IsAbandoned reports whether the scheduler has returned without waiting for the run any
// longer, since it ignored the end of its context: the agenda runs again, so that nothing
// which this run still does may count.
func (r Run) IsAbandoned() bool { return r.claim != nil && r.claim.isAbandoned.Load() }

// Postpone returns what a Handler returns, wrapped or not, where it cannot run the agenda
// now: the claim is given back, and the agenda can be claimed again after the pause. That
// counts neither as a failure nor as an attempt. A negative pause counts as none.
func Postpone(pause time.Duration) error { return &postponement{pause: max(0, pause)} }

// Postponed reports whether an error is that of Postpone, wrapped or not, and by how long the
// agenda is put off.
func Postponed(err error) (pause time.Duration, ok bool) {
	postponed, ok := errors.AsType[*postponement](err)
	if !ok {
		return 0, false
	}
	return postponed.pause, true
}

// postponement is the error of Postpone.
type postponement struct{ pause time.Duration }

// Error implements error.
func (p *postponement) Error() string {
	return "the run is postponed by " + p.pause.String()
}

// Handler runs an agenda. An error other than that of Postpone, a panic, and the end of
// its goroutine are failures: the scheduler tries again later. ctx ends with the cause
// ErrLeaseLost where the worker lost its claim, and with ErrShutdown where a shutdown does
// not wait any longer; an error that it returns then is no failure.
type Handler func(ctx context.Context, run Run) error
