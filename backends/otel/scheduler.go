package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

// The outcomes of runs of agendas.
const (
	outcomeFinished  = "finished"
	outcomeFailed    = "failed"
	outcomePostponed = "postponed"
)

// Scheduler returns the configuration of a scheduler that gives each run of an agenda a span,
// that of everything that the run calls, and adds to botctx.agenda.run.duration, .lag, .late
// and .failures. What the host has set in Around and Hooks is called, too.
func (o *Instrumentation) Scheduler(config agenda.SchedulerConfig) agenda.SchedulerConfig {
	host := config.Around
	config.Around = func(next agenda.Handler) agenda.Handler {
		if host != nil {
			next = host(next)
		}
		if next == nil {
			return nil // The scheduler refuses it.
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

// before returns a hook that calls both, where the host has one.
func before(own, host func(context.Context, agenda.Event)) func(context.Context, agenda.Event) {
	if host == nil {
		return own
	}
	return func(ctx context.Context, e agenda.Event) {
		own(ctx, e)
		host(ctx, e)
	}
}

// run runs an agenda within a span.
func (o *Instrumentation) run(ctx context.Context, run agenda.Run, next agenda.Handler) (err error) {
	ctx, a := o.begin(ctx, "agenda "+run.Agenda.NodeCompositeID, trace.SpanKindInternal, func() []attribute.KeyValue {
		of := run.Agenda
		return append(scopeAttributes(record.Scope{App: of.App, Channel: of.Channel, Member: of.Member}),
			keyAgenda.String(of.ID), keyNode.String(of.NodeCompositeID),
			keyAttempt.Int(run.Attempt), keyMissed.Int(run.Missed))
	})
	outcome := errNotReturned
	defer func() {
		of := series{kind: outcomeFinished, code: boterr.CodeOf(outcome)}
		if _, isPostponed := agenda.Postponed(outcome); isPostponed {
			of = series{kind: outcomePostponed}
		} else if of.code != "" {
			of.kind = outcomeFailed
		}
		a.span.SetAttributes(keyOutcome.String(of.kind))
		o.end(ctx, a, o.metrics.agendas, of, isFaultOfRun)
	}()
	err = next(ctx, run)
	outcome = err
	return err
}

// Observe makes each collection of metrics ask a scheduler how many agendas are due, as
// botctx.agenda.due, until stop is called. scheduler is botctx.Runtime.Scheduler. One process
// of several that share a store is enough. The error is that of the meter.
func (o *Instrumentation) Observe(scheduler *agenda.Scheduler) (stop func() error, err error) {
	due, err := o.meter.Int64ObservableGauge("botctx.agenda.due", metric.WithUnit("{agenda}"),
		metric.WithDescription("Agendas that could be claimed now."))
	if err != nil {
		return nil, err
	}
	registration, err := o.meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		n, err := scheduler.Due(ctx)
		if err == nil {
			observer.ObserveInt64(due, int64(n))
		}
		return err
	}, due)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
