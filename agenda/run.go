package agenda

import (
	"context"
	"errors"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// MaxMissed is the number up to which the occurrences that an agenda missed are counted.
const MaxMissed = 1000

// Run is one attempt to run an agenda, as the scheduler tells it to the handler.
type Run struct {
	// Agenda is the agenda as it was claimed.
	Agenda Agenda
	// ScheduledAt is the time for which it was scheduled, in UTC.
	ScheduledAt time.Time
	// Missed counts the occurrences of the pattern after ScheduledAt that have passed and are skipped, up to
	// MaxMissed.
	Missed int
	// Attempt counts the claims for ScheduledAt, from 1 on.
	Attempt int
	// Key is the idempotency key: it is the same for every attempt at one scheduled time, even if the agenda
	// is scheduled again for that time, and different for every other time.
	Key string

	// GroupExternalID is the id on the platform of the group in which the member was talking
	// with the bot when the agenda was made, and in which it is answered. "" for none.
	GroupExternalID string
}

// Handler runs an agenda. An error that Postpone did not make, a panic, and the end of its goroutine are
// failures: the scheduler tries again later. ctx ends with the cause ErrLeaseLost if the worker lost its
// claim, and with ErrShutdown if a shutdown does not wait any longer; an error that the handler returns then
// is no failure.
type Handler func(ctx context.Context, run Run) error

// ErrLeaseLost is the context.Cause of a run whose claim is lost: its lease could not be renewed,
// or another worker has the agenda.
var ErrLeaseLost = boterr.New(boterr.Conflict, "", "the lease of the agenda is lost: another worker may run it")

// ErrShutdown is the context.Cause of a run that a scheduler, told to end, does not wait for any
// longer.
var ErrShutdown = boterr.New(boterr.Canceled, "", "the scheduler ends: the agenda will run again")

// Postpone returns the error that a Handler returns, wrapped or not, if it cannot run the agenda now: the
// claim is given back, and the agenda can be claimed again after the pause. That counts neither as a failure
// nor as an attempt. A negative pause counts as none.
func Postpone(pause time.Duration) error { return &postponement{pause: max(0, pause)} }

// Postponed reports whether Postpone made an error, wrapped or not, and returns the pause.
func Postponed(err error) (pause time.Duration, ok bool) {
	postponed, ok := errors.AsType[*postponement](err)
	if !ok {
		return 0, false
	}
	return postponed.pause, true
}

type postponement struct{ pause time.Duration }

func (p *postponement) Error() string {
	return "the run is postponed by " + p.pause.String()
}

// Hooks are called with what a scheduler does; those that are nil are left out. They are
// called by the worker that runs the agenda, which waits for them. One that panics is
// logged, and changes nothing.
type Hooks struct {
	// Claimed is called before a run.
	Claimed func(ctx context.Context, e Event)
	// Late is called after Claimed if the run begins more than botctx.SchedulerOptions.LateAfter after its
	// scheduled time.
	Late func(ctx context.Context, e Event)
	// Finished is called after a run that succeeded, and Failed after one that did not, once the result is
	// stored. If it cannot be stored, or the worker has lost its claim, Failed is called, and another attempt
	// follows.
	Finished func(ctx context.Context, e Event)
	Failed   func(ctx context.Context, e Event)
}

// Event describes a run to a hook.
type Event struct {
	Run Run
	// At is the time of the event, by the store's clock.
	At time.Time
	// Err is why the run failed.
	Err error
	// Next is the time of the agenda's next attempt or occurrence, or zero if none is known.
	Next time.Time
}

// Result describes what botctx.Runtime.RunNextAgenda did.
type Result struct {
	// Ran is true if an agenda was due; Run is its run.
	Ran bool
	Run Run
	// Postponed is true if the handler postponed it, and Relocated if the handler did not get it, since its
	// time has not come yet in the zone to which its member has moved.
	Postponed, Relocated bool
	// Err is why the run failed.
	Err error
	// Next is the time of its next attempt or occurrence, or zero if none is known.
	Next time.Time
}
