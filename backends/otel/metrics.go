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
	var m metrics
	var errs [11]error
	m.operations, errs[0] = newDurations(meter, "botctx.operation.duration",
		"Duration of the operations that bot logic calls.", secondsOfCalls, ofOperation)
	m.sends, errs[1] = newDurations(meter, messagingconv.ClientOperationDuration{}.Name(),
		messagingconv.ClientOperationDuration{}.Description(), secondsOfCalls, ofMessaging)
	m.receives, errs[2] = newDurations(meter, messagingconv.ProcessDuration{}.Name(),
		messagingconv.ProcessDuration{}.Description(), secondsOfCalls, ofMessaging)
	m.queries, errs[3] = newDurations(meter, dbconv.ClientOperationDuration{}.Name(),
		dbconv.ClientOperationDuration{}.Description(), secondsOfQueries, ofDatabase)
	m.agendas, errs[4] = newDurations(meter, "botctx.agenda.run.duration",
		"Duration of the runs of agendas.", secondsOfCalls, ofAgenda)
	m.objects, errs[5] = newDurations(meter, "botctx.object_store.operation.duration",
		"Duration of the operations of the object store.", secondsOfCalls, ofObjectStore)
	m.sent, errs[6] = meter.Int64Counter(messagingconv.ClientSentMessages{}.Name(),
		metric.WithUnit(messagingconv.ClientSentMessages{}.Unit()), metric.WithDescription(messagingconv.ClientSentMessages{}.Description()))
	m.lag, errs[7] = meter.Float64Histogram("botctx.agenda.lag", metric.WithUnit("s"),
		metric.WithDescription("Time from an agenda's scheduled time to the start of its run."),
		metric.WithExplicitBucketBoundaries(secondsOfLag...))
	m.late, errs[8] = meter.Int64Counter("botctx.agenda.late", metric.WithUnit("{run}"),
		metric.WithDescription("Runs of agendas that start later than the scheduler's LateAfter allows."))
	m.failures, errs[9] = meter.Int64Counter("botctx.agenda.failures", metric.WithUnit("{run}"),
		metric.WithDescription("Runs of agendas that failed, or whose result could not be stored."))
	m.inbox, errs[10] = newInboxMetrics(meter)
	return m, errors.Join(errs[:]...)
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

	mu    sync.RWMutex
	known map[series]measured
}

// measured has the options with the attributes of a series.
type measured struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

func newDurations(
	meter metric.Meter, name, description string, seconds []float64, attributes func(series) []attribute.KeyValue,
) (*durations, error) {
	histogram, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(seconds...))
	return &durations{histogram: histogram, attributes: attributes, known: map[series]measured{}}, err
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
	counter, err := o.meter.Int64ObservableCounter("botctx.inbox.dropped", metric.WithUnit("{event}"),
		metric.WithDescription("Events that connectors dropped instead of passing them to the inbox."))
	if err != nil {
		return nil, err
	}
	registration, err := o.meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
		for _, of := range drops.Counts() {
			observer.ObserveInt64(counter, of.Count, metric.WithAttributes(
				semconv.MessagingSystemKey.String(string(of.Platform)), keyDropKind.String(of.Kind), keyDropReason.String(string(of.Reason))))
		}
		return nil
	}, counter)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
