package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/member"
)

// checkPlatform refuses a platform that the shop is not on. "" is none.
func checkPlatform(on channel.Type) error {
	var names []string
	for _, platform := range platforms {
		if platform.on == on {
			return nil
		}
		names = append(names, string(platform.on))
	}
	if on == "" {
		return nil
	}
	return fmt.Errorf("-talk is %q, and must be one of %s", on, strings.Join(names, ", "))
}

// talk lets one talk to the bot, as a customer on a platform.
func talk(ctx context.Context, on channel.Type, in io.Reader, out io.Writer) error {
	p := newFlorist(fakes.At(morning())).Platform
	eve := p.AddMember(member.Member{
		FirstName: "Eve", Channel: string(on), BotID: botID, Email: "eve@shop.example", Meta: document.O("paymentMethod", "pm_card_eve"),
	})
	return console.Console{
		Platform: p, Members: []*fakes.Actor{eve},
		Test: console.Test{Platform: "newFlorist(fakes.For(t), fakes.At(morning())).Platform"}, In: in, Out: out,
	}.Run(ctx)
}
