package botctx_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// tenEuro is a charge without a key of its own.
var tenEuro = utility.Charge{Amount: 1000, Currency: "eur", PaymentMethod: "card"}

// shopOf returns the client of the account that the bot has.
func shopOf(ctx context.Context, t *testing.T, bot *botctx.Context) utility.PaymentClient {
	t.Helper()
	shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	require.NotNil(t, shop.Provider)
	return shop.Client
}

func TestTriedAgain_ChargesAndRefundsOnce(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	var paid []utility.Payment
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, _ int) error {
		shop := shopOf(ctx, t, bot)
		for range 2 {
			payment, err := shop.Charge(ctx, tenEuro)
			require.NoError(t, err)
			paid = append(paid, *payment)
		}
		payment, err := shop.Refund(ctx, utility.Refund{PaymentID: paid[0].ID, Amount: 300})
		require.NoError(t, err)
		paid = append(paid, *payment)
		return nil
	})
	require.Len(t, first, 3)
	requireKeys(t, first)
	require.Empty(t, second)
	require.Equal(t, paid[:3], paid[3:])
	require.NotEqual(t, paid[0].ID, paid[1].ID, "two charges of one run")
	require.Len(t, account.Payments(), 2)
	require.Equal(t, int64(300), account.Payments()[0].Refunded)
}

func TestTriedAgain_AnotherChargeIsAConflict(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		charge := tenEuro
		charge.Amount += int64(attempt)
		payment, err := shopOf(ctx, t, bot).Charge(ctx, charge)
		if attempt == 2 {
			require.ErrorIs(t, err, boterr.Conflict)
			require.Nil(t, payment)
			return nil
		}
		return err
	})
	require.Len(t, account.Payments(), 1)
}

func TestTriedAgain_ChargeWithAKeyGoesToTheProvider(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, _ int) error {
		charge := tenEuro
		charge.IdempotencyKey = "order-7"
		_, err := shopOf(ctx, t, bot).Charge(ctx, charge)
		return err
	})
	require.Equal(t, []asked{{"charge", "order-7"}}, first)
	require.Equal(t, first, second)
	require.Len(t, account.Payments(), 1)
}

func TestTriedAgain_BatchSendsWhatWasNotTaken(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	ada := w.on(channel.Delta)
	bob := w.AddMember(member.Member{Channel: "here", FirstName: "Bob"})
	w.RefuseSends(boterr.Unavailable, bob)
	var results [][]send.Result
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		if attempt == 2 {
			w.AcceptSends(bob)
		}
		sent, err := bot.SendDeltaResponse(ctx, send.SendDeltaResponseParams{
			Response: send.Text("Hello"), MemberID: document.One(ada.ID(), bob.ID()),
		})
		results = append(results, sent.Results)
		return err
	})
	require.Len(t, first, 1)
	require.Len(t, second, 1)
	requireKeys(t, append(first, second...))
	require.Len(t, ada.Messages(), 1)
	require.Len(t, bob.Messages(), 1)
	require.Error(t, results[0][1].Err)
	require.Equal(t, results[0][0].MessageEvent.MessageID, results[1][0].MessageEvent.MessageID)
	require.NoError(t, results[1][1].Err)
}

// TestTriedAgain_MailsEachRecipient has attempts that mail in another order.
func TestTriedAgain_MailsEachRecipient(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		recipients := map[int][]string{1: {"ada@example.com"}, 2: {"bob@example.com", "ada@example.com"}}
		for _, to := range recipients[attempt] {
			_, err := bot.SendEmail(ctx, utility.SendEmailParams{
				Destination: utility.EmailDestination{ToAddresses: []string{to}},
				Message: utility.EmailMessage{
					Subject: utility.EmailText{Data: "Hi"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Hi"}},
				},
			})
			require.NoError(t, err)
		}
		return nil
	})
	require.Len(t, w.Mailbox("ada@example.com"), 1)
	require.Len(t, w.Mailbox("bob@example.com"), 1)
}

// TestTriedAgain_RunsWithin has a run that redirects another member, itself, and receives something: what
// these runs sent is not sent again.
func TestTriedAgain_RunsWithin(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	eve := w.AddMember(member.Member{Channel: "web", FirstName: "Eve"})
	w.Handle(
		&botctx.Node{ID: "other", Responses: []send.Response{send.Text("one"), send.Text("one")}, Redirect: botctx.To("more")},
		&botctx.Node{ID: "more", Responses: []send.Response{send.Text("one")}},
		&botctx.Node{ID: "heard", Trigger: botctx.TextIs("heard"), Responses: []send.Response{send.Text("one")}},
	)
	first, second := w.try(func(ctx context.Context, bot *botctx.Context, _ int) error {
		for _, who := range []string{w.actor.ID(), eve.ID(), eve.ID()} {
			_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{MemberID: who, NodeCompositeID: "other"})
			require.NoError(t, err)
		}
		return w.Runtime().Receive(ctx, botctx.Inbound{App: bot.Scope().App, Channel: "web", Event: send.MessageEvent{
			From: eve.ExternalID(), Type: send.TypeText, Data: document.O("text", "heard"),
		}})
	})
	require.Len(t, first, 10)
	requireKeys(t, first)
	require.Empty(t, second)
}

// TestTriedAgain_MakesEachAgendaOnce has a run that schedules twice: its next attempt finds both, and what
// they send has keys of its own.
func TestTriedAgain_MakesEachAgendaOnce(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	w.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Do not forget.")}})
	var made []string
	w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
		for range 2 {
			one, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
				MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Duration(attempt) * time.Hour)),
			})
			require.NoError(t, err)
			made = append(made, one.ID)
		}
		_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Hour)), Tag: "one", Replace: true,
		})
		return err
	})
	require.Equal(t, made[:2], made[2:])
	require.NotEqual(t, made[0], made[1])
	require.Len(t, w.actor.Agendas(), 3)
	w.Advance(2 * time.Hour)
	sent := w.outside.take()
	require.Len(t, sent, 3)
	requireKeys(t, sent)
}

// TestTriedAgain_AgendaSendsUnderTheSameKeys has the run of an agenda fail behind what it asked for.
func TestTriedAgain_AgendaSendsUnderTheSameKeys(t *testing.T) {
	t.Parallel()
	w := newTried(t, channel.Charlie)
	account := w.AddAccount("shop")
	w.on(channel.Alpha)
	var keys []string
	w.Handle(&botctx.Node{ID: "due", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Response: send.Text("Sale")})
		require.NoError(t, err)
		_, err = shopOf(ctx, t, bot).Charge(ctx, tenEuro)
		require.NoError(t, err)
		if keys = append(keys, bot.Agenda.Key); len(keys) == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	}}})
	bot := w.actor.Context()
	_, err := bot.NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: w.actor.ID(), NodeCompositeID: "due", NextRunAt: document.TimestampOf(bot.Now()),
	})
	require.NoError(t, err)
	w.outside.take()
	var sent [][]asked
	for range 2 {
		result, err := w.Runtime().Scheduler().RunNext(t.Context())
		require.NoError(t, err)
		require.True(t, result.Ran)
		sent = append(sent, w.outside.take())
	}
	require.Equal(t, keys[0], keys[1])
	require.Len(t, sent[0], 2)
	requireKeys(t, sent[0])
	require.Equal(t, sent[0], sent[1])
	require.Len(t, account.Payments(), 1)
}
