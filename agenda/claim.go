package agenda

import (
	"context"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/lease"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/store"
)

// claim is an agenda that a scheduler holds.
type claim struct {
	id string
	// channel is the channel whose place it holds in a pool.
	channel fair.Key
	// fence is the fencing token: whoever claims the agenda later has a greater one.
	fence int64
	// stored is the agenda as it was last seen, record what could be decoded of it, and unreadable
	// the error where that is not all of it.
	stored     document.Object
	record     Record
	unreadable error
	// scheduler is the one that claimed it.
	scheduler *Scheduler
	// run is what the handler is told, and claimedAt when it was claimed, by the store's clock.
	run       Run
	claimedAt time.Time
	// zone is the zone of its member, "" where it is not asked for.
	zone string
	// isAbandoned tells that nobody waits for the run any longer.
	isAbandoned atomic.Bool
	// isSpent tells that the last of its starts never came back, so that it is given up.
	isSpent bool
	// hasBegun tells that the handler was called.
	hasBegun bool
}

// claim claims an agenda that was found due. It returns nil where the agenda has changed since.
func (s *Scheduler) claim(ctx context.Context, seen document.Object, now time.Time) (*claim, error) {
	filter, err := asSeen(seen)
	if err != nil {
		s.candidates.giveBack(seen)
		return nil, err
	}
	change, isSpent := query.Change{Update: s.updates().claim}, false
	if wasLost(seen) {
		change, isSpent = s.takeOver(ctx, seen)
	}
	change.Stamps.Set = s.leased(change.Stamps.Set, now)
	done, err := s.agendas.FindAndModify(ctx, filter, change, store.FindAndModifyOptions{New: true})
	if err != nil || !done.Matched {
		s.candidates.giveBack(seen)
		return nil, err
	}
	c := s.claimed(done.Document, now)
	c.isSpent = isSpent
	return c, nil
}

// leaseStamp has the field that each claim sets, so that claims share the list of it.
var leaseStamp = document.O(fieldLeaseUntil, 0)

// leased returns stamps with those of a claim that is made at a time.
func (s *Scheduler) leased(stamps document.Object, now time.Time) document.Object {
	if stamps.IsZero() {
		stamps = leaseStamp
	}
	return stamps.Put(fieldLeaseUntil, millis(now.Add(s.lease)))
}

// claimed returns the claim of an agenda that was claimed at a time, and is stored now as it says.
func (s *Scheduler) claimed(stored document.Object, now time.Time) *claim {
	c := &claim{scheduler: s, id: idOf(stored), fence: lease.Fence(stored), claimedAt: now}
	c.read(stored)
	c.run = s.runOf(&c.record, now)
	c.run.claim = c
	return c
}

// isCurrent reports whether the agenda is still what was claimed.
func (c *claim) isCurrent(ctx context.Context) (bool, error) {
	filter, err := query.CompileFilter(document.O(record.FieldID, c.id))
	if err != nil {
		return false, err
	}
	found, err := c.scheduler.agendas.Find(ctx, filter, store.FindOptions{})
	if err != nil || len(found) == 0 {
		return false, err
	}
	return c.holds(found[0]) && document.Get(found[0], fieldAttempts, int64(0)) != 0, nil
}

// holds reports whether the claim of an agenda as it is stored is this one.
func (c *claim) holds(stored document.Object) bool {
	return lease.Fence(stored) == c.fence && stored.Has(fieldLeaseUntil)
}

// read reads the agenda as it is stored now.
func (c *claim) read(stored document.Object) {
	c.stored = stored
	if c.unreadable = c.record.read(stored); c.unreadable != nil {
		c.record = Record{Agenda: Agenda{ID: c.id}}
		c.record.NextRunAt = document.Get(stored, fieldNextRunAt, document.Timestamp(0))
		c.record.Failures = document.Get(stored, fieldFailures, int64(0))
	}
	if c.zone != "" {
		c.record.Zone = c.zone
	}
}

// asSeen returns a filter that finds an agenda only while it is as it was seen: a claim increments
// the fence, updateAgenda changes nextRunAt, and renewing an old lease, or ending its run, changes
// leaseUntil.
func asSeen(seen document.Object) (*query.Filter, error) {
	fields := [4]query.FieldValue{{Name: record.FieldID}, {Name: fieldFence}, {Name: fieldNextRunAt}, {Name: fieldLeaseUntil}}
	for i := range fields {
		fields[i].Value, _ = seen.Field(fields[i].Name) // nil matches a field that is missing.
	}
	return fieldsAre(fields[:])
}

// fieldsAre returns the filter that finds what has these values, some of which may be no scalars.
func fieldsAre(fields []query.FieldValue) (*query.Filter, error) {
	var pairs []any
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
	for _, field := range fields {
		pairs = append(pairs, field.Name, field.Value)
	}
	return query.CompileFilter(document.O(pairs...))
}

// runOf returns what the handler is told.
func (s *Scheduler) runOf(r *Record, now time.Time) Run {
	return Run{
		Agenda:          r.Agenda,
		ScheduledAt:     r.NextRunAt.Time(),
		Missed:          s.missed(r, now),
		Attempt:         int(r.Attempts),
		Key:             r.key(),
		GroupExternalID: r.GroupExternalID,
	}
}

// key returns the idempotency key of a run.
func (r *Record) key() string {
	var room [64]byte
	return string(strconv.AppendInt(append(append(room[:0], r.ID...), ':'), int64(r.NextRunAt), 10))
}

// handle gives a claim to the handler, where it is due in the zone of its member. A panic is an error.
func (s *Scheduler) handle(ctx context.Context, c *claim) (err error) {
	if c.unreadable != nil {
		return c.unreadable
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "agenda: handler panicked", slog.String("agenda", c.id),
				slog.String("panic", boterr.Text(thrown)), slog.String("stack", string(debug.Stack())))
			err = panicked(thrown)
		}
	}()
	err = s.followMember(ctx, c)
	if c.unreadable = s.unknownZone(&c.record); c.unreadable != nil {
		return c.unreadable
	}
	if err != nil {
		return err
	}
	c.hasBegun = true
	return s.handler(ctx, c.run)
}

// panicked is the error of a handler that panicked.
func panicked(thrown any) error {
	if err, ok := thrown.(error); ok {
		return boterr.New(boterr.Internal, "", "the handler panicked: %w", err)
	}
	return boterr.New(boterr.Internal, "", "the handler panicked: %v", thrown)
}
