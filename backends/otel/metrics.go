package otel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	"go.opentelemetry.io/otel/semconv/v1.43.0/messagingconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

type metrics struct {
	operations *durations
	sends      *durations
	receives   *durations
	queries    *durations
	agendas    *durations
	objects    *durations
	// sent counts messages. It has the same attributes as sends.
	sent metric.Int64Counter
	// lag is the delay of runs of agendas. late counts late runs, and failures counts failed ones.
	lag      metric.Float64Histogram
	late     metric.Int64Counter
	failures metric.Int64Counter
	inbox    inboxMetrics
}

// The upper bounds of histogram buckets, in seconds. secondsOfCalls and secondsOfQueries are from the
// conventions.
var (
	secondsOfCalls   = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	secondsOfQueries = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	secondsOfLatency = []float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	secondsOfLag     = []float64{0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400}
)

func newMetrics(meter metric.Meter) (metrics, error) {
	i := instruments{meter: meter}
	m := metrics{
		operations: i.durations("botctx.operation.duration", "Duration of the operations that bot logic calls.", secondsOfCalls, ofOperation),
		sends: i.durations(messagingconv.ClientOperationDuration{}.Name(),
			messagingconv.ClientOperationDuration{}.Description(), secondsOfCalls, ofMessaging),
		receives: i.durations(messagingconv.ProcessDuration{}.Name(), messagingconv.ProcessDuration{}.Description(), secondsOfCalls, ofMessaging),
		queries: i.durations(dbconv.ClientOperationDuration{}.Name(),
			dbconv.ClientOperationDuration{}.Description(), secondsOfQueries, ofDatabase),
		agendas: i.durations("botctx.agenda.run.duration", "Duration of the runs of agendas.", secondsOfCalls, ofAgenda),
		objects: i.durations("botctx.object_store.operation.duration",
			"Duration of the operations of the object store.", secondsOfCalls, ofObjectStore),
		sent: i.counter(messagingconv.ClientSentMessages{}.Name(),
			messagingconv.ClientSentMessages{}.Unit(), messagingconv.ClientSentMessages{}.Description()),
		lag:      i.seconds("botctx.agenda.lag", "Time from an agenda's scheduled time to the start of its run.", secondsOfLag),
		late:     i.counter("botctx.agenda.late", "{run}", "Runs of agendas that start later than the scheduler's LateAfter allows."),
		failures: i.counter("botctx.agenda.failures", "{run}", "Runs of agendas that failed, or whose result could not be stored."),
		inbox: inboxMetrics{
			accepted: i.counter("botctx.inbox.accepted", "{event}", "Events that were accepted."),
			repeated: i.counter("botctx.inbox.repeated", "{event}", "Events that were already accepted."),
			handled:  i.counter("botctx.inbox.handled", "{event}", "Events that are done."),
			retries:  i.counter("botctx.inbox.retries", "{attempt}", "Failed attempts that are followed by another one."),
			givenUp:  i.counter("botctx.inbox.given_up", "{event}", "Events that became dead letters."),
			latency: i.seconds("botctx.inbox.latency",
				"Time from the acceptance of an event to its final result.", secondsOfLatency),
		},
	}
	m.receives.isFault, m.agendas.isFault = isFaultOfRun, isFaultOfRun
	return m, i.err
}

// instruments creates instruments. err has the errors so far.
type instruments struct {
	meter metric.Meter
	err   error
}

func (i *instruments) counter(name, unit, description string) metric.Int64Counter {
	made, err := i.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	i.err = errors.Join(i.err, err)
	return made
}

func (i *instruments) seconds(name, description string, bounds []float64) metric.Float64Histogram {
	made, err := i.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(bounds...))
	i.err = errors.Join(i.err, err)
	return made
}

func (i *instruments) durations(name, description string, bounds []float64, attributes func(series) []attribute.KeyValue) *durations {
	return &durations{
		histogram: i.seconds(name, description, bounds), attributes: attributes, isFault: isFaultOfCall, known: map[series]measured{},
	}
}

