package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

func TestExpire_RecallsTickets(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Bravo))
	s.pending(t, "a1", "ada")
	s.platform.forget()
	s.advance(livechat.IdleTimeout)
	require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
	s.requireOver(t, "a1", "ada", livechat.EndedByIdle)
	require.Equal(t, []string{
		"desk: recall the ticket of C1", "desk: recall the ticket of U1", "team: recall the ticket of D1",
	}, s.platform.did())
}

func TestExpire_RecallFails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	s.platform.fail("D1", errDown)
	s.advance(livechat.IdleTimeout)
	require.ErrorContains(t, s.mine.Expire(t.Context(), idleAgenda()), "ticket of D1 in team")
	s.requireOver(t, "a1", "ada", livechat.EndedByIdle)
}

func TestExpire_TicketOfConversationStays(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.advance(livechat.IdleTimeout)
	require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
	require.Empty(t, s.platform.did())
}

func TestReassignAssignment_PartEndsWithConversation(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *fixture){
		"inlet":  func(t *testing.T, s *fixture) { t.Helper(); must(t, s.mine.InletEndLiveChat, `{}`) },
		"outlet": func(t *testing.T, s *fixture) { t.Helper(); must(t, s.mine.EndLiveChat, endByEve) },
		"idle": func(t *testing.T, s *fixture) {
			t.Helper()
			s.advance(livechat.IdleTimeout)
			require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.taken(t, "a1", "ada", "eve@desk")
			s.platform.fail("C9", errDown)
			_, err := call(t, s.mine.ReassignAssignment, `{"channel": {"_id": "desk"}, "previousAssignment": {"_id": "a1"},
				"targets": [{"channel": "team"}, {"channel": "desk", "label": "sales"}]}`)
			next := unsentOf(t, err).AssignmentID
			s.platform.forget()
			end(t, s)
			require.Contains(t, s.platform.did(), "team: recall the ticket of D1")
			require.Empty(t, s.assignmentsThat(t, document.O("_id", next)))
			require.NotZero(t, s.record(t, "a1").ClosedAt)
			require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		})
	}
}
