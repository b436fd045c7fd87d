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
)

// Claim is an agenda that a scheduler holds.
type Claim struct {
	id string
	// fence is the fencing token: a later claim of the agenda has a greater one.
	fence int64
	// stored is the agenda as last read, record its decoded part, and unreadable the error if not all of it
	// could be decoded.
	stored     document.Object
	record     agenda.Record
	unreadable error
	// attempts and failures are the counts before the claim.
	attempts, failures int64
	// isSuspect is true if it may end the process, see package blame.
	isSuspect bool
	// isEdited is true if the stored fields of the claim were changed by another program.
	isEdited bool
	// scheduler is the one that claimed it.
	scheduler *Scheduler
	// run goes to the handler; claimedAt is the time of the claim by the store's clock.
	run       agenda.Run
	claimedAt time.Time
	// zone is the zone of its member, "" if it is not asked for.
	zone string
	// isAbandoned is true once the scheduler no longer waits for the run.
	isAbandoned atomic.Bool
	// isSpent is true if the last of its starts never came back, so that it is given up.
	isSpent bool
	// hasBegun is true if the handler was called, isZoneUnknown if it was not since the zone of the pattern
	// is not known here.
	hasBegun, isZoneUnknown bool
}

// claim claims an agenda that is ready, see prepare. It returns nil if the agenda has changed since.
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

// leased returns the stamps of a claim that is made at a time.
func (s *Scheduler) leased(now time.Time) document.Object {
	values := [...]any{millis(now.Add(s.config.Lease)), millis(now), s.name, true}
	return claimStamps.Object(func(i int) any { return values[i] })
}

// claimed returns the claim of an agenda that was claimed at a time, and is stored now as it says.
func (s *Scheduler) claimed(stored document.Object, now time.Time) *Claim {
	c := &Claim{scheduler: s, id: idOf(stored), fence: lease.Fence(stored), claimedAt: now}
	c.read(stored)
	c.attempts, c.failures = c.record.Attempts, c.record.Failures
	c.run = s.runOf(&c.record, now)
	return c
}

// claimKey is the key of the claim in the context of its run.
type claimKey struct{}

// ClaimOf returns the claim of the run whose context is ctx, nil if no scheduler made the run.
func ClaimOf(ctx context.Context) *Claim {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	return c
}

// IsCurrent reports whether the agenda must still run as the run says: it exists, this claim holds, and it
// has no other schedule. A handler that had to wait before it begins checks it, and returns nil if it is
// false. It is true for the nil Claim. Errors come from the store.
func (c *Claim) IsCurrent(ctx context.Context) (bool, error) {
	if c == nil {
		return true, nil
	}
	stored, exists, err := c.scheduler.agendas.Get(ctx, c.id)
	return exists && c.holds(stored) && !isRescheduled(stored), err
}

// IsAbandoned reports whether the scheduler has returned without waiting for the run any
// longer, since it ignored the end of its context: the agenda runs again, so that nothing
// which this run still does may count. It is false for the nil Claim.
func (c *Claim) IsAbandoned() bool { return c != nil && c.isAbandoned.Load() }

// holds reports whether a stored agenda has this claim. The fencing token and the mark both show it, in case
// one of them was edited, and so do the lease and the mark that the run has not ended.
func (c *Claim) holds(stored document.Object) bool {
	mark, _ := stored.Field(fieldClaim)
	fence, _ := stored.Field(fieldFence)
	isMarked := mark == c.scheduler.name
	if fence != any(c.fence) && (!isMarked || isCount(fence, mostFence)) {
		return false
	}
	return isMarked || document.Get[any](stored, fieldLeaseUntil, nil) != nil
}

// read reads the agenda as it is stored now.
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

// asSeen returns a filter that finds an agenda only while it is as it was seen, also in further fields: a claim
// increments the fence, updateAgenda changes nextRunAt, and renewing an old lease, or ending its run, changes
// leaseUntil.
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

// fieldsAre returns the filter for records with these values, some of them not scalars.
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

// runOf returns what the handler is told.
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

// handle gives a claim to the handler, if it is due in the zone of its member. A panic is an error.
func (s *Scheduler) handle(ctx context.Context, c *Claim) (err error) {
	if c.unreadable != nil {
		return c.unreadable
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			s.logPanic(ctx, "agenda: handler panicked", thrown, slog.String("agenda", c.id))
			err = panicked(thrown)
		}
	}()
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

func panicked(thrown any) error {
	if err, ok := thrown.(error); ok {
		return boterr.New(boterr.Internal, "", "the handler panicked: %w", err)
	}
	return boterr.New(boterr.Internal, "", "the handler panicked: %v", thrown)
}
