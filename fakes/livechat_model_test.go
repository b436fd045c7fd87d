package fakes_test

import (
	"slices"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// model is what the live chats of a few members should be, by rules that are written down
// a second time, as simply as can be.
type model struct {
	now      time.Time
	requests []*request
	tickets  []*offer
	// toMembers are the texts that each member was sent.
	toMembers map[string][]string
	// toAgents are the texts that each agent was sent in her conversations with a member.
	toAgents map[string][]string
	// groups counts the conversations that were made in each outlet.
	groups map[string]int
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

func newModel(now time.Time) *model {
	return &model{now: now, toMembers: map[string][]string{}, toAgents: map[string][]string{}, groups: map[string]int{}}
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

// with returns the request in which an agent talks with a member, nil where there is none.
func (m *model) with(agent, member string) *request {
	r := m.open(member)
	if r == nil || r.state != livechat.Taken || r.agent != agent {
		return nil
	}
	return r
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
	}
}

// widen offers a request to another broadcast group, and reports whether it could be.
func (m *model) widen(r *request, outlet, group string) bool {
	if r.removed || r.state != livechat.Pending {
		return false
	}
	isOffered := slices.ContainsFunc(m.tickets, func(o *offer) bool { return o.of == r && o.channel == outlet && o.group == group })
	if !isOffered {
		m.tickets = append(m.tickets, &offer{of: r, channel: outlet, group: group})
	}
	return true
}

// take gives a request to an agent, and reports whether she has it now.
func (m *model) take(agent string, r *request) bool {
	if r.removed || r.state == livechat.Ended {
		return false
	}
	if r.state == livechat.Taken {
		return r.agent == agent
	}
	r.state, r.agent, r.expiry = livechat.Taken, agent, m.now.Add(livechat.IdleTimeout)
	m.groups[agentsOf[agent][0]]++
	m.tell(agent, r.member, r.about)
	for _, ticket := range m.tickets {
		if ticket.of == r && !ticket.isGone {
			ticket.taken = "Taken by " + agent + "."
		}
	}
	return true
}

// tell notes what an agent was sent.
func (m *model) tell(agent, member, text string) {
	m.toAgents[agent+" "+member] = append(m.toAgents[agent+" "+member], text)
}

// memberSays is what a member writes.
func (m *model) memberSays(member, text string) {
	if r := m.open(member); r != nil && r.state == livechat.Taken {
		m.tell(r.agent, member, text)
		r.expiry = m.now.Add(livechat.IdleTimeout)
	}
}

// agentSays is what an agent writes to a member.
func (m *model) agentSays(agent, member, text string) {
	r := m.with(agent, member)
	switch {
	case r == nil:
	case text == "/done":
		m.toMembers[member] = append(m.toMembers[member], "Goodbye!")
		m.end(r, livechat.EndedByOutlet)
	case text == "/sales":
		m.end(r, livechat.EndedByReassign)
		m.request(&request{member: member, label: "sales", about: r.about, parent: r})
	default:
		m.toMembers[member] = append(m.toMembers[member], text)
		r.expiry = m.now.Add(livechat.IdleTimeout)
	}
}

// end ends a request.
func (m *model) end(r *request, by livechat.EndedBy) {
	r.state, r.endedBy, r.expiry = livechat.Ended, by, time.Time{}
}

// leave ends the live chat of a member, and returns it, nil where there was none.
func (m *model) leave(member string) *request {
	r := m.open(member)
	if r != nil {
		m.end(r, livechat.EndedByInlet)
	}
	return r
}

// withdraw removes the request of a member that is pending.
func (m *model) withdraw(member string) {
	if r := m.open(member); r != nil && r.state == livechat.Pending {
		r.removed = true
		m.recall(r)
	}
}

// recall takes the tickets of a request back.
func (m *model) recall(r *request) {
	for _, ticket := range m.tickets {
		ticket.isGone = ticket.isGone || ticket.of == r
	}
}

// advance lets time pass.
func (m *model) advance(by time.Duration) {
	m.now = m.now.Add(by)
	for _, r := range m.requests {
		if !r.removed && r.state != livechat.Ended && !r.expiry.After(m.now) {
			m.end(r, livechat.EndedByIdle)
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
		all.Expiry = document.At(r.expiry)
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
			text = ticket.of.member + " asks for a person.\n" + ticket.of.about
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
		return []document.Timestamp{document.At(r.expiry)}
	}
	return nil
}

// outlets are those of the model.
func outlets() []channel.Channel {
	groups := func(of map[string]string) []channel.BroadcastGroup {
		var labelled []channel.BroadcastGroup
		for _, label := range []string{"default", "sales"} {
			if id := of[label]; id != "" {
				labelled = append(labelled, channel.BroadcastGroup{
					Label: label, Groups: []channel.BroadcastGroupMember{{ID: id, Type: "public_channel"}},
				})
			}
		}
		return labelled
	}
	return []channel.Channel{
		{ID: "desk", Type: channel.Charlie, BroadcastGroups: groups(map[string]string{"default": "support", "sales": "sales"})},
		{ID: "team", Type: channel.Delta, BroadcastGroups: groups(map[string]string{"default": "crew"})},
	}
}
