// Command concierge is a concierge for a city: a bot on the SDK that finds places, knows the surroundings,
// and takes bookings, in a chat on the terminal.
//
//	go -C examples run ./concierge
//
// It shows a bot made of nodes: bot.go lists them, with the topics that guests may raise at any time, the
// bot's questions, and the answers to those. Their actions are in find.go and book.go, and the understanding
// of messages in understand.go. The chat is package console, over a platform in memory.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

// demonstration is the conversation that is shown if standard input is empty.
//
//go:embed demonstration.chat
var demonstration string

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const usage = `Usage: concierge

A concierge for a city: a bot that finds places, knows what is near and takes
bookings. It answers each line of standard input until the input ends or a line says
bye; /help lists what else can be typed. If nothing is said at all, it shows a short
demonstration.

`

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	return program.Program{Name: "concierge", Usage: usage, Do: func() error { return chat(ctx, in, out) }}.Run(args, problems)
}

// newCity returns a platform with the city's places and the bot.
func newCity(options ...fakes.Option) (*fakes.Platform, error) {
	places, err := readPlaces()
	if err != nil {
		return nil, err
	}
	platform := fakes.New(options...)
	platform.AddData(placesID, places...)
	platform.Handle(nodes()...)
	return platform, nil
}

func chat(ctx context.Context, in io.Reader, out io.Writer) error {
	platform, err := newCity()
	if err != nil {
		return err
	}
	terminal := console.Console{
		Platform: platform, Members: []*fakes.Actor{platform.AddMember(member.Member{ID: "Guest"})}, Bot: "Concierge",
		Ends: isFarewell, Test: console.Test{Platform: "aCity(t)"}, In: in, Out: out,
		Welcome: fmt.Sprintf("A concierge with %d places. Say \"help\" to see what it understands, and \"bye\" to leave.",
			len(platform.Data(placesID))), //nolint:contextcheck // Nothing in the platform waits.
	}
	if err := terminal.Run(ctx); err != nil || len(platform.Choices()) > 0 {
		return err
	}
	if _, err := fmt.Fprintln(out, "\nNothing was said, so here is a demonstration:"); err != nil {
		return err
	}
	shown, err := conversation.Parse("demonstration.chat", demonstration)
	if err != nil {
		return err
	}
	var said strings.Builder
	for _, step := range shown.Steps {
		if says, isText := step.Act.(conversation.Says); isText {
			said.WriteString(says.Text + "\n")
		}
	}
	terminal.In, terminal.Welcome = strings.NewReader(said.String()), ""
	return terminal.Run(ctx)
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
