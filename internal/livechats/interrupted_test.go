package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
)

// endings are the calls that end a live chat, or hand it on.
var endings = map[string]func(t *testing.T, s *fixture) func(*livechats.Service) error{
	"ended in the outlet": func(t *testing.T, s *fixture) func(*livechats.Service) error {
		t.Helper()
		s.taken(t, "a1", "ada", "eve@desk")
		return func(l *livechats.Service) error { return errorOf(call(t, l.EndLiveChat, endByEve)) }
	},
	"ended in the inlet": func(t *testing.T, s *fixture) func(*livechats.Service) error {
		t.Helper()
		s.taken(t, "a1", "ada", "eve@desk")
		return func(l *livechats.Service) error { return errorOf(call(t, l.InletEndLiveChat, `{}`)) }
	},
	"withdrawn": func(t *testing.T, s *fixture) func(*livechats.Service) error {
		t.Helper()
		s.pending(t, "a1", "ada")
		return func(l *livechats.Service) error {
			return errorOf(call(t, l.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`))
		}
	},
	"handed on": func(t *testing.T, s *fixture) func(*livechats.Service) error {
		t.Helper()
		s.taken(t, "a1", "ada", "eve@desk")
		return func(l *livechats.Service) error {
			return errorOf(call(t, l.ReassignAssignment,
				`{"channel": {"_id": "desk"}, "label": "sales", "messageEvent": {"from": "eve", "to": "group1"}}`))
		}
	},
}

// errorOf returns the error of a call.
func errorOf(_ string, err error) error { return err }

// eachInterruption ends a live chat in each way, interrupted after each number of writes. then
// gets the live chats of the app after that.
func eachInterruption(t *testing.T, then func(t *testing.T, s *fixture, l *livechats.Service)) {
	t.Helper()
	for name, prepare := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for writes := 0; ; writes++ {
				s := newFixture(t)
				end := prepare(t, s)
				broken, hasBroken := s.interrupted(writes)
				if err := end(broken); !hasBroken() {
					require.NoError(t, err)
					require.Greater(t, writes, 3)
					return
				}
				t.Logf("%s, interrupted after %d writes", name, writes)
				then(t, s, s.afterCrash())
			}
		})
	}
}

// requireNothingLeft asserts that nothing of a live chat is left of ada, and no group is live.
func (s *fixture) requireNothingLeft(t *testing.T) {
	t.Helper()
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	require.Empty(t, s.mine.openAgendas(t, "ada"))
	for _, r := range s.assignments(t, "ada") {
		require.NotEqual(t, livechat.Pending, r.State())
		require.NotEqual(t, livechat.Taken, r.State())
	}
}

func TestExpire_AfterCrash(t *testing.T) {
	t.Parallel()
	eachInterruption(t, func(t *testing.T, s *fixture, l *livechats.Service) {
		t.Helper()
		s.advance(2 * livechat.IdleTimeout)
		for _, due := range s.mine.openAgendas(t, "ada") {
			require.NoError(t, l.Expire(t.Context(), due.Agenda))
		}
		s.requireNothingLeft(t)
	})
}

func TestInletEndLiveChat_AfterCrash(t *testing.T) {
	t.Parallel()
	eachInterruption(t, func(t *testing.T, s *fixture, l *livechats.Service) {
		t.Helper()
		_, _ = call(t, l.InletEndLiveChat, `{}`) // Who comes second is refused, and completes it.
		s.requireNothingLeft(t)
		require.Empty(t, s.groups(t, document.O("active", true)))
	})
}

func TestCreateAssignment_AfterInterruptedEnd(t *testing.T) {
	t.Parallel()
	eachInterruption(t, func(t *testing.T, s *fixture, l *livechats.Service) {
		t.Helper()
		created, err := l.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.NoError(t, err)
		require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		require.Equal(t, s.record(t, created.AssignmentID).Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
		for _, g := range s.groups(t, document.O("active", true)) {
			require.Equal(t, created.AssignmentID, g.Assignment)
		}
	})
}

func TestRemovePendingAssignment_AfterInterruptedEnd(t *testing.T) {
	t.Parallel()
	eachInterruption(t, func(t *testing.T, s *fixture, l *livechats.Service) {
		t.Helper()
		_, err := call(t, l.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		require.NoError(t, err)
		for _, r := range s.assignments(t, "ada") {
			require.True(t, r.State() == livechat.Taken || r.State() == livechat.Ended && !r.ClosedAt.IsZero(), "%+v", r)
		}
	})
}

func TestExpire_DuringHandover(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	due := s.mine.onlyAgenda(t, "ada")
	expire := func() {
		s.advance(livechat.IdleTimeout)
		_, err := s.mine.agendas.DeleteMemberAgenda(t.Context(), agenda.DeleteMemberAgendaParams{MemberID: "ada", Tag: due.Tag})
		require.NoError(t, err)
		require.NoError(t, s.mine.Expire(t.Context(), due.Agenda))
		require.Len(t, s.mine.openAgendas(t, "ada"), 1)
	}
	const endedPrevious = 3
	handing, hasHappened := s.meanwhile(endedPrevious, expire)
	result, err := handing.ReassignAssignment(t.Context(), paramsOf[livechat.ReassignAssignmentParams](t,
		`{"channel": {"_id": "desk"}, "label": "sales", "previousAssignment": {"_id": "a1"}}`))
	require.NoError(t, err)
	require.True(t, hasHappened())
	require.Equal(t, livechat.Pending, s.record(t, result.AssignmentID).State())
	require.Equal(t, s.record(t, result.AssignmentID).Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
}

func TestEndLiveChat_OrderOfSteps(t *testing.T) {
	t.Parallel()
	for writes := 1; ; writes++ {
		s := newFixture(t)
		g := s.taken(t, "a1", "ada", "eve@desk").Group
		broken, hasBroken := s.interrupted(writes)
		_, err := call(t, broken.EndLiveChat, endByEve)
		if !hasBroken() {
			require.NoError(t, err)
			return
		}
		if s.mine.member(t, "ada").BotMeta.LiveChat() {
			require.True(t, s.group(t, g.ID).Active, "after %d writes", writes)
		}
	}
}
