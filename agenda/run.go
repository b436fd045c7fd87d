package agenda

import (
	"context"
	"errors"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// MaxMissed is the largest number of missed occurrences that is counted.
const MaxMissed = 1000

// Run is one attempt to run an agenda, as passed to the handler.
type Run struct {
	// Agenda is the agenda as it was claimed.
	Agenda Agenda
	// ScheduledAt is the scheduled time of the run, in UTC.
	ScheduledAt time.Time
	// Missed is the number of occurrences of the pattern after ScheduledAt that have passed and are skipped,
	// up to MaxMissed.
	Missed int
	// Attempt is the number of the claim for ScheduledAt, from 1 on.
	Attempt int
	// Key is the idempotency key: it is the same for every attempt at one scheduled time, even if the agenda
	// is scheduled again for that time, and different for every other time.
	Key string

	// GroupExternalID is the platform's id of the group in which the member was talking with the bot when the
	// agenda was created, and in which the bot answers. "" if there was none.
	GroupExternalID string
}

// Handler runs an agenda. An error that is not from Postpone, a panic, and the end of the goroutine are
// failures, after which the scheduler tries again later. ctx ends with the cause ErrLeaseLost if the worker
// lost its claim, or with ErrShutdown if a shutdown no longer waits for the run. An error that the handler
// returns after that does not count as a failure.
type Handler func(ctx context.Context, run Run) error

// ErrLeaseLost is the context.Cause of a run whose claim is lost: its lease could not be renewed,
// or another worker has the agenda.
var ErrLeaseLost = boterr.New(boterr.Conflict, "", "the lease of the agenda is lost: another worker may run it")

// ErrShutdown is the context.Cause of a run whose scheduler shuts down and no longer waits for it.
var ErrShutdown = boterr.New(boterr.Canceled, "", "the scheduler is stopping: the agenda will run again")

// Postpone returns an error for a Handler that cannot run the agenda now. The handler may wrap it. The claim
// is released, and the agenda can be claimed again after the pause. That counts neither as a failure nor as an
// attempt. A negative pause counts as 0.
func Postpone(pause time.Duration) error { return &postponement{pause: max(0, pause)} }

// Postponed reports whether an error is from Postpone or wraps one, and returns the pause.
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

// Hooks are called on events of a scheduler. Nil hooks are ignored. The worker that runs the agenda calls the
// hooks, and waits until they return. A panic of a hook is logged and has no other effect.
type Hooks struct {
	// Claimed is called before a run.
	Claimed func(ctx context.Context, e Event)
	// Late is called after Claimed if the run begins more than botctx.SchedulerOptions.LateAfter after its
	// scheduled time.
	Late func(ctx context.Context, e Event)
	// Finished is called after a successful run, and Failed after a failed one, once the result is stored. If
	// it cannot be stored, or the worker has lost its claim, Failed is called, and another attempt follows.
	Finished func(ctx context.Context, e Event)
	Failed   func(ctx context.Context, e Event)
}

// Event describes a run to a hook.
type Event struct {
	// Run is the run that the event is about.
	Run Run
	// At is the time of the event, by the store's clock.
	At time.Time
	// Err is the error of a failed run, or nil.
	Err error
	// Next is the time of the agenda's next attempt or occurrence, or zero if it is unknown.
	Next time.Time
}

// Result describes the outcome of botctx.Runtime.RunNextAgenda.
type Result struct {
	// Ran is true if an agenda was due. Run is its run.
	Ran bool
	Run Run
	// Postponed is true if the handler postponed the agenda. Relocated is true if the handler was not called
	// because the agenda's time has not yet come in the zone to which its member has moved.
	Postponed, Relocated bool
	// Err is the error of a failed run, or nil.
	Err error
	// Next is the time of the agenda's next attempt or occurrence, or zero if it is unknown.
	Next time.Time
}
