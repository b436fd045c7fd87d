package mistakes_test

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// remindOnce schedules a reminder of the basket in an hour, and replaces an earlier one.
func remindOnce(ctx context.Context, bot *botctx.Context) error {
	return remind(ctx, bot, agenda.NewParams{Tag: "basket", Replace: true})
}

// remindEachTime schedules a reminder without the tag, so earlier ones stay.
func remindEachTime(ctx context.Context, bot *botctx.Context) error {
	return remind(ctx, bot, agenda.NewParams{})
}

func remind(ctx context.Context, bot *botctx.Context, p agenda.NewParams) error {
	p.MemberID, p.NodeCompositeID, p.NextRunAt = bot.Member.ID, "reminder", document.TimestampOf(bot.Now().Add(time.Hour))
	_, err := bot.NewAgenda(ctx, p)
	return err
}

func basket(remind botctx.Action) []*botctx.Node {
	return []*botctx.Node{
		{ID: "add", Trigger: botctx.TextIs("a cup"), Pre: botctx.Do(remind), Responses: botctx.Say("It is in your basket.")},
		{ID: "reminder", Responses: botctx.Say("Your basket waits.")},
	}
}

// forgottenTag is a mistake that shows if the member adds to the basket twice, time passes, and each message is expected.
func forgottenTag() mistake {
	return mistake{
		right: basket(remindOnce), wrong: basket(remindEachTime),
		test: func(t tester, nodes []*botctx.Node) {
			p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
			p.Handle(nodes...)
			ada := p.AddMember(member.Member{FirstName: "Ada"})

			ada.Says("a cup")
			ada.Says("a cup")
			ada.Sees("It is in your basket.", "It is in your basket.")
			p.Advance(24 * time.Hour)
			ada.Sees("Your basket waits.")
		},
		tells: `Ada <- "Your basket waits.", sent at 2026-01-01 01:00:00 by the node reminder`,
	}
}
