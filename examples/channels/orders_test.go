package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// orders lets Ada order the first of the bouquets.
func (c customer) orders(t *testing.T) {
	t.Helper()
	c.Says("bouquets")
	require.NoError(t, c.tapFirst("Order"))
}

const (
	waiting = "Tulips for 19.00 EUR, waiting for the payment."
	paid    = "Tulips for 19.00 EUR, paid. They come tomorrow."
)

// shown returns what the last message to Ada shows now.
func shown(f *florist, ada customer) string {
	for _, sent := range slices.Backward(f.Sent()) {
		if sent.Member == ada.ID() {
			return sent.Shown.Text()
		}
	}
	return ""
}

func TestOrder_ConfirmedWhenPaid(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		ada.orders(t)
		require.Equal(t, waiting, shown(f, ada))
		f.Advance(fakes.EventDelay)
		require.Equal(t, paid, shown(f, ada))
		canChange := ada.on == channel.Charlie || ada.on == channel.Delta
		require.Equal(t, canChange, ada.Last() == waiting)
	}
}

func TestOrder_ReceiptIsMailed(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		ada.orders(t)
		f.Advance(fakes.EventDelay)
		file := f.File("app-1/" + string(ada.on) + "/receipts/payment-1.txt")
		require.Equal(t, "Fern & Fig: paid, with thanks.\n", string(file.Content))
		mails := f.Mailbox("ada@" + string(ada.on) + ".example")
		require.Len(t, mails, 1)
		require.Equal(t, "Your receipt: Tulips", mails[0].Subject.Data)
		require.Contains(t, mails[0].Text.Data, site+"/receipts/payment-1.txt")
	}
}

func TestOrder_WithoutAddress(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	bob := customer{Actor: f.ada(channel.Webchat).bob, on: channel.Webchat}
	bob.orders(t)
	f.Advance(fakes.EventDelay)
	require.Equal(t, paid, bob.Last())
	require.Empty(t, f.Mails())
}

func TestOrder_MarksBuyers(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		ada.orders(t)
		f.Advance(fakes.EventDelay)
		switch ada.on {
		case channel.Alpha:
			require.Equal(t, []string{buyersLabel}, ada.Labels())
		case channel.Echo:
			require.Equal(t, []int64{buyersTag}, ada.Tags())
		default:
			require.Empty(t, f.Calls(botctx.OpAlphaSaveCustomLabel, botctx.OpEchoSaveMemberTag))
		}
	}
}

func TestOrder_TagIsRefused(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Echo)
	for tag := range int64(send.MaxMemberTags) {
		_, err := ada.Context().EchoSaveMemberTag(t.Context(), send.EchoSaveMemberTagParams{TagID: new(tag)})
		require.NoError(t, err)
	}
	ada.orders(t)
	f.Advance(fakes.EventDelay)
	require.Equal(t, paid, ada.Last())
	require.Contains(t, document.Get(ada.Member().Meta, "untagged", ""), fmt.Sprintf("at most %d", send.MaxMemberTags))
}

func TestOrder_DeclinedCard(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		f.account.DeclineNext("insufficient_funds")
		ada.orders(t)
		require.Equal(t, "Your card was declined: insufficient_funds.", ada.Last())
		f.Advance(fakes.EventDelay)
		require.NoError(t, ada.tapFirst("Order"))
		f.Advance(fakes.EventDelay)
		require.Equal(t, paid, shown(f, ada))
	}
}

func TestOrder_MessageFails(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Webchat)
	order := send.MessageEvent{
		Type: send.TypePayload, MessageID: "tap-1",
		Data: document.O("payload", document.O("payload", "order", "value", "tulips")),
	}
	f.FailNext(botctx.OpSendResponse, boterr.Unavailable)
	require.ErrorIs(t, ada.TrySends(order), boterr.Unavailable)
	ada.Sends(order) // The platform delivers it again.
	require.Equal(t, waiting, ada.Last())
	require.Len(t, f.account.Payments(), 1)
}

func TestPayment_WithoutOrderGoesBack(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Webchat)
	ada.Says("bouquets")
	f.FailNext(botctx.OpSendResponse, boterr.Unavailable)
	require.ErrorIs(t, ada.tapFirst("Order"), boterr.Unavailable)
	before := len(f.Sent())
	f.Advance(2 * fakes.EventDelay)
	require.Equal(t, int64(1900), f.account.Payments()[0].Refunded)
	require.Len(t, f.Sent(), before)

	require.NoError(t, ada.tapFirst("Order"))
	f.Advance(2 * fakes.EventDelay)
	require.Equal(t, paid, ada.Last())
}

func TestOrder_OneAtATime(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Webchat)
	ada.orders(t)
	require.NoError(t, ada.tapFirst("Order"))
	require.Equal(t, "You have ordered Tulips already.", ada.Last())
	require.Len(t, f.account.Payments(), 1)
}

func TestOrder_NotSold(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Webchat)
	ada.Says("order")
	require.Len(t, ada.LastMessage().Cards(), 2)
	require.Empty(t, f.account.Payments())
}

func TestPaymentEvent_Twice(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		ada.orders(t)
		f.Advance(fakes.EventDelay)
		before := len(f.Sent())
		f.account.Repeat("event-1")
		require.Len(t, f.Sent(), before)
		require.Len(t, f.Mails(), 1)

		ada.TapsOn("Cancel")
		f.Advance(fakes.EventDelay)
		f.account.Repeat("event-2")
		f.account.Repeat("event-1")
		require.Len(t, f.Sent(), before+1)
		require.Len(t, f.account.Events(), 2)
	}
}

func TestPaymentEvent_FailsThenRepeats(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Alpha)
	f.ReplyHTTP("GET", site+"/receipts/*", web.Text(503, "later"), web.Text(200, "paid"))
	ada.orders(t)
	require.Error(t, f.TryAdvance(fakes.EventDelay))
	require.Equal(t, waiting, ada.Last())
	f.account.Repeat("event-1")
	require.Equal(t, paid, ada.Last())
}

func TestOrder_Canceled(t *testing.T) {
	t.Parallel()
	for f, ada := range onEach(t) {
		ada.orders(t)
		f.Advance(fakes.EventDelay)
		ada.TapsOn("Cancel")
		f.Advance(fakes.EventDelay)
		require.Equal(t, "Cancelled: 19.00 EUR come back to your card.", ada.Last())
		require.Equal(t, int64(1900), f.account.Payments()[0].Refunded)
		ada.TapsOn("Cancel")
		require.Equal(t, "You have ordered nothing.", ada.Last())
	}
}

func TestPaymentEvent_AnotherKind(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	err := OnPayment(f.Runtime(), fakes.DefaultApp)(t.Context(), utility.PaymentEvent{Type: "payout.paid"})
	require.NoError(t, err)
	require.Empty(t, f.Calls())
}

func TestOrder_ProviderDoesNotAnswer(t *testing.T) {
	t.Parallel()
	f := newFlorist(fakes.For(t))
	ada := f.ada(channel.Webchat)
	ada.Says("bouquets")
	f.account.FailNext(boterr.Unavailable)
	require.ErrorIs(t, ada.tapFirst("Order"), boterr.Unavailable)
	require.NoError(t, ada.tapFirst("Order"))
	f.account.FailNext(boterr.Unavailable)
	require.ErrorIs(t, ada.TryTapsOn("Cancel"), boterr.Unavailable)
	ada.TapsOn("Cancel")
	require.Len(t, f.account.Payments(), 1)
	require.Equal(t, int64(1900), f.account.Payments()[0].Refunded)
}
