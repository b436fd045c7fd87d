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

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// play is a platform beside the model of what it should do, and what has happened on both.
type play struct {
	*testing.T
	*model

	platform *fakes.Platform
	random   *rand.Rand
	members  map[string]*fakes.Actor
	agents   map[string]*fakes.Agent
	names    map[string]string // Of the agents, by their external ids.
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

// one returns one of several names.
func (s *play) one(names []string) string { return names[s.random.IntN(len(names))] }

// notef notes what happens next.
func (s *play) notef(format string, args ...any) {
	s.happened = append(s.happened, fmt.Sprintf(format, args...))
}

// step lets one thing happen, on the platform and in the model.
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

// asks lets a member ask for a person.
func (s *play) asks(who, label, about string) {
	s.notef("%s asks for %s, %s", who, label, about)
	asked, err := s.members[who].Context().CreateAssignment(s.Context(), livechat.CreateAssignmentParams{
		Label: label, AssignmentDetails: livechat.AssignmentDetails{Summary: about},
	})
	require.NoError(s, err, s.story())
	require.True(s, asked.Member.BotMeta.LiveChat(), s.story())
	s.ask(who, label, about)
}

// takes lets an agent take a ticket that she has seen, an old one perhaps.
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

// widens offers the newest request of a member to the sales as well.
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

// seenBy returns the tickets of the broadcast group of an agent.
func (s *play) seenBy(agent string) []*offer {
	in := agentsOf[agent]
	return slices.DeleteFunc(slices.Clone(s.tickets), func(o *offer) bool { return o.channel != in[0] || o.group != in[1] })
}

// writes lets an agent write to a member.
func (s *play) writes(agent, who, text string) {
	s.notef("%s says %q to %s", agent, text, who)
	err := s.agents[agent].With(s.members[who]).TrySays(text)
	s.endsWith(s.agentSays(agent, who, text), err)
}

// leaves lets a member leave the live chat.
func (s *play) leaves(who string, options livechat.InletEndLiveChatOptions) {
	s.notef("%s leaves, with %+v", who, options)
	_, err := s.members[who].Context().InletEndLiveChat(s.Context(), livechat.InletEndLiveChatParams{Options: options})
	s.endsWith(s.leave(who, options), err)
}

// endsWith requires that a call has ended as the model says: with an error of a code, or
// without where there is none.
func (s *play) endsWith(code boterr.Code, err error) {
	if code == "" {
		require.NoError(s, err, s.story())
	} else {
		require.ErrorIs(s, err, code, s.story())
	}
}

// story tells what has happened.
func (s *play) story() string { return "what happened:\n" + strings.Join(s.happened, "\n") }

// compare finds the platform as the model is.
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

// compareRequests compares the assignments of a member, and learns their ids.
func (s *play) compareRequests(name string) {
	stored, err := s.platform.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(s.Context(), record.Query{
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

// compareMember compares the flag of a member, the agendas and what the member was sent.
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

// compareAgent compares what an agent sees.
func (s *play) compareAgent(name string) {
	outlet, group := agentsOf[name][0], agentsOf[name][1]
	var sent []string
	for _, message := range s.agents[name].Messages() {
		sent = append(sent, message.Text())
	}
	if s.can(outlet, channel.Foxtrot) { // What was sent before she took it comes first.
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
