package mistakes_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// cancelMine cancels the open orders of the member.
func cancelMine(ctx context.Context, bot *botctx.Context) error {
	return cancel(ctx, bot, document.O("by", bot.Member.ID, "state", "open"))
}

// cancelAll lacks the condition on the member, so it cancels the open orders of everybody.
func cancelAll(ctx context.Context, bot *botctx.Context) error {
	return cancel(ctx, bot, document.O("state", "open"))
}

func cancel(ctx context.Context, bot *botctx.Context, filter document.Object) error {
	_, err := bot.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: "orders", Filter: filter, Patch: document.O("state", "cancelled"), Multi: true,
	})
	return err
}

func orders(cancel botctx.Action) []*botctx.Node {
	return []*botctx.Node{{ID: "cancel", Trigger: botctx.TextIs("cancel"), Pre: botctx.Do(cancel), Responses: botctx.Say("Cancelled.")}}
}

// wrongFilter is a mistake that shows if there is another member, whose records must not change.
func wrongFilter() mistake {
	return mistake{
		right: orders(cancelMine), wrong: orders(cancelAll),
		test: func(t tester, nodes []*botctx.Node) {
			p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
			p.Handle(nodes...)
			ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
			p.AddData("orders",
				document.O("_id", "of Ada", "by", ada.ID(), "state", "open"), document.O("_id", "of Bob", "by", bob.ID(), "state", "open"))

			before := p.Snapshot()
			ada.Says("cancel")
			ada.Sees("Cancelled.")
			changes := p.Since(before)
			require.Len(t, changes.Data, 1, changes.String())
			require.Equal(t, "of Ada", changes.Data[0].ID)
		},
		tells: `~ entry of Bob of orders: state: "open" -> "cancelled"`,
	}
}
