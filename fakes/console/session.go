package console

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

// session is a conversation that is going on.
type session struct {
	console  Console
	platform *fakes.Platform
	screen   *screen
	// isEchoing is whether what is typed is printed, too.
	isEchoing bool
	people    []*person
	// seat is who speaks.
	seat *person
	// hasDesk is whether the platform and its desk are the console's own, hasNodes whether Run was given nodes.
	hasDesk, hasNodes bool
	// sent is how many messages were printed, choices how many choices there were before the last act.
	sent, choices int
	stage         *conversation.Session
	isOver        bool
}

// newSession prepares the platform, and who is there.
func newSession(c Console, nodes []*botctx.Node) (*session, error) {
	s := &session{console: c, platform: c.Platform, screen: &screen{out: c.Out}}
	s.screen.grow(c.Bot)
	err := guarded(func() error {
		if s.platform == nil {
			s.platform, s.hasDesk = fakes.New(), true
		}
		s.platform.Handle(nodes...)
		s.stage, s.hasNodes = conversation.NewSession(s.platform), len(nodes) > 0
		for _, actor := range c.Members {
			s.addActor(actor)
		}
		if len(c.Members) == 0 {
			s.addActor(s.platform.AddMember(member.Member{FirstName: "Ada"}))
		}
		if s.hasDesk {
			if _, err := s.stage.Do(conversation.AddDesk{ID: deskID}); err != nil {
				return err
			}
		}
		for _, agent := range c.Agents {
			s.addAgent(agent)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.seat, s.sent = s.people[0], len(s.platform.Sent())
	return s, nil
}

// hold holds the conversation.
func (s *session) hold(ctx context.Context, from lines) error {
	for !s.isOver && s.screen.err == nil && ctx.Err() == nil {
		line, err := from.next(s.screen.painted(s.screen.padded(s.seat.name, ">"), ofUser))
		if errors.Is(err, io.EOF) {
			return s.screen.err
		}
		if err != nil {
			return err
		}
		s.screen.width = from.refreshed()
		s.read(strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd")))
	}
	return s.screen.err
}

// read does what a line says.
func (s *session) read(line string) {
	command, isCommand := strings.CutPrefix(line, "/")
	said, isEscaped := strings.CutPrefix(line, "//")
	switch {
	case line == "":
	case isEscaped:
		s.say("/" + said)
	case isCommand:
		s.obey(command)
	default:
		s.answer(line)
	}
}

// person is a member who speaks, or an agent who does.
type person struct {
	name string
	// actor is nil for an agent, agent for a member.
	actor *fakes.Actor
	agent *fakes.Agent
	// offers are what the newest messages have to tap.
	offers []fakes.Tappable
}

// addActor lets a member take part.
func (s *session) addActor(actor *fakes.Actor) *person {
	return s.add(&person{name: s.stage.Add(actor), actor: actor})
}

// addAgent lets an agent take part.
func (s *session) addAgent(agent *fakes.Agent) *person {
	return s.add(&person{name: s.stage.AddAgent(agent), agent: agent})
}

// add adds a person.
func (s *session) add(added *person) *person {
	s.people = append(s.people, added)
	s.screen.grow(added.name)
	return added
}

// find returns who has a name, in upper or lower case, nil where nobody does.
func (s *session) find(name string, fits func(*person) bool) *person {
	i := slices.IndexFunc(s.people, func(p *person) bool { return fits(p) && strings.EqualFold(p.name, name) })
	if i < 0 {
		return nil
	}
	return s.people[i]
}

func isMember(p *person) bool { return p.actor != nil }

func isAgent(p *person) bool { return p.agent != nil }

// fail tells an error: its code, and what it says to do, and for a panic where it arose.
func (s *session) fail(err error) {
	text := err.Error()
	if coded, ok := errors.AsType[*boterr.Error](err); ok && !strings.Contains(text, string(coded.Code)) {
		text = string(coded.Code) + ": " + text
	}
	if panicked, ok := errors.AsType[*boterr.PanicError](err); ok {
		text = strings.Join(append([]string{text}, panicked.Frames()...), "\n  at ")
	}
	s.screen.fails(text)
}
