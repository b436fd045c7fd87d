package agendas

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// An outcome is the change of an agenda after a run.
type outcome struct {
	update *query.Update
	// stamps are the fields to set whose values are not part of update.
	stamps document.Object
	// next is the time of the next run. It is zero if there is none, or if a pause comes first.
	next time.Time
	// pauses is true if the agenda can be claimed again after pause, by the store's clock.
	pauses bool
	pause  time.Duration
	// final is true if there is no further attempt for the scheduled time.
	final bool
}

// A verdict determines the outcome of a claim's run from the agenda as last read.
type verdict func(c *Claim) outcome

// finish stores the outcome of a run and reports it. ctx is not the context of the run, which may have ended.
func (s *Scheduler) finish(ctx context.Context, c *Claim, failure error) (agenda.Result, error) {
	if wait, ok := agenda.Postponed(failure); ok {
		return s.postpone(ctx, c, failure, wait)
	}
	if relocated, ok := errors.AsType[*relocation](failure); ok {
		return s.relocate(ctx, c, relocated)
	}
	done, err := s.conclude(ctx, c, func(c *Claim) outcome { return s.afterRun(ctx, c, failure) })
	failure = c.failureOf(failure)
	result := agenda.Result{Ran: true, Run: c.run, Err: failure, Next: done.next}
	event := agenda.Event{Run: c.run, At: c.claimedAt, Err: failure, Next: done.next}
	switch {
	case err != nil:
		event.Err = err
		s.tellFailed(ctx, slog.LevelWarn, event)
	case failure == nil:
		s.tellFinished(ctx, event)
	case done.final:
		s.tellFailed(ctx, slog.LevelError, event)
	default:
		s.tellFailed(ctx, slog.LevelWarn, event)
	}
	return result, err
}

// failureOf returns the failure of a claim's run: the given error, or errEdited if the record was edited.
func (c *Claim) failureOf(failure error) error {
	switch {
	case failure != nil:
		return failure
	case c.isEdited:
		return errEdited
	default:
		return c.unreadable
	}
}

func (s *Scheduler) afterRun(ctx context.Context, c *Claim, failure error) outcome {
	failure = c.failureOf(failure)
	switch {
	case isRescheduled(c.stored):
		return released(c)
	case failure == nil:
		return s.afterSuccess(c)
	case c.isZoneUnknown: // Another process may know the zone.
		return s.retry(ctx, c, failure)
	case int(c.record.Failures)+1 < s.config.Limit:
		next := s.retry(ctx, c, failure)
		if !c.hasBegun && !c.isSpent { // A failure before the handler was called does not count as a start.
			next.update = updates().retryNotBegun
		}
		return next
	default:
		return s.afterLastFailure(c, failure)
	}
}

// postpone gives a claim back; its agenda can be claimed again after wait. If the record was edited during the run,
// the run counts as failed.
func (s *Scheduler) postpone(ctx context.Context, c *Claim, reason error, wait time.Duration) (agenda.Result, error) {
	result, err := s.abandon(ctx, c, reason, func(c *Claim) outcome {
		switch {
		case isRescheduled(c.stored):
			return released(c)
		case c.isEdited:
			return s.afterRun(ctx, c, errEdited)
		}
		return outcome{update: updates().postpone, pauses: true, pause: wait}
	})
	result.Postponed, result.Err = true, nil
	return result, err
}

// abandon ends a claim without reporting a success or a failure. judge decides the outcome.
func (s *Scheduler) abandon(ctx context.Context, c *Claim, reason error, judge verdict) (agenda.Result, error) {
	done, err := s.conclude(ctx, c, judge)
	s.report(ctx, slog.LevelDebug, "agenda: given back", agenda.Event{Run: c.run, At: c.claimedAt, Err: reason, Next: done.next})
	return agenda.Result{Ran: true, Run: c.run, Err: reason, Next: done.next}, err
}

// mostVerdicts is the maximum number of attempts to store an outcome while the agenda keeps changing.
const mostVerdicts = 8

