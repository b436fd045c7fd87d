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

// greetAtNine greets the member tomorrow at nine, in their time zone.
func greetAtNine(ctx context.Context, bot *botctx.Context) error {
	zone, err := time.LoadLocation(document.Get(bot.Member.Profile, "zone", "UTC"))
	if err != nil {
		return err
	}
	return greetAt(ctx, bot, bot.Now().In(zone))
}

// greetAtNineSomewhere takes the day and the hour from the bot's clock, which is in UTC.
func greetAtNineSomewhere(ctx context.Context, bot *botctx.Context) error {
	return greetAt(ctx, bot, bot.Now())
}

func greetAt(ctx context.Context, bot *botctx.Context, now time.Time) error {
	nine := time.Date(now.Year(), now.Month(), now.Day()+1, 9, 0, 0, 0, now.Location())
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "morning", NextRunAt: document.TimestampOf(nine),
	})
	return err
}

func mornings(greet botctx.Action) []*botctx.Node {
	return []*botctx.Node{
		{ID: "greet", Trigger: botctx.TextIs("wake me"), Pre: botctx.Do(greet), Responses: botctx.Say("I will.")},
		{ID: "morning", Responses: botctx.Say("Good morning!")},
	}
}

// wrongZone is a mistake that shows if the member lives far from UTC, and the clock stops just before the agenda is due.
func wrongZone() mistake {
	return mistake{
		right: mornings(greetAtNine), wrong: mornings(greetAtNineSomewhere),
		test: func(t tester, nodes []*botctx.Node) {
			p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
			p.Handle(nodes...)
			ada := p.AddMember(member.Member{FirstName: "Ada", Profile: document.O("zone", "Asia/Tokyo")})

			ada.Says("wake me")
			ada.Sees("I will.")
			tokyo := time.FixedZone("Tokyo", 9*60*60)
			p.AdvanceTo(time.Date(2026, time.January, 2, 8, 59, 59, 0, tokyo))
			ada.SeesNothing()
			p.AdvanceTo(time.Date(2026, time.January, 2, 9, 0, 0, 0, tokyo))
			ada.Sees("Good morning!")
		},
		tells: "fakes: Ada sees no further message; expected \"Good morning!\"",
	}
}
