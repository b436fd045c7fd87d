package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

func TestRemovePendingAssignment(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends("delta"))
	s.mustAsk(t, `{}`)
	_, err := s.ask(t, `{"member": {"_id": "bob"}}`)
	require.NoError(t, err)
	s.platform.forget()
	first := must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.NotEmpty(t, document.Get(object(t, first), "clientMutationId", ""))
	require.Empty(t, s.assignments(t, "ada"))
	require.Equal(t, []string{"desk: recall the ticket of C1", "desk: recall the ticket of U1"}, s.platform.did(),
		"what the platform of team cannot is left out")
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	require.Empty(t, s.mine.openAgendas(t, "ada"))
	require.Len(t, s.assignments(t, "bob"), 1, "that of another member stays")
	require.True(t, s.mine.member(t, "bob").BotMeta.LiveChat())
	s.mine.onlyAgenda(t, "bob")

	before := s.stored(t)
	second := must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.NotEqual(t, first, second)
	require.NotEmpty(t, must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "nobody"}`))
	require.Equal(t, before, s.stored(t))
	s.mustAsk(t, `{}`)
}

func TestRemovePendingAssignment_Taken(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	before := s.stored(t)
	must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.Equal(t, before, s.stored(t))
	requireRefused(t, s, s.mine.RemovePendingAssignmentByMemberID, refused{`{}`, boterr.InvalidArgument, "memberId"})
	must(t, s.theirs.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.Equal(t, before, s.stored(t))
}

func TestRemovePendingAssignment_SentInPart(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.platform.fail("U1", errDown)
	_, err := s.ask(t, `{}`)
	require.ErrorIs(t, err, boterr.Unavailable)
	must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.Empty(t, s.assignments(t, "ada"))
	require.NotContains(t, s.platform.did(), "desk: recall the ticket of U1", "it was never sent")
	require.Contains(t, s.platform.did(), "team: recall the ticket of D1")
}

func TestRemovePendingAssignment_RecallFails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mustAsk(t, `{}`)
	s.platform.fail("U1", errDown)
	s.platform.fail("C1", boterr.New(boterr.NotFound, "", "gone"))
	_, err := call(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "ticket of U1 in desk")
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat(), "the request is open no more")
	require.Equal(t, livechat.Ended, s.assignments(t, "ada")[0].State(), "nobody can take it")
	s.platform.work("U1")
	s.platform.forget()
	must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.Equal(t, []string{"desk: recall the ticket of U1"}, s.platform.did())
	require.Empty(t, s.assignments(t, "ada"))
}

func TestRemovePendingAssignment_MemberGone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mustAsk(t, `{}`)
	s.change(t, "members", document.O("_id", "ada"), document.Set("app", "another"))
	must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	require.Empty(t, s.assignments(t, "ada"))
}

func TestRemovePendingAssignment_AfterCrash(t *testing.T) {
	t.Parallel()
	wasBroken := true
	for writes := 0; wasBroken; writes++ {
		s := newFixture(t)
		s.mustAsk(t, `{}`)
		service, hasBroken := s.interrupted(writes)
		_, err := call(t, service.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		if wasBroken = hasBroken(); wasBroken {
			require.ErrorIs(t, err, errInterrupted)
		}
		must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		require.Empty(t, s.assignments(t, "ada"), "after %d writes", writes)
		require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		require.Empty(t, s.mine.openAgendas(t, "ada"))
		require.Contains(t, s.platform.did(), "team: recall the ticket of D1")
	}
}
