package explore_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// sell charges a member, and replies. With a key, the order is only charged once.
func sell(key string) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		account, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
		if err != nil {
			return err
		}
		_, err = account.Client.Charge(ctx, utility.Charge{Amount: 2500, Currency: "eur", PaymentMethod: "card", IdempotencyKey: key})
		if err != nil {
			return err
		}
		return bot.Reply(ctx, send.Text("Yours."))
	}
}

// chargedOnce states that a member who orders until there is an answer pays once.
func chargedOnce(logic botctx.Action) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		account := p.AddAccount("shop")
		ada, _ := shop(p, logic, 1)
		for range 5 {
			if confirmed(p) == 0 {
				_ = ada.TrySays("buy")
				t.Settle(time.Minute)
			}
		}
		require.LessOrEqual(t, len(account.Payments()), 1, "she pays once")
		require.NotZero(t, confirmed(p), "she has an answer")
	}
}

func TestFaults_FindsADoubleCharge(t *testing.T) {
	t.Parallel()
	found := searchFaults(100, chargedOnce(sell("")))
	requireFound(t, found, "she pays once", "(reduced to 1 of ", "\tp.", ".At(1)", "BOTCTX_EXPLORE='faults:", " go test -run '^TestBot$/^shop$'",
		"shop charged 2500 eur: payment-2")
}

func TestFaults_AKeyChargesOnce(t *testing.T) {
	t.Parallel()
	explore.Faults(t, rounds.Of(t, 60, 600), chargedOnce(sell("order 1")))
}

// note stores an order, and confirms it.
func note(ctx context.Context, bot *botctx.Context, order document.Object) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "orders", Data: []document.Object{order},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Yours."))
}

// noteAnew stores an order under a new id, noteOnce under the id of its event.
func noteAnew(ctx context.Context, bot *botctx.Context) error {
	return note(ctx, bot, document.O("text", bot.MessageEvent.Text()))
}

func noteOnce(ctx context.Context, bot *botctx.Context) error {
	return note(ctx, bot, document.O("_id", bot.MessageEvent.MessageID, "text", bot.MessageEvent.Text()))
}

// notedOnce states that there are as many orders as confirmations.
func notedOnce(logic botctx.Action) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		ada, bob := shop(p, logic, 0)
		p.AddData("orders")
		if ada.TrySays("a kettle") != nil {
			t.Settle(time.Hour)
			_ = ada.TrySaysAgain() // The platform did not learn that it arrived.
		}
		_ = bob.TrySays("a pot")
		t.Settle(time.Hour)
		require.GreaterOrEqual(t, len(p.Data("orders")), confirmed(p), "what is confirmed is noted")
		require.LessOrEqual(t, len(p.Data("orders")), 2, "each order is noted once")
		require.LessOrEqual(t, confirmed(p), 2, "each order is confirmed once")
	}
}

func TestFaults_FindsAnOrderNotedTwice(t *testing.T) {
	t.Parallel()
	accepting := explore.PlatformOptions(fakes.WithInbox())
	requireFound(t, searchFaults(100, notedOnce(noteAnew), accepting), "each order is noted once", "(reduced to 1 of ")
	explore.Faults(t, rounds.Of(t, 60, 600), notedOnce(noteOnce), accepting)
}

// tell answers a member, by mail if the message cannot be sent.
func tell(ctx context.Context, bot *botctx.Context) error {
	if err := bot.Reply(ctx, send.Text("It is on its way.")); err == nil {
		return nil
	}
	_, err := bot.SendEmail(ctx, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: "It is on its way"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Yours."}},
		},
	})
	return err
}

// rewarded states that a payment is worth one point, however often the provider reports it.
func rewarded(point func(utility.PaymentEvent) document.Object) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		p.AddData("points")
		p.AddAccount("shop").OnEvent(func(ctx context.Context, event utility.PaymentEvent) error {
			_, err := p.Operations(botctx.Scope{}).UpsertDataToDataSource(ctx, datasource.UpsertParams{
				DataSourceID: "points", Data: []document.Object{point(event)},
			})
			return err
		})
		ada, _ := shop(p, sell("order 1"), 0)
		_ = ada.TrySays("buy")
		t.Settle(time.Minute)
		require.LessOrEqual(t, len(p.Data("points")), 1, "a payment is worth one point")
	}
}

