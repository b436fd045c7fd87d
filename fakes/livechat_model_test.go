package fakes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// model is a model of the live chats of a few members. It states the rules a second time, as simply as
// possible.
type model struct {
	now time.Time
	// types are the platforms of the outlets.
	types    map[string]channel.Type
	requests []*request
	tickets  []*offer
	// toMembers are the texts sent to each member.
	toMembers map[string][]string
	// toAgents are the texts sent to each agent's conversations.
	toAgents map[string][]string
	// groups is the number of conversations created in each outlet.
	groups map[string]int
	// taken is the number of requests taken.
	taken int
}

type request struct {
	id      string // id is the platform's id of the conversation, or "" until it appears there.
	member  string
	label   string
	about   string
	state   livechat.State
	endedBy livechat.EndedBy
	agent   string // agent is the agent who has or had the request.
	expiry  time.Time
	parent  *request
	removed bool
	// kept are the member's messages from before an agent took the request. isWaitingTold is set once the member was
	// told to wait, isOverTold once an agent who wrote after the end got the text that the chat is over. taken is the
	// number of requests taken earlier.
	kept                      []string
	isWaitingTold, isOverTold bool
	taken                     int
}

type offer struct {
	of             *request
	channel, group string
	taken          string
	isGone         bool
}

// groupsOf lists the broadcast groups for each label, in the order in which they get tickets.
var groupsOf = map[string][][2]string{ //nolint:gochecknoglobals // It does not change.
	"default": {{"desk", "support"}, {"team", "crew"}},
	"sales":   {{"desk", "sales"}},
}

// agentsOf lists each agent's outlet and broadcast group.
var agentsOf = map[string][2]string{ //nolint:gochecknoglobals // It does not change.
	"Grace": {"desk", "support"}, "Hedy": {"desk", "sales"}, "Ida": {"team", "crew"}, "Jane": {"team", "crew"},
}

func (m *model) can(outlet string, platforms ...channel.Type) bool {
	return slices.Contains(platforms, m.types[outlet])
}

// changesTickets reports whether an outlet can change a sent message.
func (m *model) changesTickets(outlet string) bool {
	return m.can(outlet, channel.Charlie, channel.Delta)
}

// isDirect reports whether an outlet has no tickets.
func (m *model) isDirect(outlet string) bool { return m.can(outlet, channel.Foxtrot, channel.Custom) }

// isAlone reports whether an agent of an outlet talks to one member at a time, in the agent's conversation
// with the bot.
func (m *model) isAlone(outlet string) bool { return m.can(outlet, channel.Alpha, channel.Custom) }

func newModel(now time.Time, types map[string]channel.Type) *model {
	return &model{now: now, types: types, toMembers: map[string][]string{}, toAgents: map[string][]string{}, groups: map[string]int{}}
}

// open returns a member's request that is pending or taken, or nil if there is none.
func (m *model) open(member string) *request {
	for _, r := range m.requests {
		if r.member == member && !r.removed && r.state != livechat.Ended {
			return r
		}
	}
	return nil
}

// with returns the request whose live chat gets an agent's messages to a member, or nil if there is none.
func (m *model) with(agent, member string) *request {
	for _, r := range m.requests {
		if r.state == livechat.Taken && r.agent == agent && (r.member == member || m.isAlone(agentsOf[agent][0])) {
			return r
		}
	}
	return nil
}

// ask makes a request unless the member already has an open one.
func (m *model) ask(member, label, about string) {
	if m.open(member) == nil {
		m.request(&request{member: member, label: label, about: about})
	}
}