// conclude stores the outcome of a run, unless the agenda was removed. If the agenda has changed, it calls
// judge again with the current record. The error is agenda.ErrLeaseLost, errEdited after too many changes, or
// an error of the store, after which the lease expires.
func (s *Scheduler) conclude(ctx context.Context, c *Claim, judge verdict) (outcome, error) {
	for range mostVerdicts {
		done, err := s.timed(ctx, judge(c))
		if err != nil {
			return outcome{}, err
		}
		if stored, err := c.store(ctx, done); err != nil || stored {
			if stored {
				s.candidates.expect(done.next)
				notify(s.store, done.next)
			}
			return done, err
		}
		stored, exists, err := s.agendas.Get(ctx, c.id)
		switch {
		case err != nil || !exists:
			return outcome{final: true}, err
		case c.holds(stored):
			c.read(stored)
		case lease.Fence(stored) == c.fence:
			return done, nil // The end of the run is already stored.
		default:
			return outcome{final: true}, agenda.ErrLeaseLost
		}
		if c.wasEdited() {
			if err := c.restore(ctx); err != nil {
				return outcome{}, err
			}
		}
	}
	return outcome{}, errEdited
}

// store stores an outcome. stored is false if the agenda has changed since it was read.
func (c *Claim) store(ctx context.Context, o outcome) (stored bool, err error) {
	filter, err := c.unchanged()
	if err != nil {
		return false, err
	}
	change := query.Change{Update: o.update, Stamps: query.Stamps{Set: o.stamps}}
	written, err := c.scheduler.agendas.Update(ctx, filter, change, store.UpdateOptions{})
	return written.Matched > 0, err
}

// timed sets the end of an outcome's pause. It reads the store's clock only if there is a pause.
func (s *Scheduler) timed(ctx context.Context, o outcome) (outcome, error) {
	if !o.pauses {
		return o, nil
	}
	now, err := s.clock.Now(ctx)
	if err != nil {
		return outcome{}, err
	}
	o.next = now.Add(o.pause)
	o.stamps = o.stamps.With(fieldRetryAt, millis(o.next)).With(fieldHeldAt, millis(now))
	return o, nil
}

// unchanged returns a filter that matches the agenda while the claim holds and the fields that determine the outcome
// are unchanged.
func (c *Claim) unchanged() (*query.Filter, error) {
	fields := make([]query.FieldValue, 0, 5)
	fields = append(fields, c.field(record.FieldID), query.FieldValue{Name: fieldFence, Value: c.fence},
		c.field(fieldAttempts), c.field(fieldFailures))
	if c.record.Pattern != "" {
		fields = append(fields, c.field(fieldRunUntil))
	}
	return fieldsAre(fields)
}

// field returns a field of the agenda as last read.
func (c *Claim) field(name string) query.FieldValue {
	value, _ := c.stored.Field(name) // nil matches a field that is missing.
	return query.FieldValue{Name: name, Value: value}
}

// afterSuccess is the verdict on a successful run: the agenda continues with the next occurrence after the time of the
// claim. If this occurrence has passed during the run, it runs late and records how many further ones were missed.
func (s *Scheduler) afterSuccess(c *Claim) outcome {
	next, err := s.occurrence(&c.record, c.claimedAt)
	switch {
	case err != nil:
		return failedForGood(c, err)
	case next.IsZero():
		return outcome{update: updates().complete, final: true}
	default:
		return outcome{update: updates().advance, stamps: goesOn(&c.record, next), next: next, final: true}
	}
}

// afterLastFailure is the verdict on a run that failed at its last attempt.
func (s *Scheduler) afterLastFailure(c *Claim, failure error) outcome {
	next, err := s.occurrence(&c.record, c.claimedAt)
	if err != nil || next.IsZero() {
		return failedForGood(c, failure)
	}
	return outcome{
		update: updates().skip, stamps: goesOn(&c.record, next).With(fieldError, display.Brief(failure)), next: next, final: true,
	}
}

// failedForGood returns the outcome for an agenda that failed for good.
func failedForGood(c *Claim, failure error) outcome {
	return outcome{
		update: updates().fail, stamps: document.O(fieldError, display.Brief(failure), fieldFailedAt, millis(c.claimedAt)), final: true,
	}
}