// gauge creates a gauge, which observe observes.
func (i *instruments) gauge(name, unit, description string) metric.Int64ObservableGauge {
	made, err := i.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	i.err = errors.Join(i.err, err)
	return made
}

// observe calls a function at each collection of metrics until stop is called.
func (i *instruments) observe(call metric.Callback, of ...metric.Observable) (stop func() error, err error) {
	if i.err != nil {
		return nil, i.err
	}
	registration, err := i.meter.RegisterCallback(call, of...)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// series identifies a series of measurements. Each instrument uses some of the fields, and determines the names
// of their attributes.
type series struct {
	// system is the platform, the database, or the type of the channel.
	system string
	// name is the operation. kind is its type in the conventions.
	name string
	kind string
	// target is the collection.
	target string
	// code is the code of the error, or "".
	code boterr.Code
}

// withError appends error.type if there is an error.
func (s series) withError(attributes ...attribute.KeyValue) []attribute.KeyValue {
	if s.code != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(string(s.code)))
	}
	return attributes
}

func ofOperation(s series) []attribute.KeyValue {
	return s.withError(operationAttributes(s)...)
}

func ofMessaging(s series) []attribute.KeyValue {
	attributes := s.withError(semconv.MessagingSystemKey.String(s.system), semconv.MessagingOperationName(s.name))
	if s.kind != "" {
		attributes = append(attributes, semconv.MessagingOperationTypeKey.String(s.kind))
	}
	return attributes
}

func ofDatabase(s series) []attribute.KeyValue {
	return s.withError(semconv.DBSystemNameKey.String(s.system), semconv.DBOperationName(s.name), semconv.DBCollectionName(s.target))
}

func ofAgenda(s series) []attribute.KeyValue { return s.withError(keyOutcome.String(s.kind)) }

func ofObjectStore(s series) []attribute.KeyValue {
	return s.withError(keyObjectOperation.String(s.name))
}

// durations is a histogram of seconds. It builds the attributes of each series once.
type durations struct {
	histogram  metric.Float64Histogram
	attributes func(series) []attribute.KeyValue
	// isFault reports whether the status of a span with a code is an error.
	isFault func(boterr.Code) bool

	mu    sync.RWMutex
	known map[series]measured
}

// measured has the options with the attributes of a series.
type measured struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

func (d *durations) record(ctx context.Context, seconds float64, of series) {
	d.histogram.Record(ctx, seconds, d.of(of).record...)
}

// count adds n to a counter with the same attributes.
func (d *durations) count(ctx context.Context, counter metric.Int64Counter, n int, of series) {
	counter.Add(ctx, int64(n), d.of(of).add...)
}

// of returns the options for a series.
func (d *durations) of(s series) measured {
	d.mu.RLock()
	known, ok := d.known[s]
	d.mu.RUnlock()
	if ok {
		return known
	}
	set := metric.WithAttributeSet(attribute.NewSet(d.attributes(s)...))
	made := measured{record: []metric.RecordOption{set}, add: []metric.AddOption{set}}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[s] = made
	return made
}

// ObserveDrops reports the events that connectors dropped as botctx.inbox.dropped, until stop is called. All
// connectors must have these Drops in their configs.
func (o *Instrumentation) ObserveDrops(drops *send.Drops) (stop func() error, err error) {
	i := instruments{meter: o.meter}
	counter, err := o.meter.Int64ObservableCounter("botctx.inbox.dropped", metric.WithUnit("{event}"),
		metric.WithDescription("Events that connectors dropped instead of passing them to the inbox."))
	i.err = err
	return i.observe(func(_ context.Context, observer metric.Observer) error {
		for _, of := range drops.Counts() {
			observer.ObserveInt64(counter, of.Count, metric.WithAttributes(
				semconv.MessagingSystemKey.String(string(of.Platform)), keyDropKind.String(of.Kind), keyDropReason.String(string(of.Reason))))
		}
		return nil
	}, counter)
}
