package bravo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// Agents answer in a group for each live chat, which they join through a link.
func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		return newOutlet(t, newPlatform())
	})
}

func TestOutlet_MessageThatFailsLater(t *testing.T) {
	t.Parallel()
	platform, failures := newPlatform(), 0
	platform.IsLate = true
	h := newOutlet(t, platform)
	hasFailed := botctx.When(func(bot *botctx.Context) bool { return document.Get(bot.MessageEvent.Data, "status", "") == "failed" })
	h.Host.Handle(
		&botctx.Node{ID: "hi", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello")},
		&botctx.Node{ID: "failed", Global: botctx.GlobalInChannel, Trigger: hasFailed, Pre: botctx.Do(func(context.Context, *botctx.Context) error {
			failures++
			return nil
		})},
	)
	h.Outlet.Says(0, livechattest.Chat{}, "hi")
	for h.Outlet.Deliver() {
		h.Host.Advance(0)
	}
	require.Equal(t, 1, failures, "the platform takes the message at first")
}

func newOutlet(t *testing.T, platform *bravofake.Platform) *livechattest.Harness {
	t.Helper()
	in, agents := desk(), [2]string{ada, bob}
	in.BroadcastGroups = connectortest.Tickets(agents[:]...)
	events, joined := 0, 0
	platform.ListsUntilShown = -1 // The platform reports new groups.
	report := func(field, content string, args ...any) connectortest.Report {
		events++
		body := strings.NewReplacer(shopNumber, deskNumber, "ID", fmt.Sprint("wamid.in", events)).Replace(string(change(field, fmt.Sprintf(content, args...))))
		return func(ctx context.Context) *http.Request {
			return graphtest.Report(ctx, "/bravo", ownSecret, []byte(body))
		}
	}
	h := connectortest.Outlet{
		Platform: platform, Channel: in, Agents: agents,
		Connect: func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler) {
			connector := connectortest.New(t, bravo.New, bravo.Config{HTTPClient: client, FindChannel: func(ctx context.Context, _ string) (*channel.Channel, error) {
				return h.LoadChannel(ctx, livechattest.App, in.ID)
			}})
			handler := connector.Handler(h.Accept)
			platform.Report = func(body []byte) {
				handler.ServeHTTP(httptest.NewRecorder(), graphtest.Report(context.Background(), "/bravo", ownSecret, body))
			}
			return connector, handler
		},
		Posted: func() (all []connectortest.Posted) {
			for _, sent := range platform.Sent() {
				one := connectortest.Posted{
					To: sent.To, ID: sent.ID, Text: document.Get(sent.Body, "text.body", document.Get(sent.Body, "interactive.body.text", "")),
				}
				if button := document.Get(sent.Body, "interactive.action.buttons[0].reply", document.Object{}); button.Len() > 0 {
					one.Tap = func(agent int) connectortest.Report {
						return report("messages", `"messages":[{"from":%q,"id":"ID","timestamp":"1","type":"interactive","interactive":{"type":"button_reply","button_reply":%s}}]`,
							agents[agent], button)
					}
				}
				all = append(all, one)
			}
			return all
		},
		Says: func(agent int, group, text string) connectortest.Report {
			return report("messages", `"messages":[{"from":%q,"group_id":%q,"id":"ID","timestamp":"1","type":"text","text":{"body":%q}}]`, agents[agent], group, text)
		},
		Reports: func() (all []connectortest.Report) {
			for _, body := range platform.Reports() {
				all = append(all, func(ctx context.Context) *http.Request { return graphtest.Report(ctx, "/bravo", ownSecret, body) })
			}
			sent := platform.Sent()
			for _, one := range sent[joined:] {
				if strings.Contains(document.Get(one.Body, "text.body", ""), "https://chat.example/") {
					all = append(all, report("group_participants_update",
						`"groups":[{"timestamp":"1","group_id":%q,"type":"group_participants_add","added_participants":[{"wa_id":%q}]}]`, platform.LastGroup(), one.To))
				}
			}
			joined = len(sent)
			return all
		},
	}.Harness(t)
	hasJoined := botctx.When(func(bot *botctx.Context) bool {
		return document.Get(bot.MessageEvent.Data, "type", "") == "group_participants_add"
	})
	h.Host.Handle(&botctx.Node{
		ID: "joined", Trigger: hasJoined, Global: botctx.GlobalInChannel, Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
				Channel: bot.Channel, ExternalID: bot.MessageEvent.From, BravoGroupID: bot.MessageEvent.To,
			})
			return err
		}),
	})
	return h
}

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	order := change("messages", `"messages":[{"from":"`+ada+`","id":"wamid.in","timestamp":"1","type":"text","text":{"body":"a kettle"}}]`)
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := connectortest.New(t, bravo.New, bravo.Config{
			HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find, AppSecret: channel.NewSecret(appSecret),
		})
		reports := [][]byte{order}
		return connectortest.Platform{
			Connector: connector, Handler: connector.Handler,
			Reports: func() (made []connectortest.Report) {
				for _, body := range append(reports, platform.Reports()...) {
					made = append(made, func(ctx context.Context) *http.Request { return graphtest.Report(ctx, "/bravo", appSecret, body) })
				}
				reports = nil
				return made
			},
			SendIDs: func() (ids []string) {
				for _, sent := range platform.Sent() {
					ids = append(ids, document.Get(sent.Body, "biz_opaque_callback_data", ""))
				}
				return ids
			},
		}
	})
}