func TestFaults_FindsAPaymentEventThatCountsTwice(t *testing.T) {
	t.Parallel()
	pointAnew := func(event utility.PaymentEvent) document.Object { return document.O("for", event.Payment.ID) }
	pointOnce := func(event utility.PaymentEvent) document.Object {
		return document.O("_id", event.ID, "for", event.Payment.ID)
	}
	requireFound(t, searchFaults(100, rewarded(pointAnew)), "a payment is worth one point", "(reduced to 1 of ",
		"\tp.Inject(fakes.Repeats(fakes.ServicePayments).At(1))\n", "BOTCTX_EXPLORE='faults:Payments#1=repeats' go test",
		"the account shop repeats it")
	explore.Faults(t, rounds.Of(t, 60, 600), rewarded(pointOnce))
}

func TestFaults_FindsAMessageThatIsNotedTwice(t *testing.T) {
	t.Parallel()
	property := func(logic botctx.Action) explore.Property {
		return func(t *explore.T, p *fakes.Platform) {
			ada, _ := shop(p, logic, 0)
			p.AddData("orders")
			for _, text := range []string{"a kettle", "a pot"} {
				_ = ada.TrySays(text)
				t.Settle(time.Minute)
			}
			require.LessOrEqual(t, len(p.Data("orders")), 2, "each order is noted once")
		}
	}
	requireFound(t, searchFaults(100, property(noteAnew)), "each order is noted once", "(reduced to 1 of ",
		"\tp.Inject(fakes.Repeats(fakes.ServiceMessages).At(", "BOTCTX_EXPLORE='faults:Messages#")
	explore.Faults(t, rounds.Of(t, 60, 600), property(noteOnce))
}

// order orders by mail, with four tries: more than a plan has faults.
func order(ctx context.Context, bot *botctx.Context) error {
	var err error
	for range 4 {
		_, err = bot.SendEmail(ctx, utility.SendEmailParams{
			Destination: utility.EmailDestination{ToAddresses: []string{"orders@example.com"}},
			Message: utility.EmailMessage{
				Subject: utility.EmailText{Data: "An order"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "A kettle."}},
			},
		})
		if err == nil {
			break
		}
	}
	return err
}

// confirmAnyway confirms an order that may not have been sent, confirmOrdered one that was.
func confirmAnyway(ctx context.Context, bot *botctx.Context) error {
	_ = order(ctx, bot)
	return bot.Reply(ctx, send.Text("Yours."))
}

func confirmOrdered(ctx context.Context, bot *botctx.Context) error {
	if order(ctx, bot) != nil {
		return bot.Reply(ctx, send.Text("Please try again later."))
	}
	return bot.Reply(ctx, send.Text("Yours."))
}

// mailedBeforeConfirmed states that a confirmed order was sent.
func mailedBeforeConfirmed(logic botctx.Action) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, logic, 0)
		_ = ada.TrySays("a kettle")
		t.Settle(time.Minute)
		if confirmed(p) > 0 {
			require.NotEmpty(t, p.Mails(), "what is confirmed was sent")
		}
	}
}

func TestFaults_FindsAnOutage(t *testing.T) {
	t.Parallel()
	requireFound(t, searchFaults(100, mailedBeforeConfirmed(confirmAnyway)),
		"what is confirmed was sent", "(reduced to 1 of ", "\tp.Inject(fakes.Down(fakes.ServiceMail).Lasting(20*time.Second).At(1))\n",
		"BOTCTX_EXPLORE='faults:Mail#1=down' go test", "disconnected: mail")
	explore.Faults(t, rounds.Of(t, 60, 600), mailedBeforeConfirmed(confirmOrdered))
}

// After Settle, the bot has recovered from an outage.
func TestFaults_SettleWaitsForTheEndOfAnOutage(t *testing.T) {
	t.Parallel()
	explore.Faults(t, rounds.Of(t, 60, 600), func(t *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, noteOnce, 0)
		p.AddData("orders")
		for failed := ada.TrySays("a kettle"); failed != nil; failed = ada.TrySaysAgain() {
			t.Settle(0)
		}
		require.Len(t, p.Data("orders"), 1)
	})
}

// neverTold is a property that fails only if two faults meet: the mail and the message must both fail.
func neverTold(t *explore.T, p *fakes.Platform) {
	ada, _ := shop(p, tell, 0)
	_ = ada.TrySays("where is it?")
	if !p.IsDown() && len(p.Calls(botctx.OpSendResponse)) > 0 {
		require.NotZero(t, len(p.Mails())+len(p.Sent()), "Ada is told")
	}
}

func TestFaults_ShrinksToThoseThatMatter(t *testing.T) {
	t.Parallel()
	found := searchFaults(100, neverTold)
	requireFound(t, found, "Ada is told", "(reduced to 2 of ")
}

func TestFaults_MaxFaultsBoundsThoseOfARound(t *testing.T) {
	t.Parallel()
	explore.Faults(t, 100, neverTold, explore.MaxFaults(1))
}

