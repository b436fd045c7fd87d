package livechattest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// tool is a platform of agents in memory, with its connector and its handler. It is a workspace chat with tickets, or a
// helpdesk, on which a request opens a conversation.
type tool struct {
	tb         testing.TB
	host       *livechattest.MemoryHost
	isHelpdesk bool
	broken     defect

	mu      sync.Mutex
	posted  []send.Message
	shown   map[string]string
	groups  []string
	over    []string
	reports []botctx.Inbound
	// times is the number of times that each report is delivered, events the number of events of agents.
	times, events int
	isDown        bool
}

// defect is a way in which an outlet is broken. Fields with zero values change nothing.
type defect struct {
	// sends replaces Send.
	sends func(t *tool, message send.Message) (send.Delivery, error)
	// reports replaces an event on its way to the host, by any number of events.
	reports func(t *tool, in botctx.Inbound) []botctx.Inbound
	// changes alters the harness.
	changes    func(t *tool, h *livechattest.Harness)
	isHelpdesk bool
	// breaks are the names of the rules that the outlet breaks.
	breaks []string
}

const broadcast = "C1"

// own is the app in reports about the bot's own messages, which the connector drops.
const own = "own"

func (t *tool) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	if t.broken.sends != nil {
		return t.broken.sends(t, message)
	}
	return t.post(message)
}

// post posts a message. Messages with a known ID are repetitions.
func (t *tool) post(message send.Message) (send.Delivery, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isDown {
		return send.Delivery{}, boterr.New(boterr.Unavailable, "", "the tool is down")
	}
	if t.isHelpdesk && message.To == broadcast {
		message.To = "conversation of " + message.ID
	}
	if !slices.ContainsFunc(t.posted, func(m send.Message) bool { return m.ID == message.ID && m.To == message.To }) {
		t.posted = append(t.posted, message)
		t.report(botctx.Inbound{App: own, Channel: "desk", Event: send.MessageEvent{
			Type: message.Response.Type(), From: agents()[0].ExternalID, To: message.To, MessageID: "own " + message.ID,
			Data: message.Response.Object().Without("type"),
		}})
	}
	return send.Delivery{MessageID: message.ID, ChatID: message.To}, nil
}

// CreateGroup implements livechat.GroupCreator.
func (t *tool) CreateGroup(_ context.Context, _ *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isDown {
		return livechat.CreatedGroup{}, boterr.New(boterr.Unavailable, "", "the tool is down")
	}
	id := "group of " + group.Key
	if !slices.Contains(t.groups, id) {
		t.groups = append(t.groups, id)
	}
	return livechat.CreatedGroup{ExternalID: id}, nil
}

// ShowTaken implements livechat.TicketUpdater.
func (t *tool) ShowTaken(_ context.Context, _ *channel.Channel, ticket livechat.Ticket, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown[ticket.MessageID] = text
	return nil
}

// helpdesk hides the ports of a tool.
type helpdesk struct{ send.Connector }

// report adds a report. The caller holds the mutex.
func (t *tool) report(in botctx.Inbound) {
	for range t.times {
		t.reports = append(t.reports, in)
	}
}

// deliver passes the reports to the host, as a handler does.
func (t *tool) deliver(tb testing.TB) bool {
	tb.Helper()
	t.mu.Lock()
	reports := t.reports
	t.reports = nil
	t.mu.Unlock()
	for _, in := range reports {
		passed := []botctx.Inbound{in}
		if t.broken.reports != nil {
			passed = t.broken.reports(t, in)
		}
		for _, one := range passed {
			if one.App != own {
				require.NoError(tb, t.host.Accept(tb.Context(), one))
			}
		}
	}
	return len(reports) > 0
}

func agents() [2]livechat.Admin {
	return [2]livechat.Admin{{AdminID: "grace", ExternalID: "U1", Name: "Grace"}, {AdminID: "hedy", ExternalID: "U2", Name: "Hedy"}}
}

