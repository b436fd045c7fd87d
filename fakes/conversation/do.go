package conversation

import (
	"errors"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

func (a Says) do(on *Session) error {
	return on.sends(a.By, send.MessageEvent{Type: send.TypeText, Data: document.O("text", a.Text)})
}

func (a Sends) do(on *Session) error { return on.sends(a.By, a.Event) }

// sends lets somebody send an event.
func (s *Session) sends(by string, event send.MessageEvent) error {
	p := s.person(by)
	if p == nil {
		return usagef("nobody is named who says or sends this: By is a name")
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

// tappable returns what is tapped.
func (a Taps) tappable(on *Session) (fakes.Tappable, error) {
	actor := on.Actor(a.By)
	if a.By == "" {
		return fakes.Tappable{}, usagef("nobody is named who taps this: By is a name")
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
		return fakes.Tappable{}, usagef("%s is shown nothing that can be tapped", a.By)
	}
	return fakes.Tappable{}, usagef("%s is shown nothing of the title %q to tap: there is %s", a.By, a.Title, strings.Join(titles, ", "))
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

// ticket returns an agent, and the place of one of her tickets.
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
		if ticket.IsOpen() && ticket.Assignment != "" {
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

// noAgent is the mistake of a step of somebody who is none.
func noAgent(name, does string) error {
	return usagef("%s is no agent: agents %s, and a line such as \"agent Grace at support\" adds one to the channel support", name, does)
}

func (a Waits) do(on *Session) error { return on.platform.TryAdvance(a.For) }

func (a AddMember) do(on *Session) error {
	if err := on.isFree(a.Name); err != nil {
		return err
	}
	return asMistake(guarded(func() error {
		on.join(&person{name: a.Name, actor: on.platform.AddMember(a.named())})
		return nil
	}))
}

func (a AddAgent) do(on *Session) error {
	if err := on.isFree(a.Name); err != nil {
		return err
	}
	return asMistake(guarded(func() error {
		on.join(&person{name: a.Name, agent: on.platform.AddAgent(a.Channel, a.Name, a.Groups...)})
		return nil
	}))
}

// isFree refuses a name that somebody has.
func (s *Session) isFree(name string) error {
	if s.person(name) != nil {
		return usagef("somebody is called %s already: give each a name of her own", name)
	}
	return nil
}

// asMistake returns an error as a UsageError.
func asMistake(err error) error {
	if err == nil {
		return nil
	}
	return usagef("%v", err)
}

func (a AddChannel) do(on *Session) error {
	return asMistake(guarded(func() error {
		on.platform.AddChannel(channel.Channel{ID: a.ID, Type: a.Type})
		return nil
	}))
}

func (a AddDesk) do(on *Session) error {
	return asMistake(guarded(func() error {
		var members []*fakes.Actor
		for _, p := range on.people {
			if p.actor != nil {
				members = append(members, p.actor)
			}
		}
		if len(members) == 0 {
			return errors.New("a desk serves the members who were added before it: a line such as \"member Ada\" adds one")
		}
		OpenDesk(on.platform, a.ID, members...)
		return nil
	}))
}

// OpenDesk gives a platform a channel of an id where agents answer some members. It has one broadcast
// group, "default", and the nodes of the tree "agents" are for its agents. In their channels it takes
// the place of the outlets that they were paired with.
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
	return asMistake(guarded(func() error {
		on.platform.AddData(a.Source, a.Entry)
		return nil
	}))
}

func (a Faults) do(on *Session) error {
	return asMistake(guarded(func() error {
		switch {
		case a.Late > 0:
			on.platform.DelayNext(a.Op, a.Late)
		case a.TimesOut:
			on.platform.TimeOutNext(a.Op)
		default:
			on.platform.FailNext(a.Op, a.Code)
		}
		return nil
	}))
}
