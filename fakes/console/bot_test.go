package console_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/session/sessiontest"
	"github.com/botctx/go-sdk/send"
)

// nodes returns the bot that the tests talk to. Saved tests run with a copy of this file.
func nodes() []*botctx.Node {
	all := []*botctx.Node{
		{ID: "hello", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello {{firstName}}!")},
		{ID: "repeat", Trigger: botctx.TextIs("2", "kettle", "/done", "\"quoted\" `and` \\n \\\n\tmore"), Pre: botctx.Do(sessiontest.Repeat)},
		{ID: "sure", Trigger: botctx.TextIs("sure?"), Responses: []send.Response{send.QuickReplies("Are you sure?",
			send.QuickReply{Title: "Yes", Payload: "yes"}, send.QuickReply{Title: "No", Payload: "no"})}},
		{ID: "kettles", Trigger: botctx.TextIs("kettles"), Responses: []send.Response{send.Carousel(
			send.Card{Title: "Steel", Subtitle: "holds two litres", Buttons: []send.Button{
				send.PostbackValue("Buy", "buy", document.O("kind", "steel", "litres", 2, "tags", document.A("a", 1.5, nil, true))),
				send.WebURL("More", "https://shop.example/steel"),
			}},
			send.Card{Title: "Glass", Buttons: []send.Button{send.PostbackValue("Buy", "buy", document.O("kind", "glass"))}},
		)}},
		{ID: "picture", Trigger: botctx.TextIs("picture"), Responses: []send.Response{send.Image("https://shop.example/k.png")}},
		{ID: "tapped", Trigger: botctx.TriggerFunc(tapped), Pre: botctx.Do(sessiontest.Repeat)},
		{ID: "remind", Trigger: botctx.TextIs("remind me"), Pre: botctx.Do(sessiontest.Schedule), Responses: botctx.Say("I will.")},
		{ID: "person", Trigger: botctx.TextIs("a person"), Pre: botctx.Do(sessiontest.CallPerson), Responses: botctx.Say("Somebody comes.", "Soon.")},
		{ID: "coupon", Trigger: botctx.TextIs("coupon"), Pre: botctx.Do(sessiontest.KeepCoupon), Responses: botctx.Say("Kept.")},
		{ID: "broken", Trigger: botctx.TextIs("break"), Pre: botctx.Do(fail)},
		{ID: "panic", Trigger: botctx.TextIs("panic"), Pre: botctx.Do(func(context.Context, *botctx.Context) error { panic("no kettle") })},
		{ID: "hang", Trigger: botctx.TextIs("hang"), Pre: botctx.Do(func(context.Context, *botctx.Context) error { select {} })},
		{ID: "long", Trigger: botctx.TextIs("long"), Responses: botctx.Say(
			"This is a text of many words, which is longer than a line of a terminal of sixty cells and of one of a hundred and twenty.")},
		{ID: "hostile", Trigger: botctx.TextIs("hostile"), Responses: botctx.Say("red \x1b[31mtext\x1b[0m \x1b]0;title\x07 \r and \u202eturned\u202c")},
	}
	for _, node := range all {
		node.Global = botctx.GlobalInTree
	}
	return append(all,
		&botctx.Node{ID: "reminder", Responses: botctx.Say("The kettle boils.")},
		&botctx.Node{ID: "fail later", Pre: botctx.Do(fail)},
	)
}

func tapped(_ context.Context, bot *botctx.Context) (bool, error) {
	return bot.MessageEvent.Type == send.TypePayload, nil
}

func fail(context.Context, *botctx.Context) error {
	return boterr.New(boterr.Unavailable, "", "the till does not answer: try it later")
}
