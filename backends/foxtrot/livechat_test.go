package foxtrot_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// webApp is the id of the application for members in the widget.
const webApp = "app-web"

// newHelpdesk returns an outlet whose agents use the channel in. If inlet is not nil, members write in the helpdesk's
// widget.
func newHelpdesk(t *testing.T, inlet, in *channel.Channel) (*livechattest.Harness, *foxtrotfake.Platform) {
	t.Helper()
	all := accounts()
	all["web:secret-of-the-web"] = webApp
	platform := foxtrotfake.New(all)
	platform.AddConversation(webApp, ada)
	platform.AddConversation(webApp, bob)
	var host *livechattest.MemoryHost
	outlet := connectortest.Outlet{
		Platform: platform, Channel: in, Inlet: inlet, Agents: [2]string{"agent:Grace", "agent:Hedy"},
		Connect: func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler) {
			host = h
			connector, err := foxtrot.New(foxtrot.Config{
				HTTPClient: client, Now: h.Now,
				FindChannel: func(ctx context.Context, account string) (*channel.Channel, error) {
					id := map[string]string{webApp: "web", deskApp: "desk", "tickets": "tickets"}[account]
					return h.LoadChannel(ctx, livechattest.App, id)
				},
			})
			require.NoError(t, err)
			return foxtrot.Limited(connector), routed(connector.Handler(h.Accept))
		},
		// In a request's conversation these are the messages to the agent, which the host sends in the member's name.
		Posted: func() (all []connectortest.Posted) {
			for _, sent := range platform.Sent() {
				content := document.Get(sent.Body, "content", document.Object{})
				all = append(all, connectortest.Posted{To: sent.To, Text: document.Get(content, "mediaUrl", sent.Text())})
			}
			return all
		},
		Says: func(agent int, conversation, text string) connectortest.Report {
			platform.AgentSays(conversation, names[agent], text)
			return nil
		},
		SendsFile: func(agent int, conversation, url string) connectortest.Report {
			platform.AgentSendsFile(conversation, names[agent], url)
			return nil
		},
		Reports: func() (all []connectortest.Report) { // The helpdesk reports the host's own messages, too.
			for _, report := range platform.Reports() {
				all = append(all, func(ctx context.Context) *http.Request {
					if report.App == "" {
						return foxtrotfake.PostSigned(ctx, "/foxtrot/tickets", webhookSecret, host.Now(), report.Body)
					}
					return foxtrotfake.Post(ctx, "/foxtrot/"+report.App, webhookSecret, report.Body)
				})
			}
			return all
		},
	}
	h := outlet.Harness(t)
	h.Outlet.Take = nil
	h.Outlet.Ticket = func(of livechattest.Chat) string {
		for _, line := range outlet.Shown(of.Conversation) {
			return line.Text
		}
		return ""
	}
	h.Outlet.Ends = func(_ int, in livechattest.Chat) { platform.AgentPasses(in.Conversation, "custom", "ticketClosed") }
	h.Outlet.HandsBack = func(_ int, in livechattest.Chat) { platform.AgentPasses(in.Conversation, "custom", "") }
	if inlet != nil {
		members := []string{ada, bob}
		h.Inlet = livechattest.Inlet{
			Channel: "web",
			Says:    func(who int, text string) { platform.MemberSays(members[who], text, "") },
			Shown:   func(who int) []livechattest.Line { return outlet.Shown(members[who]) },
		}
	}
	return h, platform
}

// names are the agents' names.
var names = [2]string{"Grace", "Hedy"}

// web is the channel for members in the widget.
func web() *channel.Channel {
	in := account("web", document.O("appId", webApp, "keyId", "web", "keySecret", "secret-of-the-web"))
	in.BroadcastGroups = nil
	return in
}

func TestOutlet(t *testing.T) {
	t.Parallel()
	for name, newHarness := range map[string]func(t *testing.T) *livechattest.Harness{
		"conversations":                 func(t *testing.T) *livechattest.Harness { t.Helper(); h, _ := newHelpdesk(t, nil, desk()); return h },
		"conversations with the widget": func(t *testing.T) *livechattest.Harness { t.Helper(); h, _ := newHelpdesk(t, web(), desk()); return h },
		"tickets":                       newTickets,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			livechattest.RunOutlet(t, newHarness)
		})
	}
}

func newTickets(t *testing.T) *livechattest.Harness {
	t.Helper()
	h, platform := newHelpdesk(t, nil, tickets())
	ids := [2]string{"7", "8"}
	for i, id := range ids {
		h.Outlet.Agents[i].ExternalID = "agent:" + id
	}
	h.Outlet.Says = func(agent int, in livechattest.Chat, text string) string {
		platform.AgentComments(ticketOf(in), ids[agent], names[agent], text)
		return ""
	}
	h.Outlet.Ends = func(_ int, in livechattest.Chat) { platform.AgentSolves(ticketOf(in)) }
	h.Outlet.SendsFile, h.Outlet.HandsBack = nil, nil // Reports about tickets do not contain these.
	return h
}

// The agents may close a request without writing.
func TestOutlet_ClosedUnanswered(t *testing.T) {
	t.Parallel()
	h, platform := newHelpdesk(t, nil, desk())
	asks := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		return err
	}
	ends := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
		return err
	}
	isClosed := func(bot *botctx.Context) bool { return document.Get(bot.MessageEvent.Data, "status", "") == "closed" }
	h.Host.Handle(
		&botctx.Node{ID: "person", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("a person"), Pre: botctx.Do(asks)},
		&botctx.Node{ID: "closed", Global: botctx.GlobalInChannel, Trigger: botctx.When(isClosed), Pre: botctx.Do(ends)},
	)
	request := func() *livechat.AssignmentRecord {
		h.Host.Advance(time.Second)
		for h.Outlet.Deliver() {
			h.Host.Advance(time.Second)
		}
		all, err := h.Host.Runtime().FindAssignments(t.Context(), livechattest.App, botctx.Query{})
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0]
	}
	h.Inlet.Says(0, "a person")
	asked := request()
	require.Equal(t, livechat.Pending, asked.State())
	platform.AgentPasses(asked.Tickets[0].ChatID, "custom", "ticketClosed")
	require.Equal(t, livechat.EndedByOutlet, request().EndedBy)
}

func ticketOf(in livechattest.Chat) int64 {
	id, _ := strconv.ParseInt(strings.TrimPrefix(in.Conversation, "ticket:"), 10, 64)
	return id
}
