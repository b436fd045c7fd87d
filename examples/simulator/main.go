// Command simulator is the bot of a bakery, to be tried in the browser: several members on two platforms, an
// agent, a payment account, mails, a data source and an agenda.
//
//	go -C examples run ./simulator
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"os/signal"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/member"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `Usage: simulator [-address host:port]

The bot of a bakery, in a page of the browser. Ctrl-C ends it.
`

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, out, problems io.Writer) int {
	address := simulator.DefaultAddress
	return program.Program{
		Name: "simulator", Usage: usage,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&address, "address", address, "where to listen, as `host:port`")
		},
		Do: func() error {
			bakery := newBakery()
			bakery.Address, bakery.Out = address, out
			return bakery.Serve(ctx)
		},
	}.Run(args, problems)
}

// newBakery returns the bakery with its members and agents.
func newBakery() simulator.Simulator {
	p := newPlatform()
	return simulator.Simulator{
		Platform: p, Bot: "Bakery",
		Members: []*fakes.Actor{
			p.AddMember(member.Member{FirstName: "Ada", Channel: "web", Email: "ada@example.com"}),
			p.AddMember(member.Member{FirstName: "Bob", Channel: "phone"}),
		},
		Agents:   []*fakes.Agent{p.AddAgent("desk", "Grace")},
		Accounts: []*fakes.Account{p.Account(account)},
		Test:     simulator.Test{Platform: "newPlatform(fakes.For(t))"},
	}
}

// newPlatform returns the bakery without its members or agents: its nodes, channels, account and orders.
func newPlatform(options ...fakes.Option) *fakes.Platform {
	p := fakes.New(options...)
	p.Handle(nodes()...)
	p.AddAccount(account)
	p.AddChannel(channel.Channel{ID: "web", Type: channel.Webchat})
	p.AddChannel(channel.Channel{ID: "phone", Type: channel.Bravo})
	p.AddChannel(channel.Channel{
		ID: "desk", Type: channel.Charlie,
		PriorityGroups:  []channel.PriorityGroup{{Group: "everybody", Trees: []string{"agents"}}},
		BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}}}},
	})
	p.Pair("web", "desk")
	p.Pair("phone", "desk")
	p.AddData(orders)
	return p
}
