package fakes_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// tenEuro returns a charge that succeeds.
func tenEuro(change ...func(*utility.Charge)) utility.Charge {
	charge := utility.Charge{Amount: 1000, Currency: "eur", PaymentMethod: "card"}
	for _, alter := range change {
		alter(&charge)
	}
	return charge
}

// withKey gives a charge an idempotency key.
func withKey(key string) func(*utility.Charge) {
	return func(c *utility.Charge) { c.IdempotencyKey = key }
}

func newAccount(t *testing.T) (*fakes.Platform, *fakes.Account) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	account := p.AddAccount("shop")
	return p, account
}

func mustCharge(t *testing.T, account *fakes.Account, charge utility.Charge) *utility.Payment {
	t.Helper()
	payment := must(t, account.Charge, charge)
	return payment
}

func requireCode(t *testing.T, err error, code boterr.Code, field string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, e.Code, "%v", err)
	require.Equal(t, field, e.Field, "%v", err)
}

func TestCharge(t *testing.T) {
	t.Parallel()
	_, account := newAccount(t)
	metadata := map[string]string{"order": "7"}
	payment := mustCharge(t, account, tenEuro(func(c *utility.Charge) { c.Description, c.Metadata = "a kettle", metadata }))
	require.Equal(t, &utility.Payment{
		ID: "payment-1", Amount: 1000, Currency: "eur", Status: utility.PaymentSucceeded, Description: "a kettle",
		Metadata: map[string]string{"order": "7"}, CreatedAt: document.TimestampOf(fakes.Start()),
	}, payment)
	metadata["order"], payment.Metadata["order"] = "8", "9"
	found := must(t, account.Payment, "payment-1")
	require.Equal(t, "7", found.Metadata["order"], "nothing is shared")
	require.Equal(t, []utility.Payment{*found}, account.Payments())
}

func TestCharge_Refuses(t *testing.T) {
	t.Parallel()
	_, account := newAccount(t)
	for field, change := range map[string]func(*utility.Charge){
		"amount":        func(c *utility.Charge) { c.Amount = 0 },
		"currency":      func(c *utility.Charge) { c.Currency = "EUR" },
		"paymentMethod": func(c *utility.Charge) { c.PaymentMethod = "" },
	} {
		_, err := account.Charge(t.Context(), tenEuro(change))
		requireCode(t, err, boterr.InvalidArgument, field)
	}
	for _, currency := range []string{"", "eu", "euro", "xyz", "eur usd"} {
		_, err := account.Charge(t.Context(), tenEuro(func(c *utility.Charge) { c.Currency = currency }))
		requireCode(t, err, boterr.InvalidArgument, "currency")
	}
	require.Empty(t, account.Payments())
	require.Empty(t, account.Events())
}

func TestCharge_Declined(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	p.Inject(fakes.Declines("shop", "insufficient_funds"))
	_, err := account.Charge(t.Context(), tenEuro())
	requireCode(t, err, boterr.FailedPrecondition, "paymentMethod")
	declined, ok := errors.AsType[*utility.DeclinedError](err)
	require.True(t, ok)
	require.Equal(t, &utility.DeclinedError{Code: "insufficient_funds", PaymentID: "payment-1"}, declined)
	require.Equal(t, utility.PaymentFailed, account.Payments()[0].Status)
	_, err = account.Refund(t.Context(), utility.Refund{PaymentID: "payment-1"})
	requireCode(t, err, boterr.FailedPrecondition, "paymentId")
	mustCharge(t, account, tenEuro())
}

func TestCharge_IdempotencyKey(t *testing.T) {
	t.Parallel()
	_, account := newAccount(t)
	first := mustCharge(t, account, tenEuro(withKey("order-7")))
	require.Equal(t, first, mustCharge(t, account, tenEuro(withKey("order-7"))))
	require.NotEqual(t, first.ID, mustCharge(t, account, tenEuro(withKey("order-8"))).ID)
	mustCharge(t, account, tenEuro())
	mustCharge(t, account, tenEuro())
	require.Len(t, account.Payments(), 4, "without a key each call charges")

	_, err := account.Charge(t.Context(), tenEuro(withKey("order-7"), func(c *utility.Charge) { c.Amount++ }))
	requireCode(t, err, boterr.Conflict, "idempotencyKey")
	_, err = account.Refund(t.Context(), utility.Refund{PaymentID: first.ID, IdempotencyKey: "order-7"})
	requireCode(t, err, boterr.Conflict, "idempotencyKey")
	require.Zero(t, account.Payments()[0].Refunded)
}

