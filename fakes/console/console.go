package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/member"
)

// Run lets one talk to a bot of these nodes, on standard input and output, until one of them or ctx
// ends: nil then. It fails if the nodes are refused, and where reading or writing does. Ada is the
// member, and Grace sits at the channel "desk", which gets requests for a person. A bot whose agents have
// commands needs a Platform with its channels.
func Run(ctx context.Context, nodes ...*botctx.Node) error { return Console{}.Run(ctx, nodes...) }

// Console is a conversation with a bot. The function Run uses its zero value.
type Console struct {
	// Platform is the platform of the bot, with everything that it needs. The default is a new one.
	Platform *fakes.Platform
	// Members are the speakers, the first one first. The default is Ada.
	Members []*fakes.Actor
	// Agents are the agents at outlet channels. The default is Grace, or none if Platform is set.
	Agents []*fakes.Agent
	// Bot is the name before the bot's messages. The default is "Bot".
	Bot string
	// Ends reports whether something that a member said ends the conversation when it is answered, nil
	// for nothing.
	Ends func(said string) bool
	// Welcome is printed first, "" for nothing.
	Welcome string
	// Test configures the tests of /save.
	Test Test
	// CannotSave is why no test could hold the conversation again, such as answers that come from a real service. /save
	// then says so. "" lets it save.
	CannotSave string
	// In and Out are the source and the target of lines. The default is standard input and output. A terminal
	// is an *os.File that is one.
	In  io.Reader
	Out io.Writer
}

// Test describes how a saved test makes the bot that it is about. A file without a folder in its name is
// saved next to the program's own Go files, if the console runs in their module, and otherwise in the working
// directory. Expressions use declarations of the test's package; if one is missing, /save reports it.
type Test struct {
	// Package is the name of its package. The default is the package of the Go files in the same folder, and
	// "main" without any.
	Package string
	// Nodes is the Go expression of the nodes that were given to Run. The default is "nodes()".
	Nodes string
	// Platform is the Go expression of a platform like the Console's, without its members and agents, in a
	// test named t. The default is "newPlatform(t)".
	Platform string
}

// Run is the function Run for a configured Console. Nodes are added to the nodes of the Platform. If ctx
// ends, it waits for a run of the bot, and a read of In may still be under way. InvalidArgument: a member or
// an agent is nil, or In or Out is a nil pointer.
func (c Console) Run(ctx context.Context, nodes ...*botctx.Node) error {
	if err := c.check(); err != nil {
		return err
	}
	set := c.withDefaults()
	if isTerminal(set.In) { // Ctrl-C outside of a line that is edited ends it, too.
		ending, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ending, stop) // The second one ends the program, whatever the bot does.
		ctx = ending
	}
	s, err := newSession(set, nodes) //nolint:contextcheck // A platform in memory takes none: nothing in it waits.
	if err != nil {
		return err
	}
	lines := linesOf(ctx, set.In, set.Out, s.complete)
	s.screen.width, s.screen.colours, s.isEchoing = lines.width, lines.colours, lines.isEchoing
	if set.Welcome != "" {
		s.screen.block("", plain, set.Welcome, plain)
	}
	return s.hold(ctx, lines)
}

// check refuses what could only fail later.
func (c Console) check() error {
	return cmp.Or(absent.CheckList("Members", c.Members), absent.CheckList("Agents", c.Agents),
		absent.Check("In", c.In), absent.Check("Out", c.Out))
}

func (c Console) withDefaults() Console {
	set := c
	if set.In == nil {
		set.In = os.Stdin
	}
	if set.Out == nil {
		set.Out = os.Stdout
	}
	set.Bot = cmp.Or(c.Bot, "Bot")
	set.Test.Nodes = cmp.Or(c.Test.Nodes, "nodes()")
	set.Test.Platform = cmp.Or(c.Test.Platform, "newPlatform(t)")
	return set
}

// guarded calls what may panic: a platform without a test does where it is misused.
func guarded(do func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("%v", panicked)
		}
	}()
	return do()
}

type session struct {
	console  Console
	platform *fakes.Platform
	screen   *screen
	// isEchoing is whether what is typed is printed, too.
	isEchoing bool
	people    []*person
	// seat is the present speaker.
	seat *person
	// hasDesk is whether the platform and its desk are the console's own, hasNodes whether Run was given nodes.
	hasDesk, hasNodes bool
	// sent counts the printed messages, choices the choices before the last act.
	sent, choices int
	stage         *conversation.Session
	isOver        bool
}

// newSession prepares the platform, with its members and agents.
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
	// offers are the buttons and replies of the newest messages.
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

func (s *session) add(added *person) *person {
	s.people = append(s.people, added)
	s.screen.grow(added.name)
	return added
}

// find returns the person with a name, in upper or lower case, or nil.
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

// stamp is the form of the virtual time.
const stamp = "Mon 2 Jan 2006 15:04:05 MST"

// advance lets time pass.
func (s *session) advance(argument string) error {
	by, err := conversation.Duration(argument)
	if err != nil {
		return err
	}
	s.act(conversation.Waits{For: by})
	s.screen.notef("It is %s.", s.platform.Now().Format(stamp))
	return nil
}

func (s *session) memberNames() []string { return s.names(isMember) }

func (s *session) agentNames() []string { return s.names(isAgent) }

// names returns the names of those whom a condition fits.
func (s *session) names(fits func(*person) bool) []string {
	var names []string
	for _, p := range s.people {
		if fits(p) {
			names = append(names, p.name)
		}
	}
	return names
}

// titles returns the titles of all that who speaks can tap.
func (s *session) titles() []string {
	if s.seat.actor == nil {
		return nil
	}
	return titlesOf(s.seat.actor.Tappables())
}

func titlesOf(offers []fakes.Tappable) []string {
	titles := make([]string, len(offers))
	for i, one := range offers {
		titles[i] = one.Title
	}
	return titles
}

func (s *session) sources() []string { return s.platform.DataSources() }
