package otel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// sent returns a message from ada, as a connector passes it on.
func sent(id string) botctx.Inbound {
	return botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
		From: "e-ada", Type: send.TypeText, MessageID: id, Data: document.O("text", "hi"),
	}}
}

// runNext handles the next accepted event.
func (w *world) runNext() botctx.EventResult {
	w.t.Helper()
	result, err := w.runtime.RunNextEvent(w.t.Context())
	require.NoError(w.t, err)
	require.True(w.t, result.Ran)
	return result
}

// spanOf returns the only new span with this name.
func (w *world) spanOf(name string) tracetest.SpanStub {
	w.t.Helper()
	var found []tracetest.SpanStub
	for _, span := range w.spans.GetSpans() {
		if span.Name == name {
			found = append(found, span)
		}
	}
	w.spans.Reset()
	require.Len(w.t, found, 1, name)
	return found[0]
}

func TestInbox_HandlingIsLinkedToTheAcceptance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Hello")) })
	require.NoError(t, w.runtime.Accept(t.Context(), sent("in-1")))
	accepted := w.spanOf("accept inbox")
	require.Equal(t, trace.SpanKindProducer, accepted.SpanKind)
	id := w.runNext().ID
	require.Equal(t, " botctx.app.id=shop botctx.inbox.repeated=false messaging.destination.name=web messaging.message.id="+id+
		" messaging.operation.name=accept messaging.operation.type=send messaging.system=inbox", listed(accepted.Attributes))

	calls := w.spans.GetSpans()
	handled := w.spanOf("process inbox")
	require.Equal(t, trace.SpanKindConsumer, handled.SpanKind)
	require.True(t, slices.ContainsFunc(calls, func(span tracetest.SpanStub) bool {
		return span.Name == "sendResponse" && span.Parent.SpanID() == handled.SpanContext.SpanID()
	}), "calls of a run are within its span")
	require.Equal(t, " botctx.app.id=shop botctx.inbox.attempt=1 messaging.destination.name=web messaging.message.id="+id+
		" messaging.operation.name=process messaging.operation.type=process messaging.system=inbox", listed(handled.Attributes))
	require.Len(t, handled.Links, 1)
	require.Equal(t, accepted.SpanContext.TraceID(), handled.Links[0].SpanContext.TraceID())
	require.Equal(t, accepted.SpanContext.SpanID(), handled.Links[0].SpanContext.SpanID())
	require.NotEqual(t, accepted.SpanContext.TraceID(), handled.SpanContext.TraceID(), "it may be much later")
}

func TestInbox_Counters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failures := []error{errors.New("once"), nil, boterr.Invalid("text", "too long")}
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error {
		next := failures[0]
		failures = failures[1:]
		return next
	})
	for _, id := range []string{"in-1", "in-2", "in-1"} {
		require.NoError(t, w.runtime.Accept(t.Context(), sent(id)))
	}
	require.ErrorIs(t, w.runtime.Accept(t.Context(), botctx.Inbound{App: "shop", Channel: "web"}), boterr.InvalidArgument)
	w.advance(time.Minute)
	for range 3 {
		w.runNext()
		w.advance(time.Minute)
	}
	require.Equal(t, []string{
		"botctx.inbox.accepted: 2",
		"botctx.inbox.given_up error.type=InvalidArgument: 1",
		"botctx.inbox.handled: 1",
		"botctx.inbox.latency: 1, 120s",
		"botctx.inbox.repeated: 1",
		"botctx.inbox.retries error.type=Internal: 1",
		"messaging.client.operation.duration messaging.operation.name=accept messaging.operation.type=send messaging.system=inbox: 3, 0s",
		"messaging.process.duration error.type=Internal messaging.operation.name=process messaging.operation.type=process messaging.system=inbox: 1, 0s",
		"messaging.process.duration error.type=InvalidArgument messaging.operation.name=process messaging.operation.type=process messaging.system=inbox: 1, 0s",
		"messaging.process.duration messaging.operation.name=process messaging.operation.type=process messaging.system=inbox: 1, 0s",
	}, named(w.points(), "botctx.inbox", "messaging"))
}

func TestObserveInbox_TellsWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop, err := w.o.ObserveInbox(w.runtime)
	require.NoError(t, err)
	var inside []string
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error {
		inside = named(w.points(), "botctx.inbox.lanes")
		return boterr.Invalid("text", "too long")
	})
	gauges := func() []string {
		return named(w.points(), "botctx.inbox.pending", "botctx.inbox.oldest", "botctx.inbox.dead_letters", "botctx.inbox.lanes")
	}
	for _, id := range []string{"in-1", "in-2"} {
		require.NoError(t, w.runtime.Accept(t.Context(), sent(id)))
	}
	w.advance(30 * time.Second)
	require.Equal(t, []string{
		"botctx.inbox.dead_letters: 0", "botctx.inbox.lanes: 0", "botctx.inbox.oldest: 30s", "botctx.inbox.pending: 2",
	}, gauges())
	w.runNext()
	require.Equal(t, []string{"botctx.inbox.lanes: 1"}, inside)
	w.runNext()
	require.Equal(t, []string{
		"botctx.inbox.dead_letters: 2", "botctx.inbox.lanes: 0", "botctx.inbox.oldest: 0s", "botctx.inbox.pending: 0",
	}, gauges())
	require.NoError(t, stop())
	require.Empty(t, gauges())
}

func TestInbox_HooksOfTheHostAreCalled(t *testing.T) {
	t.Parallel()
	var called []string
	w := newWorld(t, func(w *world, config *botctx.Config) {
		config.Inbox = w.o.Inbox(botctx.InboxOptions{Hooks: botctx.InboxHooks{
			AroundAccept: func(
				ctx context.Context, _ *botctx.InboxEvent, next func(context.Context) (botctx.Accepted, error),
			) (botctx.Accepted, error) {
				called = append(called, "accept")
				return next(ctx)
			},
			AroundRun: func(ctx context.Context, _ botctx.InboxAttempt, next func(context.Context) error) error {
				called = append(called, "handle")
				return next(ctx)
			},
			Settled: func(context.Context, botctx.SettledAttempt) { called = append(called, "settled") },
		}})
	})
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
	require.NoError(t, w.runtime.Accept(t.Context(), sent("in-1")))
	w.runNext()
	require.Equal(t, []string{"accept", "handle", "settled"}, called)
}
