package foxtrot_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
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

// helpdesk is a fake helpdesk and a host that gets its reports.
type helpdesk struct {
	*livechattest.MemoryHost

	tb       testing.TB
	platform *foxtrotfake.Platform
	handler  http.Handler
	// Each report is delivered this number of times.
	times  int
	isDown atomic.Bool
}

// ServeHTTP answers API calls, with 503 while isDown is true.
func (h *helpdesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.isDown.Load() {
		http.Error(w, "the helpdesk is down", http.StatusServiceUnavailable)
		return
	}
	h.platform.ServeHTTP(w, r)
}

// newHelpdesk returns a host whose agents use the channel outlet. If inlet is not nil, members write in the
// helpdesk's widget.
func newHelpdesk(tb testing.TB, inlet, outlet *channel.Channel) *helpdesk {
	tb.Helper()
	all := accounts()
	all["web:secret-of-the-web"] = webApp
	h := &helpdesk{tb: tb, platform: foxtrotfake.New(all), times: 1}
	h.platform.AddConversation(webApp, ada)
	h.platform.AddConversation(webApp, bob)
	h.MemoryHost = livechattest.NewHost(tb, livechattest.HostConfig{
		Inlet: inlet, Outlet: outlet,
		Connect: func(host *livechattest.MemoryHost) send.Connectors {
			connector, err := foxtrot.New(foxtrot.Config{
				HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: h}}, Now: host.Now,
				FindChannel: func(ctx context.Context, account string) (*channel.Channel, error) {
					id := map[string]string{webApp: "web", deskApp: "desk", "tickets": "tickets"}[account]
					return host.LoadChannel(ctx, livechattest.App, id)
				},
			})
			require.NoError(tb, err)
			mux := http.NewServeMux()
			mux.Handle("/foxtrot/{account}", connector.Handler(host.Accept))
			h.handler = mux
			return send.Connectors{channel.Foxtrot: foxtrot.Limited(connector)}
		},
	})
	return h
}

// web is the channel for members in the widget.
func web() *channel.Channel {
	in := account("web", document.O("appId", webApp, "keyId", "web", "keySecret", "secret-of-the-web"))
	in.BroadcastGroups = nil
	return in
}

// deliver posts the helpdesk's reports, including reports of the host's own messages.
func (h *helpdesk) deliver() bool {
	h.tb.Helper()
	reports := h.platform.Reports()
	for _, report := range reports {
		for range h.times {
			request := foxtrotfake.Post(h.tb.Context(), "/foxtrot/"+report.App, webhookSecret, report.Body)
			if report.App == "" {
				request = foxtrotfake.PostSigned(h.tb.Context(), "/foxtrot/tickets", webhookSecret, h.Now(), report.Body)
			}
			answer := httptest.NewRecorder()
			h.handler.ServeHTTP(answer, request)
			require.Equal(h.tb, http.StatusOK, answer.Code, "%s", report.Body)
		}
	}
	return len(reports) > 0
}

func (h *helpdesk) widget() livechattest.Inlet {
	members := []string{ada, bob}
	return livechattest.Inlet{
		Channel: "web",
		Says:    func(who int, text string) { h.platform.MemberSays(members[who], text, "") },
		Shown:   func(who int) []livechattest.Line { return h.shown(members[who]) },
	}
}

// shown returns the messages in a conversation or ticket. In a request's conversation these are the messages to
// the agent, which the host sends in the member's name.
func (h *helpdesk) shown(to string) []livechattest.Line {
	var lines []livechattest.Line
	for _, sent := range h.platform.Sent() {
		if sent.To != to {
			continue
		}
		content := document.Get(sent.Body, "content", document.Object{})
		lines = append(lines, livechattest.Line{Text: document.Get(content, "mediaUrl", sent.Text())})
	}
	return lines
}

