// Package firstbot is a bot that greets, and answers messages that it does not understand.
package firstbot

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/send"
)

// Nodes returns the nodes of the bot.
func Nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "greeting", Trigger: botctx.TextIs("hi", "hello"), Responses: botctx.Say("Hello {{firstName}}!")},
		{ID: "other", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority, Pre: botctx.Do(apologize)},
	}
}

// apologize repeats a message that the bot does not understand.
func apologize(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("I do not know "+bot.MessageEvent.Text()+". Say hi."))
}
