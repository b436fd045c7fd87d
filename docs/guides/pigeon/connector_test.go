package pigeon_test

import (
	"testing"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/docs/guides/pigeon"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, newHarness)
}

// newHarness returns a new Pigeon and the connector to it.
func newHarness(t *testing.T) *sendtest.Harness {
	t.Helper()
	p := &platform{channels: map[string]string{"token-of-shop": "shop", "token-of-desk": "desk"}}
	server := sendtest.NewServer(t, p, nil)
	return &sendtest.Harness{
		Connector: pigeon.New(server.URL),
		Channel:   newChannel("shop"),
		Other:     newChannel("desk"),
		Members:   []*member.Member{{ID: "m1", ExternalID: "ada"}, {ID: "m2", ExternalID: "bob"}},
		Arrived:   p.arrived,
		Fail:      server.Fail,
		Odd:       func() []sendtest.Reception { return odd(t) },
	}
}

// newChannel returns a channel with credentials.
func newChannel(id string) *channel.Channel {
	return &channel.Channel{ID: id, App: "app-1", Type: pigeon.Type, On: true, Info: channel.OtherInfo{
		Hidden: channel.Hide(document.O("token", "token-of-"+id, "signingSecret", "secret-of-"+id)),
	}}
}
