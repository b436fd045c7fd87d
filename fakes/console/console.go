package console

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/botctx/go-sdk/internal/session"
)

// Run starts a conversation on standard input and output with a bot that has the given nodes. It returns nil when the
// input or ctx ends. It fails if the nodes are refused, or if reading or writing fails. Ada is the member, and Grace
// is the agent at the channel "desk", which receives requests for a person. A bot whose agents have commands needs a
// Platform with its channels.
func Run(ctx context.Context, nodes ...*botctx.Node) error { return Console{}.Run(ctx, nodes...) }

// Console is a conversation with a bot. The function Run uses its zero value.
type Console struct {
	// Platform is the platform of the bot, with everything that it needs. The default is a new one.
	Platform *fakes.Platform
	// Members are the speakers, starting with the first. The default is Ada.
	Members []*fakes.Actor
	// Agents are the agents at outlet channels. The default is Grace, or none if Platform is set.
	Agents []*fakes.Agent
	// Bot is the name before the bot's messages. The default is "Bot".
	Bot string
	// Ends reports whether a member's text ends the conversation after its answer. If it is nil, none does.
	Ends func(said string) bool
	// Welcome is printed first, or "" for nothing.
	Welcome string
	// Test configures the tests that /save writes.
	Test Test
	// CannotSave is the reason why a test could not repeat the conversation, such as answers that come from a
	// real service. /save then prints it. If it is "", /save works.
	CannotSave string
	// In and Out are the source and the target of lines. The default is standard input and output. Terminals
	// are recognised if they are an *os.File.
	In  io.Reader
	Out io.Writer
}

// Test describes how a saved test creates the bot: its Package, and the Go expressions of the Nodes that were
// passed to Run ("nodes()") and of a Platform like the Console's, without its members or agents, in a test named t
// ("newPlatform(t)"). The expressions use declarations of the test's package; /save reports missing ones.
//
// The default of Package is the package of the Go files in the same folder, or "main" if there are none. A file name
// without a folder is relative to the folder of the program's own Go files if the console runs in their module, and
// otherwise to the working directory.
type Test = session.Test

// Run runs the console, like the function Run, with the settings of c. The nodes are handled in addition to the
// nodes of c.Platform. If ctx ends, Run waits for a run of the bot, and a read of In may still be in progress.
// It returns InvalidArgument if a member or an agent is nil, or In or Out is a nil pointer.
func (c Console) Run(ctx context.Context, nodes ...*botctx.Node) error {
	if err := c.check(); err != nil {
		return err
	}
	set := c.withDefaults()
	if isTerminal(set.In) { // Ctrl-C ends the conversation also while no line is edited.
		ending, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ending, stop) // A second signal ends the program, whatever the bot does.
		ctx = ending
	}
	s, err := newTalk(set, nodes)
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

// check refuses values that would only fail later.
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
	return set
}

// talk is a session in a terminal.
type talk struct {
	*session.Session

	console Console
	screen  *screen
	// isEchoing is true if typed lines are printed, too.
	isEchoing bool
	// seat is the current speaker.
	seat *session.Person
	// offers are the buttons and replies of the newest messages to members, by their ids.
	offers map[string][]fakes.Tappable
	// sent is the number of printed messages. choices is the number of choices before the last act.
	sent, choices int
	isOver        bool
}

// newTalk prepares the platform, with its members and agents.
func newTalk(c Console, nodes []*botctx.Node) (*talk, error) {
	held, err := session.New(session.Config{Platform: c.Platform, Members: c.Members, Agents: c.Agents, Nodes: nodes, Test: c.Test})
	if err != nil {
		return nil, err
	}
	s := &talk{Session: held, console: c, screen: &screen{out: c.Out}, offers: map[string][]fakes.Tappable{}}
	s.screen.grow(c.Bot)
	for _, p := range s.People() {
		s.screen.grow(p.Name)
	}
	s.seat, s.sent = s.People()[0], len(s.Platform().Sent())
	return s, nil
}

func (s *talk) hold(ctx context.Context, from lines) error {
	for !s.isOver && s.screen.err == nil && ctx.Err() == nil {
		line, err := from.next(s.screen.painted(s.screen.padded(s.seat.Name, ">"), ofUser))
		if errors.Is(err, io.EOF) {
			return s.screen.err
		}
		if err != nil {
			return err
		}
		s.screen.width = from.refreshed()
		s.read(strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))) //nolint:contextcheck // Nothing in the platform waits.
	}
	return s.screen.err
}

func (s *talk) read(line string) {
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

// add adds a person as a speaker.
func (s *talk) add(name string, act conversation.Act) (*session.Person, error) {
	if _, err := s.Stage.Do(act); err != nil {
		return nil, err
	}
	s.screen.grow(name)
	return s.Person(name), nil
}

// find returns the person with a name, in upper or lower case, or nil.
func (s *talk) find(name string, fits func(*session.Person) bool) *session.Person {
	people := s.People()
	i := slices.IndexFunc(people, func(p *session.Person) bool { return fits(p) && strings.EqualFold(p.Name, name) })
	if i < 0 {
		return nil
	}
	return people[i]
}

// fail prints an error: its code and remedy, and the origin of a panic.
func (s *talk) fail(err error) {
	text := err.Error()
	if coded, ok := errors.AsType[*boterr.Error](err); ok && !strings.Contains(text, string(coded.Code)) {
		text = string(coded.Code) + ": " + text
	}
	if panicked, ok := errors.AsType[*boterr.PanicError](err); ok {
		text = strings.Join(append([]string{text}, panicked.Frames()...), "\n  at ")
	}
	s.screen.fails(text)
}

// stamp is the layout in which the virtual time is printed.
const stamp = "Mon 2 Jan 2006 15:04:05 MST"

func (s *talk) advance(argument string) error {
	by, err := conversation.Duration(argument)
	if err != nil {
		return err
	}
	s.act(conversation.Waits{For: by})
	s.screen.notef("It is %s.", s.Platform().Now().Format(stamp))
	return nil
}

func (s *talk) memberNames() []string { return s.names((*session.Person).IsMember) }

func (s *talk) agentNames() []string { return s.names((*session.Person).IsAgent) }

// names returns the names of the people who fit a condition.
func (s *talk) names(fits func(*session.Person) bool) []string {
	var names []string
	for _, p := range s.People() {
		if fits(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// titles returns the titles of everything that the speaker can tap.
func (s *talk) titles() []string {
	if s.seat.Actor == nil {
		return nil
	}
	return titlesOf(s.seat.Actor.Tappables())
}

func titlesOf(offers []fakes.Tappable) []string {
	titles := make([]string, len(offers))
	for i, one := range offers {
		titles[i] = one.Title
	}
	return titles
}

func (s *talk) sources() []string { return s.Platform().DataSources() }
