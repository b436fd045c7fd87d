package otel_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// credential is the token of the channel.
const credential = "tok-7f3a9c"

// start returns the time at which a world starts.
func start() time.Time { return time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC) }

// world is a host whose spans and metrics are kept in memory. It has the member ada of the webchat channel web.
// Tests move its clock.
type world struct {
	t        testing.TB
	o        *otel.Instrumentation
	spans    *tracetest.InMemoryExporter
	metrics  *sdkmetric.ManualReader
	platform *platform
	runtime  *botctx.Runtime
	receive  func(context.Context, botctx.Inbound) error
	scope    botctx.Scope

	mu  sync.Mutex
	now time.Time
	ids int
	// derivedIDs maps texts to the ids derived from them.
	derivedIDs map[string]string
}

// newWorld returns a world. settings may change the world and the host's config.
func newWorld(tb testing.TB, settings ...func(*world, *botctx.Config)) *world {
	tb.Helper()
	w := &world{
		t: tb, spans: tracetest.NewInMemoryExporter(), metrics: sdkmetric.NewManualReader(), platform: &platform{},
		scope: botctx.Scope{App: "shop", Channel: "web", Member: "ada"}, now: start(),
	}
	var err error
	w.o, err = otel.New(otel.Config{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.metrics)),
		Now:            w.clock,
	})
	require.NoError(tb, err)
	config := botctx.Config{
		Store:        w.o.Store(memstore.New(memstore.WithNow(w.clock)), "memstore"),
		Connectors:   w.o.Connectors(map[channel.Type]send.Connector{channel.Webchat: w.platform, channel.Alpha: w.platform}),
		Interceptors: []botctx.Interceptor{w.o.Interceptor()},
		Scheduler:    w.o.Scheduler(botctx.SchedulerOptions{}),
		Inbox:        w.o.Inbox(botctx.InboxOptions{}),
		Now:          w.clock, NewID: w.id, NewEtag: w.id, DeriveID: w.derived,
	}
	for _, set := range settings {
		set(w, &config)
	}
	w.runtime, err = botctx.New(config)
	require.NoError(tb, err)
	w.receive = w.o.Receive(channel.Webchat, w.runtime.Receive)
	channels := channels.New(w.runtime.Env(), record.Scope(w.scope))
	for _, c := range []channel.Channel{
		{ID: "web", Type: channel.Webchat, Info: channel.OtherInfo{Hidden: channel.Hide(document.O("accessToken", credential))}},
		{ID: "alpha", Type: channel.Alpha, Info: channel.AlphaInfo{AccessToken: channel.NewSecret(credential)}},
	} {
		c.App, c.On = "shop", true
		_, err = channels.Save(tb.Context(), &c)
		require.NoError(tb, err)
	}
	for id, in := range map[string]string{"ada": "web", "bob": "alpha"} {
		_, err = members.New(w.runtime.Env(), record.Scope{App: "shop", Channel: in}, channels).Insert(tb.Context(), member.Member{
			ID: id, App: "shop", Channel: in, ExternalID: "e-" + id, FirstName: "Augusta",
		})
		require.NoError(tb, err)
	}
	w.spans.Reset()
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(by)
}

// derived returns the id of a text. It is the same each time.
func (w *world) derived(of string) string {
	w.mu.Lock()
	known := w.derivedIDs[of]
	w.mu.Unlock()
	if known != "" {
		return known
	}
	made := w.id()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.derivedIDs == nil {
		w.derivedIDs = map[string]string{}
	}
	w.derivedIDs[of] = made
	return made
}

func (w *world) id() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprintf("id-%d", w.ids)
}

func (w *world) says(ctx context.Context, text string) error {
	return w.receive(ctx, botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
		From: "e-ada", Type: send.TypeText, MessageID: "in-1", Data: document.O("text", text),
	}})
}

func (w *world) bot(scope botctx.Scope) *botctx.Context {
	bot, err := w.runtime.Context(w.t.Context(), scope)
	require.NoError(w.t, err)
	return bot
}

