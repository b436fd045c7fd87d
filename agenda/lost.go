package agenda

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/lease"
	"github.com/botctx/go-sdk/query"
)

// A start never came back where its worker died, or lost its lease, before it stored how the run
// ended: whoever takes the agenda over counts that as a failure. It may be the agenda that ended
// the process, or another one that ran beside it. An agenda that was taken over once runs beside
// others again, since most processes end for reasons of their own, and their work should not queue
// up. One that has failed before as well is a suspect, and suspects run one at a time: if a process
// then ends, it is known which agenda ended it, and the other agendas are run.

// suspectAfter is the number of failures after which an agenda whose start never came back is a
// suspect. Before its last attempt it always is one.
const suspectAfter = 1

// errNeverCameBack is the failure of a start that never came back.
var errNeverCameBack = boterr.New(boterr.Internal, "",
	"the run began and never came back: its process ended, or lost the lease")

// neverCameBackText is how that failure is kept.
var neverCameBackText = textOf(errNeverCameBack)

// wasLost reports whether the last start of an agenda, as it is stored, never came back.
// One that was given another schedule since is not what was started.
func wasLost(stored document.Object) bool {
	return stored.Has(fieldLeaseUntil) && document.Get(stored, fieldAttempts, int64(0)) > 0
}

// takeOver returns the change that claims an agenda whose last start never came back, and whether
// no attempt is left: then the end of the claim counts the failure.
func (s *Scheduler) takeOver(ctx context.Context, seen document.Object) (change query.Change, wasLast bool) {
	failures := document.Get(seen, fieldFailures, int64(0)) + 1
	s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: a start never came back",
		slog.String("agenda", idOf(seen)), slog.Int64("failures", failures))
	if int(failures) >= s.limit {
		return query.Change{Update: s.updates().claim}, true
	}
	change.Update = s.updates().takeOver
	change.Stamps.Set = document.O(fieldError, neverCameBackText)
	return change, false
}

// giveUp stores that the last start of a claim never came back. There is no run that a shutdown
// could end.
func (s *Scheduler) giveUp(ctx context.Context, c *claim) (Result, error) {
	s.tellClaimed(ctx, Event{Run: c.run, At: c.claimedAt})
	return s.finish(ctx, c, errNeverCameBack, s.backoff)
}

// isSuspect reports whether running the claim may end the process.
func (c *claim) isSuspect() bool {
	if c.record.Error != neverCameBackText {
		return false
	}
	failures := int(c.record.Failures)
	isLast := failures+1 >= c.scheduler.limit
	return failures > suspectAfter || failures > 0 && isLast || c.record.Failed
}

// errSuspectRunning is why a suspect is given back: another one is running.
var errSuspectRunning = boterr.New(boterr.Unavailable, "", "another run is under way that may end the process")

// waitForSuspect is the verdict on a suspect that waits until another one has ended.
func (s *Scheduler) waitForSuspect(r *Record) outcome {
	if r.isRescheduled() {
		return s.released(r)
	}
	return outcome{update: s.updates().postpone, pauses: true, pause: s.lease / lease.BeatsPerLease}
}

// suspects lets one suspect run at a time.
type suspects struct{ isRunning atomic.Bool }

// admit reports whether a claim can be run now. The caller that runs it calls end afterwards.
func (s *suspects) admit(c *claim) bool {
	return !c.isSuspect() || s.isRunning.CompareAndSwap(false, true)
}

// end tells that the run of a suspect is over.
func (s *suspects) end() { s.isRunning.Store(false) }
