package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/absent"
)

// Run lets one talk to a bot of these nodes, on standard input and output, until one of them or ctx
// ends: nil then. It fails where the nodes are refused, and where reading or writing does. Ada is the
// member, and Grace sits at the channel "desk", which gets requests for a person. A bot whose agents have
// commands needs a Platform with its channels.
func Run(ctx context.Context, nodes ...*botctx.Node) error { return Console{}.Run(ctx, nodes...) }

// Console is a conversation with a bot. Its zero value is that of the function Run.
type Console struct {
	// Platform is where the bot is, with all that it needs. The default is a new one.
	Platform *fakes.Platform
	// Members are who speaks, the first one first. The default is Ada.
	Members []*fakes.Actor
	// Agents are who sits at outlet channels. The default is Grace, and nobody on a Platform of one's
	// own.
	Agents []*fakes.Agent
	// Bot is what stands before what the bot says. The default is "Bot".
	Bot string
	// Ends reports whether something that a member said ends the conversation when it is answered, nil
	// for nothing.
	Ends func(said string) bool
	// Welcome is printed first, "" for nothing.
	Welcome string
	// Test says what /save needs to know of the bot.
	Test Test
	// CannotSave is why no test could hold the conversation again, such as answers that come from a real service. /save
	// then says so. "" lets it save.
	CannotSave string
	// In and Out are where lines come from and where they go to. The default is standard input and
	// output. A terminal is an *os.File that is one.
	In  io.Reader
	Out io.Writer
}

// Test tells how a saved test makes the bot that it is about. A file without a folder in its name is saved beside the
// program's own Go files, if the console runs in their module, and otherwise in the working directory. Expressions call
// what the test's package declares: /save says so if that is missing.
type Test struct {
	// Package is the name of its package. The default is that of the Go files beside it, and "main"
	// where there are none.
	Package string
	// Nodes is the Go expression of the nodes that were given to Run. The default is "nodes()".
	Nodes string
	// Platform is the Go expression of a platform as that of the Console, without its members and
	// agents, in a test named t. The default is "newPlatform(t)".
	Platform string
}

// Run is the function Run for a Console of one's own. Nodes are added to those of the Platform. Where ctx
// ends, a run of the bot is waited for, and a read of In may still be under way. InvalidArgument: a member or an
// agent is nil, or In or Out is a nil pointer.
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

// withDefaults returns the Console with what is to be there.
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
