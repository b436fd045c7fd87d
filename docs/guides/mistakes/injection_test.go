package mistakes_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// repeatLiterally repeats the member's text to them, after their name.
func repeatLiterally(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text(bot.Member.FirstName+", you said: "+bot.MessageEvent.Text()))
}

// repeatAsTemplate is like repeatLiterally, but treats the member's text as a template.
func repeatAsTemplate(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("{{firstName}}, you said: "+bot.MessageEvent.Text()).WithPlaceholders())
}

func echo(repeat botctx.Action) []*botctx.Node {
	return []*botctx.Node{{ID: "echo", Trigger: botctx.AnyText(), Pre: botctx.Do(repeat)}}
}

// injection is a mistake that shows if a member writes text with a special meaning: here the path of a secret.
func injection() mistake {
	return mistake{
		right: echo(repeatLiterally), wrong: echo(repeatAsTemplate),
		test: func(t tester, nodes []*botctx.Node) {
			p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
			p.Handle(nodes...)
			ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("pin", "7391")})

			ada.Says("{{meta.pin}}")
			ada.Sees("Ada, you said: {{meta.pin}}")
		},
		tells: "\"Ada, you said: 7391\"",
	}
}
