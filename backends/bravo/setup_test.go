package bravo_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bravofake"
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
	ada         = "16505551234"
	bob         = "16505551235"
	shopNumber  = "106540352242922"
	deskNumber  = "106540352242923"
	groupID     = "Y2FwaV9ncm91cDoxODA1NTU1"
)

// shop uses the host's application; desk has another number and its own application.
func shop() *channel.Channel {
	return &channel.Channel{ID: "shop", App: "app-1", Type: channel.Bravo, On: true, Info: channel.BravoInfo{
		AdminAuthToken: channel.NewSecret(token), WaID: shopNumber,
	}}
}

func desk() *channel.Channel {
	return &channel.Channel{ID: "desk", App: "app-2", Type: channel.Bravo, On: true, Info: channel.BravoInfo{
		AdminAuthToken: channel.NewSecret(otherToken), WaID: deskNumber, CustomApp: true,
		Further: channel.Further{Unknown: channel.Hide(document.O("appSecret", ownSecret, "verifyToken", "word-of-the-desk"))},
	}}
}

var find = connectortest.Known(map[string]*channel.Channel{shopNumber: shop(), deskNumber: desk()})

func newPlatform() *bravofake.Platform {
	p := bravofake.New(map[string]string{token: shopNumber, otherToken: deskNumber}, ada, bob)
	p.AddGroup(shopNumber, groupID, "a group")
	return p
}

// over returns a connector whose requests go to a handler. Its CreateGroup waits only briefly.
func over(t *testing.T, handler http.Handler) *bravo.Connector {
	t.Helper()
	return connectortest.New(t, bravo.New, bravo.Config{
		HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: handler}}, AppSecret: channel.NewSecret(appSecret), GroupTimeout: 3 * time.Second,
	})
}

func to(recipient string, response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: shop(), To: recipient, Response: response}
}

// box is a handler and its accepted events.
type box struct{ *connectortest.Box }

func newBox(t *testing.T) *box {
	t.Helper()
	b := &box{connectortest.NewBox()}
	b.Handler = connectortest.New(t, bravo.New, bravo.Config{
		FindChannel: find, AppSecret: channel.NewSecret(appSecret), VerifyToken: channel.NewSecret(verifyToken), Drops: b.Drops,
	}).Handler(b.Accept)
	return b
}

// report posts a signed body to the handler and returns the status.
func (b *box) report(ctx context.Context, secret string, body []byte) int {
	return b.Ask(graphtest.Report(ctx, "/bravo", secret, body)).Code
}
