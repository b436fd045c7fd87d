package telegram_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// outlet is Telegram with a host. Its bot, desk, sends tickets to a group or a user.
type outlet struct {
	*livechattest.MemoryHost
	*world

	t       *testing.T
	handler http.Handler
	tickets string
	// times is the number of times that each update is delivered.
	times  int
	isDown atomic.Bool
}

// answering has the ids of the agents Grace and Bob.
var answering = [2]int64{grace, bob}

// ServeHTTP answers API calls, with 500 while isDown is true.
func (o *outlet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o.isDown.Load() {
		http.Error(w, "Telegram is down", http.StatusInternalServerError)
		return
	}
	o.world.ServeHTTP(w, r)
}

// newOutlet returns a host. If agentsChat is nil, agents answer in their private chats with the bot.
func newOutlet(t *testing.T, tickets string, agentsChat any) *outlet {
	t.Helper()
	o := &outlet{t: t, world: newWorld(), tickets: tickets, times: 1}
	agents := desk()
	agents.Metadata = document.O("agentsChat", agentsChat)
	agents.BroadcastGroups = []channel.BroadcastGroup{{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: tickets}}}}
	var connector *telegram.Connector
	o.MemoryHost = livechattest.NewHost(t, livechattest.HostConfig{
		Outlet: agents,
		Connect: func(h *livechattest.MemoryHost) send.Connectors {
			connector = newConnector(t, telegram.Config{
				HTTPClient: &http.Client{Transport: inProcess{o}}, Store: h.Store, LoadChannel: h.LoadChannel, Logger: silent(),
			})
			o.handler = routed(connector.Handler(h.Accept))
			return send.Connectors{telegram.Type: connector}
		},
	})
	require.NoError(t, connector.SetWebhook(t.Context(), agents, "https://bots.example.com"+deskPath))
	return o
}

// deliver sends each new update of the bot to the host, o.times times.
func (o *outlet) deliver() bool {
	o.t.Helper()
	again := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for range o.times - 1 {
			r.Body = io.NopCloser(bytes.NewReader(body))
			o.handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		o.handler.ServeHTTP(w, r)
	})
	statuses := o.Push(o.t.Context(), otherToken, again, deskPath, 20)
	for _, status := range statuses {
		require.Equal(o.t, http.StatusOK, status)
	}
	return len(statuses) > 0
}

// message returns the current form of a ticket's message.
func (o *outlet) message(of livechattest.Chat) telegramfake.Message {
	for _, message := range o.Messages() {
		if o.tickets+":"+strconv.FormatInt(message.ID, 10) == of.Ticket.MessageID {
			return message
		}
	}
	return telegramfake.Message{}
}

// take simulates an agent's tap on a ticket. It returns the bot's answer, or the ticket's text if its button is
// gone.
func (o *outlet) take(agent int, of livechattest.Chat) string {
	o.t.Helper()
	ticket := o.message(of)
	if len(ticket.Buttons) == 0 {
		return ticket.Text
	}
	before := len(o.Messages())
	o.Taps(otherToken, answering[agent], ticket, "Take")
	for o.deliver() {
		o.Advance(0)
	}
	for _, message := range o.Messages()[before:] {
		return message.Text
	}
	return ""
}

func (o *outlet) shown(in livechattest.Chat) []livechattest.Line {
	var lines []livechattest.Line
	for _, message := range o.Messages() {
		if message.Chat == in.Conversation {
			lines = append(lines, livechattest.Line{Text: message.Text})
		}
	}
	return lines
}

func (o *outlet) harness() *livechattest.Harness {
	return &livechattest.Harness{Host: o.MemoryHost, Inlet: o.Inlet(), Outlet: livechattest.Outlet{
		Channel: "desk",
		Agents:  [2]livechat.Admin{{AdminID: "grace", ExternalID: graces, Name: "Grace"}, {AdminID: "bob", ExternalID: bobID, Name: "Bob"}},
		Ticket:  func(of livechattest.Chat) string { return o.message(of).Text },
		Take:    o.take,
		Says: func(agent int, in livechattest.Chat, text string) string {
			o.Says(otherToken, answering[agent], o.place(agent, in), text)
			return ""
		},
		Shown:   o.shown,
		Deliver: o.deliver, Repeat: func() { o.times = 2 }, Fail: o.isDown.Store,
	}}
}

// place returns the chat in which an agent writes: a topic, or the agent's private chat with the bot.
func (o *outlet) place(agent int, in livechattest.Chat) string {
	if strings.Contains(in.Conversation, "/") {
		return in.Conversation
	}
	return strconv.FormatInt(answering[agent], 10)
}

func TestOutlet(t *testing.T) {
	t.Parallel()
	for name, agentsChat := range map[string]any{"in topics": forum, "with the bot alone": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
				t.Helper()
				return newOutlet(t, "-100300", agentsChat).harness()
			})
		})
	}
}
