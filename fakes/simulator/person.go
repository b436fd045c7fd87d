package simulator

import (
	"slices"

	"github.com/botctx/go-sdk/fakes"
)

// person is a member who speaks, or an agent who does. It is the same in all branches.
type person struct {
	id, name string
	// actor is nil for an agent, agent for a member.
	actor *fakes.Actor
	agent *fakes.Agent
}

// ofActor returns the person that a member is, by the name that the conversation calls her. Who speaks in a group
// is another one than who speaks alone.
func ofActor(actor *fakes.Actor, name string) *person {
	id := actor.ID()
	if group := actor.Scope().GroupExternalID; group != "" {
		id += " in " + group
	}
	return &person{id: id, name: name, actor: actor}
}

// ofAgent returns the person that an agent is, by the name that the conversation calls her.
func ofAgent(agent *fakes.Agent, name string) *person {
	return &person{id: agent.AdminID(), name: name, agent: agent}
}

func (p *person) isAgent() bool { return p.agent != nil }

// isAlone reports whether the person is a member where she is alone with the bot, as each is once.
func (p *person) isAlone() bool { return p.actor != nil && p.group() == "" }

// group returns the id of the group in which the person speaks, "" for none.
func (p *person) group() string {
	if p.isAgent() {
		return ""
	}
	return p.actor.Scope().GroupExternalID
}

// isWith reports whether two people are in one group.
func (p *person) isWith(other *person) bool {
	return p.group() != "" && p.group() == other.group() && p.channel() == other.channel()
}

// channel returns the id of the channel where the person speaks.
func (p *person) channel() string {
	if p.isAgent() {
		return p.agent.Channel()
	}
	return p.actor.Scope().Channel
}

// gets reports whether a message goes to a person, alone or in one of these groups.
func (p *person) gets(sent fakes.Sent, groups []fakes.Group) bool {
	if sent.IsRepeat {
		return false
	}
	switch {
	case p.isAlone():
		return sent.Member == p.id
	case !p.isAgent():
		return sent.Channel == p.channel() && sent.To == p.group()
	}
	if sent.Channel != p.agent.Channel() || sent.Member != "" {
		return false
	}
	if sent.To == p.agent.ExternalID() || sent.ChatID == p.agent.ExternalID() {
		return true
	}
	return slices.ContainsFunc(groups, func(group fakes.Group) bool {
		return group.ExternalID == sent.To && slices.Contains(group.Members, p.agent.ExternalID())
	})
}