// request makes a request pending and offers it to its broadcast groups.
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
	if m.can(outlet, channel.Foxtrot) { // The request becomes the first message of the conversation.
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

func (m *model) asking(r *request, outlet string) string {
	if m.isDirect(outlet) {
		return r.member + " asks for a person."
	}
	return r.member + " asks for a person.\n" + r.about
}

func (m *model) tell(agent, text string) { m.toAgents[agent] = append(m.toAgents[agent], text) }

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

// over returns the last live chat between an agent and a member, if it has ended, or nil if there is none.
func (m *model) over(agent, member string) *request {
	var last *request
	for _, r := range m.requests {
		isTheirs := r.state == livechat.Ended && r.agent == agent && (r.member == member || m.isAlone(agentsOf[agent][0]))
		if isTheirs && (last == nil || r.taken > last.taken) {
			last = r
		}
	}
	return last
}

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

func (m *model) end(r *request, by livechat.EndedBy) {
	r.state, r.endedBy, r.expiry = livechat.Ended, by, time.Time{}
	if by == livechat.EndedByIdle && len(r.kept) > 0 {
		m.toMembers[r.member] = append(m.toMembers[r.member], livechat.DefaultTexts().Unread)
	}
}

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

func (m *model) withdraw(member string) {
	if r := m.open(member); r != nil && r.state == livechat.Pending {
		r.removed = true
		m.recall(r)
	}
}

// recall recalls the tickets of a request if their outlets can do that.
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

func (m *model) of(member string) []*request {
	return slices.DeleteFunc(slices.Clone(m.requests), func(r *request) bool { return r.member != member || r.removed })
}

func (m *model) kept(member string) []shownRequest {
	var all []shownRequest
	for _, r := range m.of(member) {
		all = append(all, r.shown())
	}
	return all
}

type shownRequest struct {
	ID, Agent, Label, About, Parent string
	State                           livechat.State
	EndedBy                         livechat.EndedBy
	Expiry                          document.Timestamp
}

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

// shownOf returns the compared fields of an assignment. names maps external ids to agents' names.
func shownOf(r *livechat.AssignmentRecord, names map[string]string) shownRequest {
	return shownRequest{
		ID: r.ID, Agent: names[r.Assignee], Label: r.Label, About: r.Summary, Parent: r.ParentAssignment,
		State: r.State(), EndedBy: r.EndedBy, Expiry: r.Expiry,
	}
}

// queue returns the ids of the pending requests in an outlet.
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

// shown returns the tickets of a broadcast group as they show now, one line each.
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

// alarms returns the end of a member's idle time, if the member has an open request.
func (m *model) alarms(member string) []document.Timestamp {
	if r := m.open(member); r != nil {
		return []document.Timestamp{document.TimestampOf(r.expiry)}
	}
	return nil
}

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

// groupTypes are the types of broadcast groups on platforms that list them.
var groupTypes = map[channel.Type]string{ //nolint:gochecknoglobals // It does not change.
	channel.Charlie: "public_channel", channel.Foxtrot: "foxtrot",
}

// play is a platform, the model of its behavior, and the history of both.
type play struct {
	*testing.T
	*model

	platform *fakes.Platform
	random   *rand.Rand
	members  map[string]*fakes.Actor
	agents   map[string]*fakes.Agent
	names    map[string]string // names maps external ids to agents' names.
	happened []string
}

// The members and agents of a play, in a fixed order.
var (
	memberNames = []string{"Ada", "Bob", "Cleo"}           //nolint:gochecknoglobals // It does not change.
	agentNames  = []string{"Grace", "Hedy", "Ida", "Jane"} //nolint:gochecknoglobals // It does not change.
)

func newPlay(t *testing.T, types map[string]channel.Type, seed uint64) *play {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(handOff()...)
	p.AddChannel(channel.Channel{ID: "web"})
	for _, outlet := range outlets(types) {
		p.AddChannel(outlet)
	}
	p.Pair("web", "desk", "team")
	s := &play{
		T: t, model: newModel(p.Now(), types), platform: p, random: rand.New(rand.NewPCG(seed, 0)),
		members: map[string]*fakes.Actor{}, agents: map[string]*fakes.Agent{}, names: map[string]string{},
	}
	for _, name := range memberNames {
		s.members[name] = p.AddMember(member.Member{Channel: "web", FirstName: name})
	}
	for _, name := range agentNames {
		s.agents[name] = p.AddAgent(agentsOf[name][0], name, agentsOf[name][1])
		s.names[s.agents[name].ExternalID()] = name
	}
	return s
}

func (s *play) one(names []string) string { return names[s.random.IntN(len(names))] }

func (s *play) notef(format string, args ...any) {
	s.happened = append(s.happened, fmt.Sprintf(format, args...))
}

// step performs one random action, on the platform and in the model.
func (s *play) step(number int) {
	who, agent, text := s.one(memberNames), s.one(agentNames), "text "+strconv.Itoa(number)
	switch s.random.IntN(13) {
	case 0, 1:
		s.asks(who, s.one([]string{"default", "default", "sales"}), "about "+strconv.Itoa(number))
	case 2, 3, 4:
		s.takes(agent)
	case 5:
		s.notef("%s says %q", who, text)
		s.members[who].Says(text)
		s.memberSays(who, text)
	case 6:
		s.writes(agent, who, text)
	case 7:
		s.writes(agent, who, s.one([]string{"/done", "/sales"}))
	case 8:
		s.leaves(who, livechat.InletEndLiveChatOptions{RecallRelayMessage: s.random.IntN(2) == 0})
	case 9:
		s.notef("the request of %s is withdrawn", who)
		_, err := s.members[who].Context().RemovePendingAssignmentByMemberID(s.Context(),
			livechat.RemovePendingAssignmentByMemberIDParams{MemberID: s.members[who].ID()})
		require.NoError(s, err, s.story())
		s.withdraw(who)
	case 10:
		s.widens(who)
	default:
		by := time.Duration(1+s.random.IntN(15)) * time.Minute
		s.notef("%s pass", by)
		s.platform.Advance(by)
		s.advance(by)
	}
}

func (s *play) asks(who, label, about string) {
	s.notef("%s asks for %s, %s", who, label, about)
	asked, err := s.members[who].Context().CreateAssignment(s.Context(), livechat.CreateAssignmentParams{
		Label: label, AssignmentDetails: livechat.AssignmentDetails{Summary: about},
	})
	require.NoError(s, err, s.story())
	require.True(s, asked.Member.BotMeta.LiveChat(), s.story())
	s.ask(who, label, about)
}

// takes makes an agent take a ticket that they see, perhaps an old one.
func (s *play) takes(agent string) {
	tickets := s.agents[agent].Tickets()
	if len(tickets) == 0 {
		return
	}
	which := len(tickets) - 1 - min(s.random.IntN(len(tickets)), s.random.IntN(len(tickets)))
	s.notef("%s takes ticket %d", agent, which)
	err := s.agents[agent].TryTakes(tickets[which])
	s.endsWith(s.take(agent, s.seenBy(agent)[which].of), err)
}

// widens offers a member's newest request to the sales group as well.
func (s *play) widens(who string) {
	own := s.of(who)
	if len(own) == 0 {
		return
	}
	newest := own[len(own)-1]
	s.notef("the request %s is offered to the sales", newest.id)
	_, err := s.members[who].Context().AddNewTargetsToAssignment(s.Context(), livechat.AddNewTargetsToAssignmentParams{
		AssignmentID: newest.id, Targets: []livechat.NewTarget{{Channel: "desk", Label: "sales"}},
	})
	s.endsWith(s.widen(newest, "desk", "sales"), err)
}

// seenBy returns the tickets in an agent's broadcast group.
func (s *play) seenBy(agent string) []*offer {
	in := agentsOf[agent]
	return slices.DeleteFunc(slices.Clone(s.tickets), func(o *offer) bool { return o.channel != in[0] || o.group != in[1] })
}

func (s *play) writes(agent, who, text string) {
	s.notef("%s says %q to %s", agent, text, who)
	err := s.agents[agent].With(s.members[who]).TrySays(text)
	s.endsWith(s.agentSays(agent, who, text), err)
}

func (s *play) leaves(who string, options livechat.InletEndLiveChatOptions) {
	s.notef("%s leaves, with %+v", who, options)
	_, err := s.members[who].Context().InletEndLiveChat(s.Context(), livechat.InletEndParams{Options: options})
	s.endsWith(s.leave(who, options), err)
}

// endsWith requires that a call returned the error code that the model expects, or "" for none.
func (s *play) endsWith(code boterr.Code, err error) {
	if code == "" {
		require.NoError(s, err, s.story())
	} else {
		require.ErrorIs(s, err, code, s.story())
	}
}

func (s *play) story() string { return "what happened:\n" + strings.Join(s.happened, "\n") }

// compare requires that the platform matches the model.
func (s *play) compare() {
	for _, name := range memberNames {
		s.compareRequests(name)
		s.compareMember(name)
	}
	for _, name := range agentNames {
		s.compareAgent(name)
	}
	for _, outlet := range []string{"desk", "team"} {
		ids := []string{}
		for _, r := range s.platform.Queue(outlet) {
			ids = append(ids, r.ID)
		}
		require.Equal(s, s.queue(outlet), ids, s.story())
		require.Len(s, s.platform.Groups(outlet), s.groups[outlet], s.story())
	}
}

// compareRequests compares the assignments of a member and records their ids.
func (s *play) compareRequests(name string) {
	stored, err := s.platform.Runtime().FindAssignments(s.Context(), fakes.DefaultApp, botctx.Query{
		Filter: document.O("member", s.members[name].ID()), SortBy: document.O("createdAt", 1),
	})
	require.NoError(s, err, s.story())
	var all []shownRequest
	for i, r := range stored {
		all = append(all, shownOf(r, s.names))
		if own := s.of(name); i < len(own) && own[i].id == "" {
			own[i].id = r.ID
		}
	}
	require.Equal(s, s.kept(name), all, s.story())
}

// compareMember compares a member's flag, agendas and messages.
func (s *play) compareMember(name string) {
	who := s.members[name]
	require.Equal(s, s.open(name) != nil, who.Member().BotMeta.LiveChat(), s.story())
	var alarms []document.Timestamp
	for _, set := range who.Agendas() {
		require.Equal(s, "livechat:idle", set.Tag, s.story())
		alarms = append(alarms, set.NextRunAt)
	}
	require.Equal(s, s.alarms(name), alarms, s.story())
	require.Equal(s, strings.Join(s.toMembers[name], "\n"), texts(who.Messages()), s.story())
}

func (s *play) compareAgent(name string) {
	outlet, group := agentsOf[name][0], agentsOf[name][1]
	var sent []string
	for _, message := range s.agents[name].Messages() {
		sent = append(sent, message.Text())
	}
	if s.can(outlet, channel.Foxtrot) { // Messages from before the request was taken come first.
		require.ElementsMatch(s, s.toAgents[name], sent, s.story())
	} else {
		require.Equal(s, s.toAgents[name], sent, s.story())
	}
	var shown []string
	for _, ticket := range s.agents[name].Tickets() {
		shown = append(shown, ticket.Assignment+": "+ticket.Text())
	}
	require.Equal(s, s.shown(outlet, group), shown, s.story())
}

func TestLiveChats_AsTheModelSays(t *testing.T) {
	t.Parallel()
	seeds := uint64(rounds.Of(t, 2, 6))
	for _, types := range []map[string]channel.Type{
		{"desk": channel.Charlie, "team": channel.Delta},
		{"desk": channel.Bravo, "team": channel.Alpha},
		{"desk": channel.Foxtrot, "team": channel.Delta},
		{"desk": channel.Custom, "team": channel.Delta},
	} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s and %s, seed %d", types["desk"], types["team"], seed), func(t *testing.T) {
				t.Parallel()
				s := newPlay(t, types, seed)
				for number := range 60 {
					s.step(number)
					s.compare()
				}
			})
		}
	}
}
