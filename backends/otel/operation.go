package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// Interceptor returns what gives each operation that bot logic calls a span of its name, and
// adds its duration to botctx.operation.duration. As the first of botctx.Config.Interceptors
// it sees what the others do.
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

// operationAttributes are those of an operation and of the channel's type, where there is a
// channel.
func operationAttributes(of series) []attribute.KeyValue {
	attributes := append(make([]attribute.KeyValue, 0, 3), keyOperation.String(of.name))
	if of.system != "" {
		attributes = append(attributes, keyChannelType.String(of.system))
	}
	return attributes
}

// scopeAttributes are those of a scope. The member is known by the id that the SDK has given
// it, and by nothing of its own.
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

// outcomes are how many members a message was for, and how many of them did not get it,
// nothing for operations that send none.
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
