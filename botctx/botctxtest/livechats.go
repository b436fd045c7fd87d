package botctxtest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func liveChatRules() []Rule {
	return needing(liveChatNeeds()[1:], slices.Concat(assignmentRules(), groupRules()))
}

// liveChatNeeds returns the capabilities that rules about live chats need.
func liveChatNeeds() []Capability { return []Capability{LiveChats, pairOutlets, addAgents, tickets} }

// ticketing are the platforms on which requests are tickets, and on which live chats can be reassigned and have a group.
var ticketing = slices.Concat(recalling,
	slices.DeleteFunc(channel.OutletGroups.Types(), func(platform channel.Type) bool { return platform.Has(channel.TicketRecall) }))

// recalling are the platforms whose tickets can be recalled. They come first in ticketing.
var recalling = channel.TicketRecall.Types()

// ticketless returns the platforms that are not in ticketing.
func ticketless() []channel.Type {
	return slices.DeleteFunc(channel.Types(), func(platform channel.Type) bool { return platform.Has(channel.OutletGroups) })
}

// ticketing returns the first platform with tickets that the implementation supports.
func (t *trial) ticketing() channel.Type {
	for _, platform := range ticketing {
		if t.offers(On(platform)) {
			return platform
		}
	}
	return channel.Charlie
}

func (t *trial) offersLiveChats() bool {
	return !slices.ContainsFunc(liveChatNeeds(), func(c Capability) bool { return !t.offers(c) })
}

// desk is an outlet channel with an agent and two broadcast groups: support, with the default label, and
// sales, with the label "sales".
type desk struct {
	*channel.Channel

	agent          *Agent
	support, sales channel.BroadcastGroupMember
}

// addDesk adds an outlet in the app of a place.
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

// openDesk adds an outlet and pairs the channel of a place with only this outlet.
func (t *trial) openDesk(p *place, platform channel.Type) *desk {
	t.Helper()
	d := t.addDesk(p, platform)
	t.Pair(p.channel, d.Channel)
	return d
}

// newBroadcastGroup returns a broadcast group for a platform, with a new id.
func newBroadcastGroup(platform channel.Type) channel.BroadcastGroupMember {
	group := channel.BroadcastGroupMember{ID: unique("group")}
	if types := channel.PlatformOf(platform).BroadcastGroups; len(types) > 0 {
		group.Type = types[len(types)-1]
	}
	return group
}

// request makes a live-chat request and returns its assignment.
func (t *trial) request(p *place, params livechat.CreateAssignmentParams) *livechat.Assignment {
	t.Helper()
	created := must(t, p.CreateAssignment, params)
	return t.assignment(p, created.AssignmentID)
}

// requestTaken makes a live-chat request that the agent of a desk takes. The returned assignment has a group.
func (t *trial) requestTaken(p *place, d *desk, params livechat.CreateAssignmentParams) *livechat.Assignment {
	t.Helper()
	asked := t.request(p, params)
	require.NoError(t, d.agent.Take(asked.ID), "the agent takes the request")
	return t.assignment(p, asked.ID)
}

func (t *trial) assignment(p *place, id string) *livechat.Assignment {
	t.Helper()
	found := must(t, p.GetAssignment, livechat.GetAssignmentParams{AssignmentID: id})
	require.NotNil(t, found)
	return found
}

// groupOf returns the group of an assignment that an agent has taken.
func (t *trial) groupOf(p *place, a *livechat.Assignment) *livechat.Group {
	t.Helper()
	require.NotEmpty(t, a.Group, "the group of an assignment that was taken")
	found := must(t, p.GetGroup, livechat.GetGroupParams{GroupID: a.Group})
	require.NotNil(t, found)
	return found
}

// eventIn returns a message of the agent in a group.
func eventIn(g *livechat.Group) *send.MessageEvent {
	return &send.MessageEvent{
		Type: send.TypeText, From: g.AdminExternalID, To: g.ExternalID, Data: document.O("text", "/command"),
		Timestamp: later, MessageID: unique("message"),
	}
}

// at returns a place in the app of p for a channel and a member. m is nil for the agents' side of a live chat.
func (t *trial) at(p *place, c *channel.Channel, m *member.Member) *place {
	t.Helper()
	other := *p
	other.channel, other.member = c, m
	other.scope = botctx.Scope{App: p.scope.App, Channel: c.ID}
	if m != nil {
		other.scope.Member = m.ID
	}
	other.Operations = t.Operations(other.scope)
	return &other
}

// isInLiveChat reports whether the stored member is in a live chat.
func (t *trial) isInLiveChat(m *member.Member) bool {
	t.Helper()
	return t.load(m).BotMeta.LiveChat()
}

