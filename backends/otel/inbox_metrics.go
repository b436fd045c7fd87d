package otel

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// inboxMetrics are the instruments of an inbox.
type inboxMetrics struct {
	// accepted and repeated count acceptances, handled, retries and givenUp what came of attempts.
	accepted, repeated, handled, retries, givenUp metric.Int64Counter
	// latency is the time from acceptance to the end.
	latency metric.Float64Histogram
}

// newInboxMetrics makes the instruments.
func newInboxMetrics(meter metric.Meter) (inboxMetrics, error) {
	var m inboxMetrics
	var errs [6]error
	count := func(name, unit, description string) (metric.Int64Counter, error) {
		return meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	}
	m.accepted, errs[0] = count("botctx.inbox.accepted", "{event}", "Events that were accepted.")
	m.repeated, errs[1] = count("botctx.inbox.repeated", "{event}", "Events that had been accepted before.")
	m.handled, errs[2] = count("botctx.inbox.handled", "{event}", "Events that are done.")
	m.retries, errs[3] = count("botctx.inbox.retries", "{attempt}", "Attempts that failed, and are followed by another one.")
	m.givenUp, errs[4] = count("botctx.inbox.given_up", "{event}", "Events that became dead letters.")
	m.latency, errs[5] = meter.Float64Histogram("botctx.inbox.latency", metric.WithUnit("s"),
		metric.WithDescription("Time from when an event was accepted to when it is done."),
		metric.WithExplicitBucketBoundaries(secondsOfLatency...))
	return m, errors.Join(errs[:]...)
}

// inboxGauges are what an inbox is asked for.
type inboxGauges struct {
	pending, deadLetters, lanes metric.Int64ObservableGauge
	oldest                      metric.Float64ObservableGauge
}

// newInboxGauges makes the instruments.
func newInboxGauges(meter metric.Meter) (inboxGauges, error) {
	var g inboxGauges
	var errs [4]error
	gauge := func(name, unit, description string) (metric.Int64ObservableGauge, error) {
		return meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	}
	g.pending, errs[0] = gauge("botctx.inbox.pending", "{event}", "Events that wait or are handled.")
	g.deadLetters, errs[1] = gauge("botctx.inbox.dead_letters", "{event}", "Events that were given up.")
	g.lanes, errs[2] = gauge("botctx.inbox.lanes", "{lane}", "Lanes that this process is handling.")
	g.oldest, errs[3] = meter.Float64ObservableGauge("botctx.inbox.oldest", metric.WithUnit("s"),
		metric.WithDescription("How long ago the first event that waits was accepted, 0 where none waits."))
	return g, errors.Join(errs[:]...)
}
