package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
)

// shop is the bot on a fake platform, with one customer and an agent of each team.
type shop struct {
	*fakes.Platform

	ada         *fakes.Actor
	grace, hedy *fakes.Agent
}

func newShop(t *testing.T) *shop {
	t.Helper()
	p := openShop(fakes.For(t))
	return &shop{
		Platform: p,
		ada:      addCustomer(p, "Ada"),
		grace:    p.AddAgent(desk, "Grace", "default"),
		hedy:     p.AddAgent(desk, "Hedy", "workshop"),
	}
}

// connect makes Ada ask for a person, and Grace come.
func (s *shop) connect() {
	s.ada.Says("person")
	s.ada.Says("My brakes squeak.")
	s.grace.Takes(s.grace.Ticket())
}

func TestCustomer_TalksToAPerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	require.Equal(t, "My brakes squeak.", s.grace.Last())
	s.grace.Says("Since when?")
	require.Equal(t, "Since when?", s.ada.Last())
	s.ada.Says("hours") // In a live chat, this goes to Grace instead of the bot.
	require.Equal(t, "hours", s.grace.Last())
	require.Equal(t, "Since when?", s.ada.Last())
}

func TestCustomer_Leaves(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	s.ada.Says("bye")
	require.Equal(t, "Back with me.", s.ada.Last())
	require.Equal(t, "The customer has left.", s.grace.Last())
	s.ada.Says("hours")
	require.Contains(t, s.ada.Last(), "9 to 18")
}

func TestCustomer_LeavesEarly(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	s.ada.Says("bye")
	s.ada.Says("person") // Once more: the previous conversation does not matter.
	s.ada.Says("My light is out.")
	s.ada.Says("bye")
	require.Equal(t, "Back with me.", s.ada.Last())
	require.True(t, s.grace.Tickets()[1].IsRecalled)
	require.Empty(t, s.Queue(desk))
	require.Equal(t, "The customer has left.", s.grace.Last())
	require.Len(t, s.grace.Messages(), 2)
}

func TestCustomer_NobodyCanCome(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.SwitchChannel(desk, false)
	s.ada.Says("person")
	s.ada.Says("My brakes squeak.")
	require.Equal(t, "Sorry, no colleague is there. Try again later.", s.ada.Last())
	s.ada.Says("hours")
	require.Contains(t, s.ada.Last(), "9 to 18")
}

func TestCustomer_FailureIsNoClosedDesk(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Inject(fakes.Fails(botctx.OpCreateAssignment, boterr.Unavailable))
	s.ada.Says("person")
	require.ErrorIs(t, s.ada.TrySays("My brakes squeak."), boterr.Unavailable)
	s.ada.Says("My brakes squeak.") // The customer can send it again.
	s.grace.Takes(s.grace.Ticket())

	for _, op := range []botctx.Op{botctx.OpGetGroupByMemberID, botctx.OpSendMessageToOutletGroup, botctx.OpInletEndLiveChat} {
		s.Inject(fakes.Fails(op, boterr.Unavailable))
		require.ErrorIs(t, s.ada.TrySays("bye"), boterr.Unavailable, op)
		require.True(t, s.ada.Member().BotMeta.LiveChat())
	}
}

func TestSilence_EndsConversation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	s.Advance(livechat.IdleTimeout)
	s.ada.Says("Still there?")
	require.Contains(t, s.ada.Last(), "Hello Ada!")
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(Nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
