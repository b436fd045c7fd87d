package agendas

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// A start never came back if its worker died, or lost its lease, before it stored the outcome. Leases that were lost in
// an outage of the store do not count. If its scheduler held no other agenda, that is a failure. Otherwise all agendas
// that it held become suspects, without a failure; see package blame. So an agenda that kills each process fails for
// good after SchedulerOptions.Limit failures and two more starts, and agendas that ran with it do not.

// errNeverCameBack is the failure of a start that never came back.
var errNeverCameBack = boterr.New(boterr.Internal, "",
	"the run began and never finished: its process ended, or lost the lease")

// neverCameBackText is the stored text of errNeverCameBack.
var neverCameBackText = display.Brief(errNeverCameBack)

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
		if document.Get(stored, fieldFailed, false) { // The last failure was at the previous scheduled time.
			losses++
		}
	}
	return losses
}

// suspicion returns the blame.Run of a stored agenda.
func suspicion(stored document.Object) blame.Run {
	losses := lossesOf(stored)
	return blame.Run{Name: idOf(stored), App: keyOf(stored).App, Level: blame.LevelOf(losses), Losses: countIn(stored, fieldLost)}
}

// prepare does the writes that must precede the claim of a due agenda: it repairs edited fields, and counts a
// lost start. It returns the agenda, or the zero Object if the agenda cannot be claimed now. isSpent is true if
// the last start never came back and no attempt is left. Then the end of the claim must count the failure.
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
	case s.clock.HadOutage(lease.Until(ready)):
		return ready, false, nil
	case wasLost(ready):
		return s.countLost(ctx, ready)
	default:
		return ready, false, nil
	}
}

// countLost records that the last start of an agenda never came back. This is a failure if the scheduler lost
// nothing else at the same time. isSpent is true if no attempt is left; see prepare.
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

// wasAlone reports whether a lost agenda was the only one that its scheduler held.
func (s *Scheduler) wasAlone(ctx context.Context, seen document.Object) (bool, error) {
	holder := document.Get(seen, fieldClaim, "")
	if holder == "" {
		return !document.Get(seen, fieldNotAlone, false), nil
	}
	if err := s.agendas.EnsureIndex(ctx, claimIndex()); err != nil {
		return false, err
	}
	return lease.WasAlone(ctx, s.agendas, idOf(seen), document.O(fieldClaim, holder))
}

// claimIndex returns the index that finds the agendas of a scheduler. It is only created once an agenda is lost.
func claimIndex() store.Index {
	index := store.Ascending(fieldClaim)
	index.Sparse = true
	return index
}
