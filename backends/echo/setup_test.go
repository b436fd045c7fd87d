package echo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/send"
)

const (
	shopApp, deskApp       = "wx49f0ab532d5d035a", "wx0000000000000001"
	shopSecret, deskSecret = "secret-of-the-shop", "secret-of-the-desk"
	webhookToken           = "word-of-the-shop"
	aesKey                 = "kWxPEV2UEDyxWpmPdKC3F4dgPDmOvfKX1HGnEUDS1aR"
	ada, bob               = "oAda", "oBob"
)

// noon is the time of the tests. It is 23:00 in Beijing, an hour before the daily limit starts again.
func noon() time.Time { return time.Unix(1_700_060_400, 0) }

// shop gets encrypted reports; desk gets plain ones.
func shop() *channel.Channel {
	return &channel.Channel{ID: "shop", App: "app-1", Type: channel.Echo, On: true, Info: channel.EchoInfo{
		AppID: shopApp, Appsecret: channel.NewSecret(shopSecret), BotOpenID: "gh_shop",
		Further: channel.Further{Unknown: channel.Hide(document.O("token", webhookToken, "encodingAESKey", aesKey))},
	}}
}

func desk() *channel.Channel {
	return &channel.Channel{ID: "desk", App: "app-2", Type: channel.Echo, On: true, Info: channel.EchoInfo{
		AppID: deskApp, Appsecret: channel.NewSecret(deskSecret), BotOpenID: "gh_desk",
		Further: channel.Further{Unknown: channel.Hide(document.O("token", "word-of-the-desk"))},
	}}
}

func find(_ context.Context, account string) (*channel.Channel, error) {
	switch account {
	case "gh_shop":
		return shop(), nil
	case "gh_desk":
		return desk(), nil
	default:
		return nil, boterr.New(boterr.NotFound, "", "there is no account %s", account)
	}
}

var (
	shopWebhook = echofake.Webhook{Token: webhookToken, Key: aesKey, AppID: shopApp}
	deskWebhook = echofake.Webhook{Token: "word-of-the-desk"}
)

func newPlatform() *echofake.Platform {
	return echofake.New(map[string]string{shopApp: shopSecret, deskApp: deskSecret}, ada, bob)
}

// files answers every request with a file, unless the path contains gone or large.
type files struct{}

func (files) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status, body := http.StatusOK, io.Reader(strings.NewReader("a file"))
	switch {
	case strings.Contains(r.URL.Path, "gone"):
		status = http.StatusNotFound
	case strings.Contains(r.URL.Path, "large"):
		body = io.LimitReader(endless{}, 11<<20)
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(body)}, nil
}

// endless is a reader that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func newConnector(t *testing.T, config echo.Config) *echo.Connector {
	t.Helper()
	if config.Now == nil {
		config.Now = noon
	}
	if config.Files == nil {
		config.Files = files{}
	}
	connector, err := echo.New(config)
	require.NoError(t, err)
	return connector
}

// directly is an HTTP client's transport that calls a handler without a network.
type directly struct{ http.Handler }

func (d directly) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	return answer.Result(), nil
}

func over(t *testing.T, platform http.Handler) *echo.Connector {
	t.Helper()
	return newConnector(t, echo.Config{HTTPClient: &http.Client{Transport: directly{platform}}})
}

// toAda returns a message from the shop to Ada.
func toAda(response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: shop(), To: ada, Response: response}
}

// box collects the events that a handler accepts.
type box struct {
	http.Handler

	drops *send.Drops
	mu    sync.Mutex
	got   []botctx.Inbound
	// refuse, if set, returns an error for an event that is not to be accepted.
	refuse func(botctx.Inbound) error
	errs   []error
}

func newBox(t *testing.T, find func(context.Context, string) (*channel.Channel, error)) *box {
	t.Helper()
	b := &box{drops: &send.Drops{}}
	mux := http.NewServeMux()
	mux.Handle("/echo/{account}", newConnector(t, echo.Config{
		FindChannel: find, Drops: b.drops, OnError: func(_ context.Context, _ botctx.Inbound, err error) { b.errs = append(b.errs, err) },
	}).Handler(func(_ context.Context, inbound botctx.Inbound) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.refuse != nil {
			if err := b.refuse(inbound); err != nil {
				return err
			}
		}
		b.got = append(b.got, inbound)
		return nil
	}))
	b.Handler = mux
	return b
}

func (b *box) ask(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	b.ServeHTTP(answer, r)
	return answer
}

func (b *box) dropped(kind string, reason send.DropReason) int64 {
	for _, count := range b.drops.Counts() {
		if count.Kind == kind && count.Reason == reason {
			return count.Count
		}
	}
	return 0
}
