package main

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

const helpText = `I know this city. You can say, for example:
  my name is Ada
  a cheap museum / in the old town
  tell me about number 2
  I am at 38.601, -9.401
  restaurants near me / within 500 m
  book number 1 for two at 19:30
  my bookings / start over`

// Concierge is the bot of the chat. What it learns of a guest it keeps in the
// member's meta: location, wanted (the values looked for, by column), found (the ids
// of the last list), place (the one spoken of), asked (what the bot wants to know)
// and booking (the one being made).
type Concierge struct {
	// Columns are the columns of the places whose values guests may say.
	Columns []string
}

// Answer is the action that answers a guest's message.
func (c Concierge) Answer(ctx context.Context, bot *botctx.Context) error {
	said := understand(bot.MessageEvent.Text())
	asked := document.Get(bot.Member.Meta, "asked", "")
	switch {
	case said.has("start over", "never mind"):
		return startOver(ctx, bot)
	case said.name != "":
		return greet(ctx, bot, said)
	case said.has("I am at", "I'm at", "I am near", "I'm near"), asked == "location" && said.located:
		return c.locate(ctx, bot, said)
	case said.has("my bookings", "my booking", "what did I book"):
		return listBookings(ctx, bot)
	case said.has("book", "reserve"), answersBooking(asked, said):
		return book(ctx, bot, said)
	case said.has("near me", "nearby", "close to me", "around here"), said.within > 0:
		return c.near(ctx, bot, said)
	case said.has("thanks", "thank you", "bye", "goodbye"):
		return reply(ctx, bot, "You are welcome. Enjoy the city!")
	default:
		return c.find(ctx, bot, said)
	}
}

// greet saves the guest's name.
func greet(ctx context.Context, bot *botctx.Context, said said) error {
	if err := remember(ctx, bot, document.Set("firstName", said.name)); err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Nice to meet you, {{firstName}}. What are you looking for?"))
}

// startOver forgets what the guest looked for and was about to book.
func startOver(ctx context.Context, bot *botctx.Context) error {
	err := remember(ctx, bot, document.Unset("meta.wanted", "meta.found", "meta.place", "meta.asked", "meta.booking"))
	if err != nil {
		return err
	}
	return reply(ctx, bot, "Fine, let us start over. What are you looking for?")
}

// remember changes the member, and gives bot the member as it is then.
func remember(ctx context.Context, bot *botctx.Context, change document.Object) error {
	changed, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
		Filter: document.O("_id", bot.Member.ID),
		Patch:  change,
		Option: member.FindAndModifyOption{New: true},
	})
	if err != nil {
		return err
	}
	if changed.Member == nil {
		return boterr.New(boterr.NotFound, "", "the member %s is gone", bot.Member.ID)
	}
	bot.Member = changed.Member
	return nil
}

// ask asks the guest something, and remembers what.
func ask(ctx context.Context, bot *botctx.Context, what, question string) error {
	if err := remember(ctx, bot, document.Set("meta.asked", what)); err != nil {
		return err
	}
	return reply(ctx, bot, "%s", question)
}

// reply sends a text as it is: what guests said and what columns hold is no template.
func reply(ctx context.Context, bot *botctx.Context, format string, args ...any) error {
	const most = 2000 // characters in a text
	text := []rune(fmt.Sprintf(format, args...))
	if len(text) > most {
		text = append(text[:most-1], '…')
	}
	return bot.Reply(ctx, send.Text(string(text)).Literal())
}