// retry is the verdict on a failed run that gets another attempt after a pause.
func (s *Scheduler) retry(ctx context.Context, c *Claim, failure error) outcome {
	return outcome{
		update: updates().retry, stamps: document.O(fieldError, display.Brief(failure)),
		pauses: true, pause: max(s.backoff.After(ctx, int(c.record.Failures)+1, !c.isLive), boterr.RetryAfter(failure)),
	}
}

// released is the verdict on a run that has no result, or whose agenda got a new schedule: the stored schedule
// applies.
func released(c *Claim) outcome {
	return outcome{update: updates().release, next: c.record.NextRunAt.Time()}
}

// updates returns the changes made by schedulers, compiled on first use. Values that differ from agenda to agenda
// are the Stamps of a query.Change instead.
var updates = sync.OnceValue(newUpdates)

type allUpdates struct {
	// claim counts a claim, and claimAgain a claim after a pause. lost ends a claim that never came back and
	// was alone, which is a failure. lostNotAlone ends a claim that never came back while others ran. Both
	// change the fence, so that a late result of the run has no effect.
	claim, claimAgain, lost, lostNotAlone *query.Update
	// release ends a run and keeps the schedule. postpone does the same with a pause, and does not count the attempt.
	release, postpone *query.Update
	// relocate moves the run to a later time in the member's new zone.
	relocate *query.Update
	// advance continues with the next occurrence. complete ends the agenda.
	advance, complete *query.Update
	// retry counts a failure. retryNotBegun also counts it, but not the claim as an attempt. fail ends an
	// agenda that failed for good. skip records the failure and continues with the next occurrence.
	retry, retryNotBegun, fail, skip *query.Update
}

func newUpdates() *allUpdates {
	var (
		// left are the fields that each end of a claim removes, ended the fields that the end of a run
		// removes, and last the fields that the end of the last run for a scheduled time removes.
		left  = []any{fieldLeaseUntil, true, fieldClaim, true, fieldNotAlone, true, fieldBegun, true}
		ended = appendPairs(left, fieldRetryAt, true, fieldHeldAt, true)
		last  = appendPairs(ended, fieldAttempts, true, fieldFailures, true, fieldLost, true)
		// A successful run also removes the marks of a failure.
		succeeded = document.O(appendPairs(last, fieldFailed, true, fieldError, true)...)
	)
	return &allUpdates{
		claim:      query.MustUpdate("$inc", document.O(fieldFence, 1, fieldAttempts, 1)),
		claimAgain: query.MustUpdate("$inc", document.O(fieldFence, 1, fieldAttempts, 1), "$unset", document.O(fieldRetryAt, true)),
		lost: query.MustUpdate("$unset", document.O(ended...), "$inc", document.O(fieldFailures, 1, fieldFence, 1),
			"$set", document.O(fieldError, neverCameBackText)),
		lostNotAlone:  query.MustUpdate("$unset", document.O(ended...), "$inc", document.O(fieldLost, 1, fieldFence, 1)),
		release:       query.MustUpdate("$unset", document.O(ended...)),
		postpone:      query.MustUpdate("$unset", document.O(left...), "$inc", document.O(fieldAttempts, -1)),
		relocate:      query.MustUpdate("$unset", document.O(last...)),
		advance:       query.MustUpdate("$unset", succeeded),
		complete:      query.MustUpdate("$unset", succeeded, "$set", document.O(fieldCompleted, true)),
		retry:         query.MustUpdate("$unset", document.O(left...), "$inc", document.O(fieldFailures, 1)),
		retryNotBegun: query.MustUpdate("$unset", document.O(left...), "$inc", document.O(fieldFailures, 1, fieldAttempts, -1)),
		fail: query.MustUpdate("$unset", document.O(ended...), "$inc", document.O(fieldFailures, 1),
			"$set", document.O(fieldFailed, true)),
		skip: query.MustUpdate("$unset", document.O(last...), "$set", document.O(fieldFailed, true)),
	}
}

// appendPairs returns pairs followed by more, without modifying pairs.
func appendPairs(pairs []any, more ...any) []any { return append(slices.Clip(pairs), more...) }