func TestCharge_DeclinedAgain(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	p.Inject(fakes.Declines("shop", "expired_card"))
	_, first := account.Charge(t.Context(), tenEuro(withKey("order-7")))
	p.Inject(fakes.Declines("shop", "insufficient_funds"))
	_, again := account.Charge(t.Context(), tenEuro(withKey("order-7")))
	require.EqualError(t, again, first.Error())
	require.Len(t, account.Payments(), 1)
	_, other := account.Charge(t.Context(), tenEuro())
	require.ErrorContains(t, other, "insufficient_funds")
}

func TestRefund_PartsAndTheRest(t *testing.T) {
	t.Parallel()
	_, account := newAccount(t)
	id := mustCharge(t, account, tenEuro()).ID
	for _, c := range []struct {
		refund   utility.Refund
		refunded int64
		code     boterr.Code
		field    string
	}{
		{refund: utility.Refund{Amount: -1}, code: boterr.InvalidArgument, field: "amount"},
		{refund: utility.Refund{Amount: 1001}, code: boterr.FailedPrecondition, field: "amount"},
		{refund: utility.Refund{Amount: 300, IdempotencyKey: "a"}, refunded: 300},
		{refund: utility.Refund{Amount: 300, IdempotencyKey: "a"}, refunded: 300},
		{refund: utility.Refund{Amount: 301, IdempotencyKey: "a"}, code: boterr.Conflict, field: "idempotencyKey"},
		{refund: utility.Refund{Amount: 300}, refunded: 600},
		{refund: utility.Refund{Amount: 401}, code: boterr.FailedPrecondition, field: "amount"},
		{refund: utility.Refund{}, refunded: 1000},
		{refund: utility.Refund{}, code: boterr.FailedPrecondition, field: "paymentId"},
	} {
		c.refund.PaymentID = id
		payment, err := account.Refund(t.Context(), c.refund)
		if c.code != "" {
			requireCode(t, err, c.code, c.field)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.refunded, payment.Refunded)
	}
	require.EqualValues(t, 1000, account.Payments()[0].Refunded)
	_, err := account.Refund(t.Context(), utility.Refund{PaymentID: "payment-9"})
	requireCode(t, err, boterr.NotFound, "paymentId")
	_, err = account.Payment(t.Context(), "payment-9")
	requireCode(t, err, boterr.NotFound, "id")
}

func TestAccount_FailsOnDemand(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	down, lost := errors.New("down"), errors.New("lost")
	p.Inject(fakes.Fails(fakes.ServicePayments, down))
	_, err := account.Charge(t.Context(), tenEuro(withKey("order-7")))
	require.ErrorIs(t, err, down)
	require.Empty(t, account.Payments())

	timeOut := fakes.TimesOut(fakes.ServicePayments)
	timeOut.Err = lost
	p.Inject(timeOut)
	_, err = account.Charge(t.Context(), tenEuro(withKey("order-7")))
	require.ErrorIs(t, err, lost)
	require.Len(t, account.Payments(), 1)
	require.Equal(t, "payment-1", mustCharge(t, account, tenEuro(withKey("order-7"))).ID)
	require.Len(t, account.Payments(), 1, "the key tells that it is charged already")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = account.Charge(ended, tenEuro())
	require.ErrorIs(t, err, context.Canceled)
}

// heard collects the events of an account as lines of text.
func heard(p *fakes.Platform, account *fakes.Account) *[]string {
	lines := &[]string{}
	account.OnEvent(func(_ context.Context, event utility.PaymentEvent) error {
		*lines = append(*lines, fmt.Sprintf("%s %s %s %s %d at %s", event.ID, event.Account, event.Type, event.Payment.ID,
			event.Payment.Refunded, p.Now().Format(time.TimeOnly)))
		return nil
	})
	return lines
}

