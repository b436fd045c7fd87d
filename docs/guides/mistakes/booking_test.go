package mistakes_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// takePlace books the last place in one operation, so only one of two members gets it.
func takePlace(ctx context.Context, bot *botctx.Context) error {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "places", Filter: document.O("by", nil), Patch: document.Set("by", bot.Member.ID),
	})
	if err != nil {
		return err
	}
	if taken.Value == nil {
		return bot.Reply(ctx, send.Text("Sold out."))
	}
	return bot.Reply(ctx, send.Text("You have a place."))
}

// lookAndTakePlace books the place in two operations, between which another member may book.
func lookAndTakePlace(ctx context.Context, bot *botctx.Context) error {
	free, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: "places", Filter: document.O("by", nil),
	})
	if err != nil {
		return err
	}
	if len(free.Entries) == 0 {
		return bot.Reply(ctx, send.Text("Sold out."))
	}
	id, _ := free.Entries[0].Field("_id")
	_, err = bot.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: "places", Filter: document.O("_id", id), Patch: document.O("by", bot.Member.ID),
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("You have a place."))
}

func places(take botctx.Action) []*botctx.Node {
	return []*botctx.Node{{ID: "book", Trigger: botctx.TextIs("book"), Pre: botctx.Do(take)}}
}

// doubleBooking is a mistake that shows if two members book at the same time, in some order of their runs' steps.
func doubleBooking() mistake {
	return mistake{
		right: places(takePlace), wrong: places(lookAndTakePlace),
		test: func(t tester, nodes []*botctx.Node) {
			explore.Orders(t, 20, func(t *explore.T, p *fakes.Platform) {
				p.Handle(nodes...)
				p.AddData("places", document.O("_id", "the last one"))
				ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
				t.Go("Ada", func() { ada.Says("book") })
				t.Go("Bob", func() { bob.Says("book") })
				t.Wait()
				require.NotEqual(t, ada.Last(), bob.Last(), "one of them has the place")
			})
		},
		tells: "Bob does fetchDataFromDataSource",
	}
}
