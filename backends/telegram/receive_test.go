package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

const hello = `{"update_id":1,"message":{"message_id":7,"date":1700000000,"chat":{"id":501,"type":"private"},` +
	`"from":{"id":501,"is_bot":false,"first_name":"Ada"},"text":"hello"}}`

func TestHandler_LikeAllHandlers(t *testing.T) {
	t.Parallel()
	receiver := connectortest.Receiver{
		Open: func(t *testing.T, lookUp connectortest.LookUp, bodyTime time.Duration) *connectortest.Box {
			t.Helper()
			box := connectortest.NewBox()
			box.Handler = routed(connectortest.New(t, telegram.New, telegram.Config{
				LoadChannel: lookUp.Load(loads(shop())), BodyTime: bodyTime, Drops: box.Drops, Logger: silent(),
			}).Handler(box.Accept))
			return box
		},
		Request: func(ctx context.Context, body string) *http.Request {
			return newUpdate(ctx, shopPath, secretToken, body)
		},
		Report: hello, NoReports: []string{"[]", "{", "null"},
		Forge: func(r *http.Request) { r.Header.Set("X-Telegram-Bot-Api-Secret-Token", "wrong") },
		Forged: func(ctx context.Context) map[string]*http.Request {
			return map[string]*http.Request{
				"wrong secret":    newUpdate(ctx, shopPath, secretToken+"x", hello),
				"no secret":       newUpdate(ctx, shopPath, "", hello),
				"no such channel": newUpdate(ctx, "/telegram/app-1/none", secretToken, hello),
				"another app":     newUpdate(ctx, "/telegram/app-2/shop", secretToken, hello),
			}
		},
		Unusable: map[string]channel.Info{
			"another type": channel.DeltaInfo{},
			"no token":     channel.OtherInfo{Hidden: channel.Hide(document.O("secretToken", secretToken))},
			"no secret":    channel.OtherInfo{Hidden: channel.Hide(document.O("token", token))},
		},
		NotFound:     http.StatusNotFound,
		HasNoOnError: true,
	}
	receiver.Run(t)
}

func TestHandler_SeveralChannelsAtOneAddress(t *testing.T) {
	t.Parallel()
	other := newChannel("shop", "7003:third-secret-of-tests")
	other.App = "app-2"
	config := telegram.Config{LoadChannel: loads(shop(), desk(), other)}
	var a connectortest.Box
	handler := routed(direct(t, http.NotFoundHandler(), config).Handler(a.Accept))
	for _, path := range []string{shopPath, "/telegram/app-1/desk", "/telegram/app-2/shop"} {
		require.Equal(t, http.StatusOK, postUpdate(handler, path, hello).Code)
	}
	var got []string
	for _, event := range a.Got {
		got = append(got, event.App+" "+event.Channel+" "+event.Event.To)
	}
	require.Equal(t, []string{"app-1 shop 7001", "app-1 desk 7002", "app-2 shop 7003"}, got)
}

func TestHandler_FailuresAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	load := loads(shop())
	config := telegram.Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), LoadChannel: func(ctx context.Context, app, id string) (*channel.Channel, error) {
		if id == "down" {
			return nil, boterr.New(boterr.Unavailable, "", "the store does not answer")
		}
		return load(ctx, app, id)
	}}
	a := connectortest.Box{Refuse: func(botctx.Inbound) error { return errors.New("the inbox is broken") }}
	handler := routed(direct(t, http.NotFoundHandler(), config).Handler(a.Accept))
	require.Equal(t, 500, postUpdate(handler, shopPath, hello).Code)
	require.Contains(t, log.String(), "the inbox is broken")
	require.Equal(t, 503, postUpdate(handler, "/telegram/app-1/down", hello).Code)
	require.Contains(t, log.String(), "the store does not answer")
}

// A tap is accepted even if it cannot be acknowledged.
func TestHandler_TapIsAcceptedWithoutTelegram(t *testing.T) {
	t.Parallel()
	var a connectortest.Box
	handler := routed(direct(t, http.NotFoundHandler(), telegram.Config{Logger: silent()}).Handler(a.Accept))
	const tap = `{"update_id":1,"callback_query":{"id":"q","from":{"id":501,"is_bot":false,"first_name":"Ada"},"chat_instance":"c",` +
		`"data":"~yes","message":{"message_id":7,"date":0,"chat":{"id":501,"type":"private"}}}}`
	require.Equal(t, http.StatusOK, postUpdate(handler, shopPath, tap).Code)
	require.Len(t, a.Got, 1)
}

// Telegram gets the answer before the handler calls Telegram.
func TestHandler_AnswersBeforeTheTapIsAcknowledged(t *testing.T) {
	t.Parallel()
	answered, acknowledged := make(chan struct{}), make(chan struct{})
	api := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-answered
		close(acknowledged)
	})
	var a connectortest.Box
	const tap = `{"update_id":1,"callback_query":{"id":"q","from":{"id":501,"is_bot":false,"first_name":"Ada"},"chat_instance":"c","data":"yes"}}`
	url := connectortest.Serve(t, routed(direct(t, api, telegram.Config{Logger: silent()}).Handler(a.Accept)))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+shopPath, strings.NewReader(tap))
	require.NoError(t, err)
	request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secretToken)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	close(answered)
	<-acknowledged
}

func TestSetWebhook_WithSecretAndKinds(t *testing.T) {
	t.Parallel()
	w := newWorld()
	connector := w.start(t)
	require.NoError(t, connector.SetWebhook(t.Context(), shop(), "https://bots.example.com"+shopPath))
	w.Says(token, ada, adaID, "hello")
	var a connectortest.Box
	require.Equal(t, []int{200}, w.Push(t.Context(), token, routed(connector.Handler(a.Accept)), shopPath, 9))
	require.Equal(t, []string{"hello"}, a.Texts())

	without := shop()
	without.Info = channel.OtherInfo{Hidden: channel.Hide(document.O("token", token, "secretToken", "not valid"))}
	err := connector.SetWebhook(t.Context(), without, "https://bots.example.com"+shopPath)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "secretToken")
	require.NoError(t, connector.SetWebhook(t.Context(), without, ""), "it is removed without a secret")
}

// FuzzHandler sends any body with the right secret. The update is accepted or counted, and the status is a
// documented one.
func FuzzHandler(f *testing.F) {
	f.Add(hello)
	for _, body := range []string{
		`{"update_id":1,"callback_query":{"id":"q","from":{"id":1},"data":"[\"a\"","message":{"chat":{"id":-1,"type":"supergroup"}}}}`,
		`{"update_id":1,"message":{"from":{"id":1},"photo":[],"location":{},"contact":[]}}`, `{"update_id":9e99,"x":{}}`, `[]`, ``,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var a connectortest.Box
		drops := &send.Drops{Logger: silent()}
		handler := routed(direct(t, http.NotFoundHandler(), telegram.Config{Drops: drops, Logger: silent()}).Handler(a.Accept))
		status := postUpdate(handler, shopPath, body).Code
		require.Contains(t, []int{200, 400, 413}, status)
		if status != http.StatusRequestEntityTooLarge {
			require.Equal(t, 1, len(a.Got)+len(drops.Counts()))
		}
		a.RequireComplete(t)
	})
}
