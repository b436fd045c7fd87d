package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/boterr"
)

// Attributes that no convention has.
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

// activity is something under way: its span, and when it began.
type activity struct {
	span  trace.Span
	begun time.Time
}

// begin begins an activity with a span. The attributes are asked for only where the span is
// kept.
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

// beginWithin is begin for an activity that gets a span only within another one: otherwise each
// poll of the scheduler, every second, would be a trace of its own.
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
			a.span.SetStatus(codes.Error, string(of.code)) // The sentence may hold what a member wrote.
		}
	}
	a.span.End()
	to.record(ctx, o.now().Sub(a.begun).Seconds(), of)
}

// isFaultOfCall reports whether a code tells that the called operation failed. Other codes answer
// the caller: there is no such record, the parameters are wrong.
func isFaultOfCall(code boterr.Code) bool {
	switch code {
	case boterr.Internal, boterr.Unavailable, boterr.ResourceExhausted:
		return true
	default:
		return false
	}
}

// isFaultOfRun reports whether a run failed: with any code, but for one that was given up.
func isFaultOfRun(code boterr.Code) bool { return code != boterr.Canceled }

// errNotReturned stands for the error of what panics, or ends its goroutine.
var errNotReturned = error(boterr.New(boterr.Internal, "", "the call did not return"))

// codeOfPort returns the code of the error of one of the host's ports, where no code means
// that there was no answer.
func codeOfPort(ctx context.Context, err error) boterr.Code {
	switch {
	case err == nil || boterr.HasCode(err):
		return boterr.CodeOf(err)
	case ctx.Err() != nil:
		return boterr.Canceled
	default:
		return boterr.Unavailable // Also where a time-out of the port's own has passed.
	}
}
