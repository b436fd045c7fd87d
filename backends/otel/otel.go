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
	"github.com/botctx/go-sdk/send"
)

// scopeName is the instrumentation scope of all spans and metrics.
const scopeName = "github.com/botctx/go-sdk/backends/otel"

// Config sets the providers of spans and metrics. The zero value uses the global providers of
// go.opentelemetry.io/otel.
type Config struct {
	// TracerProvider receives the spans. The default is the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider receives the metrics. The default is the global one.
	MeterProvider metric.MeterProvider
	// Propagator reads the parent span from the headers of a request. The default reads traceparent and
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

// New returns an Instrumentation. The error is from the meter: another instrument has the same name and a
// different kind.
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

// Handler returns an HTTP handler that continues the trace in a request's headers. It creates no span. For a
// span per request, use another handler instead.
//
// If the host's sampler follows the parent, the sender of a request decides whether its trace is kept. Do not
// use Handler for requests of strangers.
func (o *Instrumentation) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := o.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Interceptor returns an interceptor that gives each operation of bot logic a span with the operation's name,
// and records its duration in botctx.operation.duration. If it is the first of botctx.Config.Interceptors, span
// and duration include the work of the others.
func (o *Instrumentation) Interceptor() botctx.Interceptor {
	return func(ctx context.Context, call *botctx.Call, next botctx.Next) (result any, err error) {
		of := series{name: string(call.Op), system: string(call.Context.ChannelType())}
		err = o.report(ctx, activity{
			name: of.name, kind: trace.SpanKindInternal, to: o.metrics.operations,
			attributes: func() []attribute.KeyValue {
				return append(scopeAttributes(call.Context.Scope()), operationAttributes(of)...)
			},
		}, &of, func(ctx context.Context, span trace.Span) error {
			var err error
			result, err = next(ctx)
			if span.IsRecording() {
				span.SetAttributes(outcomes(result, err)...)
			}
			return err
		})
		return result, err
	}
}

// operationAttributes returns the attributes of an operation, including the channel's type if there is a
// channel.
func operationAttributes(of series) []attribute.KeyValue {
	attributes := append(make([]attribute.KeyValue, 0, 3), keyOperation.String(of.name))
	if of.system != "" {
		attributes = append(attributes, keyChannelType.String(of.system))
	}
	return attributes
}

// scopeAttributes returns the attributes of a scope. The member appears only with the SDK's own id.
func scopeAttributes(scope botctx.Scope) []attribute.KeyValue {
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

// outcomes returns the number of recipients and the number of failed ones. It is empty for operations that send
// nothing.
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

// Attributes that the conventions do not define.
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

// activity is work that gets a span, and whose duration is recorded.
type activity struct {
	// name and kind are the span's.
	name string
	kind trace.SpanKind
	// attributes returns the span's attributes. It is only called if the span is recorded.
	attributes func() []attribute.KeyValue
	links      []trace.Link
	// needsParent leaves out the span if the context has none.
	needsParent bool
	to          *durations
	// codeOf returns the code of an error. nil means boterr.CodeOf.
	codeOf func(ctx context.Context, err error) boterr.Code
}

// report does an activity within its span. It sets the code of of, and ends the span, also if do panics.
func (o *Instrumentation) report(
	ctx context.Context, a activity, of *series, do func(ctx context.Context, span trace.Span) error,
) error {
	ctx, end := o.begin(ctx, a)
	err := errNotReturned
	defer func() {
		of.code = boterr.CodeOf(err)
		if a.codeOf != nil {
			of.code = a.codeOf(ctx, err)
		}
		end(*of)
	}()
	err = do(ctx, trace.SpanFromContext(ctx))
	return err
}

// begin starts the span of an activity. The returned function ends it, and records the duration.
func (o *Instrumentation) begin(ctx context.Context, a activity) (context.Context, func(of series)) {
	begun, span := o.now(), trace.SpanFromContext(ctx)
	if !a.needsParent || span.SpanContext().IsValid() {
		ctx, span = o.tracer.Start(ctx, a.name, trace.WithSpanKind(a.kind), trace.WithLinks(a.links...))
		if span.IsRecording() {
			span.SetAttributes(a.attributes()...)
		}
	}
	return ctx, func(of series) {
		if of.code != "" && span.IsRecording() {
			span.SetAttributes(semconv.ErrorTypeKey.String(string(of.code)))
			if a.to.isFault(of.code) {
				span.SetStatus(codes.Error, string(of.code)) // The error's text may contain a member's message.
			}
		}
		span.End()
		a.to.record(ctx, o.now().Sub(begun).Seconds(), of)
	}
}

// isFaultOfCall reports whether a code means that the call failed. Other codes are answers for the caller, such
// as NotFound or InvalidArgument.
func isFaultOfCall(code boterr.Code) bool {
	switch code {
	case boterr.Internal, boterr.Unavailable, boterr.ResourceExhausted:
		return true
	default:
		return false
	}
}

// isFaultOfRun reports whether a code means that a run failed. Canceled does not.
func isFaultOfRun(code boterr.Code) bool { return code != boterr.Canceled }

// errNotReturned is the result of a call that panics or ends its goroutine.
var errNotReturned = error(boterr.New(boterr.Internal, "", "the call did not return"))

// codeOfPort returns the code for an error of a connector, mailer or object store. An error without a code
// means that no answer came.
func codeOfPort(ctx context.Context, err error) boterr.Code {
	switch {
	case err == nil || boterr.HasCode(err):
		return boterr.CodeOf(err)
	case ctx.Err() != nil:
		return boterr.Canceled
	default:
		return boterr.Unavailable // This includes timeouts of the called part.
	}
}
