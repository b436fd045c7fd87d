package mistakes_test

import (
	"context"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// collectByNumber gives a parcel to the member who writes its number.
func collectByNumber(ctx context.Context, bot *botctx.Context) error {
	number, err := strconv.ParseInt(strings.TrimSpace(bot.MessageEvent.Text()), 10, 64)
	if err != nil {
		return bot.Reply(ctx, send.Text("There is no such parcel."))
	}
	return collect(ctx, bot, number)
}

// collectByJSON accepts any JSON instead of a number. The filter reads an object as operators.
func collectByJSON(ctx context.Context, bot *botctx.Context) error {
	number, err := document.ParseJSON([]byte(bot.MessageEvent.Text()))
	if err != nil {
		return bot.Reply(ctx, send.Text("There is no such parcel."))
	}
	return collect(ctx, bot, number)
}

func collect(ctx context.Context, bot *botctx.Context, number any) error {
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: "parcels", Filter: document.O("number", number),
	})
	if err != nil {
		return err
	}
	if len(found.Entries) == 0 {
		return bot.Reply(ctx, send.Text("There is no such parcel."))
	}
	return bot.Reply(ctx, send.Text("It lies in box "+document.Get(found.Entries[0], "box", "")+"."))
}

func parcels(collect botctx.Action) []*botctx.Node {
	return []*botctx.Node{{ID: "collect", Trigger: botctx.AnyText(), Pre: botctx.Do(collect)}}
}

// operatorInjection is a mistake that shows if a member writes text that a filter takes for an operator.
func operatorInjection() mistake {
	return mistake{
		right: parcels(collectByNumber), wrong: parcels(collectByJSON),
		test: func(t tester, nodes []*botctx.Node) {
			p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
			p.Handle(nodes...)
			p.AddData("parcels", document.O("number", 4711, "box", "B"))
			ada := p.AddMember(member.Member{FirstName: "Ada"})

			ada.Says("4711")
			ada.Sees("It lies in box B.")
			ada.Says(`{"$ne": null}`)
			ada.Sees("There is no such parcel.")
		},
		tells: "\"It lies in box B.\"",
	}
}