func TestFaults_FindsASendThatReachesSome(t *testing.T) {
	t.Parallel()
	requireFound(t, searchFaults(100, func(t *explore.T, p *fakes.Platform) {
		ada, bob := shop(p, func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.SendResponse(ctx, send.SendResponseParams{
				MemberID: document.OneOrMany[string]{"member-1", "member-2"}, Response: send.Text("We are closed."),
			})
			return err
		}, 0)
		_ = ada.TrySays("close")
		require.True(t, p.IsDown() || len(ada.Messages()) == len(bob.Messages()), "all know it, or nobody")
	}), "\tp.Inject(fakes.Fails(fakes.ServiceMessages, ", "(1 of 2 reached)")
}

func TestFaults_TheSameSeedIsTheSameSearch(t *testing.T) {
	t.Parallel()
	property := notedOnce(noteAnew)
	first := searchFaults(100, property, explore.Seed(7))
	requireFound(t, first, "seed 7")
	again := searchFaults(100, property, explore.Seed(7))
	require.Equal(t, first.failed, again.failed)
}

func TestFaults_TellsAPropertyThatFailsWithoutThem(t *testing.T) {
	t.Parallel()
	requireFound(t, searchFaults(10, func(t *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, modify, 1)
		ada.Says("buy")
		require.Equal(t, 1, stockOf(p), "nothing was sold")
	}), "fails even without any faults", "nothing was sold", "Ada -> ")
}

func TestFaults_TellsAPropertyThatMeetsNone(t *testing.T) {
	t.Parallel()
	requireFound(t, searchFaults(10, func(_ *explore.T, p *fakes.Platform) { p.AddData("stock") }), "calls no operation and asks no service")
}

func TestFaults_TellsAPropertyThatIsNotTheSameEachTime(t *testing.T) {
	t.Parallel()
	runs := 0
	requireFound(t, searchFaults(10, func(_ *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, modify, 1)
		runs++
		_ = ada.TrySays([]string{"one", "other"}[runs%2])
	}), "is not the same each time")
}

func TestFaults_PanicsAreKept(t *testing.T) {
	t.Parallel()
	found := searchFaults(50, func(t *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, func(ctx context.Context, bot *botctx.Context) error {
			if err := bot.Reply(ctx, send.Text("Yours.")); err != nil {
				panic("the bot does not know what to do")
			}
			return nil
		}, 0)
		err := ada.TrySays("hi")
		require.NotEqual(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
	})
	requireFound(t, found, "panic: the bot does not know what to do", "faults_test.go", "\tp.")
	requireFound(t, searchFaults(1, func(*explore.T, *fakes.Platform) { panic("the property itself") }), "panic: the property itself", "faults_test.go")
}

func TestFaults_TellsWhatHangsOrHasNoEnd(t *testing.T) {
	t.Parallel()
	requireFound(t, searchFaults(1, func(_ *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, func(context.Context, *botctx.Context) error { select {} }, 0)
		ada.Says("hi")
	}, explore.Timeout(20*time.Millisecond)), "it hangs: no call was made for 20ms")
	requireFound(t, searchFaults(100, func(_ *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, func(ctx context.Context, bot *botctx.Context) error {
			for bot.Reply(ctx, send.Text("Yours.")) != nil && ctx.Err() == nil {
				_, _ = bot.GetMember(ctx, member.GetParams{MemberID: "nobody"})
				if len(p.Sent()) > 0 {
					return nil
				}
			}
			return nil
		}, 0)
		p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition))
		_ = ada.TrySays("hi")
	}, explore.MaxCalls(1000)), "it has no end: 1000 calls")
}

// insist repeats an action until it succeeds, as people do, and restarts the bot in between.
func insist(t *explore.T, what string, try func() error) {
	var err error
	for range 8 {
		if err = try(); err == nil {
			return
		}
		t.Settle(90 * time.Second)
	}
	t.Fatalf("%s fails every time: %v", what, err)
}