// liveChatsOf returns the stored assignments of a member and their groups, as text.
func (t *trial) liveChatsOf(m *member.Member) string {
	t.Helper()
	operations := t.operationsFor(m)
	found := must(t, operations.GetAssignmentsByMemberID, livechat.GetAssignmentsByMemberIDParams{MemberID: m.ID})
	var all strings.Builder
	for _, a := range found {
		all.WriteString(textOf(t, a))
		if a.Group != "" {
			g := must(t, operations.GetGroup, livechat.GetGroupParams{GroupID: a.Group})
			all.WriteString(textOf(t, g))
		}
	}
	return all.String()
}

// sentTo returns the messages that arrived through a channel for a recipient, in order. externalID is the recipient's id on
// the platform.
func (t *trial) sentTo(channelID, externalID string) []Sent {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(t.Sent()), func(s Sent) bool { return s.Channel != channelID || s.To != externalID })
}

// neighbourPlace adds a member to the home channel and returns the place for that member.
func (t *trial) neighbourPlace() *place {
	t.Helper()
	return t.at(t.home, t.home.channel, t.neighbour(member.Member{FirstName: "Eve"}))
}

// A moment is a phase of a live chat and a writer in it. The rule MessagesOfALiveChatReachSomebody checks the recipients
// of messages in all moments, and LiveChatTable prints them for guides.

// seen is the reader of a message.
type seen string

const (
	byBot    seen = "the bot"
	byMember seen = "the member"
	byAgent  seen = "the agent"
	byTaker  seen = "the agent who takes it"
	byNobody seen = "no one"
)

// moment is one row of the table of moments.
type moment struct {
	// at describes the phase of the live chat, and writer the writer of a message. seenBy is the reader of the message.
	// told describes the automatic answer and its recipient.
	at, writer string
	seenBy     seen
	told       string
	// begin brings a live chat to this phase, and write writes the message.
	begin func(*chatAt)
	write func(*chatAt) error
	// member and agent are the texts that the member and the agent get. code is the code of the error if the bot
	// is the writer.
	member, agent string
	code          boterr.Code
	// goesOn is true if the member is in a live chat after the message.
	goesOn bool
}

const said = "Where is it?"

// phase is a phase of a live chat, with the moments at which someone writes.
type phase struct {
	at    string
	begin func(*chatAt)
	rows  []moment
}

func moments() (all []moment) {
	for _, p := range phases() {
		for _, row := range p.rows {
			row.at, row.begin = p.at, p.begin
			all = append(all, row)
		}
	}
	return all
}

func phases() []phase {
	const memberOnce, agentOnce = "the member, once: no agent is there yet", "the agent, once: it is over"
	const notFound, refused = "the bot: NotFound", "the bot: FailedPrecondition"
	texts := livechat.DefaultTexts()
	memberWrites, agentWrites, botReplies := (*chatAt).memberWrites, (*chatAt).agentWrites, (*chatAt).botReplies
	toMember, toAgent := (*chatAt).botWritesToMember, (*chatAt).botWritesToAgent
	return []phase{
		{"before the request", (*chatAt).nothing, []moment{
			{writer: "member", write: memberWrites, seenBy: byBot},
			{writer: "agent", write: agentWrites, seenBy: byBot},
			{writer: "bot to the member", write: botReplies, seenBy: byMember, member: said},
			{writer: "bot to the agent", write: toMember, seenBy: byNobody, told: notFound, code: boterr.NotFound},
		}},
		{"waiting", (*chatAt).asks, []moment{
			{writer: "member", write: memberWrites, seenBy: byTaker, told: memberOnce, member: texts.Waiting, goesOn: true},
			{writer: "agent", write: agentWrites, seenBy: byBot, goesOn: true},
			{writer: "bot to the member", write: botReplies, seenBy: byMember, member: said, goesOn: true},
		}},
		{"taken", (*chatAt).connects, []moment{
			{writer: "member", write: memberWrites, seenBy: byAgent, agent: said, goesOn: true},
			{writer: "agent", write: agentWrites, seenBy: byMember, member: said, goesOn: true},
			{writer: "bot to the member", write: toMember, seenBy: byMember, member: said, goesOn: true},
			{writer: "bot to the agent", write: toAgent, seenBy: byAgent, agent: said, goesOn: true},
		}},
		{"handed on by the agent", (*chatAt).handsOn, []moment{
			{writer: "member", write: memberWrites, seenBy: byTaker, told: memberOnce, member: texts.Waiting, goesOn: true},
			{writer: "agent", write: agentWrites, seenBy: byNobody, told: agentOnce, agent: texts.Over, goesOn: true},
			{writer: "bot to the member", write: toMember, seenBy: byMember, member: said, goesOn: true},
			{writer: "bot to the agent", write: toAgent, seenBy: byNobody, told: refused, code: boterr.FailedPrecondition, goesOn: true},
		}},
		{"ended", (*chatAt).ends, []moment{
			{writer: "member", write: memberWrites, seenBy: byBot},
			{writer: "agent", write: agentWrites, seenBy: byNobody, told: agentOnce, agent: texts.Over},
			{writer: "bot to the member", write: toMember, seenBy: byMember, member: said},
			{writer: "bot to the agent", write: toAgent, seenBy: byNobody, told: refused, code: boterr.FailedPrecondition},
		}},
		{"agent's conversation gone", (*chatAt).archives, []moment{
			{writer: "member", write: memberWrites, seenBy: byNobody, told: "the member: it is over", member: texts.AgentGone},
			{writer: "agent", write: agentWrites, seenBy: byMember, member: said, goesOn: true},
			{writer: "bot to the member", write: toMember, seenBy: byMember, member: said, goesOn: true},
			{
				writer: "bot to the agent", write: toAgent, seenBy: byNobody, told: refused + "; the member: it is over",
				member: texts.AgentGone, code: boterr.FailedPrecondition,
			},
		}},
		{"member gone", (*chatAt).blocks, []moment{
			{writer: "member", write: memberWrites, seenBy: byAgent, agent: said, goesOn: true},
			{writer: "agent", write: agentWrites, seenBy: byNobody, told: "the agent: it is over", agent: texts.MemberGone},
			{
				writer: "bot to the member", write: toMember, seenBy: byNobody, told: refused + "; the agent: it is over",
				agent: texts.MemberGone, code: boterr.FailedPrecondition,
			},
			{writer: "bot to the agent", write: toAgent, seenBy: byAgent, agent: said, goesOn: true},
		}},
	}
}

