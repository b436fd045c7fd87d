package foxtrot_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/send"
)

const (
	deskApp       = "app-desk"
	keySecret     = "secret-of-the-key"
	otherSecret   = "secret-of-the-other-key"
	apiToken      = "token-of-the-agent"
	webhookSecret = "secret-of-the-webhook"
	support       = "support" // The id of the broadcast group.
	ada, bob      = "cnvada", "cnvbob"
)

// accounts maps the helpdesk's credentials to their applications.
func accounts() map[string]string {
	return map[string]string{
		"key:" + keySecret: deskApp, "other:" + otherSecret: deskApp,
		"grace@desk/token:" + apiToken: "", "hedy@desk/token:another-token": "",
	}
}

func newPlatform() *foxtrotfake.Platform {
	return foxtrotfake.New(accounts())
}

// desk and shop have conversations, with two keys of one application. tickets has tickets.
func desk() *channel.Channel {
	return account("desk", document.O("appId", deskApp, "keyId", "key", "keySecret", keySecret))
}

func shop() *channel.Channel {
	return account("shop", document.O("appId", deskApp, "keyId", "other", "keySecret", otherSecret))
}

func tickets() *channel.Channel {
	return account("tickets", document.O("email", "grace@desk", "apiToken", apiToken, "agentId", "77"))
}

func account(id string, info document.Object) *channel.Channel {
	return &channel.Channel{
		ID: id, App: "app-1", Type: channel.Foxtrot, On: true,
		Info: channel.OtherInfo{Hidden: channel.Hide(info.With("webhookSecret", webhookSecret).With("baseUrl", "https://desk.test"))},
		BroadcastGroups: []channel.BroadcastGroup{{
			Label: "default", Groups: []channel.BroadcastGroupMember{{ID: support, Type: "foxtrot"}, {ID: "360", Type: "foxtrot"}},
		}},
	}
}

// at returns the channel with another address of the helpdesk.
func at(address string, in *channel.Channel) *channel.Channel {
	info := in.Info.(channel.OtherInfo).Reveal()
	in.Info = channel.OtherInfo{Hidden: channel.Hide(info.With("baseUrl", address))}
	return in
}

var find = connectortest.Known(map[string]*channel.Channel{"desk": desk(), "tickets": tickets()})

func noon() time.Time { return time.Unix(1_772_359_200, 0) }

func newConnector(t *testing.T, config foxtrot.Config) *foxtrot.Connector {
	t.Helper()
	if config.Now == nil {
		config.Now = noon
	}
	return connectortest.New(t, foxtrot.New, config)
}

// over returns a connector that sends its requests to a handler.
func over(t *testing.T, platform http.Handler) *foxtrot.Connector {
	t.Helper()
	return newConnector(t, foxtrot.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}})
}

func message(in *channel.Channel, to string, response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: in, To: to, Response: response}
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
	b.Handler = routed(newConnector(t, foxtrot.Config{
		FindChannel: find, BodyTime: bodyTime, Drops: b.Drops, OnError: b.OnError,
	}).Handler(b.Accept))
	return b
}

// report gives the handler a report about the desk's conversations, and returns the status.
func (b *box) report(ctx context.Context, body []byte) int {
	return b.Ask(foxtrotfake.Post(ctx, "/foxtrot/desk", webhookSecret, body)).Code
}

func routed(handler http.Handler) http.Handler {
	return connectortest.Routed("/foxtrot/{account}", handler)
}
