// Command concierge is a concierge for a city: a bot on the SDK that finds places,
// knows what is near, and takes bookings, in a chat on the terminal. It also replays
// recorded conversations.
//
//	go -C examples run ./concierge
//	go -C examples run ./concierge -places FILE
//	go -C examples run ./concierge -dialogues FILE
//	go -C examples run ./concierge -graph
//
// It shows a bot made of nodes: bot.go lists them, with what guests may say at any time,
// what the bot asks, and the answers to that. What they do is in find.go and book.go,
// and what the bot understands of a message in understand.go. replay.go is a bot of one
// function, that of recorded conversations. The chat is package console, over a platform in memory.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

// demonstration is the conversation that is shown where standard input is empty.
//
//go:embed demonstration.chat
var demonstration string

// saidIn returns what is said in a conversation of a file, a message on each line.
func saidIn(file string) (string, error) {
	read, err := conversation.Parse("demonstration.chat", file)
	var said strings.Builder
	for _, step := range read.Steps {
		if says, isText := step.Act.(conversation.Says); isText {
			said.WriteString(says.Text + "\n")
		}
	}
	return said.String(), err
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const usage = `Usage: concierge [-places FILE [-lnglat]]
       concierge -dialogues FILE
       concierge -graph[=dot]

A concierge for a city: a bot that finds places, knows what is near and takes
bookings. Without -dialogues it chats: it answers each line of standard input until
the input ends or a line says bye; /help lists what else can be typed. Where nothing
is said at all, it shows a short demonstration. At the end it prints a summary.
With -graph it prints what leads where in the bot.

`

// settings are what the flags say.
type settings struct {
	places, dialogues string
	order             PairOrder
	graph             drawing
}

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	s := settings{order: LatitudeFirst}
	return program.Program{
		Name: "concierge", Usage: usage, Flags: s.declare, Check: s.check,
		Do: func() error { return start(ctx, s, in, out) },
	}.Run(args, problems)
}

// declare declares the flags.
func (s *settings) declare(flags *flag.FlagSet) {
	flags.StringVar(&s.places, "places", "", "`FILE` with the city's places: a JSON array of objects. Of their columns, name,\n"+
		"location and seats have a meaning; \"?\" is not known. The default is a small city of its own.")
	flags.StringVar(&s.dialogues, "dialogues", "", "`FILE` with recorded conversations to replay, one JSON object on each line")
	flags.BoolFunc("lnglat", "read a location of two numbers as [longitude, latitude]. The default is [latitude, longitude],\n"+
		"unless a first number beyond 90 shows otherwise. GeoJSON points have the longitude first anyway.",
		func(string) error { s.order = LongitudeFirst; return nil })
	flags.Var(&s.graph, "graph", "print the graph of the bot's nodes as Mermaid, or with -graph=dot as DOT")
}

// check refuses flags that would be ignored.
func (s *settings) check(*flag.FlagSet) error {
	switch {
	case s.graph != "" && (s.places != "" || s.dialogues != ""):
		return errors.New("-graph goes with no other flag: it prints the bot, and starts nothing")
	case s.places != "" && s.dialogues != "":
		return errors.New("-places and -dialogues do not go together: recorded conversations bring their own data")
	case s.order == LongitudeFirst && s.places == "":
		return errors.New("-lnglat says how to read the FILE of -places, which is missing")
	default:
		return nil
	}
}

// start does what the settings say, and prints the summary.
func start(ctx context.Context, s settings, in io.Reader, out io.Writer) error {
	if s.graph != "" {
		return s.graph.writeTo(out)
	}
	began := time.Now()
	hold := func(ctx context.Context) (*fakes.Platform, int, error) { return chat(ctx, s, in, out) }
	if s.dialogues != "" {
		hold = func(ctx context.Context) (*fakes.Platform, int, error) { return replay(ctx, s, out) }
	}
	platform, conversations, err := hold(ctx)
	if err != nil {
		return err
	}
	return Summarize(platform, conversations).Print(out, time.Since(began))
}

// replay replays the conversations of a file. It returns where, and how many there were.
func replay(ctx context.Context, s settings, out io.Writer) (*fakes.Platform, int, error) {
	file, err := os.Open(s.dialogues)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close() //nolint:errcheck // It was only read.
	dialogues, err := ReadDialogues(file)
	if err == nil && len(dialogues) == 0 {
		err = errors.New("there is no conversation in it")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", s.dialogues, err)
	}
	platform := fakes.New(fakes.Config(func(c *botctx.Config) { c.Interceptors = []botctx.Interceptor{Narrate(out)} }))
	return platform, len(dialogues), ReplayAll(ctx, platform, out, dialogues)
}

// chat loads the places, and chats about them. It returns where, and how many conversations there
// were.
func chat(ctx context.Context, s settings, in io.Reader, out io.Writer) (*fakes.Platform, int, error) {
	platform := fakes.New()
	places, err := load(ctx, s, platform.Operations(botctx.Scope{}))
	if err != nil {
		return nil, 0, err
	}
	platform.Handle(Concierge{Columns: places.Columns}.Nodes()...)
	terminal := console.Console{
		Platform: platform, Members: []*fakes.Actor{platform.AddMember(member.Member{ID: "Guest"})}, Bot: "Concierge",
		Ends: isFarewell, Welcome: places.welcome(), Test: console.Test{Platform: "aCity(t)"}, In: in, Out: out,
	}
	if s.places != "" {
		terminal.CannotSave = "the tests are about the city of this program, and not about that of -places"
	}
	if err := terminal.Run(ctx); err != nil || len(platform.Choices()) > 0 {
		return platform, 1, err
	}
	if _, err := fmt.Fprintln(out, "\nNothing was said, so here is a demonstration:"); err != nil {
		return nil, 0, err
	}
	said, err := saidIn(demonstration)
	if err != nil {
		return nil, 0, err
	}
	terminal.In, terminal.Welcome = strings.NewReader(said), ""
	return platform, 1, terminal.Run(ctx)
}

// isFarewell reports whether a message ends the conversation.
func isFarewell(text string) bool {
	switch strings.TrimSpace(wordsOf(text)) {
	case "bye", "goodbye", "quit", "exit":
		return true
	default:
		return false
	}
}

// load reads the places and saves them in their data source.
func load(ctx context.Context, s settings, data datasource.Operations) (Places, error) {
	text, name := ownPlaces, "the city's own places"
	if s.places != "" {
		var err error
		if text, err = os.ReadFile(s.places); err != nil {
			return Places{}, err
		}
		name = s.places
	}
	places, err := ReadPlaces(text, s.order)
	if err == nil {
		err = places.Save(ctx, data)
	}
	if err != nil {
		return Places{}, fmt.Errorf("%s: %w", name, err)
	}
	return places, nil
}

// welcome says what was loaded, and how its locations were read.
func (p Places) welcome() string {
	text := fmt.Sprintf("A concierge with %d places. Say \"help\" to see what it understands, and \"bye\" to leave.", len(p.Entries))
	if p.Pairs != "" {
		text += fmt.Sprintf("\nLocations of two numbers were read as [%s].", p.Pairs)
	}
	return text
}
