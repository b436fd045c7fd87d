package main

import (
	"context"
	"fmt"
	"strings"

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

// nodes returns the bot's nodes: topics that guests may raise at any time, and their steps. The bot keeps its knowledge
// about a guest in the member's meta: location, wanted (the values looked for, by column), found (the ids of the last
// list), place (the current one) and booking (the current one). The question that it has asked is the member's position:
// the node of the question saves its position, and its children are the answers.
func nodes() []*botctx.Node {
	topics := topics()
	for _, topic := range topics {
		topic.Global = botctx.GlobalInTree
	}
	return append(topics, steps()...)
}

// topics are messages that guests may send at any time, whatever the question was. Among matching topics, the
// one of the smallest priority answers.
func topics() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "start over", Priority: 10, Trigger: says("start over", "never mind"),
			Pre: botctx.Do(forget), Responses: botctx.Say("Fine, let us start over. What are you looking for?"), SavesPosition: true,
		},
		{
			ID: "my name", Priority: 20, Trigger: means("a name", said.isName),
			Pre: botctx.Do(saveName), Responses: botctx.Say("Nice to meet you, {{firstName}}. What are you looking for?"),
		},
		{
			ID: "I am at", Priority: 30, Trigger: says("I am at", "I'm at", "I am near", "I'm near"),
			Redirect: toLocated(),
		},
		{ID: "my bookings", Priority: 40, Trigger: says("my bookings", "my booking", "what did I book"), Pre: botctx.Do(listBookings)},
		{ID: "book", Priority: 50, Trigger: says("book", "reserve"), Pre: botctx.Do(noteBooking), Redirect: toBooking()},
		{
			ID: "near me", Priority: 60, Trigger: means("what is near", said.isNear), Pre: botctx.Do(saveWanted),
			Redirect: botctx.ToOneOf(goOnNearby, "where?", "nearby"),
		},
		{
			ID: "thanks", Priority: 70, Trigger: says("thanks", "thank you", "bye", "goodbye"),
			Responses: botctx.Say("You are welcome. Enjoy the city!"),
		},
		{
			ID: "a place", Priority: 80, Trigger: botctx.AllOf(botctx.AnyText(), botctx.TriggerFunc(namesPlace)),
			Pre: botctx.Do(describe), SavesPosition: true,
		},
		{
			ID: "places", Priority: 90, Trigger: botctx.AllOf(botctx.AnyText(), botctx.TriggerFunc(looksForPlaces)),
			Pre: botctx.Do(saveWanted, find), SavesPosition: true,
		},
		{ID: "help", Priority: 1000, Trigger: botctx.AnyText(), Responses: botctx.Say(helpText)},
	}
}

// steps are the steps after topics: the questions of the bot, the answers to them, and the actions once
// everything is known. An answer has the priority of the topic that it continues.
func steps() []*botctx.Node {
	return []*botctx.Node{
		{ID: "where?", Pre: botctx.Do(askWhere), SavesPosition: true},
		{ID: "here", Parent: "where?", Priority: 30, Trigger: means("a location", said.isLocated), Redirect: toLocated()},
		{ID: "located", Responses: botctx.Say("Good, I know where you are. Ask me what is near you."), SavesPosition: true},
		{ID: "nearby", Pre: botctx.Do(findNearby), SavesPosition: true},

		{
			ID: "which place?", SavesPosition: true,
			Responses: botctx.Say("Which place shall I book? Say \"book\" and its name, or its number in the list."),
		},
		{
			ID: "how many people?", SavesPosition: true,
			Responses: botctx.Say("{{meta.booking.place.name}}, gladly. For how many people?"),
		},
		{
			ID: "people", Parent: "how many people?", Priority: 50, Trigger: means("people", said.isPeople),
			Pre: botctx.Do(notePeople), Redirect: toBooking(),
		},
		{ID: "when?", Responses: botctx.Say("At what time?"), SavesPosition: true},
		{
			ID: "time", Parent: "when?", Priority: 50, Trigger: means("a time", said.isTime),
			Pre: botctx.Do(noteBooking), Redirect: toBooking(),
		},
		{ID: "take booking", Pre: botctx.Do(takeBooking), SavesPosition: true},
	}
}

// forget clears the guest's search and unfinished booking.
func forget(_ context.Context, bot *botctx.Context) error {
	for _, what := range []string{"wanted", "found", "place", "booking"} {
		bot.Member.Meta.Delete(what)
	}
	return nil
}

// saveName stores the guest's name at once, because a run does not write this field back.
func saveName(ctx context.Context, bot *botctx.Context) error {
	return remember(ctx, bot, document.Set("firstName", heard(bot).name))
}

// remember changes the stored member, and updates bot's member.
func remember(ctx context.Context, bot *botctx.Context, change document.Object) error {
	changed, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
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

// turnTo records the current place, the zero place for none. It drops an unfinished booking: the guest has
// turned to something else.
func turnTo(bot *botctx.Context, spokenOf place) {
	bot.Member.Meta.Set("place", spokenOf)
	bot.Member.Meta.Delete("booking")
}

// says matches a text with one of several words or phrases.
func says(phrases ...string) botctx.Trigger {
	return botctx.Described("says "+strings.Join(phrases, ", "), when(func(said said) bool { return said.has(phrases...) }))
}

// means matches a text if what the concierge understands of it meets a condition.
func means(what string, holds func(said said) bool) botctx.Trigger {
	return botctx.Described("means "+what, when(holds))
}

func when(holds func(said said) bool) botctx.Trigger {
	return botctx.OnText(func(text string) bool { return holds(understand(text)) })
}

// heard returns the content of the guest's message.
func heard(bot *botctx.Context) said { return understand(bot.MessageEvent.Text()) }

// once computes a value from the message only once per run, because a node's trigger and its actions need the same
// value.
func once[T any](bot *botctx.Context, what string, find func() (T, error)) (T, error) {
	if found, ok := bot.Values[what].(T); ok {
		return found, nil
	}
	found, err := find()
	if err == nil {
		bot.Values[what] = found
	}
	return found, err
}

// reply sends a literal text: guests' texts and column values are not templates.
func reply(ctx context.Context, bot *botctx.Context, format string, args ...any) error {
	return bot.Reply(ctx, send.Text(cut(fmt.Sprintf(format, args...), send.MaxText)))
}

// cut returns at most the first n characters of a text.
func cut(text string, most int) string {
	characters := []rune(text)
	if len(characters) <= most {
		return text
	}
	return string(characters[:most-1]) + "…"
}