// LiveChatTable returns a Markdown table for guides. For each phase of a live chat and each writer, the table names the
// reader of a message, and the automatic text if the message does not arrive. A rule of the suite checks the table.
func LiveChatTable() string {
	var phases []string
	cells := map[string]string{}
	for _, row := range moments() {
		phases = append(phases, row.at)
		cell := string(row.seenBy)
		if row.told != "" {
			cell += " (" + row.told + ")"
		}
		cells[row.at+row.writer] = cell
	}
	var table strings.Builder
	table.WriteString("| state | member writes | agent writes | bot to the member | bot to the agent |\n|---|---|---|---|---|\n")
	for _, phase := range slices.Compact(phases) {
		table.WriteString("| " + phase)
		for _, writer := range []string{"member", "agent", "bot to the member", "bot to the agent"} {
			table.WriteString(" | " + cmp.Or(cells[phase+writer], "-"))
		}
		table.WriteString(" |\n")
	}
	return table.String()
}

var momentRules = needing([]Capability{
	On(channel.Charlie), Archives, Sends, Nodes, readSent, handleNodes, receiveEvents, refuseSends,
}, []Rule{
	rule(messagesOfALiveChatReachSomebody,
		"a message at any moment of a live chat reaches a reader, or its writer gets an answer, as in the table of moments"),
})

// chatAt is the live chat of a moment.
type chatAt struct {
	*trial

	place *place
	desk  *desk
	asked *livechat.Assignment
	group *livechat.Group
}

func messagesOfALiveChatReachSomebody(t *trial) {
	t.Handle(&botctx.Node{ID: unique("node"), Trigger: botctx.TextIs("no member says this")})
	for _, row := range moments() {
		t.try(row.at+", "+row.writer, func(t *trial) {
			c := &chatAt{trial: t, place: t.at(t.home, t.home.channel, t.neighbour(member.Member{FirstName: "Eve"}))}
			c.desk = t.openDesk(c.place, channel.Charlie)
			row.begin(c)
			toMember, toAgent := len(c.toMember()), len(c.toAgent())
			if err := row.write(c); row.code == "" {
				require.NoError(t, err)
			} else {
				t.requireCode(row.code, err)
			}
			require.Equal(t, orNone(row.member), c.toMember()[toMember:], "the texts that the member gets")
			require.Equal(t, orNone(row.agent), c.toAgent()[toAgent:], "the texts that the agent gets")
			require.Equal(t, row.goesOn, t.isInLiveChat(c.place.member), "true if the live chat is not over")
			row.again(c)
		})
	}
}

