package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

var removeAssignmentRules = []Rule{
	{
		Name:  "RemovePendingAssignmentByMemberIdWithdrawsIt",
		Text:  "removePendingAssignmentByMemberId removes the request that nobody has taken, and the member is in live chat no more",
		check: removePendingAssignmentWithdrawsIt,
	},
	{
		Name:  "RemovePendingAssignmentByMemberIdRecallsTickets",
		Text:  "the tickets of a withdrawn request are recalled, on Charlie and Delta",
		Needs: []Capability{readSent},
		check: removePendingAssignmentRecallsTickets,
	},
	{
		Name:  "RemovePendingAssignmentByMemberIdLeavesOthers",
		Text:  "requests that were taken or have ended, and those of other members, stay as they are",
		check: removePendingAssignmentLeavesOthers,
	},
	{
		Name:  "RemovePendingAssignmentByMemberIdOfNothing",
		Text:  "that there is no request, or one of another app, is no error and changes nothing; clientMutationId is new each time",
		check: removePendingAssignmentOfNothing,
	},
}

func removePendingAssignmentWithdrawsIt(t *trial) {
	t.openDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	require.NotEmpty(t, t.withdraw(t.home.member).ClientMutationID)
	_, err := t.home.GetAssignment(t.ctx(), livechat.GetAssignmentParams{AssignmentID: a.ID})
	t.requireCode(boterr.NotFound, err)
	require.Empty(t, t.assignmentsOf(t.home, t.home.member))
	require.False(t, t.isInLiveChat(t.home.member))
	require.NotEqual(t, a.ID, t.request(t.home, livechat.CreateAssignmentParams{}).ID)
}

// recalls reports whether an outlet's platform takes tickets back.
func recalls(d *desk) bool { return slices.Contains(recalling, d.Type) }

func removePendingAssignmentRecallsTickets(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	t.request(t.home, livechat.CreateAssignmentParams{})
	t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	t.withdraw(t.home.member)
	tickets := t.sentTo(d.ID, d.support.ID)
	require.Len(t, tickets, 2)
	require.Equal(t, recalls(d), tickets[0].IsRecalled)
	require.False(t, tickets[1].IsRecalled)
}

func removePendingAssignmentLeavesOthers(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	ended := t.neighbourPlace()
	t.request(ended, livechat.CreateAssignmentParams{})
	_, err := ended.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
	require.NoError(t, err)
	taken := t.neighbourPlace()
	t.requestTaken(taken, d, livechat.CreateAssignmentParams{})
	t.request(t.home, livechat.CreateAssignmentParams{})
	before := t.state()
	for _, m := range []*member.Member{ended.member, taken.member, t.neighbour(member.Member{})} {
		t.withdraw(m)
	}
	t.added = t.added[:len(t.added)-1]
	require.Equal(t, before, t.state())
	require.True(t, t.isInLiveChat(taken.member))
}

func removePendingAssignmentOfNothing(t *trial) {
	t.openDesk(t.away, t.ticketing())
	t.request(t.away, livechat.CreateAssignmentParams{})
	before := t.state()
	seen := map[string]bool{}
	for _, m := range []*member.Member{t.home.member, t.home.member, {ID: unique("member")}, t.away.member} {
		id := t.withdraw(m).ClientMutationID
		require.NotEmpty(t, id)
		require.False(t, seen[id], "%s came before", id)
		seen[id] = true
	}
	require.Equal(t, before, t.state())
}
