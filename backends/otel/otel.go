package otel

import (
	"context"
	"errors"
	"net/http"
	"time"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// scopeName is the name under which spans and metrics are reported.
const scopeName = "github.com/botctx/go-sdk/backends/otel"

// Config sets the providers of spans and metrics. Its zero value reports to the providers that the host has
// registered with go.opentelemetry.io/otel.
type Config struct {
	// TracerProvider receives the spans. The default is the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider receives the metrics. The default is the global one.
	MeterProvider metric.MeterProvider
	// Propagator reads the parent span of a request from its headers. The default reads traceparent and
	// tracestate, as defined by the W3C.
	Propagator propagation.TextMapPropagator
	// Now is the clock for durations. The default is time.Now.
	Now func() time.Time
}

// Instrumentation instruments the parts of a host. It is safe for concurrent use.
type Instrumentation struct {
	tracer     trace.Tracer
	meter      metric.Meter
	propagator propagation.TextMapPropagator
	now        func() time.Time
	metrics    metrics
}

// New returns an Instrumentation. Its error comes from the meter, which refuses an instrument if one with the
// same name and another kind exists.
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

// Handler returns an HTTP handler whose requests belong to the trace in their header. It creates no span
// itself: a host that wants a span for each request uses another handler instead.
//
// If the host's sampler follows its parent, every sender of requests then decides which traces are kept: omit
// Handler if strangers can send requests.
func (o *Instrumentation) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := o.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Interceptor returns an interceptor that gives each operation of bot logic a span of its name, and adds its
// duration to botctx.operation.duration. As the first of botctx.Config.Interceptors it includes the work of
// the others.
func (o *Instrumentation) Interceptor() botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (result any, err error) {
		of := series{name: string(call.Op), system: string(call.Context.ChannelType())}
		ctx, a := o.begin(ctx, of.name, trace.SpanKindInternal, func() []attribute.KeyValue {
			return append(scopeAttributes(call.Context.Scope()), operationAttributes(of)...)
		})
		outcome := errNotReturned
		defer func() {
			of.code = boterr.CodeOf(outcome)
			o.end(ctx, a, o.metrics.operations, of, isFaultOfCall)
		}()
		result, err = next(ctx)
		if a.span.IsRecording() {
			a.span.SetAttributes(outcomes(result, err)...)
		}
		outcome = err
		return result, err
	}
}

// operationAttributes are the attributes of an operation and of the channel's type, if there is a channel.
func operationAttributes(of series) []attribute.KeyValue {
	attributes := append(make([]attribute.KeyValue, 0, 3), keyOperation.String(of.name))
	if of.system != "" {
		attributes = append(attributes, keyChannelType.String(of.system))
	}
	return attributes
}

// scopeAttributes are the attributes of a scope. The member is only identified by the SDK's own id.
func scopeAttributes(scope record.Scope) []attribute.KeyValue {
	attributes := make([]attribute.KeyValue, 0, 8)
	attributes = append(attributes, keyApp.String(scope.App))
	if scope.Channel != "" {
		attributes = append(attributes, keyChannel.String(scope.Channel))
	}
	if scope.Member != "" {
		attributes = append(attributes, semconv.EnduserPseudoID(scope.Member))
	}
	return attributes
}

// outcomes are the numbers of a message's recipients, and of those who did not get it; empty for operations
// that send nothing.
func outcomes(result any, err error) []attribute.KeyValue {
	if undelivered, ok := errors.AsType[*send.UndeliveredError](err); ok {
		return []attribute.KeyValue{keyRecipients.Int(undelivered.Of), keyUndelivered.Int(len(undelivered.Failures))}
	}
	if err != nil {
		return nil
	}
	switch sent := result.(type) {
	case send.SendResponseResult:
		return []attribute.KeyValue{keyRecipients.Int(len(sent.Results))}
	case send.SendAlphaResponseToMemberIDsResult:
		return []attribute.KeyValue{keyRecipients.Int(len(sent.Results))}
	case send.SendDeltaResponseResult:
		return []attribute.KeyValue{keyRecipients.Int(len(sent.Results))}
	default:
		return nil
	}
}