func TestAccountEvents_InOrder(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	lines := heard(p, account)
	id := mustCharge(t, account, tenEuro()).ID
	p.Inject(fakes.Declines("shop", "expired_card"))
	_, err := account.Charge(t.Context(), tenEuro())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	for range 2 {
		must(t, account.Refund, utility.Refund{PaymentID: id, Amount: 100})
	}
	p.Advance(fakes.EventDelay - 1)
	require.Empty(t, *lines)
	p.Advance(time.Minute)
	want := []string{
		"event-1 shop payment.succeeded payment-1 0 at 00:00:01",
		"event-2 shop payment.failed payment-2 0 at 00:00:01",
		"event-3 shop payment.refunded payment-1 100 at 00:00:01",
		"event-4 shop payment.refunded payment-1 200 at 00:00:01",
	}
	require.Equal(t, want, *lines)
	p.Advance(time.Minute)
	require.Equal(t, want, *lines, "each comes once")
	require.Len(t, account.Events(), 4)
}

func TestAccountEvents_CauseAnother(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	lines := heard(p, account)
	account.OnEvent(func(ctx context.Context, event utility.PaymentEvent) error {
		if event.Type != utility.EventPaymentSucceeded {
			return nil
		}
		_, err := account.Refund(ctx, utility.Refund{PaymentID: event.Payment.ID})
		return err
	})
	mustCharge(t, account, tenEuro())
	p.Advance(time.Minute)
	require.Equal(t, []string{
		"event-1 shop payment.succeeded payment-1 0 at 00:00:01", "event-2 shop payment.refunded payment-1 1000 at 00:00:02",
	}, *lines)
}

func TestAccountEvents_Repeated(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	lines := heard(p, account)
	mustCharge(t, account, tenEuro())
	p.Advance(time.Minute)
	account.Repeat("event-1")
	require.Equal(t, []string{
		"event-1 shop payment.succeeded payment-1 0 at 00:00:01", "event-1 shop payment.succeeded payment-1 0 at 00:01:00",
	}, *lines)
	requireCode(t, account.TryRepeat("event-2"), boterr.NotFound, "eventID")
}

func TestAccountEvents_ErrorOfAdvance(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	down := errors.New("down")
	account.OnEvent(func(context.Context, utility.PaymentEvent) error { return down })
	lines := heard(p, account)
	mustCharge(t, account, tenEuro())
	mustCharge(t, account, tenEuro())
	err := p.TryAdvance(time.Minute)
	require.ErrorIs(t, err, down)
	require.ErrorContains(t, err, "event-1")
	require.ErrorContains(t, err, "event-2")
	require.Empty(t, *lines, "what is registered behind the one that failed is not called")
	require.Contains(t, p.Transcript(), "the event event-1 failed: down")
}

// A charge in a run is reported after the run, so that the event may start another run of the same member,
// and before agendas of the same time.
func TestAccountEvents_RunANode(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.Handle(
		&botctx.Node{ID: "buy", Trigger: botctx.TextIs("buy"), Pre: []botctx.Action{
			func(ctx context.Context, bot *botctx.Context) error {
				shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
				if err == nil {
					_, err = shop.Client.Charge(ctx, tenEuro(func(c *utility.Charge) { c.Metadata = map[string]string{"member": bot.Member.ID} }))
				}
				return err
			},
		}, Responses: []send.Response{send.Text("One moment.")}},
		&botctx.Node{ID: "paid", Responses: []send.Response{send.Text("Thank you.")}},
	)
	account.OnEvent(func(ctx context.Context, event utility.PaymentEvent) error {
		_, err := p.Operations(ada.Scope()).RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
			MemberID: event.Payment.Metadata["member"], NodeCompositeID: "paid",
		})
		return err
	})
	ada.Says("buy")
	require.Equal(t, "One moment.", ada.Last())
	p.Advance(fakes.EventDelay)
	require.Equal(t, "Thank you.", ada.Last())
	require.Contains(t, p.Transcript(), "00:00:00.000  shop charged 1000 eur: payment-1\n")
	require.Contains(t, p.Transcript(), "00:00:01.000  shop reports payment.succeeded of payment-1: event-1\n")
	require.NotContains(t, p.Transcript(), "golf")
}

