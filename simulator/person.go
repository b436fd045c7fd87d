package simulator

import (
	"cmp"
	"slices"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// person is a member who speaks, or an agent who does. It is the same in all branches.
type person struct {
	id, name string
	// actor is nil for an agent, agent for a member.
	actor *fakes.Actor
	agent *fakes.Agent
}

// ofActor returns the person that a member is.
func ofActor(actor *fakes.Actor) *person {
	return &person{id: actor.ID(), name: cmp.Or(actor.Added().FirstName, actor.ID()), actor: actor}
}

// ofAgent returns the person that an agent is.
func ofAgent(agent *fakes.Agent) *person {
	return &person{id: agent.AdminID(), name: agent.Name(), agent: agent}
}

func (p *person) isAgent() bool { return p.agent != nil }

// channel returns the id of the channel where the person speaks.
func (p *person) channel() string {
	if p.isAgent() {
		return p.agent.Channel()
	}
	return p.actor.Scope().Channel
}

// sends lets the person send an event on a platform.
func (p *person) sends(on *fakes.Platform, event send.MessageEvent) error {
	if p.isAgent() {
		return p.agent.In(on).TrySends(event)
	}
	return p.actor.In(on).TrySends(event)
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
