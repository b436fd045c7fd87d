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
// It plays a conversation in virtual time and prints it in two columns: customers on the left, agents on the
// right (stage.go). With -talk you are the speaker. shop_test.go shows tests of such logic.
package main

import (
	"context"
	"flag"
	"io"
	"os"

	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
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
			return program.Printed(out, play)()
		},
	}.Run(args, problems)
}

// talk is a conversation with the bot, as its customers and as the agents at the desk.
func talk(ctx context.Context, in io.Reader, out io.Writer) error {
	p := openShop(fakes.StartAt(morning()))
	return console.Console{
		Platform: p,
		Members:  []*fakes.Actor{addCustomer(p, "Ada"), addCustomer(p, "Bob")},
		Agents:   []*fakes.Agent{p.AddAgent(desk, "Grace", "default"), p.AddAgent(desk, "Hedy", "workshop")},
		Test:     console.Test{Platform: "openShop(fakes.For(t), fakes.StartAt(morning()))"},
		In:       in, Out: out,
	}.Run(ctx)
}
