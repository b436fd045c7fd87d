package agendas

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
)

// Claim is a claim of a scheduler on an agenda.
type Claim struct {
	id string
	// fence is the fencing token. Each claim of the agenda increments it.
	fence int64
	// stored is the agenda as last read, and record its decoded form. unreadable is the error if it could not
	// be decoded completely.
	stored     document.Object
	record     agenda.Record
	unreadable error
	// attempts and failures are the counts that this claim has last stored.
	attempts, failures int64
	// isLive is true if Run made the claim, and not RunNext.
	isLive bool
	// isEdited is true if another program changed the claim's fields in the store.
	isEdited bool
	// scheduler is the scheduler that made the claim.
	scheduler *Scheduler
	// run is passed to the handler. claimedAt is the time of the claim by the store's clock.
	run       agenda.Run
	claimedAt time.Time
	// zone is the current time zone of the member, or "" if it is not needed.
	zone string
	// isAbandoned is true once the scheduler no longer waits for the run.
	isAbandoned atomic.Bool
	// isSpent is true if the agenda fails for good because its last permitted start never came back.
	isSpent bool
	// hasBegun is true once the handler was called. isZoneUnknown is true if it was not called because this process
	// does not know the pattern's zone.
	hasBegun, isZoneUnknown bool
}

// claim claims an agenda that prepare has returned. It returns nil if the agenda has changed meanwhile.
func (s *Scheduler) claim(ctx context.Context, ready document.Object, now time.Time) (*Claim, error) {
	filter, err := asSeen(ready)
	if err != nil {
		return nil, err
	}
	change := query.Change{Update: updates().claim, Stamps: query.Stamps{Set: s.leased(now)}}
	if ready.Has(fieldRetryAt) {
		change.Update = updates().claimAgain
	}
	stored, err := s.modify(ctx, filter, change)
	if err != nil || stored.IsZero() {
		return nil, err
	}
	return s.claimed(stored, now), nil
}

var claimStamps = document.NewShape([]string{fieldLeaseUntil, fieldHeldAt, fieldClaim, fieldBegun})

// leased returns the fields that a claim at a time sets.
func (s *Scheduler) leased(now time.Time) document.Object {
	values := [...]any{millis(now.Add(s.config.Lease)), millis(now), s.name, true}
	return claimStamps.Object(func(i int) any { return values[i] })
}

// claimed returns the Claim for the document of an agenda that was claimed at now.
func (s *Scheduler) claimed(stored document.Object, now time.Time) *Claim {
	c := &Claim{scheduler: s, id: idOf(stored), fence: lease.Fence(stored), claimedAt: now}
	c.read(stored)
	c.attempts, c.failures = c.record.Attempts, c.record.Failures
	c.run = s.runOf(&c.record, now)
	return c
}

// claimKey is the context key of a run's claim.
type claimKey struct{}

// ClaimOf returns the claim of the run with context ctx, or nil if no scheduler started the run.
func ClaimOf(ctx context.Context) *Claim {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	return c
}

// IsCurrent reports whether the agenda must still run: it exists, this claim holds, and the schedule has not
// changed. After waiting for something else, a handler should call IsCurrent and return nil if the result is false.
// For a nil Claim it is true. Errors come from the store.
func (c *Claim) IsCurrent(ctx context.Context) (bool, error) {
	if c == nil {
		return true, nil
	}
	stored, exists, err := c.scheduler.agendas.Get(ctx, c.id)
	return exists && c.holds(stored) && !isRescheduled(stored), err
}

// IsAbandoned reports whether the scheduler stopped waiting for the run, because the run ignored the end of its
// context. The agenda runs again, so this run should have no further effects. For a nil Claim it is false.
func (c *Claim) IsAbandoned() bool { return c != nil && c.isAbandoned.Load() }

