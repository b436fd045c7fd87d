package explore_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func hello(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("Hello."))
}

// atOnce makes Ada and Bob speak at once.
func atOnce(t *explore.T, p *fakes.Platform, logic botctx.Action) {
	ada, bob := shop(p, logic, 0)
	t.Go("Ada", func() { ada.Says("hi") })
	t.Go("Bob", func() { bob.Says("hi") })
	t.Wait()
}

func TestOrders_TellsTurnsOfWhichNoneCanGoOn(t *testing.T) {
	t.Parallel()
	found := searchOrders(100, func(t *explore.T, p *fakes.Platform) {
		var ada, bob *fakes.Actor
		ada, bob = shop(p, func(ctx context.Context, bot *botctx.Context) error {
			if bot.MessageEvent.Text() == "again" {
				_ = ada.TrySays("more") // The run waits for itself.
			}
			return bot.Reply(ctx, send.Text("Hello."))
		}, 0)
		t.Go("Ada", func() { ada.Says("again") })
		t.Go("Bob", func() { bob.Says("hi") })
	})
	requireFound(t, found, "fails even without any changes", "no turn can continue: Ada is before its wait for the run of member-1")
}

func TestOrders_TellsALoopWithoutAnEnd(t *testing.T) {
	t.Parallel()
	requireFound(t, searchOrders(100, func(t *explore.T, p *fakes.Platform) {
		atOnce(t, p, func(ctx context.Context, bot *botctx.Context) error {
			for len(p.Sent()) < 3 { // No message is ever sent.
				_, _ = bot.GetMember(ctx, member.GetParams{MemberID: "nobody"})
			}
			return nil
		})
	}, explore.MaxCalls(5000)), "it has no end: 5000 calls were made; ", " runs at ")
}

func TestOrders_TellsATurnThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // Its time passes once all goroutines wait, however slow the machine is.
		ended := make(chan struct{})
		defer close(ended)
		requireFound(t, searchOrders(100, func(t *explore.T, p *fakes.Platform) {
			noted := 0
			atOnce(t, p, func(ctx context.Context, bot *botctx.Context) error {
				noted++
				before := noted
				if err := bot.Reply(ctx, send.Text("Hello.")); err != nil {
					return err
				}
				if noted != before { // Another run has written in the meantime.
					<-ended
				}
				return nil
			})
		}, explore.Timeout(20*time.Millisecond)), "it hangs: no call was made for 20ms", " runs at ", "\t1. ", "\t2. ")
	})
}

func TestOrders_WhoAsksAgainAndAgainLetsOthersGoOn(t *testing.T) {
	t.Parallel()
	explore.Orders(t, 3, func(t *explore.T, p *fakes.Platform) {
		atOnce(t, p, func(ctx context.Context, bot *botctx.Context) error {
			if err := bot.Reply(ctx, send.Text("Hello.")); err != nil {
				return err
			}
			for len(p.Sent()) < 2 {
				if _, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func TestOrders_PausesLetOthersGoOn(t *testing.T) {
	t.Parallel()
	explore.Orders(t, 20, func(t *explore.T, p *fakes.Platform) {
		atOnce(t, p, func(ctx context.Context, bot *botctx.Context) error {
			if err := bot.Reply(ctx, send.Text("Hello.")); err != nil {
				return err
			}
			for range 10 {
				if len(p.Sent()) == 2 {
					return nil
				}
				bot.Pause(ctx, time.Millisecond)
			}
			t.Errorf("nobody else has gone on: %d were sent", len(p.Sent()))
			return nil
		})
	})
}

func TestOrders_PanicsAreKept(t *testing.T) {
	t.Parallel()
	requireFound(t, searchOrders(100, func(t *explore.T, p *fakes.Platform) {
		atOnce(t, p, func(ctx context.Context, bot *botctx.Context) error {
			before := len(p.Sent())
			if err := hello(ctx, bot); err != nil {
				return err
			}
			if len(p.Sent()) != before+1 {
				panic("somebody came between")
			}
			return nil
		})
	}), "somebody came between", "trouble_test.go", "1. Ada")
	requireFound(t, searchOrders(10, func(t *explore.T, p *fakes.Platform) {
		t.Go("Ada", func() { panic("the turn itself") })
		t.Go("Bob", func() { p.AddMember(member.Member{}).Says("hi") })
	}), "panic: the turn itself", "trouble_test.go")
}

func TestOrders_TellsAPropertyWithoutTurns(t *testing.T) {
	t.Parallel()
	requireFound(t, searchOrders(10, func(_ *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, hello, 0)
		ada.Says("hi")
	}), "nothing ran at once")
}

func TestOrders_TellsAPropertyThatFailsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	requireFound(t, searchOrders(10, func(t *explore.T, p *fakes.Platform) {
		atOnce(t, p, hello)
		require.Len(t, p.Sent(), 3)
	}), "fails even without any changes of turns", "should have 3 item(s)")
}

func TestOrders_GoroutinesOfTheBotRunBesideItsTurn(t *testing.T) {
	t.Parallel()
	explore.Orders(t, 30, func(t *explore.T, p *fakes.Platform) {
		atOnce(t, p, func(ctx context.Context, bot *botctx.Context) error {
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { _ = hello(ctx, bot) })
			}
			both.Wait()
			return nil
		})
		require.Len(t, p.Sent(), 4)
	})
}

func TestOrders_SeveralWaits(t *testing.T) {
	t.Parallel()
	explore.Orders(t, 50, func(t *explore.T, p *fakes.Platform) {
		ada, bob := shop(p, modify, 4)
		for range 2 {
			t.Go("Ada", func() { ada.Says("buy") })
			t.Go("Bob", func() { bob.Says("buy") })
			t.Wait()
		}
		require.Equal(t, 0, stockOf(p))
	})
}

func TestOrders_APointOfTheTestsOwn(t *testing.T) {
	t.Parallel()
	requireFound(t, searchOrders(100, func(t *explore.T, _ *fakes.Platform) {
		balance := 0
		for _, name := range []string{"one", "two"} {
			t.Go(name, func() {
				before := balance
				t.Switch("the write")
				balance = before + 1
			})
		}
		t.Wait()
		require.Equal(t, 2, balance)
	}), "1. one, up to the write\n\t2. two, up to its end\n\t3. one, up to its end")
}

func TestSearches_RefuseImpossibleSettings(t *testing.T) {
	t.Parallel()
	holds := func(*explore.T, *fakes.Platform) {}
	for _, explores := range []func(fakes.TB, int, explore.Property, ...explore.Option){explore.Faults, explore.Orders} {
		requireFound(t, search(func(t fakes.TB) { explores(t, 0, holds) }), "explore: a search has at least one round, got 0")
		requireFound(t, search(func(t fakes.TB) { explores(t, -1, holds) }), "got -1")
		requireFound(t, search(func(t fakes.TB) { explores(t, 1, holds, explore.Timeout(0)) }), "explore: Timeout(0s): give a positive duration")
		requireFound(t, search(func(t fakes.TB) { explores(t, 1, holds, nil) }), "options[0]: is nil")
	}
}
