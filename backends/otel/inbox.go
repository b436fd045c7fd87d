package otel

import (
	"context"
	"encoding/json"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// inboxSystem is the messaging.system of the inbox.
const inboxSystem = "inbox"

// Inbox adds instrumentation to the options of an inbox. The acceptance of an event gets a span. Each attempt
// to handle it gets another span, which contains all calls of the run and links to the first; for this purpose,
// the trace context is stored with the event. Inbox records messaging durations and botctx.inbox.accepted,
// .repeated, .handled, .retries, .given_up and .latency. The host's own Hooks are called, too.
func (o *Instrumentation) Inbox(config botctx.InboxOptions) botctx.InboxOptions {
	host := config.Hooks
	config.Hooks.AroundAccept = func(ctx context.Context, e *botctx.InboxEvent, next acceptor) (botctx.Accepted, error) {
		if host.AroundAccept == nil {
			return o.accept(ctx, e, next)
		}
		return o.accept(ctx, e, func(ctx context.Context) (botctx.Accepted, error) { return host.AroundAccept(ctx, e, next) })
	}
	config.Hooks.AroundRun = func(ctx context.Context, a botctx.InboxAttempt, next func(context.Context) error) error {
		if host.AroundRun == nil {
			return o.handle(ctx, a, next)
		}
		return o.handle(ctx, a, func(ctx context.Context) error { return host.AroundRun(ctx, a, next) })
	}
	config.Hooks.Settled = func(ctx context.Context, s botctx.SettledAttempt) {
		o.settled(ctx, s)
		if host.Settled != nil {
			host.Settled(ctx, s)
		}
	}
	return config
}

// acceptor stores an event in the inbox.
type acceptor = func(context.Context) (botctx.Accepted, error)

func (o *Instrumentation) accept(ctx context.Context, e *botctx.InboxEvent, next acceptor) (accepted botctx.Accepted, err error) {
	of := series{system: inboxSystem, name: "accept", kind: semconv.MessagingOperationTypeSend.Value.AsString()}
	err = o.report(ctx, activity{
		name: of.name + " " + of.system, kind: trace.SpanKindProducer, to: o.metrics.sends,
		attributes: func() []attribute.KeyValue { return messagingAttributes(of, e.App, e.Channel) },
	}, &of, func(ctx context.Context, span trace.Span) (err error) {
		e.Trace = o.traceText(ctx)
		accepted, err = next(ctx)
		switch {
		case err != nil:
			return err
		case accepted.IsRepeated:
			o.metrics.inbox.repeated.Add(ctx, 1)
		default:
			o.metrics.inbox.accepted.Add(ctx, 1)
		}
		span.SetAttributes(semconv.MessagingMessageID(accepted.ID), keyRepeated.Bool(accepted.IsRepeated))
		return nil
	})
	return accepted, err
}

// traceText returns the trace context as text, to be stored with an event. It returns "" if there is none.
func (o *Instrumentation) traceText(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	o.propagator.Inject(ctx, carrier)
	if len(carrier) == 0 {
		return ""
	}
	text, err := json.Marshal(carrier)
	if err != nil {
		return "" // Strings can always be encoded.
	}
	return string(text)
}

// links returns a link to the span in which an event was accepted, if that span is known.
func (o *Instrumentation) links(ctx context.Context, of string) []trace.Link {
	carrier := propagation.MapCarrier{}
	if json.Unmarshal([]byte(of), &carrier) != nil {
		return nil
	}
	own := trace.ContextWithSpanContext(ctx, trace.SpanContext{}) // Without this, an empty text would yield the span of ctx.
	accepted := trace.SpanContextFromContext(o.propagator.Extract(own, carrier))
	if !accepted.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: accepted}}
}

func (o *Instrumentation) handle(ctx context.Context, of botctx.InboxAttempt, next func(context.Context) error) error {
	process := semconv.MessagingOperationTypeProcess.Value.AsString()
	measured := series{system: inboxSystem, name: process, kind: process}
	return o.report(ctx, activity{
		name: process + " " + inboxSystem, kind: trace.SpanKindConsumer, to: o.metrics.receives, links: o.links(ctx, of.Event.Trace),
		attributes: func() []attribute.KeyValue {
			return append(messagingAttributes(measured, of.Event.App, of.Event.Channel),
				semconv.MessagingMessageID(of.ID), keyInboxAttempt.Int(of.Attempt))
		},
	}, &measured, func(ctx context.Context, _ trace.Span) error { return next(ctx) })
}

// settled counts the result of an attempt.
func (o *Instrumentation) settled(ctx context.Context, s botctx.SettledAttempt) {
	m := o.metrics.inbox
	if s.Err == nil {
		m.handled.Add(ctx, 1)
		m.latency.Record(ctx, max(0, s.EndedAt.Sub(s.AcceptedAt).Seconds()))
		return
	}
	code := metric.WithAttributes(semconv.ErrorTypeKey.String(string(boterr.CodeOf(s.Err))))
	if s.IsDead {
		m.givenUp.Add(ctx, 1, code)
	} else {
		m.retries.Add(ctx, 1, code)
	}
}

