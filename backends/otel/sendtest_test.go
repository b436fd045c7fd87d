package otel_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatplatform"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// A connector that is reported of is one, too, with the ports of the one within.
func TestConnectors_KeepTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		platform := chatplatform.New(map[string]string{"token-of-shop": "shop", "token-of-other": "other"}, "group-1")
		server := sendtest.NewServer(t, platform, nil)
		client := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(client.CloseIdleConnections)
		return &sendtest.Harness{
			Connector: reportedOf(t, &chatplatform.Connector{URL: server.URL, HTTP: client}),
			Channel:   withToken("shop"), Other: withToken("other"),
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
	})
}

// What a connector does not offer, none around it does.
func TestConnectors_OfferNoPortThatIsNotThere(t *testing.T) {
	t.Parallel()
	plain := reportedOf(t, struct{ send.Connector }{&chatplatform.Connector{}})
	_, labels := send.PortOf[send.Labeler](plain)
	_, batches := send.PortOf[send.BatchSender](plain)
	_, groups := send.PortOf[livechat.GroupCreator](plain)
	require.False(t, labels || batches || groups)
}

// reportedOf returns a connector to webchats that is reported of.
func reportedOf(t *testing.T, inner send.Connector) send.Connector {
	t.Helper()
	o, err := otel.New(otel.Config{})
	require.NoError(t, err)
	return o.Connectors(map[channel.Type]send.Connector{channel.Webchat: inner})[channel.Webchat]
}

// withToken returns a channel of the made-up platform.
func withToken(id string) *channel.Channel {
	info := channel.OtherInfo{Hidden: channel.Hide(document.O("token", "token-of-"+id))}
	return &channel.Channel{ID: id, App: "app-1", Type: channel.Webchat, Info: info}
}
