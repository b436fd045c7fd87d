package foxtrot_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
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

func find(_ context.Context, account string) (*channel.Channel, error) {
	switch account {
	case "desk":
		return desk(), nil
	case "tickets":
		return tickets(), nil
	default:
		return nil, boterr.New(boterr.NotFound, "", "there is no account %s", account)
	}
}

func noon() time.Time { return time.Unix(1_772_359_200, 0) }

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

func newConnector(t *testing.T, config foxtrot.Config) *foxtrot.Connector {
	t.Helper()
	if config.Now == nil {
		config.Now = noon
	}
	connector, err := foxtrot.New(config)
	require.NoError(t, err)
	return connector
}

// over returns a connector that sends its requests to a handler.
func over(t *testing.T, platform http.Handler) *foxtrot.Connector {
	t.Helper()
	return newConnector(t, foxtrot.Config{HTTPClient: &http.Client{Transport: directly{platform}}})
}

func message(in *channel.Channel, to string, response send.Response) send.Message {
	return send.Message{ID: "send-1", Channel: in, To: to, Response: response}
}

// box collects the events that a handler accepts.
type box struct {
	http.Handler

	drops *send.Drops
	got   []botctx.Inbound
	// refuse, if set, returns an error for an event that is not to be accepted.
	refuse func(botctx.Inbound) error
	errs   []error
}

func newBox(t *testing.T, find func(context.Context, string) (*channel.Channel, error)) *box {
	t.Helper()
	b := &box{drops: &send.Drops{}}
	mux := http.NewServeMux()
	mux.Handle("/foxtrot/{account}", newConnector(t, foxtrot.Config{
		FindChannel: find, Drops: b.drops, OnError: func(_ context.Context, _ botctx.Inbound, err error) { b.errs = append(b.errs, err) },
	}).Handler(func(_ context.Context, inbound botctx.Inbound) error {
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

// report posts a report about the desk's conversations, and returns the status.
func (b *box) report(ctx context.Context, body []byte) int {
	return b.ask(foxtrotfake.Post(ctx, "/foxtrot/desk", webhookSecret, body)).Code
}

func (b *box) dropped(kind string, reason send.DropReason) int64 {
	for _, count := range b.drops.Counts() {
		if count.Kind == kind && count.Reason == reason {
			return count.Count
		}
	}
	return 0
}
