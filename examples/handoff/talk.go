package main

import (
	"context"
	"io"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
)

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
