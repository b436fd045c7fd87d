package main

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// step is a part of the conversation.
type step struct {
	title string
	// each happens on every platform, one after the other. Where refused names an error, it
	// fails with that.
	each    func(f *florist, c customer) error
	refused map[channel.Type]boterr.Code
	// once happens once, for all platforms.
	once func(f *florist) error
}

// conversation is what is played.
var conversation = []step{
	says("hi"),
	taps("Bouquet of the week"),
	says("bouquets"),
	taps("Order"),
	{title: "The payment provider calls back, and the bot confirms the order", once: passes(fakes.EventDelay)},
	taps("Cancel"),
	{title: "The payment provider calls back, and the bot tells of the refund", once: passes(fakes.EventDelay)},
	{title: "The shop thanks its buyers on Alpha by a broadcast", once: thanks},
	{title: "The shop writes to Ada and Bob, and each platform takes one message in a minute", each: announceLimited},
	{title: "A minute later it writes to Bob again, who did not get it", once: passes(time.Minute), each: announceAgain},
	says("person"),
	says("bye").refusedWith(channel.Alpha),
	says("Hello?").refusedWith(channel.Alpha, channel.Charlie),
}

// news is what the shop sends by itself.
func news() send.Response {
	return send.Template("{{firstName}}, the first peonies are here!")
}

// says is a step in which Ada says something.
func says(text string) step {
	return step{title: "Ada says: " + text, each: func(_ *florist, c customer) error { return c.TrySays(text) }}
}

// taps is a step in which Ada taps a button or a quick reply.
func taps(title string) step {
	return step{title: "Ada taps [" + title + "]", each: func(_ *florist, c customer) error { return c.tapFirst(title) }}
}

// refusedWith is a step that platforms refuse, since the conversation is not the bot's any
// more.
func (s step) refusedWith(platforms ...channel.Type) step {
	s.refused = map[channel.Type]boterr.Code{}
	for _, on := range platforms {
		s.refused[on] = boterr.FailedPrecondition
	}
	return s
}

// passes lets time pass.
func passes(time time.Duration) func(*florist) error {
	return func(f *florist) error { return f.TryAdvance(time) }
}

// thanks is what the shop says to those who have bought something.
func thanks(f *florist) error {
	return ThankBuyers(context.Background(), f.shop(channel.Alpha), send.Text("Thank you for buying at Fern & Fig!"))
}

// announceLimited announces to both customers, of whom one message reaches the first.
func announceLimited(f *florist, c customer) error {
	f.LimitSends(string(c.on), 1, time.Minute)
	_, err := Announce(context.Background(), f.shop(c.on), news(), c.ID(), c.bob.ID())
	return err
}

// announceAgain announces to who did not get it. On Hotel the group has it.
func announceAgain(f *florist, c customer) error {
	defer f.LiftLimit(string(c.on))
	if c.on == channel.Hotel {
		return nil
	}
	_, err := Announce(context.Background(), f.shop(c.on), news(), c.bob.ID())
	return err
}
