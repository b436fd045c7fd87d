package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/utility"
)

// emailSystem is what stands for the platform of mails.
const emailSystem = "email"

// Mailer returns a mailer that gives each mail of another one a span, and counts it as a
// message that is sent to the platform "email". Of nil it returns nil, and a nil pointer stays one, which botctx.New refuses.
func (o *Instrumentation) Mailer(inner utility.Mailer) utility.Mailer {
	if absent.Is(inner) {
		return inner
	}
	return mailer{inner: inner, o: o}
}

// mailer is a mailer that is reported of.
type mailer struct {
	inner utility.Mailer
	o     *Instrumentation
}

// SendMail implements utility.Mailer.
func (m mailer) SendMail(ctx context.Context, mail utility.Mail) (err error) {
	sends := semconv.MessagingOperationTypeSend.Value.AsString()
	of := series{system: emailSystem, name: sends, kind: sends}
	ctx, a := m.o.begin(ctx, sends+" "+emailSystem, trace.SpanKindProducer, func() []attribute.KeyValue {
		return append(messagingAttributes(of, mail.App, mail.Channel),
			semconv.MessagingMessageID(mail.ID), keyRecipients.Int(len(mail.To)+len(mail.CC)))
	})
	outcome := errNotReturned
	defer func() {
		of.code = codeOfPort(ctx, outcome)
		m.o.metrics.sends.count(ctx, m.o.metrics.sent, 1, of)
		m.o.end(ctx, a, m.o.metrics.sends, of, isFaultOfCall)
	}()
	err = m.inner.SendMail(ctx, mail)
	outcome = err
	return err
}

// ObjectStore returns a store of files that gives each file of another one a span, and adds
// its duration to botctx.object_store.operation.duration. Of nil it returns nil, and a nil pointer stays one, which botctx.New refuses.
func (o *Instrumentation) ObjectStore(inner utility.ObjectStore) utility.ObjectStore {
	if absent.Is(inner) {
		return inner
	}
	return objectStore{inner: inner, o: o}
}

// objectStore is a store of files that is reported of.
type objectStore struct {
	inner utility.ObjectStore
	o     *Instrumentation
}

// Put implements utility.ObjectStore.
func (s objectStore) Put(ctx context.Context, file utility.StoredFile) (err error) {
	of := series{name: "put"}
	ctx, a := s.o.begin(ctx, "put object", trace.SpanKindClient, func() []attribute.KeyValue {
		return []attribute.KeyValue{keyObjectOperation.String(of.name), keyApp.String(file.App), keyChannel.String(file.Channel)}
	})
	outcome := errNotReturned
	defer func() {
		of.code = codeOfPort(ctx, outcome)
		s.o.end(ctx, a, s.o.metrics.objects, of, isFaultOfCall)
	}()
	err = s.inner.Put(ctx, file)
	outcome = err
	return err
}
