// Command handoff is the bot of a bicycle shop, which hands its customers over to people: a customer asks for
// a person, the people at the desk see a ticket, one of them takes it, and both write to each other until one
// of them ends it, or there are no more messages.
//
//	go -C examples run ./handoff
//	go -C examples run ./handoff -talk
//
// It shows live chats: createAssignment, tickets to broadcast groups by label, and the idle time. It also
// shows that agents' commands are nodes, too, of the outlet channel: they pass a customer on
// (reassignAssignment) and say goodbye (sendMessageToInlet, endLiveChat). Messages that no node answers are
// relayed to the other side. The nodes of customers and the commands of agents are in shop.go.
//
// It plays the conversation in demonstration.chat in virtual time, and prints it. With -talk you are the speaker.
// shop_test.go shows tests of such logic, and runs demonstration.chat as a test, too.
package main

import (
	"context"
	_ "embed"
	"flag"
	"io"
	"os"
	"time"

	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/fakes/conversation"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

const usage = `Usage: handoff [-talk]

A bot that hands its customers over to people. It plays a conversation, in virtual time.
`

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	isTalk := false
	return program.Program{
		Name: "handoff", Usage: usage,
		Flags: func(flags *flag.FlagSet) {
			flags.BoolVar(&isTalk, "talk", false, "talk to the bot yourself: /agent Grace takes tickets, /as Bob is another customer")
		},
		Do: func() error {
			if isTalk {
				return talk(ctx, in, out)
			}
			played, err := play()
			if err != nil {
				return err
			}
			_, err = io.WriteString(out, played)
			return err
		},
	}.Run(args, problems)
}

// people are the people of a conversation: two customers, and an agent of each team.
type people struct {
	platform  *fakes.Platform
	customers []*fakes.Actor
	agents    []*fakes.Agent
}

// openWithPeople opens the shop in the morning.
func openWithPeople(options ...fakes.Option) people {
	p := openShop(append(options, fakes.StartAt(morning()))...)
	return people{
		platform: p, customers: []*fakes.Actor{addCustomer(p, "Ada"), addCustomer(p, "Bob")},
		agents: []*fakes.Agent{p.AddAgent(desk, "Grace", "default"), p.AddAgent(desk, "Hedy", "workshop")},
	}
}

// morning returns the beginning of a conversation.
func morning() time.Time { return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC) }

// talk is a conversation with the bot, as its customers and as the agents at the desk.
func talk(ctx context.Context, in io.Reader, out io.Writer) error {
	s := openWithPeople()
	return console.Console{
		Platform: s.platform, Members: s.customers, Agents: s.agents,
		Test: console.Test{Platform: "openShop(fakes.For(t), fakes.StartAt(morning()))"},
		In:   in, Out: out,
	}.Run(ctx)
}

// demonstration is the conversation that is played without -talk.
//
//go:embed demonstration.chat
var demonstration string

// play plays the demonstration, which takes no time, and returns it with the answers of the bot.
func play() (string, error) {
	written, err := conversation.Parse("demonstration.chat", demonstration)
	if err != nil {
		return "", err
	}
	played, err := openWithPeople().session().Play(written)
	return played.String(), err
}

// session returns a session with the people in which to play a conversation.
func (s people) session() *conversation.Session {
	held := conversation.NewSession(s.platform)
	for _, customer := range s.customers {
		held.Add(customer)
	}
	for _, agent := range s.agents {
		held.AddAgent(agent)
	}
	return held
}