func (t *tool) event(agent int, to string, event send.MessageEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events++
	event.From, event.To, event.MessageID = agents()[agent].ExternalID, to, fmt.Sprintf("event-%d", t.events)
	event.Timestamp = document.TimestampOf(t.host.Now())
	t.report(botctx.Inbound{App: livechattest.App, Channel: "desk", Event: event})
}

// lines returns the messages to a recipient.
func (t *tool) lines(to string) []livechattest.Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []livechattest.Line
	for _, message := range t.posted {
		if message.To != to {
			continue
		}
		from := livechattest.FromBot
		if message.AuthorID != "" {
			from = livechattest.FromMember
		}
		lines = append(lines, livechattest.Line{From: from, Text: livechattest.TextOf(message.Response)})
	}
	return lines
}

func (t *tool) ticket(of livechattest.Chat) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, isShown := t.shown[of.Ticket.MessageID]; isShown {
		return text
	}
	var texts []string
	for _, message := range t.posted {
		if message.ID == of.Ticket.ID {
			texts = append(texts, message.Response.Text())
		}
	}
	return strings.Join(texts, "\n")
}

func newHarness(tb testing.TB, broken defect) *livechattest.Harness {
	tb.Helper()
	t := &tool{tb: tb, isHelpdesk: broken.isHelpdesk, broken: broken, shown: map[string]string{}, times: 1}
	kind := channel.Charlie
	var connector send.Connector = t
	if t.isHelpdesk {
		kind, connector = channel.Foxtrot, helpdesk{t}
	}
	t.host = livechattest.NewHost(tb, livechattest.HostConfig{
		Outlet: &channel.Channel{ID: "desk", Type: kind, BroadcastGroups: []channel.BroadcastGroup{{
			Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: broadcast, Type: channel.PlatformOf(kind).BroadcastGroups[0]}},
		}}},
		Connect: func(*livechattest.MemoryHost) send.Connectors { return send.Connectors{kind: connector} },
	})
	h := &livechattest.Harness{Host: t.host, Inlet: t.host.Inlet(), Outlet: livechattest.Outlet{
		Channel: "desk", Agents: agents(), Ticket: t.ticket,
		Take: func(agent int, of livechattest.Chat) string { return t.take(tb, agent, of) },
		Says: func(agent int, in livechattest.Chat, text string) string {
			t.event(agent, in.Conversation, send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)})
			return ""
		},
		Shown: func(in livechattest.Chat) []livechattest.Line { return t.lines(in.Conversation) },
		SendsFile: func(agent int, in livechattest.Chat, url string) {
			t.event(agent, in.Conversation, send.MessageEvent{Type: send.TypeFile, Data: document.O("url", url)})
		},
		HandsBack: func(agent int, in livechattest.Chat) {
			t.event(agent, in.Conversation, send.MessageEvent{Type: send.TypeMisc, Data: document.O("status", "returned")})
		},
		Deliver: func() bool { return t.deliver(tb) },
		Repeat:  func() { t.times = 2 },
		Fail: func(isDown bool) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.isDown = isDown
		},
	}}
	if t.isHelpdesk {
		h.Outlet.Take = nil
		h.Outlet.Ends = func(agent int, in livechattest.Chat) {
			t.over = append(t.over, in.Conversation)
			t.event(agent, in.Conversation, send.MessageEvent{Type: send.TypeMisc, Data: document.O("status", "closed")})
		}
	}
	if broken.changes != nil {
		broken.changes(t, h)
	}
	return h
}

// take taps a ticket, and returns the text that the agent gets, or "".
func (t *tool) take(tb testing.TB, agent int, of livechattest.Chat) string {
	tb.Helper()
	told := len(t.lines(broadcast))
	t.event(agent, broadcast, send.MessageEvent{
		Type: send.TypePayload, Data: document.O("payload", document.O("payload", livechat.TakePayload, "value", of.ID)),
	})
	for t.deliver(tb) {
		t.host.Advance(0)
	}
	if lines := t.lines(broadcast)[told:]; len(lines) > 0 {
		return lines[0].Text
	}
	return ""
}
