package pigeon_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/docs/guides/pigeon"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestOutlet_KeepsTheRules(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, newOutlet)
}

// desk is a channel in which agents answer, and its host.
type desk struct {
	*livechattest.MemoryHost

	t        *testing.T
	platform *platform
	handler  http.Handler
	// reports are the reports to deliver to the host. times is the number of deliveries of each report.
	reports []document.Object
	times   int
	written int
}

// newDesk returns a host with Pigeon as its outlet.
func newDesk(t *testing.T) (*desk, *sendtest.Server) {
	t.Helper()
	d := &desk{t: t, platform: &platform{channels: map[string]string{"token-of-desk": "desk"}}, times: 1}
	server := sendtest.NewServer(t, d.platform, nil)
	outlet := newChannel("desk")
	outlet.BroadcastGroups = []channel.BroadcastGroup{{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "team"}}}}
	d.MemoryHost = livechattest.NewHost(t, livechattest.HostConfig{
		Outlet: outlet,
		Connect: func(host *livechattest.MemoryHost) send.Connectors { // Each process has a new connector and handler.
			mux := http.NewServeMux()
			mux.Handle("POST /pigeon/{app}/{channel}", &pigeon.Handler{
				LoadChannel: host.LoadChannel,
				Accept:      host.Accept,
				Drops:       &send.Drops{},
				Now:         func() time.Time { return time.Unix(1_700_000_000, 0) },
			})
			d.handler = mux
			return send.Connectors{pigeon.Type: pigeon.New(server.URL)}
		},
	})
	return d, server
}

// newOutlet returns the harness of a new desk.
func newOutlet(t *testing.T) *livechattest.Harness {
	t.Helper()
	d, server := newDesk(t)
	agents := [2]livechat.Admin{{AdminID: "1", ExternalID: "grace", Name: "Grace"}, {AdminID: "2", ExternalID: "hedy", Name: "Hedy"}}
	return &livechattest.Harness{Host: d.MemoryHost, Inlet: d.Inlet(), Outlet: livechattest.Outlet{
		Channel: "desk",
		Agents:  agents,
		Ticket: func(of livechattest.Chat) string {
			for _, message := range d.platform.arrived() {
				if message.Key == of.Ticket.ID {
					return message.Text
				}
			}
			return ""
		},
		Take: func(agent int, of livechattest.Chat) string {
			before := len(d.shown(agents[agent].ExternalID))
			d.reports = append(d.reports, d.report(agents[agent].ExternalID, document.O(
				"value", document.O("payload", livechat.TakePayload, "value", of.ID).String(),
			)))
			for d.deliver() {
				d.Advance(0)
			}
			if told := d.shown(agents[agent].ExternalID)[before:]; len(told) > 0 {
				return told[0].Text
			}
			return ""
		},
		Says: func(agent int, _ livechattest.Chat, text string) string {
			d.reports = append(d.reports, d.report(agents[agent].ExternalID, document.O("text", text)))
			return ""
		},
		Shown:   func(in livechattest.Chat) []livechattest.Line { return d.shown(in.Conversation) },
		Deliver: d.deliver,
		Repeat:  func() { d.times = 2 },
		Fail: func(isDown bool) {
			if isDown {
				server.Fail(sendtest.Broken)
			} else {
				server.Fail(sendtest.Healthy)
			}
		},
	}}
}

// report returns a new report about an agent.
func (d *desk) report(from string, of document.Object) document.Object {
	d.written++
	return of.With("id", "w-"+strconv.Itoa(d.written)).With("from", from).With("sentAt", 1_700_000_000)
}

// deliver posts the reports to the host.
func (d *desk) deliver() bool {
	d.t.Helper()
	reports := d.reports
	d.reports = nil
	for _, report := range reports {
		for range d.times {
			post := signed{"/pigeon/app-1/desk", "secret-of-desk", now, report.String()}
			require.Equal(d.t, http.StatusNoContent, reported(d.t, d.handler, post))
		}
	}
	return len(reports) > 0
}

// shown returns the messages to a recipient.
func (d *desk) shown(to string) []livechattest.Line {
	var lines []livechattest.Line
	for _, message := range d.platform.arrived() {
		if message.To == to {
			lines = append(lines, livechattest.Line{Text: message.Text})
		}
	}
	return lines
}
