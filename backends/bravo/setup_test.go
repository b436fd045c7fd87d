package bravo_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bravofake"
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

func find(_ context.Context, number string) (*channel.Channel, error) {
	switch number {
	case shopNumber:
		return shop(), nil
	case deskNumber:
		return desk(), nil
	default:
		return nil, boterr.New(boterr.NotFound, "", "there is no number %s", number)
	}
}

func newPlatform() *bravofake.Platform {
	p := bravofake.New(map[string]string{token: shopNumber, otherToken: deskNumber}, ada, bob)
	p.AddGroup(shopNumber, groupID, "a group")
	return p
}

func newConnector(t *testing.T, config bravo.Config) *bravo.Connector {
	t.Helper()
	connector, err := bravo.New(config)
	require.NoError(t, err)
	return connector
}

// directly is an HTTP client's transport that calls a handler without a network.
type directly struct{ http.Handler }

func (d directly) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	return answer.Result(), r.Context().Err()
}

// over returns a connector that sends its requests to a handler and hardly waits for groups.
func over(t *testing.T, handler http.Handler) *bravo.Connector {
	t.Helper()
	return newConnector(t, bravo.Config{
		HTTPClient: &http.Client{Transport: directly{handler}}, AppSecret: channel.NewSecret(appSecret), GroupTimeout: 3 * time.Second,
	})
}

func to(recipient string, response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: shop(), To: recipient, Response: response}
}

// box collects the events that a handler accepts.
type box struct {
	http.Handler

	drops *send.Drops
	mu    sync.Mutex
	got   []botctx.Inbound
}

func newBox(t *testing.T) *box {
	t.Helper()
	b := &box{drops: &send.Drops{}}
	b.Handler = newConnector(t, bravo.Config{
		FindChannel: find, AppSecret: channel.NewSecret(appSecret), VerifyToken: channel.NewSecret(verifyToken), Drops: b.drops,
	}).Handler(func(_ context.Context, inbound botctx.Inbound) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.got = append(b.got, inbound)
		return nil
	})
	return b
}

// report posts a signed body to the handler and returns the status.
func (b *box) report(ctx context.Context, secret string, body []byte) int {
	answer := httptest.NewRecorder()
	b.ServeHTTP(answer, graphtest.Report(ctx, "/bravo", secret, body))
	return answer.Code
}

// data reads a file of the platforms' recorded data, or skips the test.
func data(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "platforms", "bravo", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("needs the platform's data (%s), which is not next to this repository", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}
