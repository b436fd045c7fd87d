package agendas

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Operators may edit the records of agendas in the database. Whatever they write, an agenda does not run
// endlessly, and does not delay other agendas. Impossible values of the scheduler's fields are repaired before
// the next claim. A result that matches no record counts as a failure. A record that cannot be decoded fails
// like a run.
//
// The store's clock may also be set back. If a lease or a pause was written at a time that is now in the
// future, the pause ends, and the lease starts again.

// errEdited is the failure of a run during which the record was edited, so that its result cannot be stored.
var errEdited = boterr.New(boterr.Internal, "", "the record of the agenda changed during its run")

const (
	// mostCount is more than any counter of an agenda can reach.
	mostCount = 1 << 30
	// mostFence is greater than any fencing token. Repaired tokens are times in Unix milliseconds.
	mostFence = 1 << 53
	// clockSlack is the largest backward step of the store's clock that is ignored, because processes read the
	// clock with some error.
	clockSlack = time.Second
)

// isOdd reports whether a field of the scheduler has a value that no scheduler writes. Null counts as missing.
func isOdd(field string, value any) bool {
	var isFine bool
	switch field {
	case fieldFence:
		isFine = isCount(value, mostFence)
	case fieldAttempts, fieldFailures, fieldLost:
		isFine = isCount(value, mostCount)
	case fieldLeaseUntil, fieldRetryAt, fieldHeldAt:
		isFine = isCount(value, int64(latestTime))
	case fieldClaim, fieldError:
		_, isFine = value.(string)
	case fieldNotAlone, fieldBegun, fieldFailed:
		_, isFine = value.(bool)
	default:
		return false
	}
	return !isFine && value != nil
}

// isCount reports whether a value is an integer from zero up to a limit.
func isCount(value any, limit int64) bool {
	number, isInteger := value.(int64)
	return isInteger && number >= 0 && number <= limit
}

// countIn returns a counter of a document, or 0 if its value is not a count.
func countIn(o document.Object, field string) int64 {
	return min(max(0, document.Get(o, field, int64(0))), mostCount)
}

// isSound reports whether a due agenda can be claimed without repair: the scheduler's fields have valid values, and
// there is no lease.
func isSound(seen document.Object) bool {
	for field, value := range seen.All() {
		if isOdd(field, value) || field == fieldLeaseUntil && value != nil {
			return false
		}
	}
	return true
}

// repair replaces values of the scheduler's fields that no scheduler writes. It returns the stored agenda, or
// the zero Object if the agenda has changed since it was seen. Counts in repaired fields are lost. An invalid
// lease starts again, in case a worker holds the agenda.
func (s *Scheduler) repair(ctx context.Context, seen document.Object, now time.Time) (document.Object, error) {
	set, unset, fields := document.O(), document.O(), []query.FieldValue(nil)
	for field, value := range seen.All() {
		if !isOdd(field, value) {
			continue
		}
		fields = append(fields, query.FieldValue{Name: field, Value: value})
		switch field {
		case fieldFence: // The new token must differ from the tokens of all earlier claims.
			set = set.With(field, millis(now))
		case fieldLeaseUntil:
			set = set.With(field, millis(now.Add(s.config.Lease))).With(fieldHeldAt, millis(now))
		case fieldFailures:
			set = set.With(field, countIn(seen, field))
		default:
			unset = unset.With(field, true)
		}
	}
	if len(fields) == 0 {
		return seen, nil
	}
	s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: repaired a record that was edited", slog.String("agenda", idOf(seen)))
	return s.rewrite(ctx, seen, fields, set, unset.Without(fieldHeldAt))
}

// redate starts a lease again that was written in the future, or that no scheduler could have written. If a
// worker holds it, the worker will renew it soon. Otherwise it expires.
func (s *Scheduler) redate(ctx context.Context, seen document.Object, now time.Time) error {
	s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: lease with an impossible time starts again", slog.String("agenda", idOf(seen)))
	_, err := s.rewrite(ctx, seen, nil, document.O(fieldLeaseUntil, millis(now.Add(s.config.Lease)), fieldHeldAt, millis(now)), document.O())
	return err
}

// rewrite sets and removes fields of an agenda, and returns the result. It returns the zero Object if the agenda
// has changed since it was seen; see asSeen.
func (s *Scheduler) rewrite(
	ctx context.Context, seen document.Object, further []query.FieldValue, set, unset document.Object,
) (document.Object, error) {
	filter, err := asSeen(seen, further...)
	if err != nil {
		return document.Object{}, err
	}
	var pairs []any
	if set.Len() > 0 {
		pairs = append(pairs, "$set", set)
	}
	if unset.Len() > 0 {
		pairs = append(pairs, "$unset", unset)
	}
	update, err := query.CompileUpdate(document.O(pairs...))
	if err != nil {
		return document.Object{}, err
	}
	return s.modify(ctx, filter, query.Change{Update: update})
}

// modify changes the agenda that matches a filter and returns the result, or the zero Object if none matches.
func (s *Scheduler) modify(ctx context.Context, filter *query.Filter, change query.Change) (document.Object, error) {
	done, err := s.agendas.FindAndModify(ctx, filter, change, store.FindAndModifyOptions{New: true})
	if err != nil || !done.Matched {
		return document.Object{}, err
	}
	return done.Document, nil
}

// wasEdited reports whether another program changed the claim's fields in the agenda as last read. Changes by
// updateAgenda do not count.
func (c *Claim) wasEdited() bool {
	if isRescheduled(c.stored) {
		return false
	}
	for _, known := range [...]query.FieldValue{
		{Name: fieldFence, Value: c.fence}, {Name: fieldAttempts, Value: c.attempts}, {Name: fieldFailures, Value: c.failures},
	} {
		value, isThere := c.stored.Field(known.Name)
		if value != known.Value && (isThere || known.Value != int64(0)) {
			return true
		}
	}
	return false
}

// restore writes the claim's values back into an agenda that was edited, but keeps the stored number of
// failures if that is greater. It does nothing if the agenda has changed again.
func (c *Claim) restore(ctx context.Context) error {
	s := c.scheduler
	s.report(ctx, slog.LevelWarn, "agenda: edited while it ran", agenda.Event{Run: c.run, At: c.claimedAt})
	set := document.O(
		fieldFence, c.fence, fieldAttempts, c.attempts, fieldFailures, max(c.failures, countIn(c.stored, fieldFailures)),
		fieldClaim, s.name, fieldBegun, true,
	)
	further := []query.FieldValue{c.field(fieldAttempts), c.field(fieldFailures), c.field(fieldClaim)}
	stored, err := s.rewrite(ctx, c.stored, further, set, document.O())
	if err != nil || stored.IsZero() {
		return err
	}
	c.isEdited = true
	c.failures = countIn(stored, fieldFailures)
	c.read(stored)
	return nil
}
