package explore_test

import (
	"context"
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
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// sell charges a member, and tells her. With a key the charge of her order is made once.
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

// chargedOnce states that a member who orders until she has an answer pays once.
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
	found := search(func(t fakes.TB) { explore.Faults(t, 100, chargedOnce(sell(""))) })
	requireFound(t, found, "she pays once", "(1 of the ", "\tp.", ", 1", "BOTCTX_EXPLORE='faults:", " go test -run '^TestBot$/^shop$'",
		"shop charged 2500 eur: payment-2")
}

func TestFaults_AKeyChargesOnce(t *testing.T) {
	t.Parallel()
	explore.Faults(t, rounds.Of(t, 60, 600), chargedOnce(sell("order 1")))
}

// note notes an order, and confirms it.
func note(ctx context.Context, bot *botctx.Context, order document.Object) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
		DataSourceID: "orders", Data: []document.Object{order},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Yours."))
}

// noteAnew notes an order under an id of its own, noteOnce under that of what it answers.
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
			_ = ada.TrySaysAgain() // The platform did not hear that it arrived.
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
	requireFound(t, search(func(t fakes.TB) { explore.Faults(t, 100, notedOnce(noteAnew), accepting) }), "each order is noted once", "(1 of the ")
	explore.Faults(t, rounds.Of(t, 60, 600), notedOnce(noteOnce), accepting)
}

// tell tells a member, by a mail where she cannot be sent a message.
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

func TestFaults_ShrinksToThoseThatMatter(t *testing.T) {
	t.Parallel()
	found := search(func(t fakes.TB) {
		explore.Faults(t, 100, func(t *explore.T, p *fakes.Platform) {
			ada, _ := shop(p, tell, 0)
			_ = ada.TrySays("where is it?")
			if !p.IsDown() && len(p.Calls(botctx.OpSendResponse)) > 0 {
				require.NotZero(t, len(p.Mails())+len(p.Sent()), "she is told")
			}
		})
	})
	requireFound(t, found, "she is told", "(2 of the ")
}

func TestFaults_FindsASendThatReachesSome(t *testing.T) {
	t.Parallel()
	requireFound(t, search(func(t fakes.TB) {
		explore.Faults(t, 100, func(t *explore.T, p *fakes.Platform) {
			ada, bob := shop(p, func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.SendResponse(ctx, send.SendResponseParams{
					MemberID: document.OneOrMany[string]{"member-1", "member-2"}, Response: send.Text("We are closed."),
				})
				return err
			}, 0)
			_ = ada.TrySays("close")
			require.True(t, p.IsDown() || len(ada.Messages()) == len(bob.Messages()), "all know it, or nobody")
		})
	}), "\tp.FailNthRequest(fakes.ServiceMessages, ", "(1 of 2 reached)")
}

func TestFaults_TheSameSeedIsTheSameSearch(t *testing.T) {
	t.Parallel()
	property := notedOnce(noteAnew)
	first := search(func(t fakes.TB) { explore.Faults(t, 100, property, explore.Seed(7)) })
	requireFound(t, first, "with the seed 7")
	again := search(func(t fakes.TB) { explore.Faults(t, 100, property, explore.Seed(7)) })
	require.Equal(t, first.failed, again.failed)
}

func TestFaults_TellsAPropertyThatFailsWithoutThem(t *testing.T) {
	t.Parallel()
	requireFound(t, search(func(t fakes.TB) {
		explore.Faults(t, 10, func(t *explore.T, p *fakes.Platform) {
			ada, _ := shop(p, modify, 1)
			ada.Says("buy")
			require.Equal(t, 1, stockOf(p), "nothing was sold")
		})
	}), "does not hold without any faults", "nothing was sold", "Ada -> ")
}

func TestFaults_TellsAPropertyThatMeetsNone(t *testing.T) {
	t.Parallel()
	requireFound(t, search(func(t fakes.TB) {
		explore.Faults(t, 10, func(_ *explore.T, p *fakes.Platform) { p.AddData("stock") })
	}), "calls no operation and asks no service")
}

func TestFaults_TellsAPropertyThatIsNotTheSameEachTime(t *testing.T) {
	t.Parallel()
	runs := 0
	requireFound(t, search(func(t fakes.TB) {
		explore.Faults(t, 10, func(_ *explore.T, p *fakes.Platform) {
			ada, _ := shop(p, modify, 1)
			runs++
			_ = ada.TrySays([]string{"one", "other"}[runs%2])
		})
	}), "is not the same each time")
}

func TestFaults_PanicsAreKept(t *testing.T) {
	t.Parallel()
	found := search(func(t fakes.TB) {
		explore.Faults(t, 50, func(t *explore.T, p *fakes.Platform) {
			ada, _ := shop(p, func(ctx context.Context, bot *botctx.Context) error {
				if err := bot.Reply(ctx, send.Text("Yours.")); err != nil {
					panic("the bot does not know what to do")
				}
				return nil
			}, 0)
			err := ada.TrySays("hi")
			require.NotEqual(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
		})
	})
	requireFound(t, found, "panic: the bot does not know what to do", "faults_test.go", "\tp.")
	requireFound(t, search(func(t fakes.TB) {
		explore.Faults(t, 1, func(*explore.T, *fakes.Platform) { panic("the property itself") })
	}), "panic: the property itself", "faults_test.go")
}

func TestFaults_TellsWhatHangsOrHasNoEnd(t *testing.T) {
	t.Parallel()
	requireFound(t, search(func(t fakes.TB) {
		explore.Faults(t, 1, func(_ *explore.T, p *fakes.Platform) {
			ada, _ := shop(p, func(context.Context, *botctx.Context) error { select {} }, 0)
			ada.Says("hi")
		}, explore.Timeout(20*time.Millisecond))
	}), "it hangs: nothing was called for 20ms")
	requireFound(t, search(func(t fakes.TB) {
		explore.Faults(t, 100, func(_ *explore.T, p *fakes.Platform) {
			ada, _ := shop(p, func(ctx context.Context, bot *botctx.Context) error {
				for bot.Reply(ctx, send.Text("Yours.")) != nil && ctx.Err() == nil {
					_, _ = bot.GetMember(ctx, member.GetMemberParams{MemberID: "nobody"})
					if len(p.Sent()) > 0 {
						return nil
					}
				}
				return nil
			}, 0)
			p.RefuseSends(boterr.FailedPrecondition, ada)
			_ = ada.TrySays("hi")
		}, explore.MaxCalls(1000))
	}), "it has no end: 1000 calls")
}
