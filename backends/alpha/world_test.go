package alpha_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// Agents answer on a page, each in the conversation with it.
func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, newOutlet)
}

func newOutlet(t *testing.T) *livechattest.Harness {
	t.Helper()
	platform, events := alphafake.New(map[string]string{otherToken: "1901"}, "500", "501"), 0
	in := desk()
	agents := [2]string{"500", "501"}
	in.BroadcastGroups = connectortest.Tickets(agents[:]...)
	reports := func(agent int, form string, fields ...any) connectortest.Report {
		events++
		item := fmt.Sprintf(`{"sender":{"id":%q},"timestamp":1,%s}`, agents[agent], fmt.Sprintf(form, fields...))
		body := strings.ReplaceAll(`{"object":"page","entry":[{"id":"1901","messaging":[`+item+`]}]}`, "MID", fmt.Sprintf("m_in_%d", events))
		return func(ctx context.Context) *http.Request {
			return graphtest.Report(ctx, "/alpha", ownSecret, []byte(body))
		}
	}
	return connectortest.Outlet{
		Platform: platform, Channel: in, Agents: agents,
		Connect: func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler) {
			connector := connectortest.New(t, alpha.New, alpha.Config{HTTPClient: client, FindChannel: func(ctx context.Context, _ string) (*channel.Channel, error) {
				return h.LoadChannel(ctx, livechattest.App, in.ID)
			}})
			return alpha.Limited(connector), connector.Handler(h.Accept)
		},
		Posted: func() (all []connectortest.Posted) {
			for _, sent := range platform.Sent() {
				one := connectortest.Posted{
					To: sent.To, ID: sent.ID,
					Text: document.Get(sent.Content, "text", document.Get(sent.Content, "attachment.payload.text", "")),
				}
				if payload := document.Get(sent.Content, "attachment.payload.buttons[0].payload", ""); payload != "" {
					one.Tap = func(agent int) connectortest.Report {
						return reports(agent, `"postback":{"mid":"MID","title":"Take","payload":%q}`, payload)
					}
				}
				all = append(all, one)
			}
			return all
		},
		Says: func(agent int, _, text string) connectortest.Report {
			return reports(agent, `"message":{"mid":"MID","text":%q}`, text)
		},
		SendsFile: func(agent int, _, url string) connectortest.Report {
			return reports(agent, `"message":{"mid":"MID","attachments":[{"type":"file","payload":{"url":%q}}]}`, url)
		},
	}.Harness(t)
}

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := connectortest.New(t, alpha.New, alpha.Config{
			HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find, AppSecret: channel.NewSecret(appSecret),
		})
		return connectortest.Platform{
			Connector: connector, Handler: connector.Handler,
			Reports: connectortest.Once(func(ctx context.Context) *http.Request {
				return graphtest.Report(ctx, "/alpha", appSecret, []byte(text("1900", "m1", "a kettle")))
			}),
			SendIDs: func() (ids []string) {
				for _, sent := range platform.Sent() {
					ids = append(ids, document.Get(sent.Content, "metadata", ""))
				}
				return ids
			},
		}
	})
}
