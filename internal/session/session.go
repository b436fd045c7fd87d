// Package session holds a conversation between people and a bot on a platform in memory: its members and agents, its desk, its
// saved form, and the places in time that it can go back to. The console and the simulator are user interfaces for it.
package session

import (
	"cmp"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

// Desk is the id of the outlet channel that a session creates. Agent is the name of its first agent.
const (
	Desk  = "desk"
	Agent = "Grace"
)

// Test describes how a saved test creates the bot. Expressions use declarations of the test's package.
type Test struct {
	// Package is the name of the test's package. The default is "main", or for a console the package of the Go files
	// in the same folder.
	Package string
	// Nodes is the Go expression of the nodes that were passed in. The default is "nodes()".
	Nodes string
	// Platform is the Go expression of a platform like the given one, without its members or agents. The test is
	// named t. The default is "newPlatform(t)".
	Platform string
}

// Config configures a session.
type Config struct {
	// Platform is the platform of the bot. The default is a new one, with a desk.
	Platform *fakes.Platform
	// Members are the members. The default is Ada.
	Members []*fakes.Actor
	// Agents are the agents of outlet channels.
	Agents []*fakes.Agent
	// Nodes are added to the nodes of the platform. HasNodes is set if the caller adds nodes later.
	Nodes    []*botctx.Node
	HasNodes bool
	// Test configures saved tests.
	Test Test
}

// Session is a conversation that a user conducts interactively. Its Stage performs their acts and records them. Only
// one goroutine may use it at a time.
type Session struct {
	Stage *conversation.Session

	test            Test
	isOwn, hasNodes bool
}

// New prepares the platform with its members and agents. It fails if the platform refuses the nodes or one of the
// people.
func New(c Config) (*Session, error) {
	s := &Session{isOwn: c.Platform == nil, hasNodes: c.HasNodes || len(c.Nodes) > 0, test: c.Test}
	return s, Guarded(func() error {
		platform := c.Platform
		if s.isOwn {
			platform = fakes.New()
		}
		platform.Handle(c.Nodes...)
		s.Stage = conversation.NewSession(platform)
		for _, actor := range c.Members {
			s.Stage.Add(actor)
		}
		if len(c.Members) == 0 {
			s.Stage.Add(platform.AddMember(member.Member{FirstName: "Ada"}))
		}
		if s.isOwn {
			if _, err := s.Stage.Do(conversation.AddDesk{ID: Desk}); err != nil {
				return err
			}
		}
		for _, agent := range c.Agents {
			s.Stage.AddAgent(agent)
		}
		return nil
	})
}

// Platform returns the platform.
func (s *Session) Platform() *fakes.Platform { return s.Stage.Platform() }

// IsOwn reports whether the session created its platform and desk.
func (s *Session) IsOwn() bool { return s.isOwn }

// Test returns the configuration of a saved test, for Stage.GoTest.
func (s *Session) Test() conversation.GoTest {
	as := conversation.GoTest{
		Package: s.test.Package, Nodes: cmp.Or(s.test.Nodes, "nodes()"), Platform: cmp.Or(s.test.Platform, "newPlatform(t)"),
	}
	if s.isOwn {
		as.Platform = ""
	} else if !s.hasNodes {
		as.Nodes = ""
	}
	return as
}

// Tap returns the act in which a member taps one of the choices that it sees.
func (s *Session) Tap(by string, one fakes.Tappable) conversation.Taps {
	place := 0
	for _, other := range s.Stage.Actor(by).Tappables() {
		if other.Title != one.Title {
			continue
		}
		place++
		if other.MessageID == one.MessageID && document.Identical(other.Payload, one.Payload) {
			break
		}
	}
	return conversation.Taps{By: by, Title: one.Title, Which: place}
}

// Place is a point in the time of a session.
type Place struct {
	// People are the people at that time.
	People []*Person

	// stage and snapshot are nil if the session cannot return to this place.
	stage    *conversation.Session
	snapshot *fakes.Snapshot
}

// Place returns the current place. It is not kept if the platform stores its records outside memory.
func (s *Session) Place() Place {
	place := Place{People: s.People()}
	_ = Guarded(func() error {
		place.snapshot = s.Platform().Snapshot()
		place.stage = s.Stage.In(s.Platform())
		return nil
	})
	return place
}

// IsKept reports whether the session can return to the place.
func (p Place) IsKept() bool { return p.snapshot != nil }

// Forget returns the place without the state needed to go back there.
func (p Place) Forget() Place { return Place{People: p.People} }

// GoTo goes back to a place, which must be kept.
func (s *Session) GoTo(to Place) error {
	return Guarded(func() error {
		s.Platform().Restore(to.snapshot)
		s.Stage = to.stage.In(s.Platform())
		return nil
	})
}

// Fork returns a session that continues from a place on a fork of the platform. The place must be kept.
func (s *Session) Fork(from Place) (*Session, error) {
	forked := *s
	return &forked, Guarded(func() error {
		platform := s.Platform().Fork()
		platform.Restore(from.snapshot)
		forked.Stage = from.stage.In(platform)
		return nil
	})
}

// Guarded calls do and turns a panic into an error. A platform outside a test reports misuse by a panic with a text, which
// becomes the message of the error.
func Guarded(do func() error) (err error) {
	defer func() {
		panicked := recover()
		if misuse, isText := panicked.(string); isText {
			err = boterr.Invalid("", "%s", misuse)
		} else if panicked != nil {
			err = boterr.Recovered(panicked)
		}
	}()
	return do()
}

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

// Refused returns the refusal of messages to the person.
func (p *Person) Refused(err error) fakes.Fault {
	if p.IsAgent() {
		return fakes.Refuses(p.Agent, err)
	}
	return fakes.Refuses(p.Actor, err)
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