func (h *helpdesk) harness(outlet string) *livechattest.Harness {
	grace, hedy := livechat.Admin{AdminID: "grace", Name: "Grace"}, livechat.Admin{AdminID: "hedy", Name: "Hedy"}
	grace.ExternalID, hedy.ExternalID = "agent:Grace", "agent:Hedy"
	agents := [2]livechat.Admin{grace, hedy}
	return &livechattest.Harness{
		Host: h.MemoryHost, Inlet: h.Inlet(),
		Outlet: livechattest.Outlet{
			Channel: outlet, Agents: agents,
			Ticket: func(of livechattest.Chat) string {
				lines := h.shown(of.Conversation)
				if len(lines) == 0 {
					return ""
				}
				return lines[0].Text
			},
			Says: func(agent int, in livechattest.Chat, text string) string {
				h.platform.AgentSays(in.Conversation, agents[agent].Name, text)
				return ""
			},
			Shown: func(in livechattest.Chat) []livechattest.Line { return h.shown(in.Conversation) },
			SendsFile: func(agent int, in livechattest.Chat, url string) {
				h.platform.AgentSendsFile(in.Conversation, agents[agent].Name, url)
			},
			Ends:      func(_ int, in livechattest.Chat) { h.platform.AgentPasses(in.Conversation, "custom", "ticketClosed") },
			HandsBack: func(_ int, in livechattest.Chat) { h.platform.AgentPasses(in.Conversation, "custom", "") },
			Deliver:   h.deliver, Repeat: func() { h.times = 2 }, Fail: h.isDown.Store,
		},
	}
}

func TestOutlet_Conversations(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		return newHelpdesk(t, nil, desk()).harness("desk")
	})
}

// Members write in the widget of the helpdesk whose agents answer.
func TestOutlet_ConversationsWithTheWidget(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		h := newHelpdesk(t, web(), desk())
		harness := h.harness("desk")
		harness.Inlet = h.widget()
		return harness
	})
}

func TestOutlet_Tickets(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		h := newHelpdesk(t, nil, tickets())
		harness := h.harness("tickets")
		outlet := &harness.Outlet
		ids := []string{"7", "8"}
		for i, id := range ids {
			outlet.Agents[i].ExternalID = "agent:" + id
		}
		outlet.Says = func(agent int, in livechattest.Chat, text string) string {
			h.platform.AgentComments(ticketOf(in), ids[agent], outlet.Agents[agent].Name, text)
			return ""
		}
		outlet.Ends = func(_ int, in livechattest.Chat) { h.platform.AgentSolves(ticketOf(in)) }
		outlet.SendsFile, outlet.HandsBack = nil, nil // Reports about tickets do not contain these.
		return harness
	})
}

// The agents may close a request without writing.
func TestOutlet_ClosedUnanswered(t *testing.T) {
	t.Parallel()
	h := newHelpdesk(t, nil, desk())
	asks := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		return err
	}
	ends := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
		return err
	}
	isClosed := func(bot *botctx.Context) bool { return document.Get(bot.MessageEvent.Data, "status", "") == "closed" }
	h.Handle(
		&botctx.Node{ID: "person", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("a person"), Pre: botctx.Do(asks)},
		&botctx.Node{ID: "closed", Global: botctx.GlobalInChannel, Trigger: botctx.When(isClosed), Pre: botctx.Do(ends)},
	)
	request := func() *livechat.AssignmentRecord {
		h.Advance(time.Second)
		for h.deliver() {
			h.Advance(time.Second)
		}
		all, err := h.Runtime().FindAssignments(t.Context(), livechattest.App, botctx.Query{})
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0]
	}
	h.Inlet().Says(0, "a person")
	asked := request()
	require.Equal(t, livechat.Pending, asked.State())
	h.platform.AgentPasses(asked.Tickets[0].ChatID, "custom", "ticketClosed")
	require.Equal(t, livechat.EndedByOutlet, request().EndedBy)
}

func ticketOf(in livechattest.Chat) int64 {
	id, _ := strconv.ParseInt(strings.TrimPrefix(in.Conversation, "ticket:"), 10, 64)
	return id
}
