package main

import (
	"context"
	"io"
	"net/url"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
)

// chat is a conversation with the assistant in the terminal. The model's texts cannot control the terminal.
func chat(ctx context.Context, settings Settings, in io.Reader, out io.Writer) error {
	if err := settings.check(); err != nil {
		return err
	}
	client, err := clientFor(settings.URL)
	if err != nil {
		return err
	}
	p := fakes.New(fakes.Config(func(c *botctx.Config) { c.HTTP = client }))
	return console.Console{
		Platform: p, Members: []*fakes.Actor{open(p, settings)},
		CannotSave: "a model gives another answer each time. Tests script its replies, as assistant_test.go does with newShop and says",
		In:         in, Out: out,
	}.Run(ctx)
}

// clientFor returns the guarded client. The address in the settings is the host's own, so it may be in the
// host's network, such as a model on the same machine.
func clientFor(address string) (*outbound.Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return nil, boterr.Invalid("url", "is not an HTTP or HTTPS address")
	}
	return outbound.New(outbound.Config{Allow: []string{parsed.Host}, MaxRedirects: new(0), Timeout: time.Minute})
}

// open opens the shop: its bot, its orders, and Ada, who has two of them.
func open(p *fakes.Platform, settings Settings) *fakes.Actor {
	p.Handle((&Assistant{settings}).Nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	bob := p.AddMember(member.Member{FirstName: "Bob"})
	p.AddData("orders",
		document.O("member", ada.ID(), "tea", "Assam", "grams", 250, "status", "sent", "number", 1),
		document.O("member", ada.ID(), "tea", "Sencha", "grams", 100, "status", "open", "number", 2, "cost", 7),
		document.O("member", bob.ID(), "tea", "Lapsang", "grams", 500, "status", "open", "number", 3),
	)
	return ada
}
