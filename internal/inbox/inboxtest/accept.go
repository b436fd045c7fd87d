package inboxtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var acceptRules = []Rule{
	rule(acceptedIsHandledByAnotherProcess, "an accepted event is handled, even if the process that accepted it is gone"),
	rule(bodyComesAsItWas, "the handler gets the event as it was accepted, and the number of the attempt"),
	rule(repetitionIsNotHandled, "an event that is accepted again is not handled again, before and after it was handled, in any process"),
	rule(repetitionsAtOnce, "if many calls accept the same event at once, all succeed, and the event is handled once"),
	rule(keyIsThatOfAppAndChannel, "an event with the same key on another channel, or of another app, is a different event"),
	rule(withoutKeyHandledEachTime, "an event without a key is handled each time that it is accepted, and leaves nothing"),
	rule(repetitionAfterRetention, "a handled event is remembered for Retention, and not longer"),
	rule(noMoreThanMaxPending, "while MaxPending events wait, Accept returns ResourceExhausted"),
	rule(refusesWhatHasNoLane, "an event without an app, a channel or a sender is InvalidArgument"),
	rule(statsCount, "Stats counts the waiting events and the dead letters, and has the acceptance time of the oldest waiting event"),
}

func acceptedIsHandledByAnotherProcess(t *trial) {
	t.accept(t.process(nil), event("ada", "1"), event("ada", "2"))
	t.drain(t.process(nil))
	t.requireHandled("1", "2")
}

func bodyComesAsItWas(t *trial) {
	body := document.O("text", "hi", "n", 1, "list", document.A("a", document.O("b", nil)))
	var got *inbox.Delivery
	p := t.process(func(_ context.Context, d *inbox.Delivery) error {
		got = d
		return nil
	})
	sent := inbox.Event{App: "app", Channel: "web", From: "ada", Key: "m1", Body: body}
	t.accept(p, sent)
	t.runNext(p)
	require.NotNil(t, got)
	require.Equal(t, 1, got.Attempt)
	require.Equal(t, body.String(), got.Event.Body.String())
	got.Event.Body = sent.Body
	require.Equal(t, sent, got.Event)
}

func repetitionIsNotHandled(t *trial) {
	first, second := t.process(nil), t.process(nil)
	t.accept(first, event("ada", "1"))
	t.repeat(first, event("ada", "1"))
	t.repeat(second, event("ada", "1"))
	t.drain(second)
	t.repeat(first, event("ada", "1"))
	t.repeat(t.process(nil), event("ada", "1"))
	t.drain(first)
	t.requireHandled("1")
}

func repetitionsAtOnce(t *trial) {
	p := t.process(nil)
	for _, err := range conformance.AtOnce(8, func(int) error {
		_, err := p.Accept(t.Context(), event("ada", "1"))
		return err
	}) {
		require.NoError(t, err)
	}
	t.drain(p)
	t.requireHandled("1")
}

func keyIsThatOfAppAndChannel(t *trial) {
	p := t.process(nil)
	there, ofOther := event("ada", "1"), event("ada", "1")
	there.Channel, ofOther.App = "page", "app-2"
	t.accept(p, event("ada", "1"), there, ofOther)
	t.drain(p)
	t.requireHandled("1", "1", "1")
}

func withoutKeyHandledEachTime(t *trial) {
	p := t.process(nil)
	t.accept(p, keyless(event("ada", "1")), keyless(event("ada", "1")))
	t.drain(p)
	t.accept(p, keyless(event("ada", "1")))
	t.drain(p)
	t.requireHandled("1", "1", "1")
	left, err := t.store.Collection("inbox").Count(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, left)
}

func repetitionAfterRetention(t *trial) {
	p := t.process(nil, func(c *inbox.Config) { c.Retention = 24 * time.Hour })
	t.accept(p, event("ada", "1"))
	t.drain(p)
	t.advance(24 * time.Hour)
	removed, err := p.RemoveOld(t.Context())
	require.NoError(t, err)
	require.Zero(t, removed)
	t.repeat(p, event("ada", "1"))
	t.advance(time.Millisecond)
	removed, err = p.RemoveOld(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, removed)
	t.accept(p, event("ada", "1"))
}

func noMoreThanMaxPending(t *trial) {
	p := t.process(nil, func(c *inbox.Config) { c.MaxPending = 2 })
	t.accept(p, event("ada", "1"), event("bob", "2"))
	_, err := p.Accept(t.Context(), event("cleo", "3"))
	require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(err))
	t.runNext(p)
	t.accept(p, event("cleo", "3"))
	other := t.process(nil, func(c *inbox.Config) { c.MaxPending = 2 })
	_, err = other.Accept(t.Context(), event("dan", "4"))
	require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(err), "another process counts the same events")
}

func refusesWhatHasNoLane(t *trial) {
	p := t.process(nil)
	for _, broken := range []func(*inbox.Event){
		func(e *inbox.Event) { e.App = "" },
		func(e *inbox.Event) { e.Channel = "" },
		func(e *inbox.Event) { e.From = "" },
	} {
		e := event("ada", "1")
		broken(&e)
		_, err := p.Accept(t.Context(), e)
		require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
	}
}

