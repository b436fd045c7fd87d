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
// without end, and it holds up no other one. Fields of the scheduler with values that no scheduler writes are
// repaired before the next claim. A result that matches no record counts as a failure. A record that cannot
// be read fails like a run.
//
// The clock may be set back, too. A lease or a pause that was written in the future does not count: the pause
// is over, and the lease begins again.

// errEdited is the failure of a run whose result matches no record.
var errEdited = boterr.New(boterr.Internal, "", "the record of the agenda was changed while its run was under way")

const (
	// mostCount is more than an agenda can have of what is counted in one.
	mostCount = 1 << 30
	// mostFence is more than any fencing token. Repaired ones are times in milliseconds.
	mostFence = 1 << 53
	// longestLease is the longest time that a lease may last.
	longestLease = 24 * time.Hour
	// clockSlack is the allowed step back of the store's clock, before it counts as a jump: processes may
	// read it with some error.
	clockSlack = time.Second
)

// isOdd reports whether a field that the scheduler writes holds what no scheduler writes. Null counts as
// missing.
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

// countIn returns what a document counts in a field, 0 if that is no count.
func countIn(o document.Object, field string) int64 {
	return min(max(0, document.Get(o, field, int64(0))), mostCount)
}

// isSound reports whether an agenda that was found due can be claimed as it stands: all fields of the scheduler
// hold what a scheduler writes, and it has no lease.
func isSound(seen document.Object) bool {
	for field, value := range seen.All() {
		if isOdd(field, value) || field == fieldLeaseUntil && value != nil {
			return false
		}
	}
	return true
}

// repair stores the agenda with values that a scheduler writes in all fields of the scheduler, and returns
// it: unchanged if there is nothing to repair, and the zero Object if it has changed since. Counts in
// repaired fields are lost. A lease that is no time begins again, in case a worker holds it.
func (s *Scheduler) repair(ctx context.Context, seen document.Object, now time.Time) (document.Object, error) {
	set, unset, fields := document.O(), document.O(), []query.FieldValue(nil)
	for field, value := range seen.All() {
		if !isOdd(field, value) {
			continue
		}
		fields = append(fields, query.FieldValue{Name: field, Value: value})
		switch field {
		case fieldFence: // It must not be the token of a claim before.
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

// redate restarts a lease that was written in the future, or that no scheduler could have written: a worker
// that holds it renews it soon, and otherwise it passes.
func (s *Scheduler) redate(ctx context.Context, seen document.Object, now time.Time) error {
	s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: a lease from another time begins again", slog.String("agenda", idOf(seen)))
	_, err := s.rewrite(ctx, seen, nil, document.O(fieldLeaseUntil, millis(now.Add(s.config.Lease)), fieldHeldAt, millis(now)), document.O())
	return err
}

// rewrite sets and removes fields of an agenda that is as it was seen, also in further fields, and returns it
// then. The zero Object: it has changed.
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

// modify changes the agenda that a filter finds, and returns it then: the zero Object if it finds none.
func (s *Scheduler) modify(ctx context.Context, filter *query.Filter, change query.Change) (document.Object, error) {
	done, err := s.agendas.FindAndModify(ctx, filter, change, store.FindAndModifyOptions{New: true})
	if err != nil || !done.Matched {
		return document.Object{}, err
	}
	return done.Document, nil
}

// wasEdited reports whether the stored fields of the claim were changed by another program. Changes by
// updateAgenda are no edit.
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

// restore stores what the claim had written, and failures that were counted since, in the agenda as it is
// stored now. It changes nothing if the agenda has changed again.
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
