package main

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/utility"
)

// accountName is the shop's payment account.
const accountName = "fern-and-fig"

// charge takes the price of a bouquet. An event that comes twice takes it once.
func charge(ctx context.Context, bot *botctx.Context, chosen bouquet) (*utility.Payment, error) {
	account, err := bot.Golf(ctx, utility.GolfParams{GolfName: accountName})
	if err != nil {
		return nil, err
	}
	return account.Client.Charge(ctx, utility.Charge{
		Amount: chosen.Cents, Currency: "eur", Description: chosen.Name,
		PaymentMethod:  document.Get(bot.Member.Meta, "paymentMethod", ""),
		Metadata:       map[string]string{"channel": bot.Channel.ID, "member": bot.Member.ID},
		IdempotencyKey: bot.Channel.ID + " " + bot.MessageEvent.MessageID,
	})
}

// refund gives all of a payment back, once.
func refund(ctx context.Context, bot *botctx.Context, payment string) error {
	account, err := bot.Golf(ctx, utility.GolfParams{GolfName: accountName})
	if err != nil {
		return err
	}
	_, err = account.Client.Refund(ctx, utility.Refund{PaymentID: payment, IdempotencyKey: "refund " + payment})
	return err
}

// OnPayment returns what a host registers for the events of the shop's payment account. It
// leads the customer to the node for the event.
func OnPayment(rt *botctx.Runtime, app string) func(ctx context.Context, event utility.PaymentEvent) error {
	nodes := map[string]string{utility.EventPaymentSucceeded: nodePaid, utility.EventPaymentRefunded: nodeRefunded}
	return func(ctx context.Context, event utility.PaymentEvent) error {
		node, isAnswered := nodes[event.Type]
		if !isAnswered {
			return nil
		}
		of := botctx.Scope{App: app, Channel: event.Payment.Metadata["channel"], Member: event.Payment.Metadata["member"]}
		_, err := rt.Operations(of).RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
			MemberID: of.Member, NodeCompositeID: node, Meta: document.O("payment", event.Payment.ID),
		})
		return err
	}
}