func TestGolf_RecordedResultIsClient(t *testing.T) {
	t.Parallel()
	client := &lockedClient{}
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Override = func(botctx.Scope, botctx.Services) botctx.Services {
			return botctx.Services{Utilities: golfOnly{client: client}}
		}
	}))
	_, err := p.AddMember(member.Member{}).Context().Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	require.Same(t, client, p.Calls(botctx.OpGolf)[0].Result.(utility.GolfResult).Client)
}

func TestCharge_ConcurrentUse(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			payment, err := account.Charge(context.Background(), tenEuro(withKey(strconv.Itoa(i%8))))
			if err == nil {
				_, err = account.Refund(context.Background(), utility.Refund{PaymentID: payment.ID, Amount: 1, IdempotencyKey: fmt.Sprint("refund ", i%16)})
			}
			if err != nil {
				t.Errorf("charge %d: %v", i, err)
			}
		})
	}
	all.Wait()
	require.Len(t, account.Payments(), 8)
	for _, payment := range account.Payments() {
		require.EqualValues(t, 2, payment.Refunded)
	}
	lines := heard(p, account)
	p.Advance(time.Minute)
	require.Len(t, *lines, 24)
}

func TestAccount_Misuse(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	account := p.AddAccount("shop")
	require.Panics(t, func() { p.AddAccount("shop") })
	require.Panics(t, func() { p.AddAccount("") })
	require.Panics(t, func() { account.Repeat("event-1") })
	require.Panics(t, func() { account.In(fakes.New()).Payments() })
	_, err := account.In(fakes.New()).Charge(t.Context(), tenEuro())
	requireCode(t, err, boterr.NotFound, "")
}

func TestAddMember_IDOfPlatform(t *testing.T) {
	t.Parallel()
	for platform, want := range map[channel.Type][]string{
		channel.Alpha:   {"1000000000000001", "1000000000000002"},
		channel.Bravo:   {"15550000001", "15550000002"},
		channel.Charlie: {"U000001", "U000002"},
		channel.Echo:    {"o_000001", "o_000002"},
		channel.Delta:   {"external-member-1", "external-agent-1"},
		channel.Webchat: {"external-member-1", "external-agent-1"},
	} {
		p := fakes.New(fakes.For(t))
		in := p.AddChannel(channel.Channel{Type: platform}).ID
		ada, agent := p.AddMember(member.Member{Channel: in}), p.AddAgent(in, "Grace")
		require.Equal(t, want, []string{ada.ExternalID(), agent.ExternalID()})
		require.Equal(t, "agent-1", agent.AdminID())
	}
}

func TestAddMember_KeepsGivenID(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	in := p.AddChannel(channel.Channel{Type: channel.Alpha}).ID
	require.Equal(t, "42", p.AddMember(member.Member{Channel: in, ExternalID: "42"}).ExternalID())
}

func TestGroups_IDOfPlatform(t *testing.T) {
	t.Parallel()
	for platform, want := range map[channel.Type]string{
		channel.Bravo: "15550000001-group", channel.Charlie: "C000001", channel.Delta: "room-000001", channel.Foxtrot: "cnv_000001",
	} {
		p := fakes.New(fakes.For(t))
		p.AddChannel(channel.Channel{ID: "desk", Type: platform, BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
		}})
		ada := p.AddMember(member.Member{})
		p.Pair(ada.Scope().Channel, "desk")
		_, err := ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.NoError(t, err)
		if platform != channel.Foxtrot { // The request has already opened the conversation.
			grace := p.AddAgent("desk", "Grace")
			grace.Takes(grace.Ticket())
		}
		require.Equal(t, want, p.Groups("desk")[0].ExternalID)
	}
}

func TestOnEvent_NilEndsTheTest(t *testing.T) {
	t.Parallel()
	requireFailure(t, "OnEvent of shop: the function is nil", func(p *fakes.Platform) { p.AddAccount("shop").OnEvent(nil) })
}
