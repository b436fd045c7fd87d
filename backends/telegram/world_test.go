package telegram_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// host is a runtime with two bots on Telegram: members write to shop, and agents answer from desk.
type host struct {
	*world

	t         *testing.T
	connector *telegram.Connector
	runtime   *botctx.Runtime
	handler   http.Handler
}

const deskPath = "/telegram/app-1/desk"

// newHost returns a host whose tickets go to tickets, a group or a user, and to Bob. If agentsChat is nil,
// agents answer in their private chats with the bot.
func newHost(t *testing.T, tickets string, agentsChat any) *host {
	t.Helper()
	h := &host{world: newWorld(), t: t}
	store := memstore.New()
	var err error
	h.connector, err = telegram.New(telegram.Config{HTTPClient: &http.Client{Transport: inProcess{h.Telegram}}, Store: store})
	require.NoError(t, err)
	agents := desk()
	agents.Metadata = document.O("agentsChat", agentsChat)
	agents.BroadcastGroups = connectortest.Tickets(tickets, bobID)
	call := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{
			GroupName: "Ada <1>", Summary: "Wants *tea*",
		}})
		return err
	}
	h.runtime = connectortest.Host{
		Store: store, Connector: h.connector, Members: shop(), Agents: agents, Grace: graces, Nodes: []*botctx.Node{
			{ID: "menu", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("menu"), Responses: []send.Response{
				send.QuickReplies("What would you like?", send.QuickReply{Title: "A person", Payload: "person"}, send.QuickReply{Title: "Tea", Payload: "tea"}),
			}},
			{ID: "person", Global: botctx.GlobalInChannel, Trigger: botctx.PayloadIs("person"), Pre: botctx.Do(call)},
		},
	}.Start(t)
	h.handler = routed(h.connector.Handler(h.runtime.Accept))
	for _, in := range []*channel.Channel{shop(), desk()} {
		require.NoError(t, h.connector.SetWebhook(t.Context(), in, "https://bots.example.com/telegram/app-1/"+in.ID))
	}
	return h
}

// runs delivers all updates of a bot, and runs the accepted events.
func (h *host) runs(token, path string) {
	h.t.Helper()
	for _, status := range h.Push(h.t.Context(), token, h.handler, path, 20) {
		require.Equal(h.t, http.StatusOK, status)
	}
	connectortest.RunEvents(h.t, h.runtime)
}

// asks makes Ada ask for a live chat, and returns the ticket.
func (h *host) asks(tickets string) telegramfake.Message {
	h.t.Helper()
	h.Says(token, ada, adaID, "menu")
	h.runs(token, shopPath)
	h.Taps(token, ada, h.last(h.t, adaID), "A person")
	h.runs(token, shopPath)
	require.Empty(h.t, h.last(h.t, adaID).Buttons, "the quick replies are gone")
	ticket := h.last(h.t, tickets)
	require.Equal(h.t, "Ada Example asks for a person.\nWants *tea*", ticket.Text)
	require.Equal(h.t, "desk", ticket.Channel)
	return ticket
}

// conversation returns the topic of the live chat.
func (h *host) conversation() string {
	h.t.Helper()
	for _, message := range h.Messages() {
		if strings.Contains(message.Chat, "/") {
			return message.Chat
		}
	}
	require.Fail(h.t, "there is no message in a topic")
	return ""
}

func TestWorld_LiveChatInATopic(t *testing.T) {
	t.Parallel()
	h := newHost(t, "-100300", forum)
	ticket := h.asks("-100300")
	h.Taps(otherToken, grace, ticket, "Take")
	h.runs(otherToken, deskPath)
	topic := h.conversation()
	require.True(t, strings.HasPrefix(topic, "-100300/"))
	require.Equal(t, "Ada <1>", h.TopicName(topic))
	require.Equal(t, "Taken by Grace.", h.last(t, bobID).Text, "the other ticket shows it")
	require.Empty(t, h.last(t, bobID).Buttons)

	h.Says(otherToken, grace, topic, "Green or black?")
	h.runs(otherToken, deskPath)
	require.Equal(t, "Green or black?", h.last(t, adaID).Text)
	require.Equal(t, "shop", h.last(t, adaID).Channel)

	h.Says(token, ada, adaID, "*Green*")
	h.Report(token, "message", h.MessageOf(ada, adaID).With("location", document.O("latitude", 52.5, "longitude", 13.25)))
	h.runs(token, shopPath)
	require.Equal(t, "sendLocation", h.last(t, topic).Method, "files and places are relayed, too")
	require.Equal(t, "*Green*", h.Messages()[len(h.Messages())-2].Text)

	h.Says(otherToken, grace, "-100300", "Lunch?")
	h.runs(otherToken, deskPath)
	require.Equal(t, "Green or black?", h.last(t, adaID).Text, "other talk of agents reaches no member")
}

func TestWorld_MemberIsGone(t *testing.T) {
	t.Parallel()
	h := newHost(t, "-100300", forum)
	h.Taps(otherToken, grace, h.asks("-100300"), "Take")
	h.runs(otherToken, deskPath)
	topic := h.conversation()
	h.Block(ada, true)
	h.Says(otherToken, grace, topic, "Are you there?")
	h.runs(otherToken, deskPath)
	require.Contains(t, h.last(t, topic).Text, "cannot be reached any more", "the agent is told")
}

func TestWorld_AnswersInTheGroup(t *testing.T) {
	t.Parallel()
	h := newHost(t, graces, nil)
	h.Says(token, ada, "-100200", "menu")
	h.Says(token, bob, h.topic, "menu")
	h.runs(token, shopPath)
	require.Equal(t, "What would you like?", h.last(t, "-100200").Text)
	require.Equal(t, "What would you like?", h.last(t, h.topic).Text)
}
