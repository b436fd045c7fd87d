package otel

import (
	"net/http"
	"time"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scopeName is the name under which spans and metrics are reported.
const scopeName = "github.com/botctx/go-sdk/backends/otel"

// Config says where spans and metrics go. Its zero value reports to the providers that the
// host has set with go.opentelemetry.io/otel.
type Config struct {
	// TracerProvider takes the spans. The default is the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider takes the metrics. The default is the global one.
	MeterProvider metric.MeterProvider
	// Propagator reads from a request which span caused it. The default reads traceparent and
	// tracestate, as the W3C defines them.
	Propagator propagation.TextMapPropagator
	// Now is the clock by which durations are measured. The default is time.Now.
	Now func() time.Time
}

// Instrumentation makes what reports of a host's parts. It is safe for concurrent use.
type Instrumentation struct {
	tracer     trace.Tracer
	meter      metric.Meter
	propagator propagation.TextMapPropagator
	now        func() time.Time
	metrics    metrics
}

// New returns an Instrumentation. Its error is that of the meter, which refuses an
// instrument: one of the same name and another kind exists.
func New(config Config) (*Instrumentation, error) {
	if config.TracerProvider == nil {
		config.TracerProvider = global.GetTracerProvider()
	}
	if config.MeterProvider == nil {
		config.MeterProvider = global.GetMeterProvider()
	}
	if config.Propagator == nil {
		config.Propagator = propagation.TraceContext{}
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	o := &Instrumentation{
		tracer:     config.TracerProvider.Tracer(scopeName, trace.WithSchemaURL(semconv.SchemaURL)),
		meter:      config.MeterProvider.Meter(scopeName, metric.WithSchemaURL(semconv.SchemaURL)),
		propagator: config.Propagator,
		now:        config.Now,
	}
	var err error
	o.metrics, err = newMetrics(o.meter)
	return o, err
}

// Handler returns an HTTP handler whose requests belong to the trace that their header names.
// It makes no span of its own: a host that wants one for each request takes another in its
// place, and leaves this one out.
//
// Whoever can send requests then decides which traces are kept, where the host's sampler
// follows its parent: leave it out where strangers can.
func (o *Instrumentation) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := o.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
