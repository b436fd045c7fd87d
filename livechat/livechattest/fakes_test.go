package livechattest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// platform is a fakes.Platform as a host of the suite. Its members and agents wait until the bot has run, so a
// Harness for it needs no Deliver.
type platform struct {
	*fakes.Platform

	t       *testing.T
	outlet  *channel.Channel
	members [2]*fakes.Actor
	agents  [2]*fakes.Agent
	// repeats is true if the platform delivers each message of an agent twice.
	repeats, isDown bool
}

// Advance implements livechattest.Host.
func (p *platform) Advance(by time.Duration) { _ = p.TryAdvance(by) } // Runs may fail.

// Restart implements livechattest.Host.
func (p *platform) Restart() { p.Platform.Restart() }

// newPlatform returns a platform with an outlet of a type.
func newPlatform(t *testing.T, kind channel.Type) *platform {
	t.Helper()
	p := &platform{Platform: fakes.New(fakes.For(t), fakes.WithInbox()), t: t}
	p.AddChannel(channel.Channel{ID: "members", Type: channel.Webchat})
	group := channel.BroadcastGroupMember{ID: "support"}
	if types := channel.PlatformOf(kind).BroadcastGroups; len(types) > 0 {
		group.Type = types[len(types)-1]
	}
	p.outlet = p.AddChannel(channel.Channel{ID: "desk", Type: kind, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{group}},
	}})
	p.Pair("members", "desk")
	p.members = [2]*fakes.Actor{
		p.AddMember(member.Member{Channel: "members", FirstName: "Ada"}), p.AddMember(member.Member{Channel: "members", FirstName: "Bob"}),
	}
	p.agents = [2]*fakes.Agent{p.AddAgent("desk", "Grace"), p.AddAgent("desk", "Hedy")}
	return p
}

// passes requires that an event caused no error, unless the platform is down.
func (p *platform) passes(err error) {
	p.t.Helper()
	if !p.isDown {
		require.NoError(p.t, err)
	}
}

// sends lets an agent send an event in a conversation.
func (p *platform) sends(agent int, in livechattest.Chat, event send.MessageEvent) {
	p.t.Helper()
	of := p.agents[agent]
	if in.Conversation != of.ExternalID() { // In the agent's own conversation, the agent writes to the bot.
		event.To = in.Conversation
	}
	p.passes(of.TrySends(event))
	if p.repeats {
		p.passes(of.TrySaysAgain())
	}
}

func (p *platform) ticket(of livechattest.Chat) fakes.Ticket {
	for _, ticket := range p.agents[0].Tickets() {
		if ticket.MessageID == of.Ticket.MessageID {
			return ticket
		}
	}
	return fakes.Ticket{}
}

// take lets an agent tap on a ticket, and returns the first text that the agent gets.
func (p *platform) take(agent int, of livechattest.Chat) string {
	p.t.Helper()
	by, before := p.agents[agent], len(p.Sent())
	if p.outlet.Type == channel.Custom { // The host's own program shows the request, and knows who takes it.
		if err := by.TryTakes(p.ticket(of)); err != nil {
			return err.Error()
		}
		return ""
	}
	p.passes(by.TryTaps(p.ticket(of)))
	for _, sent := range p.Sent()[before:] {
		if sent.Channel == "desk" {
			return sent.Response.Text()
		}
	}
	return ""
}

// shown returns the messages in a conversation.
func (p *platform) shown(in livechattest.Chat) []livechattest.Line {
	var lines []livechattest.Line
	for _, sent := range p.Sent() {
		if sent.Channel == "desk" && !sent.IsRepeat && in.Conversation != "" && (sent.To == in.Conversation || sent.ChatID == in.Conversation) {
			lines = append(lines, livechattest.Line{Text: livechattest.TextOf(sent.Response)})
		}
	}
	return lines
}

func admin(a *fakes.Agent) livechat.Admin {
	return livechat.Admin{AdminID: a.AdminID(), ExternalID: a.ExternalID(), Name: a.Name()}
}

func (p *platform) harness() *livechattest.Harness {
	down := fakes.Down(fakes.ServiceMessages)
	down.Part = "desk"
	h := &livechattest.Harness{
		Host: p,
		Inlet: livechattest.Inlet{
			Channel: "members",
			Says:    func(who int, text string) { p.passes(p.members[who].TrySays(text)) },
			Shown: func(who int) []livechattest.Line {
				var lines []livechattest.Line
				for _, message := range p.members[who].Messages() {
					lines = append(lines, livechattest.Line{Text: livechattest.TextOf(message)})
				}
				return lines
			},
		},
		Outlet: livechattest.Outlet{
			Channel: "desk", Agents: [2]livechat.Admin{admin(p.agents[0]), admin(p.agents[1])},
			Ticket: func(of livechattest.Chat) string { return p.ticket(of).Text() },
			Take:   p.take,
			Says: func(agent int, in livechattest.Chat, text string) string {
				p.sends(agent, in, send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)})
				return ""
			},
			Shown: p.shown,
			SendsFile: func(agent int, in livechattest.Chat, url string) {
				p.sends(agent, in, send.MessageEvent{Type: send.TypeFile, Data: document.O("url", url)})
			},
			Ends:   func(agent int, _ livechattest.Chat) { p.agents[agent].Ends() },
			Repeat: func() { p.repeats = true },
			Fail: func(isDown bool) {
				p.isDown = isDown
				if isDown {
					p.Inject(down)
				} else {
					p.Lift(down)
				}
			},
		},
	}
	if p.outlet.Type == channel.Foxtrot { // A helpdesk has no tickets.
		h.Outlet.Take = nil
	}
	return h
}

// The fakes of all platforms keep the same rules as the connectors to the platforms.
func TestFakes(t *testing.T) {
	t.Parallel()
	for _, kind := range channel.Types() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
				t.Helper()
				return newPlatform(t, kind).harness()
			})
		})
	}
}
