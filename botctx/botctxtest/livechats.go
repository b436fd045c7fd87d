package botctxtest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// liveChatRules are the rules of the operations of package livechat.
func liveChatRules() []Rule {
	return needing(liveChatNeeds()[1:], slices.Concat(assignmentRules(), groupRules()))
}

// liveChatNeeds are what live chats need: the domain, and the verbs that hold them.
func liveChatNeeds() []Capability { return []Capability{LiveChats, pairOutlets, addAgents, tickets} }

// needing returns rules that all need more capabilities.
func needing(needed []Capability, rules []Rule) []Rule {
	all := slices.Clone(rules)
	for i, rule := range all {
		all[i].Needs = slices.Concat(needed, rule.Needs)
	}
	return all
}

// ticketing are the platforms on which requests are tickets, and live chats are handed on.
// All of them make groups.
var ticketing = slices.Concat(recalling,
	slices.DeleteFunc(channel.OutletGroups.Types(), func(platform channel.Type) bool { return platform.Has(channel.TicketRecall) }))

// recalling are those of them on which tickets can be taken back. They come first there.
var recalling = channel.TicketRecall.Types()

// ticketless are the other platforms.
func ticketless() []channel.Type {
	return slices.DeleteFunc(channel.Types(), func(platform channel.Type) bool { return platform.Has(channel.OutletGroups) })
}

// ticketing returns the first platform with tickets that the implementation does not lack.
func (t *trial) ticketing() channel.Type {
	for _, platform := range ticketing {
		if t.offers(On(platform)) {
			return platform
		}
	}
	return channel.Charlie
}

// offersLiveChats reports whether live chats can be held.
func (t *trial) offersLiveChats() bool {
	return !slices.ContainsFunc(liveChatNeeds(), func(c Capability) bool { return !t.offers(c) })
}

// desk is an outlet channel, with an agent, and with the two broadcast groups support, of
// the default label, and sales, of the label "sales".
type desk struct {
	*channel.Channel

	agent          *Agent
	support, sales channel.BroadcastGroupMember
}

// addDesk makes an outlet in the app of a place.
func (t *trial) addDesk(p *place, platform channel.Type) *desk {
	t.Helper()
	d := &desk{support: newBroadcastGroup(platform), sales: newBroadcastGroup(platform)}
	d.Channel = t.AddChannel(channel.Channel{App: p.scope.App, Type: platform, Name: "Desk", BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{d.support}},
		{Label: "sales", Groups: []channel.BroadcastGroupMember{d.sales}},
	}})
	d.agent = t.Agent(d.Channel)
	return d
}

// openDesk makes an outlet that alone serves the channel of a place.
func (t *trial) openDesk(p *place, platform channel.Type) *desk {
	t.Helper()
	d := t.addDesk(p, platform)
	t.Pair(p.channel, d.Channel)
	return d
}

// newBroadcastGroup returns a broadcast group of a platform with an id that nobody has used
// before.
func newBroadcastGroup(platform channel.Type) channel.BroadcastGroupMember {
	group := channel.BroadcastGroupMember{ID: unique("group")}
	if types := channel.PlatformOf(platform).BroadcastGroups; len(types) > 0 {
		group.Type = types[len(types)-1]
	}
	return group
}

// request asks for a person, without an error, and returns the assignment.
func (t *trial) request(p *place, params livechat.CreateAssignmentParams) *livechat.Assignment {
	t.Helper()
	created, err := p.CreateAssignment(t.ctx(), params)
	require.NoError(t, err)
	return t.assignment(p, created.AssignmentID)
}

// requestTaken asks for a person, as request does, and lets the agent of a desk take it. The
// assignment that comes back has a group.
func (t *trial) requestTaken(p *place, d *desk, params livechat.CreateAssignmentParams) *livechat.Assignment {
	t.Helper()
	asked := t.request(p, params)
	require.NoError(t, d.agent.Take(asked.ID), "the agent takes the request")
	return t.assignment(p, asked.ID)
}

// assignment reads an assignment, without an error.
func (t *trial) assignment(p *place, id string) *livechat.Assignment {
	t.Helper()
	found, err := p.GetAssignment(t.ctx(), livechat.GetAssignmentParams{AssignmentID: id})
	require.NoError(t, err)
	require.NotNil(t, found)
	return found
}

// groupOf reads the group of an assignment that was taken, without an error.
func (t *trial) groupOf(p *place, a *livechat.Assignment) *livechat.Group {
	t.Helper()
	require.NotEmpty(t, a.Group, "the group of an assignment that was taken")
	found, err := p.GetGroup(t.ctx(), livechat.GetGroupParams{GroupID: a.Group})
	require.NoError(t, err)
	require.NotNil(t, found)
	return found
}

// eventIn is what an agent wrote in a group.
func eventIn(g *livechat.Group) *send.MessageEvent {
	return &send.MessageEvent{
		Type: send.TypeText, From: g.AdminExternalID, To: g.ExternalID, Data: document.O("text", "/command"),
		Timestamp: later, MessageID: unique("message"),
	}
}

// at returns the place as it is for another member of its app, or for the agents' side where
// m is nil, in a channel.
func (t *trial) at(p *place, c *channel.Channel, m *member.Member) *place {
	t.Helper()
	other := *p
	other.channel, other.member = c, m
	other.scope = record.Scope{App: p.scope.App, Channel: c.ID}
	if m != nil {
		other.scope.Member = m.ID
	}
	other.Operations = t.Operations(other.scope)
	return &other
}

// isInLiveChat reports whether a member is in live chat, as it is stored now.
func (t *trial) isInLiveChat(m *member.Member) bool {
	t.Helper()
	return t.load(m).BotMeta.LiveChat()
}

// liveChatsOf returns the assignments of a member and their groups as they are stored now, as
// text.
func (t *trial) liveChatsOf(m *member.Member) string {
	t.Helper()
	operations := t.operationsFor(m)
	found, err := operations.GetAssignmentsByMemberID(t.ctx(), livechat.GetAssignmentsByMemberIDParams{MemberID: m.ID})
	require.NoError(t, err)
	var all strings.Builder
	for _, a := range found {
		all.WriteString(textOf(t, a))
		if a.Group != "" {
			g, err := operations.GetGroup(t.ctx(), livechat.GetGroupParams{GroupID: a.Group})
			require.NoError(t, err)
			all.WriteString(textOf(t, g))
		}
	}
	return all.String()
}

// sentTo returns what has arrived in a channel for an id on the platform, in order.
func (t *trial) sentTo(channelID, externalID string) []Sent {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(t.Sent()), func(s Sent) bool { return s.Channel != channelID || s.To != externalID })
}

// neighbourPlace makes another member of the home channel, and returns the place as it is for
// that member.
func (t *trial) neighbourPlace() *place {
	t.Helper()
	return t.at(t.home, t.home.channel, t.neighbour(member.Member{FirstName: "Eve"}))
}