// ObserveInbox reports botctx.inbox.pending, .oldest, .dead_letters and .lanes, until stop is called. The inbox
// is queried at each collection of metrics. All except .lanes describe the whole store, so one of several
// processes is enough. The error is from the meter.
func (o *Instrumentation) ObserveInbox(rt *botctx.Runtime) (stop func() error, err error) {
	i := instruments{meter: o.meter}
	pending := i.gauge("botctx.inbox.pending", "{event}", "Events that wait or are handled.")
	deadLetters := i.gauge("botctx.inbox.dead_letters", "{event}", "Events that were given up.")
	lanes := i.gauge("botctx.inbox.lanes", "{lane}", "Lanes that this process is handling.")
	oldest, err := o.meter.Float64ObservableGauge("botctx.inbox.oldest", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest waiting event, or 0 if no event waits."))
	i.err = errors.Join(i.err, err)
	return i.observe(func(ctx context.Context, observer metric.Observer) error {
		stats, err := rt.InboxStats(ctx)
		if err != nil {
			return err
		}
		age := 0.0
		if !stats.Oldest.IsZero() {
			age = max(0, o.now().Sub(stats.Oldest).Seconds())
		}
		observer.ObserveInt64(pending, stats.Pending)
		observer.ObserveFloat64(oldest, age)
		observer.ObserveInt64(deadLetters, stats.DeadLetters)
		observer.ObserveInt64(lanes, int64(stats.Lanes))
		return nil
	}, pending, oldest, deadLetters, lanes)
}

type inboxMetrics struct {
	// accepted and repeated count acceptances. handled, retries and givenUp count the results of attempts.
	accepted, repeated, handled, retries, givenUp metric.Int64Counter
	// latency is the time from the acceptance to the final result.
	latency metric.Float64Histogram
}

// Outcomes of runs of agendas.
const (
	outcomeFinished  = "finished"
	outcomeFailed    = "failed"
	outcomePostponed = "postponed"
)

// Scheduler adds instrumentation to the options of a scheduler. Each run of an agenda gets a span, which
// contains all calls of the run, and is recorded in botctx.agenda.run.duration, .lag, .late and .failures. The
// host's own Around and Hooks are called, too.
func (o *Instrumentation) Scheduler(config botctx.SchedulerOptions) botctx.SchedulerOptions {
	host := config.Around
	config.Around = func(next agenda.Handler) agenda.Handler {
		if host != nil {
			next = host(next)
		}
		if next == nil {
			return nil // The scheduler refuses a nil handler.
		}
		return func(ctx context.Context, run agenda.Run) error { return o.run(ctx, run, next) }
	}
	config.Hooks.Claimed = before(func(ctx context.Context, e agenda.Event) {
		o.metrics.lag.Record(ctx, max(0, e.At.Sub(e.Run.ScheduledAt).Seconds()))
	}, config.Hooks.Claimed)
	config.Hooks.Late = before(func(ctx context.Context, _ agenda.Event) {
		o.metrics.late.Add(ctx, 1)
	}, config.Hooks.Late)
	config.Hooks.Failed = before(func(ctx context.Context, e agenda.Event) {
		o.metrics.failures.Add(ctx, 1, metric.WithAttributes(semconv.ErrorTypeKey.String(string(boterr.CodeOf(e.Err)))))
	}, config.Hooks.Failed)
	return config
}

// before returns a hook that calls own and then the host's hook, which may be nil.
func before(own, host func(context.Context, agenda.Event)) func(context.Context, agenda.Event) {
	if host == nil {
		return own
	}
	return func(ctx context.Context, e agenda.Event) {
		own(ctx, e)
		host(ctx, e)
	}
}

func (o *Instrumentation) run(ctx context.Context, run agenda.Run, next agenda.Handler) error {
	of := series{kind: outcomeFailed} // This is the outcome if next panics.
	return o.report(ctx, activity{
		name: "agenda " + run.Agenda.NodeCompositeID, kind: trace.SpanKindInternal, to: o.metrics.agendas, codeOf: codeOfRun,
		attributes: func() []attribute.KeyValue {
			from := run.Agenda
			return append(scopeAttributes(botctx.Scope{App: from.App, Channel: from.Channel, Member: from.Member}),
				keyAgenda.String(from.ID), keyNode.String(from.NodeCompositeID),
				keyAttempt.Int(run.Attempt), keyMissed.Int(run.Missed), keyOutcome.String(of.kind))
		},
	}, &of, func(ctx context.Context, span trace.Span) error {
		err := next(ctx, run)
		if _, isPostponed := agenda.Postponed(err); isPostponed {
			of.kind = outcomePostponed
		} else if err == nil {
			of.kind = outcomeFinished
		}
		span.SetAttributes(keyOutcome.String(of.kind))
		return err
	})
}

// codeOfRun returns the code for the error of an agenda's run. A run that was postponed has not failed.
func codeOfRun(_ context.Context, err error) boterr.Code {
	if _, isPostponed := agenda.Postponed(err); isPostponed {
		return ""
	}
	return boterr.CodeOf(err)
}

// Observe reports the number of due agendas as botctx.agenda.due, until stop is called. A Runtime is queried at
// each collection of metrics. If several processes share a store, one of them is enough. The error is from the
// meter.
func (o *Instrumentation) Observe(rt *botctx.Runtime) (stop func() error, err error) {
	i := instruments{meter: o.meter}
	due := i.gauge("botctx.agenda.due", "{agenda}", "Agendas that could be claimed now.")
	return i.observe(func(ctx context.Context, observer metric.Observer) error {
		n, err := rt.DueAgendas(ctx)
		if err == nil {
			observer.ObserveInt64(due, int64(n))
		}
		return err
	}, due)
}
