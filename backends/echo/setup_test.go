package echo_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
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

var find = connectortest.Known(map[string]*channel.Channel{"gh_shop": shop(), "gh_desk": desk()})

var (
	shopWebhook = echofake.Webhook{Token: webhookToken, Key: aesKey, AppID: shopApp}
	deskWebhook = echofake.Webhook{Token: "word-of-the-desk"}
)

func newPlatform() *echofake.Platform {
	return echofake.New(map[string]string{shopApp: shopSecret, deskApp: deskSecret}, ada, bob)
}

// files answers every request with a file, unless the path contains gone, busy or large.
type files struct{}

func (files) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status, body := http.StatusOK, io.Reader(strings.NewReader("a file"))
	switch {
	case strings.Contains(r.URL.Path, "gone"):
		status = http.StatusNotFound
	case strings.Contains(r.URL.Path, "busy"):
		status = http.StatusServiceUnavailable
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
	return connectortest.New(t, echo.New, config)
}

func over(t *testing.T, platform http.Handler) *echo.Connector {
	t.Helper()
	return newConnector(t, echo.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}})
}

// toAda returns a message from the shop to Ada.
func toAda(response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: shop(), To: ada, Response: response}
}

func newBox(t *testing.T, find func(context.Context, string) (*channel.Channel, error)) *connectortest.Box {
	t.Helper()
	return timedBox(t, find, 0)
}

// timedBox is newBox with a time limit for bodies.
func timedBox(t *testing.T, find func(context.Context, string) (*channel.Channel, error), bodyTime time.Duration) *connectortest.Box {
	t.Helper()
	b := connectortest.NewBox()
	b.Handler = routed(newConnector(t, echo.Config{
		FindChannel: find, BodyTime: bodyTime, Drops: b.Drops, OnError: b.OnError,
	}).Handler(b.Accept))
	return b
}

func routed(handler http.Handler) http.Handler {
	return connectortest.Routed("/echo/{account}", handler)
}
