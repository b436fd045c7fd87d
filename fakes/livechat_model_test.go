package fakes_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// model is what the live chats of a few members should be, by rules that are written down
// a second time, as simply as can be.
type model struct {
	now time.Time
	// types are the platforms of the outlets.
	types    map[string]channel.Type
	requests []*request
	tickets  []*offer
	// toMembers are the texts that each member was sent.
	toMembers map[string][]string
	// toAgents are the texts that each agent was sent in her conversations.
	toAgents map[string][]string
	// groups counts the conversations that were made in each outlet.
	groups map[string]int
	// taken counts the requests that were taken.
	taken int
}

// request is an assignment.
type request struct {
	id      string // As the platform calls it, "" until it is seen there.
	member  string
	label   string
	about   string
	state   livechat.State
	endedBy livechat.EndedBy
	agent   string // Who has or had it.
	expiry  time.Time
	parent  *request
	removed bool
	// kept are what the member wrote while nobody had it, isWaitingTold whether the member was told that nobody has,
	// isOverTold whether the agent who wrote after the end was told that it is over, and taken how many were taken
	// before.
	kept                      []string
	isWaitingTold, isOverTold bool
	taken                     int
}

// offer is a ticket.
type offer struct {
	of             *request
	channel, group string
	taken          string
	isGone         bool
}

// groupsOf are the broadcast groups by label, in the order in which they get tickets.
var groupsOf = map[string][][2]string{ //nolint:gochecknoglobals // It does not change.
	"default": {{"desk", "support"}, {"team", "crew"}},
	"sales":   {{"desk", "sales"}},
}

// agentsOf are the agents of the model: their outlets and broadcast groups.
var agentsOf = map[string][2]string{ //nolint:gochecknoglobals // It does not change.
	"Grace": {"desk", "support"}, "Hedy": {"desk", "sales"}, "Ida": {"team", "crew"}, "Jane": {"team", "crew"},
}

// can reports whether an outlet is of one of some platforms.
func (m *model) can(outlet string, platforms ...channel.Type) bool {
	return slices.Contains(platforms, m.types[outlet])
}

// changesTickets reports whether an outlet can change a message that was sent.
func (m *model) changesTickets(outlet string) bool {
	return m.can(outlet, channel.Charlie, channel.Delta)
}

// isDirect reports whether an outlet has no tickets.
func (m *model) isDirect(outlet string) bool { return m.can(outlet, channel.Foxtrot, channel.Custom) }

// isAlone reports whether an agent of an outlet talks with one member at a time, in her
// conversation with the bot.
func (m *model) isAlone(outlet string) bool { return m.can(outlet, channel.Alpha, channel.Custom) }

func newModel(now time.Time, types map[string]channel.Type) *model {
	return &model{now: now, types: types, toMembers: map[string][]string{}, toAgents: map[string][]string{}, groups: map[string]int{}}
}

// open returns the request of a member that is pending or taken, nil where there is none.
func (m *model) open(member string) *request {
	for _, r := range m.requests {
		if r.member == member && !r.removed && r.state != livechat.Ended {
			return r
		}
	}
	return nil
}

// with returns the request in which an agent talks when she writes to a member, nil where
// there is none.
func (m *model) with(agent, member string) *request {
	for _, r := range m.requests {
		if r.state == livechat.Taken && r.agent == agent && (r.member == member || m.isAlone(agentsOf[agent][0])) {
			return r
		}
	}
	return nil
}

// ask makes a request, unless one is open.
func (m *model) ask(member, label, about string) {
	if m.open(member) == nil {
		m.request(&request{member: member, label: label, about: about})
	}
}

// request makes a request stand.
func (m *model) request(r *request) {
	r.state, r.expiry = livechat.Pending, m.now.Add(livechat.IdleTimeout)
	m.requests = append(m.requests, r)
	for _, to := range groupsOf[r.label] {
		m.tickets = append(m.tickets, &offer{of: r, channel: to[0], group: to[1]})
		if m.can(to[0], channel.Foxtrot) {
			m.groups[to[0]]++
		}
		if m.isDirect(to[0]) {
			return
		}
	}
}

// widen offers a request to another broadcast group.
func (m *model) widen(r *request, outlet, group string) boterr.Code {
	if r.removed || r.state != livechat.Pending || m.isDirect(outlet) {
		return boterr.FailedPrecondition
	}
	isOffered := slices.ContainsFunc(m.tickets, func(o *offer) bool { return o.of == r && o.channel == outlet && o.group == group })
	if !isOffered {
		m.tickets = append(m.tickets, &offer{of: r, channel: outlet, group: group})
	}
	return ""
}

