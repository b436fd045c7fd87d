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

// Operators may edit agendas in the database. Whatever they write, an agenda must not run endlessly or block other
// agendas. The scheduler's fields are repaired before the next claim if their values are impossible. If the result of
// a run cannot be stored because the record does not match, the run counts as a failure. A record that cannot be
// decoded fails like a run.
//
// The clock may also be set back. A lease or pause that was written in the future does not count: the pause ends, and
// the lease starts again.

// errEdited is the failure of a run during which the record was edited, so that its result cannot be stored.
var errEdited = boterr.New(boterr.Internal, "", "the record of the agenda changed during its run")

const (
	// mostCount is more than any counter of an agenda can reach.
	mostCount = 1 << 30
	// mostFence is greater than any fencing token. Repaired tokens are times in Unix milliseconds.
	mostFence = 1 << 53
	// longestLease is the maximum duration of a lease.
	longestLease = 24 * time.Hour
	// clockSlack is the difference by which the store's clock may go back without being treated as set back, because
	// processes read the clock with some error.
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

// repair replaces invalid values of the scheduler's fields and returns the stored agenda. It returns the agenda
// unchanged if all values are valid, and the zero Object if the agenda has changed since it was read. Counts in
// repaired fields are lost. An invalid lease starts again, because a worker may hold it.
func (s *Scheduler) repair(ctx context.Context, seen document.Object, now time.Time) (document.Object, error) {
	set, unset, fields := document.O(), document.O(), []query.FieldValue(nil)
	for field, value := range seen.All() {
		if !isOdd(field, value) {
			continue
		}
		fields = append(fields, query.FieldValue{Name: field, Value: value})
		switch field {
		case fieldFence: // The token must differ from all earlier ones.
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

// redate restarts a lease that was written in the future or is too long. A worker that holds the lease will renew it
// soon; otherwise it expires.
func (s *Scheduler) redate(ctx context.Context, seen document.Object, now time.Time) error {
	s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: restarted a lease that was written in the future or is too long", slog.String("agenda", idOf(seen)))
	_, err := s.rewrite(ctx, seen, nil, document.O(fieldLeaseUntil, millis(now.Add(s.config.Lease)), fieldHeldAt, millis(now)), document.O())
	return err
}

// rewrite sets and removes fields of an agenda if it has not changed since it was read, including the further fields.
// It returns the result, or the zero Object if the agenda has changed.
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

// wasEdited reports whether another program changed the claim's fields. Changes by updateAgenda do not count.
func (c *Claim) wasEdited(stored document.Object) bool {
	if isRescheduled(stored) {
		return false
	}
	for _, known := range [...]query.FieldValue{
		{Name: fieldFence, Value: c.fence}, {Name: fieldAttempts, Value: c.attempts}, {Name: fieldFailures, Value: c.failures},
	} {
		value, isThere := stored.Field(known.Name)
		if value != known.Value && (isThere || known.Value != int64(0)) {
			return true
		}
	}
	return false
}

// restore writes the claim's fields, with the failures counted since, to the stored agenda again. It does nothing if
// the agenda has changed again.
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
