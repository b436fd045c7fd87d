package mistakes_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// noteSize keeps the size that the member said.
func noteSize(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("size", bot.MessageEvent.Text())
	return nil
}

// noteSizeNowhere changes only a copy of Meta, because an object is a value.
func noteSizeNowhere(_ context.Context, bot *botctx.Context) error {
	meta := bot.Member.Meta
	meta.Set("size", bot.MessageEvent.Text())
	return nil
}

func sizes(note botctx.Action) []*botctx.Node {
	return []*botctx.Node{
		{ID: "size", Trigger: botctx.TextIs("kettle"), Responses: botctx.Say("Which size?"), SavesPosition: true},
		{ID: "sized", Parent: "size", Trigger: botctx.AnyText(), Pre: botctx.Do(note), Responses: botctx.Say("Shall I order it?"), SavesPosition: true},
		{ID: "ordered", Parent: "sized", Trigger: botctx.TextIs("yes"), Responses: []send.Response{send.Template("A {{meta.size}} kettle is on its way.")}},
	}
}

// forgottenWriteBack is a mistake that shows in the next message, because another run reads the stored record.
func forgottenWriteBack() mistake {
	return mistake{
		right: sizes(noteSize), wrong: sizes(noteSizeNowhere),
		test: func(t tester, nodes []*botctx.Node) {
			p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
			p.Handle(nodes...)
			ada := p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("size", "small")}) // The size of an earlier order.

			ada.SetPosition("size")
			ada.Says("large")
			ada.Sees("Shall I order it?")
			ada.Says("yes")
			ada.Sees("A large kettle is on its way.")
		},
		tells: `"A small kettle is on its way."`,
	}
}
