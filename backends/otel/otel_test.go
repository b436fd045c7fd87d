package otel_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

func TestConfig_GlobalProviders(t *testing.T) {
	t.Parallel()
	o, err := otel.New(otel.Config{})
	require.NoError(t, err)
	receive := o.Receive("webchat", func(context.Context, botctx.Inbound) error { return boterr.Conflict })
	require.ErrorIs(t, receive(t.Context(), botctx.Inbound{}), boterr.Conflict)
}

func TestTrace_RunBelongsToRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
	handler := w.o.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := w.says(r.Context(), "hi"); err != nil {
			t.Error(err)
		}
	}))
	for header, want := range map[string][2]string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": {"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"},
		"nonsense": {"", "0000000000000000"},
		"":         {"", "0000000000000000"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/inbound", http.NoBody)
		r.Header.Set("Traceparent", header)
		handler.ServeHTTP(httptest.NewRecorder(), r)
		spans := w.spans.GetSpans()
		w.spans.Reset()
		run := spans[len(spans)-1]
		require.Equal(t, "process webchat", run.Name)
		require.Equal(t, want[1], run.Parent.SpanID().String())
		if want[0] != "" {
			require.Equal(t, want[0], run.SpanContext.TraceID().String())
		}
	}
}

// letters are mails and files that are taken, or refused with an error.
type letters struct{ err error }

func (l letters) SendMail(context.Context, utility.Mail) error  { return l.err }
func (l letters) Put(context.Context, utility.StoredFile) error { return l.err }

func TestUtilities_AreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failure := errors.New("no answer")
	for _, want := range []error{nil, failure} {
		require.Equal(t, want, w.o.Mailer(letters{want}).SendMail(t.Context(), utility.Mail{
			ID: "m1", App: "shop", To: make([]mail.Address, 2), CC: make([]mail.Address, 1),
		}))
		require.Equal(t, want, w.o.ObjectStore(letters{want}).Put(t.Context(), utility.StoredFile{
			Key: "shop/c1/private", App: "shop", Channel: "c1", Content: &bytes.Buffer{},
		}))
	}
	require.Equal(t, `send email (producer) botctx.app.id=shop botctx.send.recipients=3 messaging.message.id=m1 messaging.operation.name=send messaging.operation.type=send messaging.system=email
put object (client) botctx.app.id=shop botctx.channel.id=c1 botctx.object_store.operation=put
send email (producer) Error Unavailable botctx.app.id=shop botctx.send.recipients=3 error.type=Unavailable messaging.message.id=m1 messaging.operation.name=send messaging.operation.type=send messaging.system=email
put object (client) Error Unavailable botctx.app.id=shop botctx.channel.id=c1 botctx.object_store.operation=put error.type=Unavailable
`, w.tree())
	require.Equal(t, []string{
		"botctx.object_store.operation.duration botctx.object_store.operation=put error.type=Unavailable: 1, 0s",
		"botctx.object_store.operation.duration botctx.object_store.operation=put: 1, 0s",
	}, named(w.points(), "botctx.object"))
	require.Contains(t, w.points(),
		"messaging.client.sent.messages messaging.operation.name=send messaging.operation.type=send messaging.system=email: 1")
}

func TestMetrics_DurationsInSeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bounds := map[string][]float64{}
	require.NoError(t, second(w.runtime.Operations(w.scope).GetMember(t.Context(), member.GetMemberParams{MemberID: "ada"})))
	for _, m := range w.collect() {
		if data, ok := m.Data.(metricdata.Histogram[float64]); ok {
			require.Equal(t, "s", m.Unit)
			bounds[m.Name] = data.DataPoints[0].Bounds
		}
	}
	require.Equal(t, map[string][]float64{
		"botctx.operation.duration":    {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10},
		"db.client.operation.duration": {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10},
	}, bounds)
}

// Each run's operations and sends are its own, however many run at once.
func TestTrace_RunsAtOnce(t *testing.T) {
	t.Parallel()
	const members, turns = 8, 20
	w := newWorld(t)
	w.runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: bot.Member.ID})
		if err != nil {
			return err
		}
		return bot.Reply(ctx, send.Text("hi"))
	})
	var at sync.WaitGroup
	for i := range members {
		at.Go(func() {
			for range turns {
				err := w.receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
					From: string(rune('a' + i)), Type: send.TypeText, Data: document.O("text", "hi"),
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	at.Wait()
	inTrace := map[string]map[string]int{}
	memberOf := map[string]map[string]bool{}
	for _, span := range w.spans.GetSpans() {
		id := span.SpanContext.TraceID().String()
		if inTrace[id] == nil {
			inTrace[id], memberOf[id] = map[string]int{}, map[string]bool{}
		}
		inTrace[id][span.Name]++
		for _, a := range span.Attributes {
			if a.Key == "enduser.pseudo.id" {
				memberOf[id][a.Value.AsString()] = true
			}
		}
	}
	require.Len(t, inTrace, members*turns)
	for id, spans := range inTrace {
		for _, name := range []string{"process webchat", "getMember", "sendResponse", "send webchat"} {
			require.Equal(t, 1, spans[name], name)
		}
		require.Len(t, memberOf[id], 1)
	}
	require.Contains(t, w.points(), "botctx.operation.duration botctx.channel.type=webchat botctx.operation=getMember: 160, 0s")
}

func TestOperation_WithoutChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, second(w.runtime.Operations(record.Scope{App: "shop"}).GetMember(t.Context(), member.GetMemberParams{MemberID: "ada"})))
	require.Contains(t, w.points(), "botctx.operation.duration botctx.operation=getMember: 1, 0s")
}
