package explore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
)

// insist does something until it goes well, as people do, with the bot coming back in between.
func insist(t *explore.T, what string, try func() error) {
	var err error
	for range 8 {
		if err = try(); err == nil {
			return
		}
		t.Settle(90 * time.Second)
	}
	t.Fatalf("%s never goes well: %v", what, err)
}

// A live chat that people insist on comes about once, goes on and ends, whatever goes wrong on the way.
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

// Of what people do with one request at once, one thing counts.
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
