package agenda

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
)

// A start that never came back is one of a worker that died, or lost its lease, and so did
// not tell how the run ended: who takes the agenda over counts it as a failure. It may be the
// agenda that ended the process, or another one that ran beside it. What was taken over once runs
// beside others again, since most processes end for reasons of their own, and their work should
// not queue up. What has failed before as well is a suspect, and suspects run one at a time: then
// the next process that ends names its agenda, and the others come to their end.

// mostBeside is the number of failures up to which an agenda whose start never came back runs
// beside others. The attempt that would be the last is always made alone.
const mostBeside = 1

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

// takeOver returns how a claim is stored of an agenda whose last start never came back, and
// whether that was the last one: then the end of the claim counts the failure.
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
	s.tellClaimed(ctx, Event{Run: c.run, At: c.at})
	return s.finish(ctx, c, errNeverCameBack, s.backoff)
}

// isSuspect reports whether running the claim may end the process.
func (c *claim) isSuspect() bool {
	if c.record.Error != neverCameBackText {
		return false
	}
	failures := int(c.record.Failures)
	isLast := failures+1 >= c.scheduler.limit
	return failures > mostBeside || failures > 0 && isLast || c.record.Failed
}

// errWaitsAlone is why a suspect is given back.
var errWaitsAlone = boterr.New(boterr.Unavailable, "", "another run is under way that may end the process")

// later is the verdict on a suspect that has to wait.
func (s *Scheduler) later(r *Record, now time.Time) ending {
	if r.isRescheduled() {
		return s.released(r, now)
	}
	next := now.Add(s.lease / beats)
	return ending{update: s.updates().postpone, stamps: document.O(fieldRetryAt, millis(next)), next: next}
}

// suspects lets one suspect run at a time.
type suspects struct{ isRunning atomic.Bool }

// admit reports whether a claim can be run now. Who runs it tells when that is over.
func (s *suspects) admit(c *claim) bool {
	return !c.isSuspect() || s.isRunning.CompareAndSwap(false, true)
}

// end tells that the run of a suspect is over.
func (s *suspects) end() { s.isRunning.Store(false) }
