package agendas

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// updates are the changes that a scheduler makes, compiled once. What differs each time
// stands in the stamps of a query.Change, which need no compiling.
type updates struct {
	// claim counts a claim, claimAgain one after a pause. lost ends one that never came back alone, which is a failure, and lostBeside one
	// that never came back beside others. What such a run still stores finds another fence.
	claim, claimAgain, lost, lostBeside *query.Update
	// beside notes that another agenda was lost as well.
	beside *query.Update
	// release ends a run and leaves the schedule, giveBack also takes back the claim as
	// an attempt.
	release, giveBack *query.Update
	// postpone is giveBack with a pause.
	postpone *query.Update
	// relocate moves the run to another time.
	relocate *query.Update
	// advance goes on with another occurrence, complete ends the agenda.
	advance, complete *query.Update
	// retry counts a failure, and retryNotBegun does not count the claim as an attempt. fail ends an agenda
	// that failed for good. skip marks the failure, and goes on with another occurrence.
	retry, retryNotBegun, fail, skip *query.Update
}

// updates returns the updates, which are compiled when the first is needed.
func (s *Scheduler) updates() *updates {
	s.compiling.Do(func() { s.compiled = newUpdates() })
	return &s.compiled
}

func newUpdates() updates {
	var (
		// What each end of a claim removes, what that of a run does, and what one that is the last for
		// its time.
		left  = []any{fieldLeaseUntil, true, fieldClaim, true, fieldBeside, true, fieldBegun, true}
		ended = appendPairs(left, fieldRetryAt, true, fieldHeldAt, true)
		last  = appendPairs(ended, fieldAttempts, true, fieldFailures, true, fieldLost, true)
		// A run that succeeded removes the marks of a failure, too.
		succeeded = document.O(appendPairs(last, fieldFailed, true, fieldError, true)...)
	)
	return updates{
		claim:      mustUpdate("$inc", document.O(fieldFence, 1, fieldAttempts, 1)),
		claimAgain: mustUpdate("$inc", document.O(fieldFence, 1, fieldAttempts, 1), "$unset", document.O(fieldRetryAt, true)),
		lost: mustUpdate("$unset", document.O(ended...), "$inc", document.O(fieldFailures, 1, fieldFence, 1),
			"$set", document.O(fieldError, neverCameBackText)),
		lostBeside:    mustUpdate("$unset", document.O(ended...), "$inc", document.O(fieldLost, 1, fieldFence, 1)),
		beside:        mustUpdate("$set", document.O(fieldBeside, true)),
		release:       mustUpdate("$unset", document.O(ended...)),
		giveBack:      mustUpdate("$unset", document.O(ended...), "$inc", document.O(fieldAttempts, -1)),
		postpone:      mustUpdate("$unset", document.O(left...), "$inc", document.O(fieldAttempts, -1)),
		relocate:      mustUpdate("$unset", document.O(last...)),
		advance:       mustUpdate("$unset", succeeded),
		complete:      mustUpdate("$unset", succeeded, "$set", document.O(fieldCompleted, true)),
		retry:         mustUpdate("$unset", document.O(left...), "$inc", document.O(fieldFailures, 1)),
		retryNotBegun: mustUpdate("$unset", document.O(left...), "$inc", document.O(fieldFailures, 1, fieldAttempts, -1)),
		fail: mustUpdate("$unset", document.O(ended...), "$inc", document.O(fieldFailures, 1),
			"$set", document.O(fieldFailed, true)),
		skip: mustUpdate("$unset", document.O(last...), "$set", document.O(fieldFailed, true)),
	}
}

// appendPairs returns a copy of pairs with more behind them.
func appendPairs(pairs []any, more ...any) []any { return append(slices.Clip(pairs), more...) }

// mustUpdate compiles an update that is known to be one.
func mustUpdate(pairs ...any) *query.Update {
	update, err := query.CompileUpdate(document.O(pairs...))
	if err != nil {
		panic(err)
	}
	return update
}
