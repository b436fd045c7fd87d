package otel

import (
	"context"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/botctx/go-sdk/send"
)

// ObserveDrops reports the events that the connectors of a host drop, as botctx.inbox.dropped, until stop is called. The
// host gives the same Drops to its connectors.
func (o *Instrumentation) ObserveDrops(drops *send.Drops) (stop func() error, err error) {
	counter, err := o.meter.Int64ObservableCounter("botctx.inbox.dropped", metric.WithUnit("{event}"),
		metric.WithDescription("Events that connectors dropped instead of handing them to the inbox."))
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
