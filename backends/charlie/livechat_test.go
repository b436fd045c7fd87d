package charlie_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// workplace is a fake of the tool and a host that gets its reports.
type workplace struct {
	*livechattest.MemoryHost

	t       *testing.T
	tool    *tool
	handler http.Handler
	isDown  atomic.Bool
	// waiting are the reports that have not been delivered. times is the number of times that each is delivered.
	waiting []func() *http.Request
	times   int
	// reported is the number of the bot's messages that the tool has reported. events is the number of agents'
	// events.
	reported, events int
}

// users are the agents' user ids.
var users = [2]string{"U7", "U8"}

func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	w := &workplace{t: t, tool: newTool(), times: 1}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if w.isDown.Load() {
			http.Error(answer, "the tool is down", http.StatusInternalServerError)
			return
		}
		w.tool.ServeHTTP(answer, r)
	}))
	t.Cleanup(server.Close)
	outlet := workspace()
	outlet.BroadcastGroups = []channel.BroadcastGroup{{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "C1", Type: "public_channel"}}}}
	w.MemoryHost = livechattest.NewHost(t, livechattest.HostConfig{
		Outlet: outlet,
		Connect: func(host *livechattest.MemoryHost) send.Connectors {
			connector, err := charlie.New(charlie.Config{
				APIURL: server.URL, Now: clock,
				FindChannel: func(ctx context.Context, _ charlie.Workspace) (*channel.Channel, error) {
					return host.LoadChannel(ctx, livechattest.App, "desk")
				},
			})
			require.NoError(t, err)
			w.handler = connector.Handler(host.Accept)
			return send.Connectors{channel.Charlie: connector}
		},
	})
	return w
}

// deliver posts the waiting reports to the host, including reports of the bot's own messages.
func (w *workplace) deliver() bool {
	w.t.Helper()
	w.tool.mu.Lock()
	for _, one := range w.tool.posted[w.reported:] {
		body := document.O("type", "message", "channel", one.conversation, "user", "UBOT", "bot_id", "B1", "text", one.form.Get("text"), "ts", one.ts).String()
		id := "own " + one.ts
		w.waiting = append(w.waiting, func() *http.Request { return wrote(id, body) })
	}
	w.reported = len(w.tool.posted)
	w.tool.mu.Unlock()
	reports := w.waiting
	w.waiting = nil
	for _, report := range reports {
		for range w.times {
			require.Equal(w.t, http.StatusOK, ask(w.handler, report()).Code)
		}
	}
	return len(reports) > 0
}

// says queues a report of an agent's message with these fields.
func (w *workplace) says(agent int, in livechattest.Chat, fields ...any) {
	w.events++
	event := document.O("type", "message", "channel", in.Conversation, "user", users[agent], "ts", fmt.Sprintf("1699999999.%06d", w.events))
	for i := 0; i < len(fields); i += 2 {
		event = event.With(fields[i].(string), fields[i+1])
	}
	id := fmt.Sprint("E", w.events)
	w.waiting = append(w.waiting, func() *http.Request { return wrote(id, event.String()) })
}

// take makes an agent tap on the button of a ticket. It returns the bot's answer, or the ticket's text if the
// button is gone.
func (w *workplace) take(agent int, of livechattest.Chat) string {
	w.t.Helper()
	blocks, err := document.ParseJSON([]byte(w.message("C1", of.Ticket.MessageID).Get("blocks")))
	require.NoError(w.t, err)
	if blocks.(document.Array).Len() == 0 {
		return w.ticket(of)
	}
	w.events++
	payload := document.O(
		"type", "block_actions", "team", document.O("id", "T1"), "user", document.O("id", users[agent]),
		"channel", document.O("id", "C1"), "message", document.O("ts", of.Ticket.MessageID),
		"actions", document.A(document.O(
			"action_id", "button-0", "value", document.Get(blocks.(document.Array).At(1).(document.Object), "elements.0.value", ""),
			"action_ts", fmt.Sprintf("1699999999.%06d", w.events),
		)),
	)
	before := len(w.lines("C1"))
	w.waiting = append(w.waiting, func() *http.Request {
		return signed("application/x-www-form-urlencoded", url.Values{"payload": {payload.String()}}.Encode())
	})
	for w.deliver() {
		w.Advance(0)
	}
	if told := w.lines("C1")[before:]; len(told) > 0 {
		return told[0].Text
	}
	return ""
}

// message returns the current form of a message.
func (w *workplace) message(conversation, ts string) url.Values {
	w.tool.mu.Lock()
	defer w.tool.mu.Unlock()
	return w.tool.conversations[conversation].messages[ts]
}

func (w *workplace) ticket(of livechattest.Chat) string {
	return html.UnescapeString(w.message("C1", of.Ticket.MessageID).Get("text"))
}

func (w *workplace) lines(conversation string) []livechattest.Line {
	w.tool.mu.Lock()
	defer w.tool.mu.Unlock()
	var lines []livechattest.Line
	for _, one := range w.tool.posted {
		if one.conversation == conversation {
			lines = append(lines, livechattest.Line{Text: html.UnescapeString(one.form.Get("text"))})
		}
	}
	return lines
}

func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		w := newWorkplace(t)
		return &livechattest.Harness{Host: w.MemoryHost, Inlet: w.Inlet(), Outlet: livechattest.Outlet{
			Channel: "desk",
			Agents:  [2]livechat.Admin{{AdminID: "grace", ExternalID: users[0], Name: "Grace"}, {AdminID: "hedy", ExternalID: users[1], Name: "Hedy"}},
			Ticket:  w.ticket, Take: w.take,
			Says: func(agent int, in livechattest.Chat, text string) string {
				w.says(agent, in, "text", text)
				return ""
			},
			Shown: func(in livechattest.Chat) []livechattest.Line { return w.lines(in.Conversation) },
			SendsFile: func(agent int, in livechattest.Chat, url string) {
				w.says(agent, in, "subtype", "file_share", "files", document.A(document.O("id", "F1", "mimetype", "application/pdf", "url_private_download", url)))
			},
			Deliver: w.deliver, Repeat: func() { w.times = 2 }, Fail: w.isDown.Store,
		}}
	})
}
