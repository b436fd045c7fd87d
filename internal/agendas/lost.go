package agendas

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// A start never came back if its worker died or lost its lease before it stored the outcome. If the scheduler held no
// other agenda, this is a failure of the agenda. Otherwise, any of the scheduler's agendas may have killed the
// process: all of them become suspects without a failure, see package blame. So an agenda that kills every process
// fails for good after SchedulerOptions.Limit failures and two more starts, and agendas that ran at the same time do
// not fail.

// errNeverCameBack is the failure of a start that never came back.
var errNeverCameBack = boterr.New(boterr.Internal, "",
	"the run began and never finished: its process ended, or lost the lease")

// neverCameBackText is the stored text of errNeverCameBack.
var neverCameBackText = textOf(errNeverCameBack)

// wasLost reports whether the last start of a stored agenda never came back. If the agenda was rescheduled since, it
// returns false.
func wasLost(stored document.Object) bool {
	return document.Get[any](stored, fieldLeaseUntil, nil) != nil && countIn(stored, fieldAttempts) > 0
}

// isRescheduled reports whether a stored agenda got a new schedule after it was claimed.
func isRescheduled(stored document.Object) bool {
	return countIn(stored, fieldAttempts) == 0 && !document.Get(stored, fieldBegun, false)
}

// lossesOf returns how many starts of an agenda never came back.
func lossesOf(stored document.Object) int64 {
	losses := countIn(stored, fieldLost)
	if document.Get(stored, fieldError, "") == neverCameBackText {
		losses += countIn(stored, fieldFailures)
		if document.Get(stored, fieldFailed, false) { // The failures belong to its previous scheduled time.
			losses++
		}
	}
	return losses
}

// suspicion returns an agenda in the form for blame.Suspects.
func suspicion(stored document.Object) blame.Run {
	losses := lossesOf(stored)
	return blame.Run{Name: idOf(stored), App: keyOf(stored).App, Level: blame.LevelOf(losses), Losses: countIn(stored, fieldLost)}
}

// prepare makes the writes that a due agenda needs before it can be claimed. It returns the agenda, or the zero
// Object if the agenda cannot be claimed now. isSpent is true if the last start never came back and no attempt is
// left: the end of the claim then counts the failure.
func (s *Scheduler) prepare(ctx context.Context, seen document.Object, now time.Time) (ready document.Object, isSpent bool, err error) {
	if ready, err = s.repair(ctx, seen, now); err != nil || ready.IsZero() {
		return document.Object{}, false, err
	}
	switch {
	case lease.Until(ready).After(now):
		if lease.Until(seen).After(now) {
			err = s.redate(ctx, ready, now)
		}
		return document.Object{}, false, err
	case wasLost(ready):
		return s.countLost(ctx, ready)
	default:
		return ready, false, nil
	}
}

// countLost records that the last start of an agenda never came back. This is a failure if the scheduler lost nothing
// else at the same time. isSpent is as in prepare.
func (s *Scheduler) countLost(ctx context.Context, seen document.Object) (ready document.Object, isSpent bool, err error) {
	isAlone, err := s.wasAlone(ctx, seen)
	if err != nil {
		return document.Object{}, false, err
	}
	failures := countIn(seen, fieldFailures)
	s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: a start never came back",
		slog.String("agenda", idOf(seen)), slog.Int64("failures", failures), slog.Bool("alone", isAlone))
	change := query.Change{Update: updates().lostNotAlone}
	if isAlone {
		if int(failures)+1 >= s.config.Limit {
			return seen, true, nil
		}
		change.Update = updates().lost
	}
	filter, err := asSeen(seen)
	if err != nil {
		return document.Object{}, false, err
	}
	ready, err = s.modify(ctx, filter, change)
	return ready, false, err
}

// wasAlone reports whether the lost scheduler held only this agenda. If it held others, wasAlone marks these as not
// alone.
func (s *Scheduler) wasAlone(ctx context.Context, seen document.Object) (bool, error) {
	if document.Get(seen, fieldNotAlone, false) {
		return false, nil
	}
	holder := document.Get(seen, fieldClaim, "")
	if holder == "" {
		return true, nil
	}
	if err := s.agendas.EnsureIndex(ctx, claimIndex()); err != nil {
		return false, err
	}
	others, err := query.CompileFilter(document.O(fieldClaim, holder, record.FieldID, document.O("$ne", idOf(seen))))
	if err != nil {
		return false, err
	}
	found, err := s.agendas.Find(ctx, others, store.FindOptions{Limit: 1})
	if err == nil && len(found) > 0 {
		_, err = s.agendas.Update(ctx, others, query.Change{Update: updates().notAlone}, store.UpdateOptions{Multi: true})
	}
	if err != nil || len(found) > 0 {
		return false, err
	}
	// Another worker may have processed one of the other agendas first and marked this one.
	now, exists, err := s.agendas.Get(ctx, idOf(seen))
	return exists && !document.Get(now, fieldNotAlone, false), err
}

// claimIndex is the index for finding the agendas that a scheduler holds. It is created when an agenda is lost for
// the first time.
func claimIndex() store.Index {
	index := store.Ascending(fieldClaim)
	index.Sparse = true
	return index
}

// giveUp records that the last start of a claim never came back. There is no run, so a shutdown does not interrupt
// it.
func (s *Scheduler) giveUp(ctx context.Context, c *Claim) (agenda.Result, error) {
	s.tellClaimed(ctx, agenda.Event{Run: c.run, At: c.claimedAt})
	return s.finish(ctx, c, errNeverCameBack, s.backoff)
}
