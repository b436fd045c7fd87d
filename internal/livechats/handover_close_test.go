package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// handOn hands a1, which eve has in a direct conversation, on to sales.
var handOn = livechat.ReassignAssignmentParams{
	Channel: &channel.Channel{ID: "desk"}, PreviousAssignment: &livechat.Assignment{ID: "a1"}, Label: "sales",
}

// direct returns a fixture in which ada talks with eve without a group of their own.
func direct(t *testing.T) *fixture {
	t.Helper()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	s.taken(t, "a1", "ada", "eve@desk", onlyIn("desk"))
	return s
}

// requireFree asserts that an assignment that was handed on is closed, and that the agent who
// had it can take another one.
func requireFree(t *testing.T, s *fixture, writes int) {
	t.Helper()
	s.pending(t, "b1", "bob", onlyIn("desk"))
	_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "b1", ChannelID: "desk", AdminExternalID: "eve"})
	require.NoError(t, err, "after %d writes", writes)
	require.Equal(t, livechat.EndedByReassign, s.record(t, "a1").EndedBy)
	require.NotZero(t, s.record(t, "a1").ClosedAt, "after %d writes", writes)
	require.Empty(t, s.groups(t, document.O("assignment", "a1", "active", true)))
}

func TestReassignAssignment_ClosesPreviousMeanwhile(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*testing.T, *fixture){
		"the request is withdrawn": func(t *testing.T, s *fixture) {
			t.Helper()
			must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		},
		"the member has another request": func(t *testing.T, s *fixture) {
			t.Helper()
			if s.record(t, "a1").State() == livechat.Ended && len(s.assignmentsThat(t, document.O("slot", "member/ada"))) == 0 {
				s.pending(t, "a2", "ada")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyMoment(t, 6, func(t *testing.T, writes int) bool {
				t.Helper()
				s := direct(t)
				mine, hasHappened := s.meanwhile(writes, func() { meanwhile(t, s) })
				if _, err := mine.ReassignAssignment(t.Context(), handOn); err != nil {
					require.ErrorIs(t, err, boterr.Conflict, "after %d writes", writes)
				}
				if s.record(t, "a1").State() == livechat.Ended {
					requireFree(t, s, writes)
				}
				isOpen := len(s.assignmentsThat(t, document.O("slot", "member/ada"))) > 0
				require.Equal(t, isOpen, s.mine.member(t, "ada").BotMeta.LiveChat(), "after %d writes", writes)
				require.Equal(t, isOpen, len(s.mine.openAgendas(t, "ada")) == 1, "after %d writes", writes)
				return hasHappened()
			})
		})
	}
}

func TestReassignAssignment_ClosedByWhoComes(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(*testing.T, *fixture){
		"the request is withdrawn": func(t *testing.T, s *fixture) {
			t.Helper()
			_, err := s.afterCrash().RemovePendingAssignmentByMemberID(t.Context(),
				livechat.RemovePendingAssignmentByMemberIDParams{MemberID: "ada"})
			require.NoError(t, err)
		},
		"the member asks again": func(t *testing.T, s *fixture) {
			t.Helper()
			_, err := s.afterCrash().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(t, err)
			require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		},
		"the agent hands on again": func(t *testing.T, s *fixture) {
			t.Helper()
			_, err := s.afterCrash().ReassignAssignment(t.Context(), handOn)
			require.NoError(t, err)
		},
		"the next one is gone, and the agent hands on again": func(t *testing.T, s *fixture) {
			t.Helper()
			s.loseNext(t)
			_, err := s.afterCrash().ReassignAssignment(t.Context(), handOn)
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "it was handed on")
			s.requireOver(t, "a1", "ada", livechat.EndedByReassign)
		},
		"the next one is gone, and the agent takes another": func(t *testing.T, s *fixture) {
			t.Helper()
			s.loseNext(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			met := 0
			everyMoment(t, 6, func(t *testing.T, writes int) bool {
				t.Helper()
				s := direct(t)
				broken, hasBroken := s.interrupted(writes)
				_, err := broken.ReassignAssignment(t.Context(), handOn)
				if !hasBroken() {
					require.NoError(t, err)
					return false
				}
				isEnded := s.record(t, "a1").State() == livechat.Ended
				if isEnded && len(s.groups(t, document.O("assignment", "a1", "active", true))) > 0 {
					met++
					then(t, s)
					requireFree(t, s, writes)
				}
				return true
			})
			require.NotZero(t, met)
		})
	}
}

// loseNext removes the assignment in whose favour a1 ended, behind the services' backs.
func (s *fixture) loseNext(t *testing.T) {
	t.Helper()
	which, err := query.CompileFilter(document.O("parentAssignment", "a1"))
	require.NoError(t, err)
	_, err = s.store.Collection("assignments").Delete(t.Context(), which, store.DeleteOptions{})
	require.NoError(t, err)
}

func TestReassignAssignment_AnotherRequestMeanwhile(t *testing.T) {
	t.Parallel()
	conflicts := 0
	everyMoment(t, 6, func(t *testing.T, writes int) bool {
		t.Helper()
		s := direct(t)
		mine, hasHappened := s.meanwhile(writes, func() {
			if s.record(t, "a1").State() == livechat.Ended && len(s.assignmentsThat(t, document.O("slot", "member/ada"))) == 0 {
				s.pending(t, "a2", "ada")
			}
		})
		if _, err := mine.ReassignAssignment(t.Context(), handOn); err != nil {
			conflicts++
			require.ErrorIs(t, err, boterr.Conflict)
			require.NotZero(t, s.record(t, "a1").ClosedAt, "after %d writes", writes)
			require.Len(t, s.assignments(t, "ada"), 2, "the next one is gone")
		}
		return hasHappened()
	})
	require.NotZero(t, conflicts)
}
