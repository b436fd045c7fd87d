package otel

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
)

// inboxSystem is what stands for the messaging system that an inbox is.
const inboxSystem = "inbox"

// Inbox returns the configuration of an inbox that gives each acceptance of an event a span, and each
// attempt to handle it another one, that of everything that the run calls, with a link to the first: the
// context of that trace is kept with the event. It adds to the durations of messaging and to
// botctx.inbox.accepted, .repeated, .handled, .retries, .given_up and .latency. What the host has set
// in Hooks is called, too.
func (o *Instrumentation) Inbox(config botctx.InboxOptions) botctx.InboxOptions {
	host := config.Hooks
	config.Hooks.AroundAccept = func(next inbox.Acceptor) inbox.Acceptor {
		if host.AroundAccept != nil {
			next = host.AroundAccept(next)
		}
		if next == nil {
			return nil // The inbox refuses it.
		}
		return func(ctx context.Context, e inbox.Event) (inbox.Accepted, error) { return o.accept(ctx, e, next) }
	}
	config.Hooks.AroundHandler = func(next inbox.Handler) inbox.Handler {
		if host.AroundHandler != nil {
			next = host.AroundHandler(next)
		}
		if next == nil {
			return nil // As above.
		}
		return func(ctx context.Context, d *inbox.Delivery) error { return o.handle(ctx, d, next) }
	}
	config.Hooks.Settled = func(ctx context.Context, s inbox.Settled) {
		o.settled(ctx, s)
		if host.Settled != nil {
			host.Settled(ctx, s)
		}
	}
	return config
}

// accept accepts an event within a span.
func (o *Instrumentation) accept(ctx context.Context, e inbox.Event, next inbox.Acceptor) (accepted inbox.Accepted, err error) {
	of := series{system: inboxSystem, name: "accept", kind: semconv.MessagingOperationTypeSend.Value.AsString()}
	ctx, a := o.begin(ctx, of.name+" "+of.system, trace.SpanKindProducer, func() []attribute.KeyValue {
		return messagingAttributes(of, e.App, e.Channel)
	})
	outcome := errNotReturned
	defer func() {
		of.code = boterr.CodeOf(outcome)
		o.end(ctx, a, o.metrics.sends, of, isFaultOfCall)
	}()
	e.Trace = o.traceText(ctx)
	accepted, err = next(ctx, e)
	outcome = err
	switch {
	case err != nil:
		return accepted, err
	case accepted.IsRepeated:
		o.metrics.inbox.repeated.Add(ctx, 1)
	default:
		o.metrics.inbox.accepted.Add(ctx, 1)
	}
	a.span.SetAttributes(semconv.MessagingMessageID(accepted.ID), keyRepeated.Bool(accepted.IsRepeated))
	return accepted, nil
}

// traceText returns the context of the trace as it is kept with an event, "" where there is none.
func (o *Instrumentation) traceText(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	o.propagator.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return ""
	}
	text, err := json.Marshal(carrier)
	if err != nil {
		return "" // Texts have a JSON.
	}
	return string(text)
}

// links are to the span in which an event was accepted, none where that is not known.
func (o *Instrumentation) links(ctx context.Context, of string) []trace.Link {
	carrier := propagation.MapCarrier{}
	if json.Unmarshal([]byte(of), &carrier) != nil {
		return nil
	}
	own := trace.ContextWithSpanContext(ctx, trace.SpanContext{}) // Where nothing is in the text, it is none.
	accepted := trace.SpanContextFromContext(o.propagator.Extract(own, carrier))
	if !accepted.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: accepted}}
}

// handle handles an event within a span.
func (o *Instrumentation) handle(ctx context.Context, d *inbox.Delivery, next inbox.Handler) (err error) {
	process := semconv.MessagingOperationTypeProcess.Value.AsString()
	of := series{system: inboxSystem, name: process, kind: process}
	ctx, a := o.begin(ctx, of.name+" "+of.system, trace.SpanKindConsumer, func() []attribute.KeyValue {
		return append(messagingAttributes(of, d.Event.App, d.Event.Channel),
			semconv.MessagingMessageID(d.ID), keyInboxAttempt.Int(d.Attempt))
	}, o.links(ctx, d.Event.Trace)...)
	outcome := errNotReturned
	defer func() {
		of.code = boterr.CodeOf(outcome)
		o.end(ctx, a, o.metrics.receives, of, isFaultOfRun)
	}()
	err = next(ctx, d)
	outcome = err
	return err
}

// settled counts what came of an attempt.
func (o *Instrumentation) settled(ctx context.Context, s inbox.Settled) {
	m := o.metrics.inbox
	if s.Err == nil {
		m.handled.Add(ctx, 1)
		m.latency.Record(ctx, max(0, s.At.Sub(s.AcceptedAt).Seconds()))
		return
	}
	code := metric.WithAttributes(semconv.ErrorTypeKey.String(string(boterr.CodeOf(s.Err))))
	if s.IsDead {
		m.givenUp.Add(ctx, 1, code)
	} else {
		m.retries.Add(ctx, 1, code)
	}
}

// ObserveInbox makes each collection of metrics ask an inbox how much there is to do, as
// botctx.inbox.pending, .oldest, .dead_letters and .lanes, until stop is called. which is
// botctx.Runtime.Inbox. All but .lanes are those of the store: there, one process of several is
// enough. The error is that of the meter.
func (o *Instrumentation) ObserveInbox(which *inbox.Inbox) (stop func() error, err error) {
	gauges, err := newInboxGauges(o.meter)
	if err != nil {
		return nil, err
	}
	registration, err := o.meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		stats, err := which.Stats(ctx)
		if err != nil {
			return err
		}
		age := 0.0
		if !stats.Oldest.IsZero() {
			age = max(0, o.now().Sub(stats.Oldest).Seconds())
		}
		observer.ObserveInt64(gauges.pending, stats.Pending)
		observer.ObserveFloat64(gauges.oldest, age)
		observer.ObserveInt64(gauges.deadLetters, stats.DeadLetters)
		observer.ObserveInt64(gauges.lanes, int64(stats.Lanes))
		return nil
	}, gauges.pending, gauges.oldest, gauges.deadLetters, gauges.lanes)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
