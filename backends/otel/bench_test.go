package otel_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// BenchmarkTurn measures a message that arrives and is answered by two operations. The store is in memory and
// the platform answers at once. The samplers keep no trace, one in a hundred, or all. Each turn is followed by
// the same turn of a host without instrumentation, so both run under the same load. x/bare is the ratio of the
// medians.
func BenchmarkTurn(b *testing.B) {
	for _, c := range []struct {
		name    string
		sampler sdktrace.Sampler
	}{
		{"none sampled", sdktrace.NeverSample()},
		{"1 of 100 sampled", sdktrace.TraceIDRatioBased(0.01)},
		{"all sampled", sdktrace.AlwaysSample()},
	} {
		b.Run(c.name, func(b *testing.B) {
			reported, bare := turn(b, c.sampler), turn(b, nil)
			var took, bareTook []time.Duration
			for b.Loop() {
				took = append(took, timed(b, reported))
				bareTook = append(bareTook, timed(b, bare))
			}
			with, without := median(took), median(bareTook)
			b.ReportMetric(float64(with), "ns/reported")
			b.ReportMetric(float64(without), "ns/bare")
			b.ReportMetric(float64(with)/float64(without), "x/bare")
		})
	}
}

func timed(b *testing.B, receive func(context.Context) error) time.Duration {
	b.Helper()
	begun := time.Now() //nolint:forbidigo // The benchmark measures real time.
	if err := receive(b.Context()); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun) //nolint:forbidigo // The benchmark measures real time.
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}

// turn returns a function that sends a message from ada to a host. The host is instrumented with the sampler,
// or not instrumented if the sampler is nil.
func turn(b *testing.B, sampler sdktrace.Sampler) func(context.Context) error {
	b.Helper()
	config := botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Webchat: &platform{}},
	}
	var o *otel.Instrumentation
	if sampler != nil {
		var err error
		o, err = otel.New(otel.Config{
			TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithBatcher(tracetest.NewNoopExporter())),
			MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
		})
		require.NoError(b, err)
		config.Store, config.Connectors = o.Store(config.Store, "memstore"), o.Connectors(config.Connectors)
		config.Interceptors = []botctx.Interceptor{o.Interceptor()}
		config.Scheduler = o.Scheduler(botctx.SchedulerOptions{})
	}
	runtime, err := botctx.New(config)
	require.NoError(b, err)
	receive := runtime.Receive
	if o != nil {
		receive = o.Receive(channel.Webchat, receive)
	}
	require.NoError(b, botctx.EnsureIndexes(b.Context(), runtime.Env().Store))
	_, err = channels.New(runtime.Env(), record.Scope{App: "shop"}).Save(b.Context(), &channel.Channel{
		ID: "web", App: "shop", Type: channel.Webchat, On: true,
	})
	require.NoError(b, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
		if err != nil {
			return err
		}
		return bot.Reply(ctx, send.Text("Hello"))
	})
	inbound := botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
		From: "ada", Type: send.TypeText, Data: document.O("text", "hi"),
	}}
	return func(ctx context.Context) error { return receive(ctx, inbound) }
}
