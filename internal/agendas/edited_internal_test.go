package agendas

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// edits returns changes of fields of a record. nil removes the field, and null sets it to null.
func edits() []document.Object {
	var all []document.Object
	odd := []any{nil, null{}, "x", 7, document.O("n", 1)}
	for _, field := range []string{
		"app", "channel", "member", "tree", "nodeCompositeId", "priority", "meta", "tag", "groupExternalId", "pattern",
		"zone", "runUntil", "createdAt", "updatedAt", "replaces", "error", "failed", "failedAt", "completed",
	} {
		for _, value := range odd {
			all = append(all, document.O(field, value))
		}
	}
	for _, field := range []string{
		"nextRunAt", "fence", "leaseUntil", "heldAt", "claim", "attempts", "failures", "lost", "notAlone", "retryAt", "begun",
	} {
		for _, value := range append(
			odd, "", 0, -1, 2.5, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), true, document.A(3, "x"),
			int64(math.MaxInt64), int64(math.MinInt64), start().AddDate(1000, 0, 0).UnixMilli(),
		) {
			all = append(all, document.O(field, value))
		}
	}
	return all
}

// null is an edit that sets a field to null.
type null struct{}

// edit changes fields of a record like an operator with access to the database.
func (s *stand) edit(id string, fields document.Object) {
	s.t.Helper()
	set, unset := document.O("edited", s.env.NewID()), document.O("none", true)
	for field, value := range fields.All() {
		switch value.(type) {
		case nil:
			unset = unset.With(field, true)
		case null:
			set = set.With(field, nil)
		default:
			set = set.With(field, value)
		}
	}
	update, err := query.CompileUpdate(document.O("$set", set, "$unset", unset))
	require.NoError(s.t, err)
	filter, err := query.CompileFilter(document.O(record.FieldID, id))
	require.NoError(s.t, err)
	_, err = s.store.Collection(schema.Collection).Update(s.ctx, filter, query.Change{Update: update}, store.UpdateOptions{})
	require.NoError(s.t, err)
}

// editing is an agenda whose record gets edited, and another agenda after it.
type editing struct {
	*stand

	id     string
	about  string
	edited int
	next   int
}

const limitOfEdited = 3

// newEditing returns a scheduler. Each run of the agenda has the given outcome, but only the first is postponed. The
// record is edited with before at the start, and with meanwhile during each run.
func newEditing(s *stand, outcome error, before, meanwhile document.Object) (*editing, *Scheduler) {
	e := &editing{stand: s, about: fmt.Sprint(outcome, " ", before, " ", meanwhile)}
	_, isPostponed := agenda.Postponed(outcome)
	scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
		if run.Agenda.ID != e.id {
			e.next++
			return nil
		}
		e.edited++
		if !meanwhile.IsZero() {
			e.edit(e.id, meanwhile)
		}
		if isPostponed && e.edited > 1 {
			return nil
		}
		return outcome
	}, limited(limitOfEdited))
	e.id = s.add(0)
	s.add(time.Second)
	if !before.IsZero() {
		e.edit(e.id, before)
	}
	return e, scheduler
}

// check lets time pass until nothing is due. It fails if the agenda ran more than most times.
func (e *editing) check(scheduler *Scheduler, most int) {
	e.t.Helper()
	const rounds, mostAtOnce = 12, 50
	for range rounds {
		e.clock.advance(2 * time.Hour)
		for runs := 0; ; runs++ {
			require.Less(e.t, runs, mostAtOnce, "it runs without end: %s: %v", e.about, e.stored())
			result, err := scheduler.RunNext(e.ctx)
			if !errors.Is(err, agenda.ErrLeaseLost) { // An edit may end the claim.
				require.NoError(e.t, err, e.about)
			}
			if !result.Ran {
				break
			}
		}
	}
	require.Equal(e.t, 1, e.next, "%s: %v", e.about, e.stored())
	require.LessOrEqual(e.t, e.edited, most, "%s: %v", e.about, e.stored())
	due, err := scheduler.Due(e.ctx)
	require.NoError(e.t, err)
	require.Zero(e.t, due, e.about)
	at, ok, err := scheduler.Next(e.ctx)
	require.NoError(e.t, err)
	require.True(e.t, !ok || at.After(start().AddDate(100, 0, 0)), "%s: it goes on at %v: %v", e.about, at, e.stored())
}

// outcomes returns the results that the runs of an edited agenda can have.
func outcomes() []error {
	return []error{nil, boterr.New(boterr.Unavailable, "", "no answer"), agenda.Postpone(time.Second)}
}

func TestEdited_Ends(t *testing.T) {
	t.Parallel()
	eachEdit(t, func(s *stand, outcome error, fields document.Object) {
		e, scheduler := newEditing(s, outcome, fields, document.Object{})
		e.check(scheduler, limitOfEdited+1)
	})
}

func TestEdited_WhileItRunsEnds(t *testing.T) {
	t.Parallel()
	eachEdit(t, func(s *stand, outcome error, fields document.Object) {
		e, scheduler := newEditing(s, outcome, document.Object{}, fields)
		e.check(scheduler, 2*limitOfEdited)
	})
}

// eachEdit calls test with every edit over each store. Each edit has one of the outcomes, or all of them in
// thorough tests.
func eachEdit(t *testing.T, test func(s *stand, outcome error, fields document.Object)) {
	t.Helper()
	all := outcomes()
	step := len(all) / rounds.Of(t, 1, len(all))
	for i, outcome := range all {
		for j, fields := range edits() {
			if (i+j)%step == 0 {
				eachStoreOf(t, func(s *stand) { test(s, outcome, fields) })
			}
		}
	}
}

func TestEdited_ResultCountsAsFailure(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		e, scheduler := newEditing(s, nil, document.Object{}, document.O(fieldFailures, "x"))
		e.check(scheduler, limitOfEdited)
		r := s.get(e.id)
		require.True(s.t, r.Failed)
		require.EqualValues(s.t, limitOfEdited, r.Failures)
		require.Contains(s.t, r.Error, "changed during")
	})
}
