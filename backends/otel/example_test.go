package otel_test

import (
	"context"
	"fmt"
	"strings"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

type screen struct{}

func (screen) Send(_ context.Context, m send.Message) (send.Delivery, error) {
	fmt.Println("bot:", m.Response.Text())
	return send.Delivery{}, nil
}

// The host exports to memory. In production, use an exporter for OpenTelemetry's protocol with
// sdktrace.WithBatcher, and add a provider for metrics.
func Example() {
	ctx := context.Background()
	exporter := tracetest.NewInMemoryExporter()
	tracing := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	defer func() { _ = tracing.Shutdown(ctx) }()

	o, err := otel.New(otel.Config{TracerProvider: tracing})
	if err != nil {
		fmt.Println(err)
		return
	}
	rt, err := botctx.New(botctx.Config{
		Store:        o.Store(memstore.New(), "memstore"),
		Connectors:   o.Connectors(map[channel.Type]send.Connector{channel.Webchat: screen{}}),
		Interceptors: []botctx.Interceptor{o.Interceptor()},
		Scheduler:    o.Scheduler(botctx.SchedulerOptions{}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	receive := o.Receive(channel.Webchat, rt.Receive) // Pass receive to a connector's Handler.

	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Hello Ada")) })
	_, err = rt.SaveChannel(ctx, "shop", &channel.Channel{
		ID: "chat", Type: channel.Webchat, On: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = receive(ctx, botctx.Inbound{App: "shop", Channel: "chat", Event: send.MessageEvent{
		From: "ada", Type: send.TypeText, Data: document.O("text", "hi"),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, span := range exporter.GetSpans() { // Spans come in the order in which they end.
		if !strings.HasPrefix(span.Name, "find") {
			fmt.Println(span.Name, span.SpanKind)
		}
	}
	// Output:
	// bot: Hello Ada
	// send webchat producer
	// sendResponse internal
	// process webchat consumer
}