// holds reports whether a stored agenda still has this claim. It compares the fencing token and the scheduler's
// mark, in case one of them was edited.
func (c *Claim) holds(stored document.Object) bool {
	mark, _ := stored.Field(fieldClaim)
	fence, _ := stored.Field(fieldFence)
	isMarked := mark == c.scheduler.name
	if fence != any(c.fence) && (!isMarked || isCount(fence, mostFence)) {
		return false
	}
	return isMarked || document.Get[any](stored, fieldLeaseUntil, nil) != nil
}

// read updates the claim from the stored agenda.
func (c *Claim) read(stored document.Object) {
	c.stored = stored
	if c.unreadable = read(&c.record, stored); c.unreadable != nil {
		c.record = agenda.Record{Agenda: agenda.Agenda{ID: c.id}}
		c.record.NextRunAt = document.Get(stored, fieldNextRunAt, document.Timestamp(0))
		c.record.Attempts, c.record.Failures = countIn(stored, fieldAttempts), countIn(stored, fieldFailures)
		c.record.Begun = document.Get(stored, fieldBegun, false)
	}
	if c.zone != "" {
		c.record.Zone = c.zone
	}
}

// asSeen returns a filter that matches an agenda only while it is unchanged since it was seen. A claim
// increments the fence, updateAgenda changes nextRunAt, and renewing or ending a lease changes leaseUntil.
// further are other fields that must be unchanged.
func asSeen(seen document.Object, further ...query.FieldValue) (*query.Filter, error) {
	fields := [4]query.FieldValue{{Name: record.FieldID}, {Name: fieldFence}, {Name: fieldNextRunAt}, {Name: fieldLeaseUntil}}
	for i := range fields {
		fields[i].Value, _ = seen.Field(fields[i].Name) // nil matches a field that is missing.
	}
	if len(further) == 0 {
		return fieldsAre(fields[:])
	}
	return fieldsAre(append(further, fields[:]...))
}

// fieldsAre returns a filter for records whose fields have these values, which may be arrays and objects.
func fieldsAre(fields []query.FieldValue) (*query.Filter, error) {
	isPlain := true
	for _, field := range fields {
		switch field.Value.(type) {
		case document.Object, document.Array:
			isPlain = false
		}
	}
	if isPlain {
		return query.FieldsEqual(fields...), nil
	}
	equal := make([]any, len(fields))
	for i, field := range fields {
		equal[i] = document.O(field.Name, document.O("$eq", field.Value))
	}
	return query.CompileFilter(document.O("$and", document.A(equal...)))
}

func (s *Scheduler) runOf(r *agenda.Record, now time.Time) agenda.Run {
	return agenda.Run{
		Agenda:          r.Agenda,
		ScheduledAt:     r.NextRunAt.Time(),
		Missed:          s.missed(r, now),
		Attempt:         int(r.Attempts),
		Key:             runKey(r),
		GroupExternalID: r.GroupExternalID,
	}
}

func runKey(r *agenda.Record) string {
	var room [64]byte
	return string(strconv.AppendInt(append(append(room[:0], r.ID...), ':'), int64(r.NextRunAt), 10))
}

// handle calls the handler for a claim, if the agenda is due in its member's zone. A panic becomes an error.
func (s *Scheduler) handle(ctx context.Context, c *Claim) (err error) {
	switch {
	case c.isSpent:
		return errNeverCameBack
	case c.unreadable != nil:
		return c.unreadable
	}
	defer safelog.Recovered(ctx, s.log, "agenda: handler panicked", &err, slog.String("agenda", c.id))
	defer func() { boterr.RetryAfter(err) }() // If the error's own methods panic, as for a nil pointer, they do it here.
	err = s.followMember(ctx, c)
	if unknown := s.unknownZone(&c.record); unknown != nil {
		c.isZoneUnknown = true
		return unknown
	}
	if err != nil {
		return err
	}
	c.hasBegun = true
	return s.config.Handler(context.WithValue(ctx, claimKey{}, c), c.run)
}
