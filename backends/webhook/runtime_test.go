package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// host is an application over a store in memory, with one channel and an address where members
// arrive.
func host(t *testing.T, peer string) (*botctx.Runtime, *httptest.Server) {
	t.Helper()
	store := memstore.New()
	web := newConnector(t, webhook.Config{LoadChannel: webhook.Stored(store), HTTP: loopback(t)})
	rt, err := botctx.New(botctx.Config{Store: store, Connectors: map[channel.Type]send.Connector{channel.Webchat: web}})
	require.NoError(t, err)
	_, err = channel.New(rt.Env(), record.Scope{App: "a1", Channel: "c1"}).Save(t.Context(), webchat(peer))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("POST /inbound", web.Handler(rt.Receive))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return rt, server
}

// post sends what a member writes.
func post(ctx context.Context, t *testing.T, server *httptest.Server, id, text string) int { //nolint:unparam // The id is told where the event is.
	t.Helper()
	return postBody(ctx, t, server, id, inboundBody(text))
}

// postBody sends what arrives.
func postBody(ctx context.Context, t *testing.T, server *httptest.Server, id string, body []byte) int {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/inbound", strings.NewReader(string(body)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	require.NoError(t, webhook.Sign(req.Header, id, time.Now(), body, channel.NewSecret(secret))) //nolint:forbidigo // The server has the real clock.
	resp, err := loopback(t).Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func TestRuntime_BotAnswers(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, `{"messageId":"p1"}`, http.StatusOK)
	rt, server := host(t, peer.URL)
	require.NoError(t, rt.Handle(&botctx.Node{
		ID: "greet", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("hi"),
		Responses: []send.Response{send.Template("Hello {{firstName}}")},
	}))

	require.Equal(t, http.StatusOK, post(t.Context(), t, server, "in_1", "hi"))
	require.Equal(t, http.StatusOK, post(t.Context(), t, server, "in_1", "hi"))

	got := peer.got()
	require.Len(t, got, 1)
	require.Contains(t, string(got[0].body), `"to":"ada"`)
	require.Contains(t, string(got[0].body), `"response":{"type":"TEXT","text":"Hello Ada"}`)
	require.NoError(t, webhook.Verify(got[0].header, got[0].body, time.Now(), tolerance, channel.NewSecret(secret))) //nolint:forbidigo // The sender has the real clock.
}

func TestRuntime_AnswersInTheGroup(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, `{"messageId":"p1"}`, http.StatusOK)
	rt, server := host(t, peer.URL)
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
	})
	body := `{"app":"a1","channel":"c1","messageEvent":{"type":"TEXT","from":"ada","data":{"text":"hi"}},` +
		`"groupExternalId":"family","profile":{"firstName":"Ada"}}`
	require.Equal(t, http.StatusOK, postBody(t.Context(), t, server, "in_1", []byte(body)))
	got := peer.got()
	require.Len(t, got, 1)
	require.Contains(t, string(got[0].body), `"to":"family","response":{"type":"TEXT","text":"Hello Ada"}`)
}

func TestRuntime_PeerIsDown(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusTooManyRequests)
	peer.headers = map[string]string{"Retry-After": "3600"}
	rt, server := host(t, peer.URL)
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Hello")) })
	require.Equal(t, http.StatusTooManyRequests, post(t.Context(), t, server, "in_1", "hi"))
}

// lost is a store that has lost its server, and says what else was wrong.
type lost struct{ store.Store }

func (s lost) Collection(name string) store.Collection {
	return lostCollection{s.Store.Collection(name)}
}

type lostCollection struct{ store.Collection }

func (lostCollection) Find(context.Context, *query.Filter, store.FindOptions) ([]document.Object, error) {
	return nil, boterr.New(boterr.Unavailable, "", "the server is gone after: %w", boterr.Invalid("filter", "does not fit"))
}

func TestRuntime_StoreUnavailable(t *testing.T) {
	t.Parallel()
	connector := newConnector(t, webhook.Config{LoadChannel: loads(webchat("")), Now: clock})
	rt, err := botctx.New(botctx.Config{Store: lost{memstore.New()}})
	require.NoError(t, err)
	rt.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
	status, _ := serve(connector.Handler(rt.Receive), arrives("in_1", now, inboundBody("hi")))
	require.Equal(t, http.StatusServiceUnavailable, status)
}
