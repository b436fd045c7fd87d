package mistakes_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/member"
)

// noteOrder notes an order under the id of the message: the same message is the same order.
func noteOrder(ctx context.Context, bot *botctx.Context) error {
	return note(ctx, bot, document.O("_id", bot.MessageEvent.MessageID, "by", bot.Member.ID))
}

// noteOrderAnew notes an order without an id: a run that is repeated because an answer was lost notes it again.
func noteOrderAnew(ctx context.Context, bot *botctx.Context) error {
	return note(ctx, bot, document.O("by", bot.Member.ID))
}

func note(ctx context.Context, bot *botctx.Context, order document.Object) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "orders", Data: document.OneOrMany[document.Object]{order},
	})
	return err
}

func kettles(note botctx.Action) []*botctx.Node {
	return []*botctx.Node{{ID: "order", Trigger: botctx.TextIs("a kettle"), Pre: botctx.Do(note), Responses: botctx.Say("Noted.")}}
}

// unexpectedFailure is a mistake that shows if each call and each service fails in turn, and the platform repeats the
// message.
func unexpectedFailure() mistake {
	return mistake{
		right: kettles(noteOrder), wrong: kettles(noteOrderAnew),
		test: func(t tester, nodes []*botctx.Node) {
			explore.Faults(t, 40, func(t *explore.T, p *fakes.Platform) {
				p.Handle(nodes...)
				p.AddData("orders")
				ada := p.AddMember(member.Member{FirstName: "Ada"})
				for failed := ada.TrySays("a kettle"); failed != nil && boterr.CodeOf(failed) != boterr.InvalidArgument; {
					t.Settle(0)
					failed = ada.TrySaysAgain()
				}
				require.Len(t, p.Data("orders"), 1, "there is one order")
			})
		},
		tells: "there is one order",
	}
}
