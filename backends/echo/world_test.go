package echo_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// Agents answer in an account, each in the conversation with it.
func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, newOutlet)
}

func newOutlet(t *testing.T) *livechattest.Harness {
	t.Helper()
	platform, events, in, agents := newPlatform(), 0, desk(), [2]string{ada, bob}
	in.BroadcastGroups = connectortest.Tickets(agents[:]...)
	text := func(agent int, text string) string {
		events++
		return echofake.Text(agents[agent], "gh_desk", strconv.Itoa(events), noon(), text)
	}
	report := func(body string) connectortest.Report {
		return func(ctx context.Context) *http.Request { return deskWebhook.Report(ctx, "/echo/gh_desk", noon(), body) }
	}
	return connectortest.Outlet{
		Platform: platform, Channel: in, Agents: agents,
		Connect: func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler) {
			connector := newConnector(t, echo.Config{HTTPClient: client, Store: h.Store, FindChannel: func(ctx context.Context, _ string) (*channel.Channel, error) {
				return h.LoadChannel(ctx, livechattest.App, in.ID)
			}})
			return connector, routed(connector.Handler(h.Accept))
		},
		Posted: func() (all []connectortest.Posted) {
			for _, sent := range platform.Sent() {
				one := connectortest.Posted{To: sent.To, Text: sent.Text()}
				if line := document.Get(sent.Body, "msgmenu.list[0].id", ""); line != "" {
					_, payload, _ := strings.Cut(line, `"value":"`)
					one.ID, _, _ = strings.Cut(payload, `"`)
					one.Tap = func(agent int) connectortest.Report { return report(echofake.Tapped(text(agent, "Take"), line)) }
				}
				all = append(all, one)
			}
			return all
		},
		Says: func(agent int, _, said string) connectortest.Report { return report(text(agent, said)) },
	}.Harness(t)
}

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := newConnector(t, echo.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find})
		return connectortest.Platform{
			Connector: connector,
			Handler: func(accept func(context.Context, botctx.Inbound) error) http.Handler {
				return routed(connector.Handler(accept))
			},
			Reports: connectortest.Once(func(ctx context.Context) *http.Request {
				return shopWebhook.Report(ctx, "/echo/gh_shop", noon(), echofake.Text(ada, "gh_shop", "7", noon(), "a kettle"))
			}),
			SendIDs: func() []string { return make([]string, len(platform.Sent())) },
		}
	})
}