// take gives a request to an agent.
func (m *model) take(agent string, r *request) boterr.Code {
	outlet := agentsOf[agent][0]
	switch {
	case r.state == livechat.Taken && r.agent == agent:
		return ""
	case r.removed || r.state != livechat.Pending || m.isAlone(outlet) && m.with(agent, "") != nil:
		return boterr.FailedPrecondition
	}
	r.state, r.agent, r.expiry = livechat.Taken, agent, m.now.Add(livechat.IdleTimeout)
	if m.can(outlet, channel.Bravo, channel.Charlie, channel.Delta) {
		m.groups[outlet]++
	}
	if m.can(outlet, channel.Foxtrot) { // The request is the first message of the conversation.
		m.tell(agent, m.asking(r, outlet))
	}
	m.tell(agent, r.about)
	if len(r.kept) > 0 {
		m.tell(agent, fmt.Sprintf("Written before (%d):", len(r.kept)))
		for _, text := range r.kept {
			m.tell(agent, text)
		}
		r.kept = nil
	}
	m.taken++
	r.taken = m.taken
	for _, ticket := range m.tickets {
		if ticket.of == r && !ticket.isGone && m.changesTickets(ticket.channel) {
			ticket.taken = "Taken by " + agent + "."
		}
	}
	return ""
}

// asking is the text of a request.
func (m *model) asking(r *request, outlet string) string {
	if m.isDirect(outlet) {
		return r.member + " asks for a person."
	}
	return r.member + " asks for a person.\n" + r.about
}

// tell notes what an agent was sent.
func (m *model) tell(agent, text string) { m.toAgents[agent] = append(m.toAgents[agent], text) }

// memberSays is what a member writes.
func (m *model) memberSays(member, text string) {
	r := m.open(member)
	if r == nil {
		return
	}
	r.expiry = m.now.Add(livechat.IdleTimeout)
	if r.state == livechat.Taken {
		m.tell(r.agent, text)
		return
	}
	r.kept = append(r.kept, text)
	if !r.isWaitingTold {
		r.isWaitingTold = true
		m.toMembers[member] = append(m.toMembers[member], livechat.DefaultTexts().Waiting)
	}
}

// over returns the request in which an agent talked last who writes to a member, nil if there is none.
func (m *model) over(agent, member string) *request {
	var last *request
	for _, r := range m.requests {
		isHers := r.state == livechat.Ended && r.agent == agent && (r.member == member || m.isAlone(agentsOf[agent][0]))
		if isHers && (last == nil || r.taken > last.taken) {
			last = r
		}
	}
	return last
}

// agentSays is what an agent writes to a member.
func (m *model) agentSays(agent, member, text string) boterr.Code {
	r := m.with(agent, member)
	switch {
	case r == nil:
		if over := m.over(agent, member); over != nil && !over.isOverTold {
			over.isOverTold = true
			m.tell(agent, livechat.DefaultTexts().Over)
		}
	case text == "/done":
		m.toMembers[r.member] = append(m.toMembers[r.member], "Goodbye!")
		m.end(r, livechat.EndedByOutlet)
	case text == "/sales" && !m.can(agentsOf[agent][0], channel.Bravo, channel.Charlie, channel.Delta):
		return boterr.Unsupported
	case text == "/sales":
		m.end(r, livechat.EndedByReassign)
		m.request(&request{member: r.member, label: "sales", about: r.about, parent: r})
	default:
		m.toMembers[r.member] = append(m.toMembers[r.member], text)
		r.expiry = m.now.Add(livechat.IdleTimeout)
	}
	return ""
}

// end ends a request.
func (m *model) end(r *request, by livechat.EndedBy) {
	r.state, r.endedBy, r.expiry = livechat.Ended, by, time.Time{}
	if by == livechat.EndedByIdle && len(r.kept) > 0 {
		m.toMembers[r.member] = append(m.toMembers[r.member], livechat.DefaultTexts().Unread)
	}
}

// leave ends the live chat of a member.
func (m *model) leave(member string, options livechat.InletEndLiveChatOptions) boterr.Code {
	r := m.open(member)
	switch {
	case r == nil:
		return boterr.FailedPrecondition
	case bool(options.RecallRelayMessage) && slices.ContainsFunc(m.tickets, func(o *offer) bool {
		return o.of == r && !m.changesTickets(o.channel)
	}):
		return boterr.Unsupported
	}
	m.end(r, livechat.EndedByInlet)
	if options.RecallRelayMessage {
		m.recall(r)
		return ""
	}
	for _, ticket := range m.tickets {
		if ticket.of == r && r.agent == "" && !m.isDirect(ticket.channel) && m.changesTickets(ticket.channel) {
			ticket.taken = livechat.DefaultTexts().Late
		}
	}
	return ""
}