// tree prints the spans since the last call, one per line, with children indented below their parents.
func (w *world) tree() string {
	spans := w.spans.GetSpans()
	w.spans.Reset()
	children := map[trace.SpanID][]tracetest.SpanStub{}
	known := map[trace.SpanID]bool{}
	for _, span := range spans {
		known[span.SpanContext.SpanID()] = true
	}
	for _, span := range spans {
		parent := span.Parent.SpanID()
		if !known[parent] {
			parent = trace.SpanID{}
		}
		children[parent] = append(children[parent], span)
	}
	var text strings.Builder
	var write func(of trace.SpanID, depth int)
	write = func(of trace.SpanID, depth int) {
		inside := children[of]
		slices.SortStableFunc(inside, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
		for _, span := range inside {
			fmt.Fprintf(&text, "%s%s (%s)%s%s\n", strings.Repeat("  ", depth), span.Name, span.SpanKind, status(span), listed(span.Attributes))
			write(span.SpanContext.SpanID(), depth+1)
		}
	}
	write(trace.SpanID{}, 0)
	return text.String()
}

func status(span tracetest.SpanStub) string {
	if span.Status.Code == codes.Unset {
		return ""
	}
	return " " + span.Status.Code.String() + " " + span.Status.Description
}

// listed prints attributes in the order of their names.
func listed(attributes []attribute.KeyValue) string {
	attributes = slices.SortedFunc(slices.Values(attributes), func(a, b attribute.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	var text strings.Builder
	for _, a := range attributes {
		fmt.Fprintf(&text, " %s=%s", a.Key, a.Value.String())
	}
	return text.String()
}

// points prints the data points of the metrics: name, attributes and count.
func (w *world) points() []string {
	var points []string
	for _, m := range w.collect() {
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				points = append(points, fmt.Sprintf("%s%s: %d, %gs", m.Name, listed(p.Attributes.ToSlice()), p.Count, p.Sum))
			}
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				points = append(points, fmt.Sprintf("%s%s: %d", m.Name, listed(p.Attributes.ToSlice()), p.Value))
			}
		case metricdata.Gauge[int64]:
			for _, p := range data.DataPoints {
				points = append(points, fmt.Sprintf("%s%s: %d", m.Name, listed(p.Attributes.ToSlice()), p.Value))
			}
		case metricdata.Gauge[float64]:
			for _, p := range data.DataPoints {
				points = append(points, fmt.Sprintf("%s%s: %gs", m.Name, listed(p.Attributes.ToSlice()), p.Value))
			}
		default:
			require.Failf(w.t, "a metric of a kind that the test does not know", "%T", m.Data)
		}
	}
	slices.Sort(points)
	return points
}

func (w *world) collect() []metricdata.Metrics {
	var all metricdata.ResourceMetrics
	require.NoError(w.t, w.metrics.Collect(w.t.Context(), &all))
	var metrics []metricdata.Metrics
	for _, scope := range all.ScopeMetrics {
		metrics = append(metrics, scope.Metrics...)
	}
	return metrics
}

// named returns the points whose names begin with one of the prefixes.
func named(points []string, prefixes ...string) []string {
	return slices.DeleteFunc(points, func(point string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(point, prefix) })
	})
}

// platform is a fake connector that supports batches and labels.
type platform struct {
	mu     sync.Mutex
	fail   error
	refuse string
	sent   int
}

// refuses makes messages to this recipient fail.
func (p *platform) refuses(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = to
}

// answers makes later calls return err, which may be nil.
func (p *platform) answers(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = err
}

func (p *platform) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return send.Delivery{}, p.fail
	}
	if message.To == p.refuse {
		return send.Delivery{}, errors.New("refused for " + credential)
	}
	p.sent++
	return send.Delivery{MessageID: fmt.Sprintf("out-%d", p.sent)}, nil
}

func (p *platform) SendBatch(_ context.Context, messages []send.Message) (send.Batch, error) {
	outcomes := make([]send.Outcome, len(messages))
	outcomes[0].Err = errors.New("no answer for " + credential)
	return send.Batch{ID: "b1", Outcomes: outcomes}, nil
}

func (p *platform) SaveLabel(context.Context, *channel.Channel, string, string) (int64, error) {
	return 7, nil
}

func (p *platform) RemoveLabel(context.Context, *channel.Channel, string, string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fail
}
