package botctx

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatplatform"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// A boundedConnector passes the conformance suite, and has the same ports as the wrapped connector.
func TestBoundedConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		platform := chatplatform.New(map[string]string{"token-of-shop": "shop", "token-of-other": "other"}, "group-1")
		server := sendtest.NewServer(t, platform, nil)
		client := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(client.CloseIdleConnections)
		with := func(id string) *channel.Channel {
			info := channel.OtherInfo{Hidden: channel.Hide(document.O("token", "token-of-"+id))}
			return &channel.Channel{ID: id, App: "app-1", Type: channel.Webchat, Info: info}
		}
		return &sendtest.Harness{
			Connector: bounded(&chatplatform.Connector{URL: server.URL, HTTP: client}),
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
	})
}

// bounded returns a webchat connector with a time limit.
func bounded(inner send.Connector) send.Connector {
	config := Config{MaxSend: time.Minute, Connectors: send.Connectors{channel.Webchat: inner}}
	return config.boundedConnectors()[channel.Webchat]
}

// taker is a connector that accepts everything at once.
type taker struct{}

func (taker) Send(ctx context.Context, _ send.Message) (send.Delivery, error) {
	return send.Delivery{}, ctx.Err()
}

// A limit costs one small allocation if nothing waits for Done.
//
//nolint:paralleltest // Concurrent tests would add their allocations.
func TestBoundedConnector_Allocates(t *testing.T) {
	connector := bounded(taker{})
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		_, _ = connector.Send(t.Context(), send.Message{})
	}), 1.0)
}
