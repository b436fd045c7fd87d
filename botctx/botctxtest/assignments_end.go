package botctxtest

import (
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

var endLiveChatRules = []Rule{
	{
		Name:  "EndLiveChatEndsTheLiveChat",
		Text:  "endLiveChat ends the live chat that the event belongs to: its member leaves it, and its group is live no more",
		check: endLiveChatEndsTheLiveChat,
	},
	{
		Name:  "EndLiveChatClearsTheMembersGroup",
		Text:  "the group of the member is cleared when its live chat ends, and one that is another is not",
		check: endLiveChatClearsTheMembersGroup,
	},
	{
		Name:  "EndLiveChatEndsOnce",
		Text:  "a live chat that has ended is FailedPrecondition, whoever ended it, also to many who end it at one instant",
		check: endLiveChatEndsOnce,
	},
}

// requireEnded checks what an end returned against what is stored.
func requireEnded(t *trial, a *livechat.Assignment, m *member.Member, result livechat.EndLiveChatResult) {
	t.Helper()
	stored := t.assignment(t.home, a.ID)
	require.Equal(t, a.ID, result.ID)
	require.Equal(t, stored.CreatedAt, result.CreatedAt)
	require.Equal(t, stored.Version, result.Version)
	require.Greater(t, result.Version, a.Version)
	require.Zero(t, stored.Expiry)
	for _, empty := range []string{`"email":{}`, `"apps":[]`, `"acls":[]`} {
		require.Contains(t, textOf(t, result), empty)
	}
	require.NotNil(t, result.Member)
	require.Equal(t, textOf(t, t.load(m)), textOf(t, result.Member))
	require.False(t, t.isInLiveChat(m))
	if stored.Group != "" {
		require.False(t, t.groupOf(t.home, stored).Active)
		require.True(t, t.groupOf(t.home, stored).Valid)
	}
}

// endParams end a live chat by an event in its group.
func (h held) endParams() livechat.EndLiveChatParams {
	return livechat.EndLiveChatParams{Channel: addressOf(h.desk.ID), MessageEvent: eventIn(h.group)}
}

func endLiveChatEndsTheLiveChat(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	eve := t.neighbourPlace()
	other := t.requestTaken(eve, h.desk, livechat.CreateAssignmentParams{})
	result, err := t.home.EndLiveChat(t.ctx(), h.endParams())
	require.NoError(t, err)
	requireEnded(t, h.assignment, t.home.member, result)
	require.True(t, t.isInLiveChat(eve.member))
	requireSameAssignment(t, other, t.assignment(t.home, other.ID))
	require.True(t, t.groupOf(t.home, other).Active)
}

func endLiveChatClearsTheMembersGroup(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	for _, isOther := range []bool{false, true} {
		asking := t.neighbourPlace()
		a := t.requestTaken(asking, d, livechat.CreateAssignmentParams{})
		group, want := a.Group, ""
		if isOther {
			group, want = "another", "another"
		}
		_, err := asking.PatchMembers(t.ctx(), member.PatchMembersParams{
			MemberID: asking.member.ID, Patch: document.Set("group", group), WithModifier: true,
		})
		require.NoError(t, err)
		_, err = t.home.EndLiveChat(t.ctx(), held{d, a, t.groupOf(t.home, a)}.endParams())
		require.NoError(t, err)
		require.Equal(t, want, t.load(asking.member).Group)
	}
}

func endLiveChatEndsOnce(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	var ended atomic.Int64
	t.atOnce(func(int) error {
		_, err := t.home.EndLiveChat(t.ctx(), h.endParams())
		if err == nil {
			ended.Add(1)
		} else if boterr.CodeOf(err) == boterr.FailedPrecondition {
			return nil
		}
		return err
	})
	require.Positive(t, ended.Load())
	require.False(t, t.isInLiveChat(t.home.member))
	requireFails(t, botctx.OpEndLiveChat, t.home.EndLiveChat, boterr.FailedPrecondition, []badInput[livechat.EndLiveChatParams]{
		{"again", h.endParams(), "messageEvent"},
	})
	next := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	_, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
	require.NoError(t, err)
	requireFails(t, botctx.OpEndLiveChat, t.home.EndLiveChat, boterr.FailedPrecondition, []badInput[livechat.EndLiveChatParams]{
		{"after the inlet", next.endParams(), "messageEvent"},
	})
}
