package agendas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
)

// notes are what a scheduler notes of an agenda.
type notes struct {
	fence, attempts, failures int64
	leaseUntil, retryAt       document.Timestamp
	failed                    bool
	message                   string
}

func notesOf(r *agenda.Record) notes {
	return notes{
		fence: r.Fence, attempts: r.Attempts, failures: r.Failures, leaseUntil: r.LeaseUntil, retryAt: r.RetryAt,
		failed: r.Failed, message: r.Error,
	}
}

// newNoted returns apps where the one agenda, a daily one of ada, has been noted by a
// scheduler.
func newNoted(t *testing.T, noted ...any) *apps {
	t.Helper()
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 13 * * *", "runUntil": 1719298000000}`)
	a.change(t, document.O(), document.Set(noted...))
	return a
}

func TestUpdateAgenda_StartsFailedAfresh(t *testing.T) {
	t.Parallel()
	failed := []any{"fence", 7, "attempts", 3, "failures", 3, "failed", true, "error", "no", "retryAt", noon + hour}
	for _, params := range []string{
		`{"memberId": "ada", "nextRunAt": 1709299999999}`,
		`{"memberId": "ada", "nextRunAt": 1709298000000}`, // As it was.
		`{"memberId": "ada", "pattern": "0 14 * * *"}`,
		`{"memberId": "ada", "pattern": "0 13 * * *"}`,
	} {
		a := newNoted(t, failed...)
		result := must(t, a.mine.UpdateAgenda, params)
		require.Equal(t, 1, document.Get(result, "modified", 0), params)
		require.Equal(t, notes{fence: 7}, notesOf(only(t, a.mine)), params)
	}
	for _, params := range []string{
		`{"memberId": "ada", "meta": {"a": 1}}`, `{"memberId": "ada", "priority": 1, "nodeCompositeId": "m", "treeId": "t"}`,
		`{"memberId": "ada", "runUntil": 1729298000000}`,
	} {
		a := newNoted(t, failed...)
		before := notesOf(only(t, a.mine))
		must(t, a.mine.UpdateAgenda, params)
		require.Equal(t, before, notesOf(only(t, a.mine)), params)
	}
}

func TestUpdateAgenda_LeavesLeaseOfARun(t *testing.T) {
	t.Parallel()
	running := []any{"fence", 7, "attempts", 2, "failures", 1, "leaseUntil", noon + hour}
	for params, want := range map[string]notes{
		`{"memberId": "ada", "nextRunAt": 1709299999999}`: {fence: 7, leaseUntil: noon + hour},
		`{"memberId": "ada", "nextRunAt": 1709298000000}`: {fence: 7, leaseUntil: noon + hour},
		`{"memberId": "ada", "pattern": "0 14 * * *"}`:    {fence: 7, leaseUntil: noon + hour},
		`{"memberId": "ada", "meta": {"a": 1}}`:           {fence: 7, leaseUntil: noon + hour, attempts: 2, failures: 1},
		`{"memberId": "ada", "priority": 1}`:              {fence: 7, leaseUntil: noon + hour, attempts: 2, failures: 1},
		`{"memberId": "ada", "runUntil": 1729298000000}`:  {fence: 7, leaseUntil: noon + hour, attempts: 2, failures: 1},
	} {
		a := newNoted(t, running...)
		result := must(t, a.mine.UpdateAgenda, params)
		require.Equal(t, 1, document.Get(result, "modified", 0), params)
		require.Equal(t, want, notesOf(only(t, a.mine)), params)
		result = must(t, a.mine.UpdateAgenda, params)
		require.Zero(t, document.Get(result, "modified", 1), "%s again", params)
	}
}