// A live chat that people insist on is created once, continues and ends, whatever fails in between.
func TestFaults_LiveChat(t *testing.T) {
	t.Parallel()
	explore.Faults(t, rounds.Of(t, 40, 400), func(t *explore.T, p *fakes.Platform) {
		ada, grace := openDesk(p)
		insist(t, "asking", func() error { return ada.TrySays("help") })
		t.Settle(90 * time.Second)
		require.Len(t, grace.Tickets(), 1, "there is one ticket")
		insist(t, "taking", func() error { return grace.TryTakes(grace.Tickets()[0]) })
		require.True(t, ada.Member().BotMeta.LiveChat(), "they talk")
		insist(t, "asking the agent", func() error { return ada.TrySays("It leaks.") })
		t.Settle(90 * time.Second)
		require.Equal(t, "It leaks.", grace.Last())
		insist(t, "answering", func() error { return grace.TrySays("Where?") })
		t.Settle(90 * time.Second)
		require.Equal(t, "Where?", ada.Last())
		insist(t, "ending", func() error {
			if !ada.Member().BotMeta.LiveChat() {
				return nil
			}
			return grace.TryEnds()
		})
		t.Settle(90 * time.Second)
		require.False(t, ada.Member().BotMeta.LiveChat(), "it is over")
		require.Empty(t, p.Queue("desk"))
	}, explore.PlatformOptions(fakes.WithInbox()))
}

// If several people act on one request at once, one action counts.
func TestOrders_LiveChat(t *testing.T) {
	t.Parallel()
	explore.Orders(t, rounds.Of(t, 40, 400), func(t *explore.T, p *fakes.Platform) {
		ada, grace := openDesk(p)
		hedy := p.AddAgent("desk", "Hedy")
		ada.Says("help")
		ticket := grace.Ticket()
		taken := 0
		for _, agent := range []*fakes.Agent{grace, hedy} {
			t.Go(agent.Name(), func() {
				if agent.TryTakes(ticket) == nil {
					taken++
				}
			})
		}
		t.Go("Ada", func() {
			_, err := ada.Context().RemovePendingAssignmentByMemberID(t.Context(),
				livechat.RemovePendingAssignmentByMemberIDParams{MemberID: ada.ID()})
			if code := boterr.CodeOf(err); code != boterr.NotFound && code != boterr.FailedPrecondition {
				require.NoError(t, err)
			}
		})
		t.Go("time", func() { p.Advance(time.Hour) })
		t.Wait()
		require.LessOrEqual(t, taken, 1, "one agent has it, or nobody")
		require.Empty(t, p.Queue("desk"), "nobody waits")
		p.Advance(24 * time.Hour)
		require.False(t, ada.Member().BotMeta.LiveChat(), "what nobody writes in ends")
	})
}

// enough returns the number of rounds that a report calls enough.
func enough(t *testing.T, report string) int {
	t.Helper()
	found := regexp.MustCompile(`for which (\d+) (plans|orders) are enough`).FindStringSubmatch(report)
	require.NotNil(t, found, report)
	rounds, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return rounds
}

func TestReport_NamesFaultsThatWereNeverTried(t *testing.T) {
	t.Parallel()
	run := func(plans int) string {
		found := searchFaults(plans, notedOnce(noteOnce))
		require.Empty(t, found.failed)
		require.Len(t, found.logged, 1)
		return found.logged[0]
	}
	few := run(4)
	require.Regexp(t, `^explore: the property holds under 4 plans. They had \d+ different faults, of which calls met \d+`, few)
	require.Regexp(t, `Of the \d+ faults of its calls \d+ were never tried, for which \d+ plans are enough:\n`, few)
	require.Contains(t, few, "\n\tsendResponse#1=", "each by the name that BOTCTX_EXPLORE takes")
	require.Contains(t, few, "\n\tMessages#1=")
	require.NotContains(t, run(enough(t, few)), "faults of its calls")
}

// Planned faults that no call met are named, too.
func TestReport_NamesFaultsThatNoCallMet(t *testing.T) {
	t.Parallel()
	found := searchFaults(200, notedOnce(noteOnce))
	require.Empty(t, found.failed)
	report := found.logged[0]
	numbers := regexp.MustCompile(`They had (\d+) different faults, of which calls met (\d+)\. No call met (\d+):\n`).FindStringSubmatch(report)
	require.NotNil(t, numbers, report)
	number := func(i int) int {
		n, err := strconv.Atoi(numbers[i])
		require.NoError(t, err)
		return n
	}
	require.Equal(t, number(1), number(2)+number(3))
	_, unmet, _ := strings.Cut(report, "No call met")
	require.Regexp(t, `\n\t[A-Za-z]+#\d+=[a-zA-Z,]+`, unmet)
}

func TestReport_NamesChangesThatWereNeverTried(t *testing.T) {
	t.Parallel()
	run := func(orders int) string {
		found := searchOrders(orders, soldOnce(modify))
		require.Empty(t, found.failed)
		return found.logged[0]
	}
	few := run(2)
	require.Regexp(t, `^explore: the property holds in 2 orders of \d+ points. Of its \d+ single changes of turns \d+ were never tried, `+
		`for which \d+ orders are enough:\n\t\d+>\d+`, few)
	require.NotContains(t, run(enough(t, few)), "never tried")
}
