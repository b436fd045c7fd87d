package conversation

import (
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Act is an action of a conversation, such as Says. Only types of this package implement it. People are
// identified by their names in the conversation.
type Act interface {
	// by returns the name of the person who acts, or "" if there is none.
	by() string
	// lines returns the act as lines of a file.
	lines() []string
	// do performs the act on a session. Its error comes from a run of the bot, or means that the act is impossible.
	do(on *Session) error
	// code returns the act as Go, with the variables of people.
	code(of *names, made done) call
}

// Says is the act of saying a text.
type Says struct{ By, Text string }

// Sends is the act of sending any other message, such as a file. Absent fields of the event are filled in.
type Sends struct {
	By    string
	Event send.MessageEvent
}

// Taps is the act of tapping a button or a quick reply that a member sees.
type Taps struct {
	By, Title string
	// Which is the place among the choices with the title, the newest message first, from 1 on. 0 means 1.
	Which int
}

// Takes is the act of an agent who takes a ticket.
type Takes struct {
	By string
	// Ticket is its place among all tickets that the agent has seen, from 1 on. 0 means the newest open ticket.
	Ticket int
}

// TapsTicket is the act of an agent who taps the first button of a ticket.
type TapsTicket struct {
	By string
	// Ticket is its place among all tickets that the agent has seen, from 1 on. 0 means the newest open ticket.
	Ticket int
}

// Ends is the act of an agent who ends their live chat.
type Ends struct{ By string }

// Waits is the act of letting time pass.
type Waits struct{ For time.Duration }

// AddMember is the act of adding a member.
type AddMember struct {
	// Name is the member's name in the conversation.
	Name string
	// Member is the added member. Name becomes the first name if it has neither a first name nor an id.
	Member member.Member
}

// JoinsGroup is the act of a member who joins a group of their channel's platform, which is created if it
// does not exist. In the group the member has another name: for Ada and "family", "Ada in family".
type JoinsGroup struct{ By, Group string }

// AddAgent is the act of adding an agent to an outlet channel.
type AddAgent struct {
	Name, Channel string
	// Groups are the broadcast groups of the agent. The default is all groups of the channel.
	Groups []string
}

// AddChannel is the act of adding a channel.
type AddChannel struct {
	ID   string
	Type channel.Type
}

// AddDesk is the act of adding an outlet channel, whose agents answer the members who were added before.
type AddDesk struct{ ID string }

// AddData is the act of adding an entry to a data source.
type AddData struct {
	Source string
	Entry  document.Object
}

func (a Says) by() string       { return a.By }
func (a Sends) by() string      { return a.By }
func (a Taps) by() string       { return a.By }
func (a Takes) by() string      { return a.By }
func (a TapsTicket) by() string { return a.By }
func (a Ends) by() string       { return a.By }
func (a Waits) by() string      { return "" }
func (a AddMember) by() string  { return "" }
func (a AddAgent) by() string   { return "" }
func (a AddChannel) by() string { return "" }
func (a AddDesk) by() string    { return "" }
func (a AddData) by() string    { return "" }

func (a JoinsGroup) by() string { return a.By }

func (a Says) do(on *Session) error {
	return on.sends(a.By, send.MessageEvent{Type: send.TypeText, Data: document.O("text", a.Text)})
}

func (a Sends) do(on *Session) error { return on.sends(a.By, a.Event) }

func (s *Session) sends(by string, event send.MessageEvent) error {
	p := s.person(by)
	if p == nil {
		return usagef("By is missing: give the name of the sender")
	}
	if p.agent != nil {
		return p.agent.TrySends(event)
	}
	return p.actor.TrySends(event)
}

func (a Taps) do(on *Session) error {
	one, err := a.tappable(on)
	if err != nil {
		return err
	}
	return on.Actor(a.By).TrySends(one.Event())
}

func (a Taps) tappable(on *Session) (fakes.Tappable, error) {
	actor := on.Actor(a.By)
	if a.By == "" {
		return fakes.Tappable{}, usagef("By is missing: give the name of the person who taps")
	}
	if actor == nil {
		return fakes.Tappable{}, usagef("%s is an agent: write \"%s taps the ticket\"", a.By, nameOf(a.By))
	}
	var titles []string
	which := max(a.Which, 1)
	for _, one := range actor.Tappables() {
		if one.Title == a.Title {
			which--
			if which == 0 {
				return one, nil
			}
		}
		titles = append(titles, "["+one.Title+"]")
	}
	if len(titles) == 0 {
		return fakes.Tappable{}, usagef("%s sees nothing that can be tapped", a.By)
	}
	return fakes.Tappable{}, usagef("%s sees nothing with the title %q to tap, but %s", a.By, a.Title, strings.Join(titles, ", "))
}

func (a Takes) do(on *Session) error {
	agent, place, err := on.ticket(a.By, a.Ticket)
	if err != nil {
		return err
	}
	return agent.TryTakes(agent.Tickets()[place])
}

func (a TapsTicket) do(on *Session) error {
	agent, place, err := on.ticket(a.By, a.Ticket)
	if err != nil {
		return err
	}
	return agent.TryTaps(agent.Tickets()[place])
}

// ticket returns an agent, and the place of one of the agent's tickets.
func (s *Session) ticket(by string, number int) (*fakes.Agent, int, error) {
	agent := s.Agent(by)
	if agent == nil {
		return nil, 0, noAgent(by, "take tickets")
	}
	tickets := agent.Tickets()
	if number > len(tickets) {
		return nil, 0, usagef("%s has no ticket %d: there are %d", by, number, len(tickets))
	}
	if number > 0 {
		return agent, number - 1, nil
	}
	for i, ticket := range slices.Backward(tickets) {
		if ticket.IsOpen() {
			return agent, i, nil
		}
	}
	return nil, 0, usagef("%s has no open ticket: a bot asks for a person by createAssignment", by)
}

func (a Ends) do(on *Session) error {
	agent := on.Agent(a.By)
	if agent == nil {
		return noAgent(a.By, "end live chats")
	}
	return agent.TryEnds()
}

// noAgent is the error for a step of a person who is not an agent.
func noAgent(name, does string) error {
	return usagef("%s is no agent: agents %s, and a line such as \"agent Grace at support\" adds one to the channel support", name, does)
}

func (a Waits) do(on *Session) error {
	if a.For < 0 {
		return usagef("the time cannot move by %v: give a positive duration or 0", a.For)
	}
	return on.platform.TryAdvance(a.For)
}

func (a AddMember) do(on *Session) error {
	if err := on.isFree(a.Name); err != nil {
		return err
	}
	return performed(func() { on.join(&person{name: a.Name, actor: on.platform.AddMember(a.named())}) })
}

func (a AddAgent) do(on *Session) error {
	if err := on.isFree(a.Name); err != nil {
		return err
	}
	return performed(func() { on.join(&person{name: a.Name, agent: on.platform.AddAgent(a.Channel, a.Name, a.Groups...)}) })
}

// isFree returns an error for a name that another person has.
func (s *Session) isFree(name string) error {
	if s.person(name) != nil {
		return usagef("the name %s is taken: give each person a different name", name)
	}
	return nil
}

// performed performs an act. If the platform refuses it, the act is a mistake.
func performed(do func()) error {
	if err := guarded(func() error { do(); return nil }); err != nil {
		return usagef("%v", err)
	}
	return nil
}

func (a AddChannel) do(on *Session) error {
	return performed(func() { on.platform.AddChannel(channel.Channel{ID: a.ID, Type: a.Type}) })
}

func (a AddDesk) do(on *Session) error {
	var members []*fakes.Actor
	for _, p := range on.people {
		if p.actor != nil {
			members = append(members, p.actor)
		}
	}
	if len(members) == 0 {
		return usagef("a desk serves the members who were added before it: a line such as \"member Ada\" adds one")
	}
	return performed(func() { OpenDesk(on.platform, a.ID, members...) })
}

// OpenDesk gives a platform a channel where agents answer some members. It has one broadcast group,
// "default", and the nodes of the tree "agents" serve its agents. It replaces the outlets of the members'
// channels.
func OpenDesk(p *fakes.Platform, id string, members ...*fakes.Actor) {
	p.AddChannel(channel.Channel{
		ID: id, Type: channel.Charlie,
		PriorityGroups:  []channel.PriorityGroup{{Group: "everybody", Trees: []string{"agents"}}},
		BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}}}},
	})
	for _, member := range members {
		p.Pair(member.Scope().Channel, id)
	}
}

func (a AddData) do(on *Session) error {
	return performed(func() { on.platform.AddData(a.Source, a.Entry) })
}

// cast decides who receives an answer without a name: the last actor, or the first member before anyone has
// acted.
type cast struct{ speaker string }

func (c *cast) acts(act Act) {
	if added, isMember := act.(AddMember); isMember && c.speaker == "" {
		c.speaker = added.Name
	}
	if by := act.by(); by != "" {
		c.speaker = by
	}
}
