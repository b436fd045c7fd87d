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

// ofActor returns the person that a member is, by the name that the conversation calls her.
func ofActor(actor *fakes.Actor, name string) *person {
	return &person{id: actor.ID(), name: name, actor: actor}
}

// ofAgent returns the person that an agent is, by the name that the conversation calls her.
func ofAgent(agent *fakes.Agent, name string) *person {
	return &person{id: agent.AdminID(), name: name, agent: agent}
}

func (p *person) isAgent() bool { return p.agent != nil }

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
	if !p.isAgent() {
		return sent.Member == p.id
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
