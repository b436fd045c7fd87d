package inboxtest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/inbox"
)

var acceptRules = []Rule{
	{
		Name:  "AcceptedIsHandledByAnotherProcess",
		Text:  "what was accepted is handled, also where the process that accepted it is gone",
		check: acceptedIsHandledByAnotherProcess,
	},
	{
		Name:  "BodyComesAsItWas",
		Text:  "the handler is given the event as it was accepted, and how many attempts there were",
		check: bodyComesAsItWas,
	},
	{
		Name:  "RepetitionIsNotHandled",
		Text:  "an event that is accepted again is not handled again, before and after it was handled, in any process",
		check: repetitionIsNotHandled,
	},
	{
		Name:  "RepetitionsAtOnce",
		Text:  "of many that accept one event at once, all are answered, and it is handled once",
		check: repetitionsAtOnce,
	},
	{
		Name:  "KeyIsThatOfAppAndChannel",
		Text:  "an event with the same key on another channel, or of another app, is another one",
		check: keyIsThatOfAppAndChannel,
	},
	{
		Name:  "WithoutKeyHandledEachTime",
		Text:  "an event without a key is handled each time that it is accepted, and leaves nothing",
		check: withoutKeyHandledEachTime,
	},
	{
		Name:  "RepetitionAfterRetention",
		Text:  "that an event is done is remembered for Retention, and not longer",
		check: repetitionAfterRetention,
	},
	{
		Name:  "NoMoreThanMaxPending",
		Text:  "where MaxPending events wait, Accept is ResourceExhausted, until some are done",
		check: noMoreThanMaxPending,
	},
	{
		Name:  "RefusesWhatHasNoLane",
		Text:  "an event without an app, a channel or a sender is InvalidArgument",
		check: refusesWhatHasNoLane,
	},
	{
		Name:  "StatsCount",
		Text:  "Stats tells how many events wait, since when the first one does, and how many dead letters there are",
		check: statsCount,
	},
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
