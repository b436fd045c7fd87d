package alpha_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
)

const (
	token       = "EAAtoken-of-the-shop"
	otherToken  = "EAAtoken-of-the-desk"
	appSecret   = "secret-of-the-application"
	ownSecret   = "secret-of-the-desks-own-application"
	verifyToken = "word-of-the-host"
	ownWord     = "word-of-the-desk"
	memberID    = "100"
)

// shop has the page 1900 and uses the host's application; desk has the page 1901 and its own.
func shop() *channel.Channel {
	return &channel.Channel{ID: "shop", App: "app-1", Type: channel.Alpha, On: true, Info: channel.AlphaInfo{
		AccessToken: channel.NewSecret(token), PageID: "1900", AlphaCommentReply: true,
	}}
}

func desk() *channel.Channel {
	return &channel.Channel{ID: "desk", App: "app-2", Type: channel.Alpha, On: true, Info: channel.AlphaInfo{
		AccessToken: channel.NewSecret(otherToken), PageID: "1901", CustomApp: true,
		Further: channel.Further{Unknown: channel.Hide(document.O("appSecret", ownSecret, "verifyToken", ownWord, "appId", "16"))},
	}}
}

var find = connectortest.Known(map[string]*channel.Channel{"1900": shop(), "1901": desk()})

func newPlatform() *alphafake.Platform {
	p := alphafake.New(map[string]string{token: "1900", otherToken: "1901"}, "100", "101")
	for _, page := range []string{"1900", "1901"} {
		p.AddLabel(page, 7001, "vip")
	}
	return p
}

func over(t *testing.T, handler http.Handler) *alpha.Connector {
	t.Helper()
	return connectortest.New(t, alpha.New, alpha.Config{APIURL: connectortest.Serve(t, handler) + "/v23.0", AppSecret: channel.NewSecret(appSecret)})
}

func to(member string, response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: shop(), To: member, Response: response}
}

// box is a handler and its accepted events.
type box struct{ *connectortest.Box }

func newBox(t *testing.T, find func(context.Context, string) (*channel.Channel, error)) *box {
	t.Helper()
	return timedBox(t, find, 0)
}

// timedBox is newBox with a time limit for bodies.
func timedBox(t *testing.T, find func(context.Context, string) (*channel.Channel, error), bodyTime time.Duration) *box {
	t.Helper()
	b := &box{connectortest.NewBox()}
	b.Handler = connectortest.New(t, alpha.New, alpha.Config{
		FindChannel: find, BodyTime: bodyTime, AppSecret: channel.NewSecret(appSecret), VerifyToken: channel.NewSecret(verifyToken), AppID: "15",
		Drops: b.Drops, OnError: b.OnError,
	}).Handler(b.Accept)
	return b
}

// report posts a signed body to the handler and returns the status.
func (b *box) report(ctx context.Context, secret, body string) int {
	return b.Ask(graphtest.Report(ctx, "/alpha", secret, []byte(body))).Code
}
