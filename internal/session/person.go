package session

import (
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

// Person is a member or an agent in a session. It is the same in all forks of the session.
type Person struct {
	// ID is the id of the member or of the agent. In a group, a member is a separate person whose ID ends in the group's id.
	ID string
	// Name is the person's name in the conversation.
	Name string
	// Actor is nil for an agent. Agent is nil for a member.
	Actor *fakes.Actor
	Agent *fakes.Agent
}

// People returns the people of the session, in the order in which they were added.
func (s *Session) People() (all []*Person) {
	for _, name := range s.Stage.Names() {
		all = append(all, s.Person(name))
	}
	return all
}

// Person returns the person with the given name, who must be in the conversation.
func (s *Session) Person(name string) *Person {
	p := &Person{Name: name, Actor: s.Stage.Actor(name), Agent: s.Stage.Agent(name)}
	switch {
	case p.IsAgent():
		p.ID = p.Agent.AdminID()
	case p.Group() != "":
		p.ID = p.Actor.ID() + " in " + p.Group()
	default:
		p.ID = p.Actor.ID()
	}
	return p
}

// IsAgent reports whether the person is an agent.
func (p *Person) IsAgent() bool { return p.Agent != nil }

// IsMember reports whether the person is a member, whether in a group or alone.
func (p *Person) IsMember() bool { return p.Actor != nil }

// IsAlone reports whether the person is a member outside groups, alone with the bot.
func (p *Person) IsAlone() bool { return p.IsMember() && p.Group() == "" }

// Group returns the id of the person's group, or "".
func (p *Person) Group() string {
	if p.IsAgent() {
		return ""
	}
	return p.Actor.Scope().GroupExternalID
}

// IsWith reports whether both people are the same person or in the same group.
func (p *Person) IsWith(other *Person) bool {
	return p.ID == other.ID || p.Group() != "" && p.Group() == other.Group() && p.Channel() == other.Channel()
}

// Channel returns the id of the person's channel.
func (p *Person) Channel() string {
	if p.IsAgent() {
		return p.Agent.Channel()
	}
	return p.Actor.Scope().Channel
}

// Recipient returns the person as a recipient of messages.
func (p *Person) Recipient() fakes.Recipient {
	if p.IsAgent() {
		return p.Agent
	}
	return p.Actor
}

// Wrote reports whether an event with a scope, on a platform, came from the person.
func (p *Person) Wrote(scope botctx.Scope, on *fakes.Platform) bool {
	if p.IsAgent() {
		return p.Agent.In(on).Wrote(scope)
	}
	return p.Actor.Scope() == scope
}

// Gets reports whether a message reaches the person. Agents also get messages to their groups, which are among groups.
func (p *Person) Gets(sent fakes.Sent, groups []fakes.Group) bool {
	switch {
	case p.IsAlone():
		return sent.Member == p.ID
	case !p.IsAgent():
		return sent.Channel == p.Channel() && sent.To == p.Group()
	case sent.Channel != p.Channel() || sent.Member != "":
		return false
	case sent.To == p.Agent.ExternalID() || sent.ChatID == p.Agent.ExternalID():
		return true
	default:
		return slices.ContainsFunc(groups, func(group fakes.Group) bool {
			return group.ExternalID == sent.To && slices.Contains(group.Members, p.Agent.ExternalID())
		})
	}
}