// withdraw removes the request of a member that is pending.
func (m *model) withdraw(member string) {
	if r := m.open(member); r != nil && r.state == livechat.Pending {
		r.removed = true
		m.recall(r)
	}
}

// recall takes the tickets of a request back, where their outlets can.
func (m *model) recall(r *request) {
	for _, ticket := range m.tickets {
		ticket.isGone = ticket.isGone || ticket.of == r && m.changesTickets(ticket.channel)
	}
}

// advance lets time pass.
func (m *model) advance(by time.Duration) {
	m.now = m.now.Add(by)
	for _, r := range m.requests {
		if !r.removed && r.state != livechat.Ended && !r.expiry.After(m.now) {
			m.end(r, livechat.EndedByIdle)
			if r.agent == "" {
				m.recall(r)
			}
		}
	}
}

// of returns the requests of a member that are kept.
func (m *model) of(member string) []*request {
	return slices.DeleteFunc(slices.Clone(m.requests), func(r *request) bool { return r.member != member || r.removed })
}

// kept returns the requests of a member that are kept, as they are compared.
func (m *model) kept(member string) []shownRequest {
	var all []shownRequest
	for _, r := range m.of(member) {
		all = append(all, r.shown())
	}
	return all
}

// shownRequest is what of a request is compared.
type shownRequest struct {
	ID, Agent, Label, About, Parent string
	State                           livechat.State
	EndedBy                         livechat.EndedBy
	Expiry                          document.Timestamp
}

// shown returns what of a request is compared.
func (r *request) shown() shownRequest {
	all := shownRequest{ID: r.id, Agent: r.agent, Label: r.label, About: r.about, State: r.state, EndedBy: r.endedBy}
	if r.parent != nil {
		all.Parent = r.parent.id
	}
	if !r.expiry.IsZero() {
		all.Expiry = document.TimestampOf(r.expiry)
	}
	return all
}

// shownOf returns what of an assignment is compared. names are those of the agents, by their
// external ids.
func shownOf(r *livechat.AssignmentRecord, names map[string]string) shownRequest {
	return shownRequest{
		ID: r.ID, Agent: names[r.Assignee], Label: r.Label, About: r.Summary, Parent: r.ParentAssignment,
		State: r.State(), EndedBy: r.EndedBy, Expiry: r.Expiry,
	}
}

// queue returns the ids of the requests that are pending in an outlet.
func (m *model) queue(outlet string) []string {
	ids := []string{}
	for _, r := range m.requests {
		isThere := slices.ContainsFunc(m.tickets, func(o *offer) bool { return o.of == r && o.channel == outlet })
		if isThere && !r.removed && r.state == livechat.Pending {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// shown returns the tickets of a broadcast group as they show, a line for each.
func (m *model) shown(outlet, group string) []string {
	var lines []string
	for _, ticket := range m.tickets {
		if ticket.channel != outlet || ticket.group != group {
			continue
		}
		id, text := ticket.of.id, ticket.taken
		if ticket.of.removed {
			id = ""
		}
		if text == "" {
			text = m.asking(ticket.of, outlet)
		}
		if ticket.isGone {
			text = ""
		}
		lines = append(lines, id+": "+text)
	}
	return lines
}

// alarms returns when the idle time of a member ends, if it is watched.
func (m *model) alarms(member string) []document.Timestamp {
	if r := m.open(member); r != nil {
		return []document.Timestamp{document.TimestampOf(r.expiry)}
	}
	return nil
}

// outlets are those of the model, by their types.
func outlets(types map[string]channel.Type) []channel.Channel {
	all := []channel.Channel{{ID: "desk", Type: types["desk"]}, {ID: "team", Type: types["team"]}}
	for _, label := range []string{"default", "sales"} {
		for _, to := range groupsOf[label] {
			i := slices.IndexFunc(all, func(c channel.Channel) bool { return c.ID == to[0] })
			all[i].BroadcastGroups = append(all[i].BroadcastGroups, channel.BroadcastGroup{
				Label: label, Groups: []channel.BroadcastGroupMember{{ID: to[1], Type: groupTypes[all[i].Type]}},
			})
		}
	}
	return all
}

// groupTypes are the types of broadcast groups, on the platforms that have a list of them.
var groupTypes = map[channel.Type]string{ //nolint:gochecknoglobals // It does not change.
	channel.Charlie: "public_channel", channel.Foxtrot: "foxtrot",
}
