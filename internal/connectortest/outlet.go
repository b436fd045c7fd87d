package connectortest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// Outlet describes a channel in which agents answer, on a stand-in platform that makes reports. Harness returns it for
// package livechattest.
type Outlet struct {
	// Platform answers the connector's requests.
	Platform http.Handler
	// Channel is the agents' channel, with its broadcast groups. Inlet is the members' channel if it is on the same
	// platform.
	Channel, Inlet *channel.Channel
	// Agents are the ids of two agents.
	Agents [2]string
	// Connect returns the connector of a new process, whose requests go to client, and its handler.
	Connect func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler)
	// Posted returns the host's messages, in order and as the platform shows them now.
	Posted func() []Posted
	// Says returns the report of a text that an agent writes in a conversation, and SendsFile the report of a file. They
	// return nil if Reports returns the report. SendsFile is nil if reports have no addresses of files.
	Says, SendsFile func(agent int, conversation, text string) Report
	// Reports returns the reports that the platform has made since the last call. Nil if it makes none.
	Reports func() []Report
}

// Posted is a message of the host in a conversation.
type Posted struct {
	// ID is the id of the message, or for a ticket the id of the request.
	To, ID, Text string
	// Tap returns the report of an agent's tap on the button of a ticket. It is nil if there is no button.
	Tap func(agent int) Report
}

// outlet is an Outlet with a host.
type outlet struct {
	Outlet
	*livechattest.MemoryHost

	t       *testing.T
	handler http.Handler
	// waiting are the reports to deliver, each the given number of times.
	waiting []Report
	times   int
	isDown  atomic.Bool
}

// ServeHTTP answers requests of the connector, with 503 while isDown is true.
func (o *outlet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o.isDown.Load() {
		http.Error(w, "the platform is down", http.StatusServiceUnavailable)
		return
	}
	o.Platform.ServeHTTP(w, r)
}

// Harness returns the outlet with a new host.
func (o Outlet) Harness(t *testing.T) *livechattest.Harness {
	t.Helper()
	p := &outlet{Outlet: o, t: t, times: 1}
	p.MemoryHost = livechattest.NewHost(t, livechattest.HostConfig{
		Outlet: o.Channel, Inlet: o.Inlet,
		Connect: func(h *livechattest.MemoryHost) send.Connectors {
			connector, handler := o.Connect(h, &http.Client{Transport: Directly{p}})
			p.handler = handler
			return send.Connectors{o.Channel.Type: connector}
		},
	})
	writes := func(report func(int, string, string) Report) func(int, livechattest.Chat, string) {
		return func(agent int, in livechattest.Chat, text string) { p.report(report(agent, in.Conversation, text)) }
	}
	says := writes(o.Says)
	h := &livechattest.Harness{Host: p.MemoryHost, Inlet: p.MemoryHost.Inlet(), Outlet: livechattest.Outlet{
		Channel: o.Channel.ID,
		Agents: [2]livechat.Admin{
			{AdminID: "grace", ExternalID: o.Agents[0], Name: "Grace"}, {AdminID: "hedy", ExternalID: o.Agents[1], Name: "Hedy"},
		},
		Ticket: func(of livechattest.Chat) string { return p.ticket(of).Text },
		Take:   p.take,
		Says: func(agent int, in livechattest.Chat, text string) string {
			says(agent, in, text)
			return ""
		},
		Shown:   func(in livechattest.Chat) []livechattest.Line { return p.Shown(in.Conversation) },
		Deliver: p.deliver, Repeat: func() { p.times = 2 }, Fail: p.isDown.Store,
	}}
	if o.SendsFile != nil {
		h.Outlet.SendsFile = writes(o.SendsFile)
	}
	return h
}

// Shown returns the host's messages in a conversation.
func (o Outlet) Shown(conversation string) (lines []livechattest.Line) {
	for _, posted := range o.Posted() {
		if posted.To == conversation {
			lines = append(lines, livechattest.Line{Text: posted.Text})
		}
	}
	return lines
}

func (o *outlet) report(one Report) {
	if one != nil {
		o.waiting = append(o.waiting, one)
	}
}

// deliver gives the waiting reports to the handler.
func (o *outlet) deliver() bool {
	o.t.Helper()
	reports := o.waiting
	o.waiting = nil
	if o.Reports != nil {
		reports = slices.Concat(reports, o.Reports())
	}
	for _, report := range reports {
		for range o.times {
			answer := httptest.NewRecorder()
			o.handler.ServeHTTP(answer, report(o.t.Context()))
			require.Equal(o.t, http.StatusOK, answer.Code, "%s", answer.Body)
		}
	}
	return len(reports) > 0
}

func (o *outlet) ticket(of livechattest.Chat) Posted {
	for _, posted := range o.Posted() {
		if posted.ID == of.Ticket.MessageID || posted.ID == of.ID {
			return posted
		}
	}
	return Posted{}
}

// take lets an agent tap on a ticket. It returns the bot's answer, or the ticket's text if its button is gone.
func (o *outlet) take(agent int, of livechattest.Chat) string {
	o.t.Helper()
	ticket := o.ticket(of)
	if ticket.Tap == nil {
		return ticket.Text
	}
	before := len(o.Posted())
	o.report(ticket.Tap(agent))
	for o.deliver() {
		o.Advance(0)
	}
	for _, posted := range o.Posted()[before:] {
		return posted.Text
	}
	return ""
}
