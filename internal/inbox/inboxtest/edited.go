package inboxtest

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// editedRules are about records that somebody else has changed.
var editedRules = []Rule{
	{
		Name:  "EditedRecordEnds",
		Text:  "whatever is written into the record of an event that waits, it is tried a few times at most, and its lane goes on",
		check: editedRecordEnds,
	},
	{
		Name:  "RecordThatIsEditedWhileItRunsEnds",
		Text:  "an event whose record is changed in each of its runs has failed each time, with a pause, and its lane goes on",
		check: recordThatIsEditedWhileItRunsEnds,
	},
	{
		Name:  "ClockThatGoesBackDelaysNoRetry",
		Text:  "a clock that goes back by an hour delays no retry by more than its pause",
		check: clockThatGoesBackDelaysNoRetry,
	},
}

// edits are changes of fields of a record. nil stands for a field that is missing.
func edits() []document.Object {
	var all []document.Object
	odd := []any{nil, "x", 7, document.O("n", 1)}
	for _, field := range []string{"app", "channel", "from", "key", "body", "trace", "acceptedAt", "begun", "memory", "code", "state"} {
		for _, value := range odd {
			all = append(all, document.O(field, value))
		}
	}
	for _, field := range []string{"failures", "retryAt", "pausedAt", "lane", "lost"} {
		for _, value := range append(odd, "", 0, -1, 2.5, math.Inf(1), true, document.A(3, "x")) {
			all = append(all, document.O(field, value))
		}
	}
	all = append(all, document.O("failures", int64(math.MaxInt64)), document.O("lost", int64(math.MaxInt64)))
	return all
}

// edit changes fields of the event that says a text. A value that the store refuses stays out of its records.
func (t *trial) edit(text string, fields document.Object) {
	t.Helper()
	set, unset := document.O(), document.O()
	for field, value := range fields.All() {
		if value == nil {
			unset = unset.With(field, true)
		} else {
			set = set.With(field, value)
		}
	}
	update, err := query.CompileUpdate(document.O("$set", set.With("edited", t.newID()), "$unset", unset.With("none", true)))
	require.NoError(t, err)
	filter, err := query.CompileFilter(document.O("trace", text))
	if fields.Has("trace") {
		filter, err = query.CompileFilter(document.O("body.text", text))
	}
	require.NoError(t, err)
	_, err = t.store.Collection("inbox").Update(t.Context(), filter, query.Change{Update: update}, store.UpdateOptions{})
	if boterr.CodeOf(err) != boterr.Unsupported {
		require.NoError(t, err)
	}
}

// traced returns an event that edit finds, whatever else of it was edited.
func traced(from, text string) inbox.Event {
	e := event(from, text)
	e.Trace = text
	return e
}

// outcomes are what comes of the runs of an edited event.
func outcomes() []error {
	return []error{nil, boterr.New(boterr.Unavailable, "", "no answer"), inbox.Postpone(time.Second)}
}

const limitOfEdited = 3

// editing is an inbox whose records are edited.
type editing struct {
	*trial

	outcome error
	// fields are what is edited in each run, nil for nothing.
	fields document.Object
	runs   map[string]int
}

// handle brings runs of the event "edited" to the outcome, but postpones it once only.
func (e *editing) handle(_ context.Context, d *inbox.Delivery) error {
	e.runs[d.Event.Trace]++
	if d.Event.Trace == "next" {
		return nil
	}
	if !e.fields.IsZero() {
		e.edit("edited", e.fields) //nolint:contextcheck // As somebody else does.
	}
	if boterr.CodeOf(e.outcome) != boterr.Unavailable && e.runs[d.Event.Trace] > 1 {
		return nil
	}
	return e.outcome
}

// check has an event edited, and then in each run, and checks that it ends after at most so many runs.
func (e *editing) check(p *inbox.Inbox, from string, before, meanwhile document.Object, most int) {
	e.Helper()
	e.fields, e.runs = meanwhile, map[string]int{}
	e.accept(p, traced(from, "edited"), traced(from, "next"))
	if !before.IsZero() {
		e.edit("edited", before)
	}
	e.drainAll(p)
	require.Equal(e, 1, e.runs["next"], "%v %v: %v", before, meanwhile, e.stored())
	require.LessOrEqual(e, e.runs["edited"]+e.runs[""], most, "%v %v", before, meanwhile)
	require.NoError(e, e.removeAll("inbox"))
	require.NoError(e, e.removeAll("turns"))
}

func editedRecordEnds(t *trial) {
	for _, outcome := range outcomes() {
		e := &editing{trial: t, outcome: outcome}
		p := t.process(e.handle, func(c *inbox.Config) { c.Limit = limitOfEdited })
		for i, fields := range edits() {
			e.check(p, fmt.Sprint("sender ", i), fields, document.Object{}, limitOfEdited+1)
		}
	}
}

func recordThatIsEditedWhileItRunsEnds(t *trial) {
	for _, outcome := range outcomes() {
		e := &editing{trial: t, outcome: outcome}
		p := t.process(e.handle, func(c *inbox.Config) { c.Limit = limitOfEdited })
		for i, fields := range edits() {
			e.check(p, fmt.Sprint("sender ", i), document.Object{}, fields, 2*limitOfEdited)
		}
	}
}

func clockThatGoesBackDelaysNoRetry(t *trial) {
	p := t.process(unavailable)
	t.accept(p, event("ada", "1"))
	t.runNext(p)
	t.requireHandled("1")
	t.drain(p)
	t.requireHandled()
	t.advance(-time.Hour)
	t.advance(time.Second)
	t.drain(p)
	t.requireHandled("1")
	t.drain(p)
	t.requireHandled()
	t.advance(-time.Hour)
	t.advance(4 * time.Second)
	t.drain(t.process(unavailable))
	t.requireHandled("1")
}
