package hotel_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// Agents tap on tickets in a team, and answer in the conversation with the bot.
func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, newOutlet)
}

func newOutlet(t *testing.T) *livechattest.Harness {
	t.Helper()
	platform, in, agents := newPlatform(), channelOf(deskApp()), [2]string{adaID, bobID}
	in.BroadcastGroups = connectortest.Tickets(teamID)
	report := func(agent int, group string, fields document.Object) connectortest.Report {
		activity := platform.Activity(deskApp(), agents[agent], group, fields)
		return func(ctx context.Context) *http.Request { return platform.Report(ctx, "/hotel", deskApp().ID, activity) }
	}
	return connectortest.Outlet{
		Platform: platform, Channel: in, Agents: agents,
		Connect: func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler) {
			config := configFor("http://hotel.test", platform)
			config.HTTPClient = client
			config.FindChannel = func(ctx context.Context, _ hotel.Bot) (*channel.Channel, error) {
				return h.LoadChannel(ctx, livechattest.App, in.ID)
			}
			connector := newConnector(t, config)
			handler := connector.Handler(h.Accept)
			return connector, handler
		},
		Posted: func() (all []connectortest.Posted) {
			for _, sent := range platform.Messages() {
				one := connectortest.Posted{To: sent.To, ID: sent.ID, Text: sent.Text()}
				for _, action := range sent.Actions() {
					one.Tap = func(agent int) connectortest.Report {
						return report(agent, teamID+";messageid="+sent.ID, document.O(
							"value", document.Get(action, "data", document.O()), "replyToId", sent.ID,
						))
					}
				}
				all = append(all, one)
			}
			return all
		},
		Says: func(agent int, _, text string) connectortest.Report {
			return report(agent, "", document.O("text", text))
		},
		SendsFile: func(agent int, _, url string) connectortest.Report {
			return report(agent, "", document.O("attachments", document.A(document.O("contentType", "application/pdf", "contentUrl", url))))
		},
	}.Harness(t)
}

func TestExplore_ActivitiesUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := through(t, platform, platform)
		activity := platform.Activity(shopApp(), adaID, "", document.O("text", "a kettle"))
		return connectortest.Platform{
			Connector: connector, Handler: connector.Handler,
			Reports: connectortest.Once(func(ctx context.Context) *http.Request {
				return platform.Report(ctx, "/hotel", shopApp().ID, activity)
			}),
			SendIDs: func() []string { return make([]string, len(platform.Messages())) },
		}
	})
}
