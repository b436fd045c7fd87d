package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// Receive returns what runs bot logic for what arrives, with a span for the run: that of
// everything that the run calls. receive is botctx.Runtime.Receive, and platform the type of
// the channels for which it is called. The duration is added to messaging.process.duration.
func (o *Instrumentation) Receive(
	platform channel.Type, receive func(context.Context, botctx.Inbound) error,
) func(context.Context, botctx.Inbound) error {
	process := semconv.MessagingOperationTypeProcess.Value.AsString()
	return func(ctx context.Context, inbound botctx.Inbound) (err error) {
		of := series{system: string(platform), name: process, kind: process}
		ctx, a := o.begin(ctx, process+" "+of.system, trace.SpanKindConsumer, func() []attribute.KeyValue {
			attributes := append(messagingAttributes(of, inbound.App, inbound.Channel), keyMessageType.String(string(inbound.Event.Type)))
			if inbound.Event.MessageID != "" {
				attributes = append(attributes, semconv.MessagingMessageID(inbound.Event.MessageID))
			}
			return attributes
		})
		outcome := errNotReturned
		defer func() {
			of.code = boterr.CodeOf(outcome)
			o.end(ctx, a, o.metrics.receives, of, isFaultOfRun)
		}()
		err = receive(ctx, inbound)
		outcome = err
		return err
	}
}

// messagingAttributes are those of a message on a channel. The destination is the channel: who
// gets the message is a person.
func messagingAttributes(of series, app, channelID string) []attribute.KeyValue {
	attributes := append(make([]attribute.KeyValue, 0, 8),
		semconv.MessagingSystemKey.String(of.system), semconv.MessagingOperationName(of.name),
		keyApp.String(app))
	if channelID != "" {
		attributes = append(attributes, semconv.MessagingDestinationName(channelID))
	}
	if of.kind != "" {
		attributes = append(attributes, semconv.MessagingOperationTypeKey.String(of.kind))
	}
	return attributes
}