// Attributes without a convention.
const (
	keyOperation       = attribute.Key("botctx.operation")
	keyApp             = attribute.Key("botctx.app.id")
	keyChannel         = attribute.Key("botctx.channel.id")
	keyChannelType     = attribute.Key("botctx.channel.type")
	keyNode            = attribute.Key("botctx.node.id")
	keyAgenda          = attribute.Key("botctx.agenda.id")
	keyAttempt         = attribute.Key("botctx.agenda.attempt")
	keyMissed          = attribute.Key("botctx.agenda.missed")
	keyOutcome         = attribute.Key("botctx.agenda.outcome")
	keyInboxAttempt    = attribute.Key("botctx.inbox.attempt")
	keyRepeated        = attribute.Key("botctx.inbox.repeated")
	keyMessageType     = attribute.Key("botctx.message.type")
	keyRecipients      = attribute.Key("botctx.send.recipients")
	keyUndelivered     = attribute.Key("botctx.send.undelivered")
	keyDropKind        = attribute.Key("botctx.drop.kind")
	keyDropReason      = attribute.Key("botctx.drop.reason")
	keyObjectOperation = attribute.Key("botctx.object_store.operation")
)

// activity is work in progress: its span, and its beginning.
type activity struct {
	span  trace.Span
	begun time.Time
}

// begin begins an activity with a span. The attributes are only computed if the span is kept.
func (o *Instrumentation) begin(
	ctx context.Context, name string, kind trace.SpanKind, attributes func() []attribute.KeyValue, links ...trace.Link,
) (context.Context, activity) {
	begun := o.now()
	ctx, span := o.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithLinks(links...))
	if span.IsRecording() {
		span.SetAttributes(attributes()...)
	}
	return ctx, activity{span: span, begun: begun}
}

// beginWithin is begin for an activity that only gets a span within another one: otherwise each poll of the
// scheduler, every second, would be a separate trace.
func (o *Instrumentation) beginWithin(
	ctx context.Context, name string, kind trace.SpanKind, attributes func() []attribute.KeyValue,
) (context.Context, activity) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, activity{span: trace.SpanFromContext(ctx), begun: o.now()}
	}
	return o.begin(ctx, name, kind, attributes)
}

// end ends the span, and adds the duration to the series.
func (o *Instrumentation) end(ctx context.Context, a activity, to *durations, of series, isFault func(boterr.Code) bool) {
	if of.code != "" && a.span.IsRecording() {
		a.span.SetAttributes(semconv.ErrorTypeKey.String(string(of.code)))
		if isFault(of.code) {
			a.span.SetStatus(codes.Error, string(of.code)) // The text may contain a member's message.
		}
	}
	a.span.End()
	to.record(ctx, o.now().Sub(a.begun).Seconds(), of)
}

// isFaultOfCall reports whether a code means that the called operation failed. Other codes inform the caller:
// there is no such record, the parameters are wrong.
func isFaultOfCall(code boterr.Code) bool {
	switch code {
	case boterr.Internal, boterr.Unavailable, boterr.ResourceExhausted:
		return true
	default:
		return false
	}
}

// isFaultOfRun reports whether a run failed: with any code, unless it was canceled.
func isFaultOfRun(code boterr.Code) bool { return code != boterr.Canceled }

// errNotReturned is the error of a call that panics, or ends its goroutine.
var errNotReturned = error(boterr.New(boterr.Internal, "", "the call did not return"))

// codeOfPort returns the code of the error of one of the host's parts. An error without a code means that
// there was no answer.
func codeOfPort(ctx context.Context, err error) boterr.Code {
	switch {
	case err == nil || boterr.HasCode(err):
		return boterr.CodeOf(err)
	case ctx.Err() != nil:
		return boterr.Canceled
	default:
		return boterr.Unavailable // This includes its own time-outs.
	}
}