func statsCount(t *trial) {
	p := t.process(func(_ context.Context, d *inbox.Delivery) error {
		if textOf(d.Event) == "bad" {
			return boterr.Invalid("text", "is bad")
		}
		return nil
	})
	t.accept(p, event("ada", "bad"))
	t.drain(p)
	first := t.Now()
	t.accept(p, event("ada", "1"))
	t.advance(time.Minute)
	t.accept(p, event("bob", "2"))
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, inbox.Stats{Pending: 2, Oldest: first, DeadLetters: 1}, stats)
}

// editedRules are about records that an operator has edited.
var editedRules = []Rule{
	rule(editedRecordEnds,
		"whatever is written into the record of a waiting event, the event is tried a few times at most, and its lane continues"),
	rule(recordThatIsEditedWhileItRunsEnds,
		"an event whose record is edited during each run fails each time, with a pause, and its lane continues"),
	rule(clockThatGoesBackDelaysNoRetry, "if the clock is set back by an hour, no retry is delayed by more than its pause"),
}

// edits returns changes of fields of a record. nil removes the field.
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

// edit changes fields of the event with a text. It skips values that the store refuses.
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

// traced returns an event that edit still finds after all other fields were edited.
func traced(from, text string) inbox.Event {
	e := event(from, text)
	e.Trace = text
	return e
}

// outcomes returns the results that the runs of an edited event can have.
func outcomes() [Outcomes]error {
	return [Outcomes]error{nil, boterr.New(boterr.Unavailable, "", "no answer"), inbox.Postpone(time.Second)}
}

const limitOfEdited = 3

// editing is a check of an event whose record is edited.
type editing struct {
	*trial

	outcome error
	// fields are the changes made to the record during each run.
	fields document.Object
	runs   map[string]int
}

// handle returns outcome for the event "edited", but postpones it only once.
func (e *editing) handle(_ context.Context, d *inbox.Delivery) error {
	e.runs[d.Event.Trace]++
	if d.Event.Trace == "next" {
		return nil
	}
	if !e.fields.IsZero() {
		e.edit("edited", e.fields) //nolint:contextcheck // like an operator
	}
	if boterr.CodeOf(e.outcome) != boterr.Unavailable && e.runs[d.Event.Trace] > 1 {
		return nil
	}
	return e.outcome
}

// check edits an event before its first run and during each run. It checks that the event ends after no more
// runs than most.
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
	require.NoError(e, e.removeAll("leases"))
}

// eachEdit calls test with every edit, the name of a sender, and a process. If the trial does not want all outcomes,
// edits of the same field, and of other fields to the same value, have different ones.
func (t *trial) eachEdit(test func(e *editing, p *inbox.Inbox, from string, fields document.Object)) {
	t.Helper()
	for i, outcome := range outcomes() {
		e := &editing{trial: t, outcome: outcome}
		p := t.process(e.handle, func(c *inbox.Config) { c.Limit = limitOfEdited })
		for j, fields := range edits() {
			if (i+j+j/5)%Outcomes < t.outcomes {
				test(e, p, fmt.Sprint("sender ", j), fields)
			}
		}
	}
}

func editedRecordEnds(t *trial) {
	t.eachEdit(func(e *editing, p *inbox.Inbox, from string, fields document.Object) {
		e.check(p, from, fields, document.Object{}, limitOfEdited+1)
	})
}