// again writes a second message. It checks that automatic answers are not repeated, and that the agent who takes the request
// gets the kept messages below a heading.
func (m moment) again(c *chatAt) {
	toMember, toAgent := len(c.toMember()), len(c.toAgent())
	switch {
	case m.seenBy == byTaker:
		require.NoError(c, m.write(c))
		require.Empty(c, c.toMember()[toMember:], "the member gets the automatic answer only once")
		open := c.openOf()
		require.NoError(c, c.desk.agent.Take(open.ID))
		g := c.groupOf(c.place, c.assignment(c.place, open.ID))
		heading := strings.ReplaceAll(livechat.DefaultTexts().Before, "[count]", "2")
		require.Equal(c, []string{heading, said, said}, c.textsTo(c.desk.ID, g.ExternalID))
	case strings.HasPrefix(m.told, "the agent, once"):
		require.NoError(c, m.write(c))
		require.Empty(c, c.toAgent()[toAgent:], "the agent gets the automatic answer only once")
	}
}

func orNone(text string) []string {
	if text == "" {
		return []string{}
	}
	return []string{text}
}

// toMember returns the texts that the member got. toAgent returns the texts that the agent got.
func (c *chatAt) toMember() []string {
	return c.textsTo(c.place.channel.ID, c.place.member.ExternalID)
}

func (c *chatAt) toAgent() []string {
	if c.group == nil {
		return c.textsTo(c.desk.ID, c.desk.agent.ExternalID)
	}
	return c.textsTo(c.desk.ID, c.group.ExternalID)
}

// openOf returns the member's open request.
func (c *chatAt) openOf() *livechat.Assignment {
	all, err := c.place.GetAssignmentsByMemberID(c.Context(), livechat.GetAssignmentsByMemberIDParams{MemberID: c.place.member.ID})
	require.NoError(c, err)
	require.NotEmpty(c, all)
	for _, a := range all {
		if a.Assignee == "" {
			return a
		}
	}
	return all[0]
}

// The functions below are values of moment.begin.

func (*chatAt) nothing() {}

func (c *chatAt) asks() { c.asked = c.request(c.place, livechat.CreateAssignmentParams{}) }

func (c *chatAt) connects() {
	c.asked = c.requestTaken(c.place, c.desk, livechat.CreateAssignmentParams{})
	c.group = c.groupOf(c.place, c.asked)
}

func (c *chatAt) handsOn() {
	c.connects()
	_, err := c.place.ReassignAssignment(c.Context(), livechat.ReassignAssignmentParams{
		Channel: c.desk.Channel, MessageEvent: eventIn(c.group), Label: livechat.DefaultLabel,
	})
	require.NoError(c, err)
}

func (c *chatAt) ends() {
	c.connects()
	_, err := c.place.EndLiveChat(c.Context(), livechat.EndParams{Channel: c.desk.Channel, MessageEvent: eventIn(c.group)})
	require.NoError(c, err)
}

func (c *chatAt) archives() {
	c.connects()
	_, err := c.place.CharlieArchiveConversation(c.Context(), send.CharlieArchiveConversationParams{
		Channel: c.desk.Channel, MessageEvent: &send.MessageEvent{To: c.group.ExternalID},
	})
	require.NoError(c, err)
}

func (c *chatAt) blocks() {
	c.connects()
	c.Refuse(c.place.member)
}

// The functions below are values of moment.write.

func (c *chatAt) memberWrites() error {
	return c.arrives(c.place.channel.ID, c.place.member.ExternalID, "")
}

func (c *chatAt) agentWrites() error {
	to := c.desk.ID
	if c.group != nil {
		to = c.group.ExternalID
	}
	return c.arrives(c.desk.ID, c.desk.agent.ExternalID, to)
}

// arrives passes the text to Receive as an event.
func (c *chatAt) arrives(channelID, from, to string) error {
	return c.Receive(botctx.Inbound{App: c.place.scope.App, Channel: channelID, Event: send.MessageEvent{
		Type: send.TypeText, From: from, To: to, MessageID: unique("message"), Data: document.O("text", said),
	}})
}

func (c *chatAt) botReplies() error {
	return errorOf(c.place.SendResponse(c.Context(), send.SendResponseParams{Response: send.Text(said)}))
}

func (c *chatAt) botWritesToMember() error {
	event := &send.MessageEvent{Type: send.TypeText, From: c.desk.agent.ExternalID, To: c.desk.ID}
	if c.group != nil {
		event = eventIn(c.group)
	}
	return errorOf(c.place.SendMessageToInlet(c.Context(), livechat.SendMessageToInletParams{
		Channel: c.desk.Channel, MessageEvent: event, Response: send.Text(said),
	}))
}

func (c *chatAt) botWritesToAgent() error {
	return errorOf(c.place.SendMessageToOutletGroup(c.Context(), livechat.SendMessageToOutletGroupParams{
		GroupID: c.group.ID, Response: send.Text(said),
	}))
}
