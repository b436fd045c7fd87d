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
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// taking calls the method Accept or Receive of a Runtime.
type taking func(*botctx.Runtime, context.Context, botctx.Inbound) error

// host returns a runtime with one channel, and a server for inbound requests. peer receives the bot's messages.
func host(t *testing.T, peer string, by taking) (*botctx.Runtime, *httptest.Server) {
	t.Helper()
	store := memstore.New()
	web := newConnector(t, webhook.Config{LoadChannel: webhook.Stored(store), HTTP: loopback(t)})
	rt, err := botctx.New(botctx.Config{Store: store, Connectors: map[channel.Type]send.Connector{channel.Webchat: web}})
	require.NoError(t, err)
	_, err = channels.New(rt.Env(), record.Scope{App: "a1", Channel: "c1"}).Save(t.Context(), webchat(peer))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("POST /inbound", web.Handler(func(ctx context.Context, arrived botctx.Inbound) error { return by(rt, ctx, arrived) }))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return rt, server
}

// runAll runs all accepted events and returns their number.
func runAll(t *testing.T, rt *botctx.Runtime) (runs int) {
	t.Helper()
	for ; ; runs++ {
		result, err := rt.RunNextEvent(t.Context())
		require.NoError(t, err)
		if !result.Ran {
			return runs
		}
		require.NoError(t, result.Err)
	}
}

// post sends a member's text.
func post(ctx context.Context, t *testing.T, server *httptest.Server, id, text string) int {
	t.Helper()
	return postBody(ctx, t, server, id, inboundBody(text))
}

// postBody sends a signed request and returns the status of the response.
func postBody(ctx context.Context, t *testing.T, server *httptest.Server, id string, body []byte) int {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/inbound", strings.NewReader(string(body)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	require.NoError(t, webhook.Sign(req.Header, id, time.Now(), body, channel.NewSecret(secret))) //nolint:forbidigo // The server uses the real clock.
	resp, err := loopback(t).Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func TestRuntime_BotAnswers(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, `{"messageId":"p1"}`, http.StatusOK)
	rt, server := host(t, peer.URL, (*botctx.Runtime).Accept)
	require.NoError(t, rt.Handle(&botctx.Node{
		ID: "greet", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("hi"),
		Responses: []send.Response{send.Template("Hello {{firstName}}")},
	}))

	require.Equal(t, http.StatusOK, post(t.Context(), t, server, "in_1", "hi"))
	require.Empty(t, peer.got(), "it is answered when it is kept")
	require.Equal(t, 1, runAll(t, rt))

	got := peer.got()
	require.Len(t, got, 1)
	require.Contains(t, string(got[0].body), `"to":"ada"`)
	require.Contains(t, string(got[0].body), `"response":{"type":"TEXT","text":"Hello Ada"}`)
	require.NoError(t, webhook.Verify(got[0].header, got[0].body, time.Now(), tolerance, channel.NewSecret(secret))) //nolint:forbidigo // The sender uses the real clock.
}

func TestRuntime_AnswersInTheGroup(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, `{"messageId":"p1"}`, http.StatusOK)
	rt, server := host(t, peer.URL, (*botctx.Runtime).Accept)
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
	})
	body := `{"app":"a1","channel":"c1","messageEvent":{"type":"TEXT","from":"ada","data":{"text":"hi"}},` +
		`"groupExternalId":"family","profile":{"firstName":"Ada"}}`
	require.Equal(t, http.StatusOK, postBody(t.Context(), t, server, "in_1", []byte(body)))
	require.Equal(t, 1, runAll(t, rt))
	got := peer.got()
	require.Len(t, got, 1)
	require.Contains(t, string(got[0].body), `"to":"family","response":{"type":"TEXT","text":"Hello Ada"}`)
}

func TestRuntime_PeerIsDown(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusTooManyRequests)
	peer.headers = map[string]string{"Retry-After": "3600"}
	rt, server := host(t, peer.URL, (*botctx.Runtime).Receive)
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Hello")) })
	require.Equal(t, http.StatusServiceUnavailable, post(t.Context(), t, server, "in_1", "hi"))
}

// lost is a store whose connection is lost. Its errors have further text, which must not reach the sender.
type lost struct{ store.Store }

func (s lost) Collection(name string) store.Collection {
	return lostCollection{s.Store.Collection(name)}
}

type lostCollection struct{ store.Collection }

func (lostCollection) Get(context.Context, any) (document.Object, bool, error) {
	return document.Object{}, false, boterr.New(boterr.Unavailable, "", "the server is gone after: %w", boterr.Invalid("filter", "does not fit"))
}

func (lostCollection) Find(context.Context, *query.Filter, store.FindOptions) ([]document.Object, error) {
	return nil, boterr.New(boterr.Unavailable, "", "the server is gone after: %w", boterr.Invalid("filter", "does not fit"))
}

func (lostCollection) Count(context.Context, *query.Filter) (int64, error) {
	return 0, boterr.New(boterr.Unavailable, "", "the server is gone")
}

func TestRuntime_StoreUnavailable(t *testing.T) {
	t.Parallel()
	connector := newConnector(t, webhook.Config{LoadChannel: loads(webchat("")), Now: clock})
	rt, err := botctx.New(botctx.Config{Store: lost{memstore.New()}})
	require.NoError(t, err)
	rt.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
	for name, take := range map[string]func(context.Context, botctx.Inbound) error{"accept": rt.Accept, "receive": rt.Receive} {
		status, _ := serve(connector.Handler(take), arrives("in_1", now, inboundBody("hi")))
		require.Equal(t, http.StatusServiceUnavailable, status, name)
	}
}
