package agenda

import (
	"slices"

	"github.com/botctx/go-sdk/document"
)

// updates are the changes that a scheduler makes, compiled once. What differs each time
// stands in the stamps of a document.Change, which need no compiling.
type updates struct {
	// claim counts a claim.
	claim *document.Update
	// release ends a run and leaves the schedule, giveBack also takes back the claim as
	// an attempt.
	release, giveBack *document.Update
	// advance goes on with another occurrence, complete ends the agenda.
	advance, complete *document.Update
	// retry counts a failure; fail also ends an agenda without a pattern; skip goes on
	// with another occurrence, or, as skipLast, ends the agenda, and marks the failure.
	retry, fail, skip, skipLast *document.Update
}

func newUpdates() updates {
	var (
		idle      = []any{fieldRunning, false, fieldHeldUntil, 0}
		afresh    = and(idle, fieldAttempts, 0)
		succeeded = document.O(fieldFailures, 1, fieldFailed, 1, fieldError, 1, fieldRescheduled, 1)
		failure   = document.O(fieldFailures, 1)
		none      = document.O(fieldRescheduled, 1)
	)
	return updates{
		claim: mustUpdate("$inc", document.O(fieldFence, 1, fieldAttempts, 1),
			"$set", document.O(fieldRunning, true), "$unset", none),
		release:  mustUpdate("$set", document.O(idle...), "$unset", none),
		giveBack: mustUpdate("$set", document.O(idle...), "$inc", document.O(fieldAttempts, -1)),
		advance:  mustUpdate("$set", document.O(afresh...), "$unset", succeeded),
		complete: mustUpdate("$set", document.O(and(afresh, fieldCompleted, true)...), "$unset", succeeded),
		retry:    mustUpdate("$set", document.O(fieldRunning, false), "$inc", failure),
		fail:     mustUpdate("$set", document.O(and(idle, fieldFailed, true)...), "$inc", failure),
		skip:     mustUpdate("$set", document.O(and(afresh, fieldFailed, true)...), "$unset", failure),
		skipLast: mustUpdate("$set", document.O(and(afresh, fieldFailed, true, fieldCompleted, true)...), "$unset", failure),
	}
}

// and returns a copy of pairs with more behind them.
func and(pairs []any, more ...any) []any { return append(slices.Clip(pairs), more...) }

// mustUpdate compiles an update that is known to be one.
func mustUpdate(pairs ...any) *document.Update {
	update, err := document.CompileUpdate(document.O(pairs...))
	if err != nil {
		panic(err)
	}
	return update
}
