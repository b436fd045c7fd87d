package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/botctx/go-sdk/outbound"
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
	return process(t, memstore.New(), peer, by)
}

// process does the same as host for a given store.
func process(t *testing.T, store store.Store, peer string, by taking) (*botctx.Runtime, *httptest.Server) {
	t.Helper()
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
func post(ctx context.Context, t *testing.T, server *httptest.Server, id, text string) int { //nolint:unparam // Calls are clearer with the id.
	t.Helper()
	return postBody(ctx, t, server, id, inboundBody(text))
}

func postBody(ctx context.Context, t *testing.T, server *httptest.Server, id string, body []byte) int {
	t.Helper()
	status, err := deliver(ctx, loopback(t), server.URL, id, body)
	require.NoError(t, err)
	return status
}

// deliver sends a signed request and returns the status of the response.
func deliver(ctx context.Context, client *outbound.Client, url, id string, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/inbound", strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if err := webhook.Sign(req.Header, id, time.Now(), body, channel.NewSecret(secret)); err != nil { //nolint:forbidigo // The server uses the real clock.
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
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

func TestRuntime_RepetitionRunsOnceInAnyProcess(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusOK)
	shared := memstore.New()
	tap := []byte(`{"app":"a1","channel":"c1","messageEvent":{"type":"PAYLOAD","from":"ada","data":{"payload":"book"}}}`)
	for turn := range 2 {
		rt, server := process(t, shared, peer.URL, (*botctx.Runtime).Accept)
		rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("booked")) })
		for range 2 {
			require.Equal(t, http.StatusOK, postBody(t.Context(), t, server, "in_1", tap))
			require.Equal(t, http.StatusOK, post(t.Context(), t, server, "in_2", "hi"))
		}
		require.Equal(t, 2*(1-turn), runAll(t, rt), "the second process knows them from the store")
	}
	require.Len(t, peer.got(), 2)
}

func TestRuntime_TooManyWait(t *testing.T) {
	t.Parallel()
	connector := newConnector(t, webhook.Config{LoadChannel: loads(webchat("")), Now: clock})
	rt, err := botctx.New(botctx.Config{Store: memstore.New(), Inbox: botctx.InboxOptions{MaxPending: 1}, LoadChannel: loads(webchat(""))})
	require.NoError(t, err)
	rt.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
	handler := connector.Handler(rt.Accept)
	status, _ := serve(handler, arrives("in_1", now, inboundBody("hi")))
	require.Equal(t, http.StatusOK, status)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, arrives("in_2", now, inboundBody("hi")))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Equal(t, 1, runAll(t, rt))
	status, _ = serve(handler, arrives("in_2", now, inboundBody("hi")))
	require.Equal(t, http.StatusOK, status, "once there is room")
}

// Ten members post at once. Each member waits for a response before the next message, and posts each message
// twice, as if the first response had been lost.
func TestRuntime_OrderOfEachMember(t *testing.T) {
	t.Parallel()
	const members, messages = 10, 20
	rt, server := host(t, "https://example.com", (*botctx.Runtime).Accept)
	var lock sync.Mutex
	heard := map[string][]string{}
	rt.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		lock.Lock()
		defer lock.Unlock()
		heard[bot.Member.ExternalID] = append(heard[bot.Member.ExternalID], bot.MessageEvent.Text())
		return nil
	})
	end := runUntilHandled(t, rt)
	client := loopback(t)
	var posting sync.WaitGroup
	for m := range members {
		posting.Go(func() {
			for i := range messages {
				body := strings.Replace(string(inboundBody(strconv.Itoa(i))), `"ada"`, fmt.Sprintf(`"ada%d"`, m), 1)
				for range 2 {
					if status, err := deliver(t.Context(), client, server.URL, fmt.Sprintf("in_%d_%d", m, i), []byte(body)); status != http.StatusOK {
						t.Errorf("answered %d: %v", status, err)
					}
				}
			}
		})
	}
	posting.Wait()
	end()
	require.Len(t, heard, members)
	for of, texts := range heard {
		require.Len(t, texts, messages, of)
		for i, text := range texts {
			require.Equal(t, strconv.Itoa(i), text, of)
		}
	}
}

// One member posts all messages at once, each twice. Each runs once, and they run one at a time.
func TestRuntime_OneMemberPostsAtOnce(t *testing.T) {
	t.Parallel()
	const messages = 30
	rt, server := host(t, "https://example.com", (*botctx.Runtime).Accept)
	var inside, most atomic.Int64
	var lock sync.Mutex
	heard := map[string]int{}
	rt.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		now := inside.Add(1)
		defer inside.Add(-1)
		lock.Lock()
		defer lock.Unlock()
		most.Store(max(most.Load(), now))
		heard[bot.MessageEvent.Text()]++
		return nil
	})
	end := runUntilHandled(t, rt)
	client := loopback(t)
	var posting sync.WaitGroup
	for i := range messages {
		for range 2 {
			posting.Go(func() {
				id := fmt.Sprintf("in_%d", i)
				if status, err := deliver(t.Context(), client, server.URL, id, inboundBody(id)); status != http.StatusOK {
					t.Errorf("answered %d: %v", status, err)
				}
			})
		}
	}
	posting.Wait()
	end()
	require.Len(t, heard, messages)
	for id, times := range heard {
		require.Equal(t, 1, times, id)
	}
	require.EqualValues(t, 1, most.Load(), "one at a time")
}

// runUntilHandled starts rt. end waits until all accepted events are handled, and stops it.
func runUntilHandled(t *testing.T, rt *botctx.Runtime) (end func()) {
	t.Helper()
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(running) }()
	return func() {
		t.Helper()
		awaitNothingPending(t, rt)
		stop()
		require.NoError(t, <-ended)
	}
}

func awaitNothingPending(t *testing.T, rt *botctx.Runtime) {
	t.Helper()
	require.Eventually(t, func() bool {
		waiting, err := rt.InboxStats(t.Context())
		return err == nil && waiting.Pending == 0
	}, time.Minute, time.Millisecond)
}

// silentStore is a store whose inserts block until their context ends.
type silentStore struct{ store.Store }

func (s silentStore) Collection(name string) store.Collection {
	if name != "inbox" {
		return s.Store.Collection(name)
	}
	return silentCollection{s.Store.Collection(name)}
}

type silentCollection struct{ store.Collection }

func (silentCollection) Insert(ctx context.Context, _ ...document.Object) error {
	<-ctx.Done()
	return boterr.New(boterr.Canceled, "", "%w", context.Cause(ctx))
}

func TestRuntime_StoreThatDoesNotAnswerIs503(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	web := newConnector(t, webhook.Config{LoadChannel: webhook.Stored(database), HTTP: loopback(t)})
	rt, err := botctx.New(botctx.Config{Store: silentStore{database}, Inbox: botctx.InboxOptions{AcceptTimeout: time.Millisecond}})
	require.NoError(t, err)
	_, err = channels.New(rt.Env(), record.Scope{App: "a1", Channel: "c1"}).Save(t.Context(), webchat("https://example.com"))
	require.NoError(t, err)
	server := httptest.NewServer(web.Handler(rt.Accept))
	t.Cleanup(server.Close)
	status, err := deliver(t.Context(), loopback(t), server.URL, "in_1", inboundBody("hi"))
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, status)
}
