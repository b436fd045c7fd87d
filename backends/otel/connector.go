package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/around"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Connectors wraps connectors. Each call gets a span. Durations are recorded in
// messaging.client.operation.duration, and sent messages are counted in messaging.client.sent.messages. The
// wrappers keep the optional interfaces.
func (o *Instrumentation) Connectors(inner map[channel.Type]send.Connector) map[channel.Type]send.Connector {
	all := make(map[channel.Type]send.Connector, len(inner))
	for platform, one := range inner {
		if !absent.Is(one) { // A nil connector stays nil, so that botctx.New refuses it.
			one = &connector{Connector: one, system: string(platform), o: o}
		}
		all[platform] = one
	}
	return all
}

type connector struct {
	send.Connector

	system string
	o      *Instrumentation
}

var _ send.PortWrapper = (*connector)(nil)

func (c *connector) Unwrap() send.Connector { return c.Connector }

func (c *connector) WrapPort(wanted, inner any) any {
	if _, isBatches := wanted.(*send.BatchSender); isBatches {
		if inner, ok := inner.(send.BatchSender); ok {
			return batches{c, inner}
		}
	}
	return around.Port(wanted, inner, c.call)
}

func (c *connector) Send(ctx context.Context, message send.Message) (delivery send.Delivery, err error) {
	of := c.series("send")
	defer c.counted(ctx, &of, 1)
	err = c.request(ctx, &of, message.Channel, func(ctx context.Context, span trace.Span) (err error) {
		if span.IsRecording() {
			span.SetAttributes(keyMessageType.String(string(message.Response.Type())), semconv.MessagingMessageID(message.ID))
		}
		delivery, err = c.Connector.Send(ctx, message)
		if delivery.MessageID != "" && span.IsRecording() {
			span.SetAttributes(semconv.MessagingMessageID(delivery.MessageID))
		}
		return err
	})
	return delivery, err
}

// series returns the series of a call to a platform. The conventions define an operation type for sending, and
// none for other calls.
func (c *connector) series(name string) series {
	of := series{system: c.system, name: name}
	if name == "send" || name == "sendBatch" {
		of.kind = semconv.MessagingOperationTypeSend.Value.AsString()
	}
	return of
}

// counted adds n to the number of sent messages.
func (c *connector) counted(ctx context.Context, of *series, n int) {
	c.o.metrics.sends.count(ctx, c.o.metrics.sent, n, *of)
}

// request makes a call to the platform within a span. It stores the code of the error in of.
func (c *connector) request(
	ctx context.Context, of *series, in *channel.Channel, do func(context.Context, trace.Span) error,
) error {
	kind := trace.SpanKindClient
	if of.kind != "" {
		kind = trace.SpanKindProducer
	}
	return c.o.report(ctx, activity{
		name: of.name + " " + of.system, kind: kind, to: c.o.metrics.sends, codeOf: codeOfPort,
		attributes: func() []attribute.KeyValue {
			if in == nil {
				in = &channel.Channel{}
			}
			return messagingAttributes(*of, in.App, in.ID)
		},
	}, of, do)
}

// call makes a call of an optional interface within a span.
func (c *connector) call(ctx context.Context, name string, in *channel.Channel, do func(context.Context) error) error {
	of := c.series(name)
	return c.request(ctx, &of, in, func(ctx context.Context, _ trace.Span) error { return do(ctx) })
}

// batches wraps a send.BatchSender.
type batches struct {
	c     *connector
	inner send.BatchSender
}

func (b batches) SendBatch(ctx context.Context, messages []send.Message) (batch send.Batch, err error) {
	of := b.c.series("sendBatch")
	var in *channel.Channel
	if len(messages) > 0 {
		in = messages[0].Channel
	}
	err = b.c.request(ctx, &of, in, func(ctx context.Context, span trace.Span) (err error) {
		span.SetAttributes(semconv.MessagingBatchMessageCount(len(messages)))
		batch, err = b.inner.SendBatch(ctx, messages)
		return err
	})
	if len(batch.Outcomes) != len(messages) || err != nil {
		b.c.counted(ctx, &of, len(messages))
		return batch, err
	}
	for _, outcome := range batch.Outcomes {
		of.code = codeOfPort(ctx, outcome.Err)
		b.c.counted(ctx, &of, 1)
	}
	return batch, nil
}