func recordThatIsEditedWhileItRunsEnds(t *trial) {
	t.eachEdit(func(e *editing, p *inbox.Inbox, from string, fields document.Object) {
		e.check(p, from, document.Object{}, fields, 2*limitOfEdited)
	})
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

// atOnceRules are about events that start with their acceptance, without a separate write.
var atOnceRules = []Rule{
	rule(startWithTheAcceptanceThatNeverCameBackIsAFailure, "an event that began with its acceptance and never came back has failed once"),
	rule(startWithTheAcceptanceIsGivenBack, "if the run of an event that began with its acceptance is canceled, that is not an attempt"),
	rule(failureOfAStartWithTheAcceptanceCountsOnce,
		"an event that began with its acceptance and failed has failed once, even if its process is lost later"),
}

// atOnce runs an inbox and accepts events until one starts with its acceptance. handle decides how this event ends.
// The returned function ends Run.
func (t *trial) atOnce(handle inbox.Handler, settings ...func(*inbox.Config)) (end func()) {
	t.Helper()
	began := make(chan bool)
	p := t.process(func(ctx context.Context, d *inbox.Delivery) error {
		isAtOnce := t.isAtOnce(ctx, d.ID)
		began <- isAtOnce
		if isAtOnce {
			return handle(ctx, d)
		}
		return nil
	}, settings...)
	end = run(t, p)
	isAtOnce := false
	for i := 0; !isAtOnce && i < 100; i++ {
		t.accept(p, event(fmt.Sprintf("sender %d", i), "hi"))
		isAtOnce = <-began
	}
	require.True(t, isAtOnce, "with idle workers, no event began with its acceptance")
	return end
}

// isAtOnce reports whether an event was stored as begun when it was accepted.
func (t *trial) isAtOnce(ctx context.Context, id string) bool {
	filter, err := query.CompileFilter(document.O(document.IDField, id, "begun", true))
	if err != nil {
		return false
	}
	count, err := t.store.Collection("inbox").Count(ctx, filter)
	return err == nil && count > 0
}

func (t *trial) attemptsOf(attempts *[]int) *inbox.Inbox {
	return t.process(func(_ context.Context, d *inbox.Delivery) error {
		*attempts = append(*attempts, d.Attempt)
		return nil
	})
}

func startWithTheAcceptanceThatNeverCameBackIsAFailure(t *trial) {
	goOn := make(chan struct{})
	end := t.atOnce(func(context.Context, *inbox.Delivery) error {
		<-goOn
		return nil
	})
	var attempts []int
	next := t.attemptsOf(&attempts)
	t.drain(next)
	require.Empty(t, attempts, "it is tried again after a pause")
	t.advance(time.Second)
	t.drain(next)
	require.Equal(t, []int{2}, attempts)
	close(goOn)
	end()
	t.drainAll(next)
	require.Equal(t, []int{2}, attempts)
}

func startWithTheAcceptanceIsGivenBack(t *trial) {
	end := t.atOnce(func(ctx context.Context, _ *inbox.Delivery) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(c *inbox.Config) { c.ShutdownTimeout = time.Millisecond })
	end()
	var attempts []int
	t.drain(t.attemptsOf(&attempts))
	require.Equal(t, []int{1}, attempts)
}

func failureOfAStartWithTheAcceptanceCountsOnce(t *trial) {
	settled := make(chan struct{}, 1000)
	end := t.atOnce(unavailable, func(c *inbox.Config) {
		c.Settled = func(_ context.Context, s inbox.Settled) {
			if s.Err != nil {
				settled <- struct{}{}
			}
		}
	})
	<-settled
	var attempts []int
	next := t.attemptsOf(&attempts) // The first inbox has not given up the lead, as if its process had crashed.
	t.drain(next)
	t.advance(time.Second)
	t.drain(next)
	require.Equal(t, []int{2}, attempts)
	end()
}

var eraseRules = []Rule{
	rule(eraseRemovesASender, "Erase removes the waiting, dead and done events of a sender on a channel, and no other events"),
	rule(eraseBesideARun, "an event that is erased while it is handled leaves nothing behind, and its lane continues"),
}

// everything returns all stored documents as text.
func (t *trial) everything() string {
	t.Helper()
	var text strings.Builder
	for _, name := range []string{"inbox", "leases", "inboxLeader"} {
		found, err := t.store.Collection(name).Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		for _, o := range found {
			text.WriteString(o.String() + "\n")
		}
	}
	return text.String()
}

// erase erases a sender of the channel "web". It fails unless the sender had the given number of events.
func (t *trial) erase(by *inbox.Inbox, from string, events int) {
	t.Helper()
	removed, err := by.Erase(t.Context(), "app", "web", from)
	require.NoError(t, err)
	require.EqualValues(t, events, removed)
}

func eraseRemovesASender(t *trial) {
	refusing, p := t.process(bad), t.process(nil)
	onPage := event("ada", "on the page")
	onPage.Channel = "page"
	for _, round := range []struct {
		by   *inbox.Inbox
		text string
	}{{refusing, "discarded"}, {refusing, "dead"}, {p, "done"}, {nil, "waits"}} {
		t.accept(p, event("ada", round.text), event("bob", round.text))
		if round.by != nil {
			t.drain(round.by)
		}
		if round.text == "discarded" {
			for _, letter := range t.letters(p, inbox.DeadLettersParams{}) {
				require.NoError(t, p.Discard(t.Context(), letter.ID))
			}
		}
	}
	t.accept(p, onPage)
	t.erase(p, "ada", 4)
	t.erase(p, "ada", 0)
	require.NotContains(t, strings.ReplaceAll(t.everything(), onPage.Key, ""), `web\" \"ada`)
	letters := t.letters(p, inbox.DeadLettersParams{})
	require.Len(t, letters, 1)
	require.Equal(t, "bob", letters[0].Event.From)
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, stats.Pending)
	t.requireHandled("discarded", "discarded", "dead", "dead", "done", "done")
	t.drain(p)
	t.requireHandled("waits", "on the page")
	for _, text := range []string{"discarded", "dead", "done", "waits"} {
		t.repeat(p, event("bob", text))
		t.accept(p, event("ada", text)) // The inbox no longer knows the event, so it counts as new.
	}
	_, err = p.Erase(t.Context(), "app", "web", "")
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
}

func eraseBesideARun(t *trial) {
	handler, began, goOn := frozen()
	p := t.process(handler)
	t.accept(p, event("ada", "1"), event("ada", "2"))
	wake := t.crash(p, began, goOn)
	t.erase(p, "ada", 2)
	_ = wake()
	require.Empty(t, t.stored())
	t.requireHandled("1")
	t.accept(p, event("ada", "3"))
	t.drain(p)
	t.requireHandled("3")
}
