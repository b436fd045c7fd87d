package main

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// What marks those who have bought something: a label on Alpha, a tag on Echo.
const (
	buyersLabel       = "buyers"
	buyersTag   int64 = 112
)

// placed is what the member's meta keeps of an order.
type placed struct {
	Bouquet string `json:"bouquet"`
	Price   string `json:"price"`
	Payment string `json:"payment"`
	IsPaid  bool   `json:"isPaid"`
	// Chat and Message are where the order shows on the platform.
	Chat    string         `json:"chat"`
	Message send.MessageTS `json:"message"`
}

// orderOf returns the member's order, if there is one.
func orderOf(bot *botctx.Context) (placed, bool) {
	has := document.Get(bot.Member.Meta, "order", placed{})
	return has, has.Payment != ""
}

// order charges the customer for a bouquet. The provider reports later that the money has come, see
// OnPayment.
func order(ctx context.Context, bot *botctx.Context) error {
	chosen, isSold := bouquetWith(bot.MessageEvent.Value())
	if !isSold {
		return bot.Reply(ctx, catalogue())
	}
	if before, has := orderOf(bot); has {
		return bot.Reply(ctx, send.Text("You have ordered "+before.Bouquet+" already."))
	}
	payment, err := charge(ctx, bot, chosen)
	if declined, isDeclined := errors.AsType[*utility.DeclinedError](err); isDeclined {
		return bot.Reply(ctx, send.Text("Your card was declined: "+declined.Code+"."))
	}
	if err != nil {
		return err
	}
	sent, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Buttons(
		chosen.Name+" for "+priceOf(chosen.Cents)+", waiting for the payment.",
		send.WebURL("Receipt", receiptURL(payment.ID)), send.Postback("Cancel", "cancel"),
	)})
	if err != nil {
		return err
	}
	bot.Member.Meta.Set("order", placed{
		Bouquet: chosen.Name, Price: priceOf(chosen.Cents), Payment: payment.ID,
		Chat: sent.Result().ChatID, Message: send.MessageTS(sent.Result().MessageEvent.MessageID),
	})
	return nil
}

// confirmOnce goes on where the customer has the order of this payment, and it is not confirmed
// yet: providers may report an event more than once. A payment without an order is refunded, such
// as one after which the order could not be shown.
func confirmOnce(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	switch has, _ := orderOf(bot); {
	case has.Payment != paymentOf(bot):
		return botctx.GoTo("unknown payment")
	case has.IsPaid:
		return nil, nil
	default:
		return botctx.GoTo("confirmed")
	}
}

// paymentOf returns the payment that an event is of.
func paymentOf(bot *botctx.Context) string { return document.Get(bot.AgendaMeta, "payment", "") }

// giveBack gives a payment back that no order knows.
func giveBack(ctx context.Context, bot *botctx.Context) error {
	return refund(ctx, bot, paymentOf(bot))
}

// confirm changes the message that shows the order, or sends another one on platforms where
// that cannot be done.
func confirm(ctx context.Context, bot *botctx.Context) error {
	has, _ := orderOf(bot)
	text := has.Bouquet + " for " + has.Price + ", paid. They come tomorrow."
	_, err := bot.UpdateMessage(ctx, send.UpdateMessageParams{
		ExternalChannelID: has.Chat, MessageTS: has.Message, Text: text,
	})
	if errors.Is(err, boterr.Unsupported) {
		return bot.Reply(ctx, send.Text(text))
	}
	return err
}

// markBuyer marks the customer as one who has bought something, where the platform has marks.
func markBuyer(ctx context.Context, bot *botctx.Context) error {
	switch bot.Channel.Type {
	case channel.Alpha:
		_, err := bot.AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{LabelID: buyersLabel})
		return err
	case channel.Echo:
		answer, err := bot.EchoSaveMemberTag(ctx, send.EchoSaveMemberTagParams{TagID: new(buyersTag)})
		if err == nil && answer.ErrCode != 0 { // Such as a customer with send.MaxMemberTags. The order does not depend on it.
			bot.Member.Meta.Set("untagged", answer.ErrMsg)
		}
		return err
	default:
		return nil
	}
}

// rememberPaid remembers that the customer has heard of the payment.
func rememberPaid(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("order.isPaid", true)
	return nil
}

// cancel refunds the money. The provider reports later that it is on its way.
func cancel(ctx context.Context, bot *botctx.Context) error {
	has, isThere := orderOf(bot)
	if !isThere {
		return bot.Reply(ctx, send.Text("You have ordered nothing."))
	}
	return refund(ctx, bot, has.Payment)
}

// forgetOnce goes on where the customer still has this payment's order.
func forgetOnce(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	if has, _ := orderOf(bot); has.Payment != paymentOf(bot) {
		return nil, nil
	}
	return botctx.GoTo("forgotten")
}

// forgetOrder lets the customer order again.
func forgetOrder(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Delete("order")
	return nil
}
