// Package chatplatformtest has the harness of the connector in package chatplatform, for tests of wrappers and of the
// suite itself.
package chatplatformtest

import (
	"net/http"
	"testing"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatplatform"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// NewHarness returns a harness whose connector has all ports and keeps every rule. Its channels have the given type.
func NewHarness(tb testing.TB, in channel.Type) *sendtest.Harness {
	tb.Helper()
	platform := chatplatform.New(map[string]string{"token-of-shop": "shop", "token-of-other": "other"}, "group-1")
	server := sendtest.NewServer(tb, platform, nil)
	client := &http.Client{Transport: &http.Transport{}}
	tb.Cleanup(client.CloseIdleConnections)
	with := func(id string) *channel.Channel {
		info := channel.OtherInfo{Hidden: channel.Hide(document.O("token", "token-of-"+id))}
		return &channel.Channel{ID: id, App: "app-1", Type: in, Info: info}
	}
	return &sendtest.Harness{
		Connector: &chatplatform.Connector{URL: server.URL, HTTP: client},
		Channel:   with("shop"), Other: with("other"),
		Members: []*member.Member{{ID: "m1", ExternalID: "ada"}, {ID: "m2", ExternalID: "bob"}},
		Arrived: func() []sendtest.Arrival {
			var arrivals []sendtest.Arrival
			for _, m := range platform.Messages() {
				arrivals = append(arrivals, sendtest.Arrival{
					Channel: m.Channel, To: m.To, Key: m.Key, Text: m.Text, Body: m.Body, IsRecalled: m.IsRecalled,
				})
			}
			return arrivals
		},
		Fail: server.Fail, Group: "group-1",
		Labels: platform.Labels, Tags: platform.Tags, Archived: platform.IsArchived,
		Thread: func(to string) send.ThreadHandover {
			app, metadata := platform.Thread(to)
			return send.ThreadHandover{TargetAppID: app, Metadata: metadata}
		},
	}
}