// Receive wraps a function that runs bot logic for events, such as botctx.Runtime.Receive. Each run gets a
// span, which contains all calls of the run, and its duration is recorded in messaging.process.duration.
// platform is the type of the channels whose events the function gets.
func (o *Instrumentation) Receive(
	platform channel.Type, receive func(context.Context, botctx.Inbound) error,
) func(context.Context, botctx.Inbound) error {
	process := semconv.MessagingOperationTypeProcess.Value.AsString()
	return func(ctx context.Context, inbound botctx.Inbound) error {
		of := series{system: string(platform), name: process, kind: process}
		return o.report(ctx, activity{
			name: process + " " + of.system, kind: trace.SpanKindConsumer, to: o.metrics.receives,
			attributes: func() []attribute.KeyValue {
				attributes := append(messagingAttributes(of, inbound.App, inbound.Channel), keyMessageType.String(string(inbound.Event.Type)))
				if inbound.Event.MessageID != "" {
					attributes = append(attributes, semconv.MessagingMessageID(inbound.Event.MessageID))
				}
				return attributes
			},
		}, &of, func(ctx context.Context, _ trace.Span) error { return receive(ctx, inbound) })
	}
}

// messagingAttributes returns the attributes of a message. The destination is the channel, because the
// recipient is a person.
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

// emailSystem is the messaging.system of mails.
const emailSystem = "email"

// Mailer wraps a mailer. Each mail gets a span and is counted as a message to the platform "email". Mailer
// returns nil for nil. It returns a nil pointer unchanged, so that botctx.New refuses it.
func (o *Instrumentation) Mailer(inner utility.Mailer) utility.Mailer {
	if absent.Is(inner) {
		return inner
	}
	return mailer{inner: inner, o: o}
}

type mailer struct {
	inner utility.Mailer
	o     *Instrumentation
}

func (m mailer) SendMail(ctx context.Context, mail utility.Mail) error {
	sends := semconv.MessagingOperationTypeSend.Value.AsString()
	of := series{system: emailSystem, name: sends, kind: sends}
	defer func() { m.o.metrics.sends.count(ctx, m.o.metrics.sent, 1, of) }()
	return m.o.report(ctx, activity{
		name: sends + " " + emailSystem, kind: trace.SpanKindProducer, to: m.o.metrics.sends, codeOf: codeOfPort,
		attributes: func() []attribute.KeyValue {
			return append(messagingAttributes(of, mail.App, mail.Channel),
				semconv.MessagingMessageID(mail.ID), keyRecipients.Int(len(mail.To)+len(mail.CC)))
		},
	}, &of, func(ctx context.Context, _ trace.Span) error { return m.inner.SendMail(ctx, mail) })
}

// ObjectStore wraps a store of files. Each call gets a span, and its duration is recorded in
// botctx.object_store.operation.duration. ObjectStore returns nil for nil. It returns a nil pointer unchanged,
// so that botctx.New refuses it.
func (o *Instrumentation) ObjectStore(inner utility.ObjectStore) utility.ObjectStore {
	if absent.Is(inner) {
		return inner
	}
	return objectStore{inner: inner, o: o}
}

type objectStore struct {
	inner utility.ObjectStore
	o     *Instrumentation
}

func (s objectStore) Put(ctx context.Context, file utility.StoredFile) error {
	of := series{name: "put"}
	return s.o.report(ctx, activity{
		name: "put object", kind: trace.SpanKindClient, to: s.o.metrics.objects, codeOf: codeOfPort,
		attributes: func() []attribute.KeyValue {
			return []attribute.KeyValue{keyObjectOperation.String(of.name), keyApp.String(file.App), keyChannel.String(file.Channel)}
		},
	}, &of, func(ctx context.Context, _ trace.Span) error { return s.inner.Put(ctx, file) })
}
