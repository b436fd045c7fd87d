package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
)

var endBravoRules = []Rule{
	{
		Name:  "EndBravoLiveChatEndsThoseOfTheAgent",
		Text:  "endBravoLiveChat ends the live chats of an agent in a group on Bravo, and tells of each; those of others go on",
		check: endBravoLiveChatEndsThoseOfTheAgent,
	},
	{
		Name:  "EndBravoLiveChatEndsAGroupWithoutAssignment",
		Text:  "a live group of the agent without a live chat is put out of use, and has an element without an assignment",
		check: endBravoLiveChatEndsAGroupWithoutAssignment,
	},
	{
		Name:  "EndBravoLiveChatOfNothing",
		Text:  "where the agent has no live chat in the group, or it has ended, the list is empty, and not null",
		check: endBravoLiveChatOfNothing,
	},
}

// endBravo ends the live chats of an agent, without an error.
func (t *trial) endBravo(p *place, params livechat.EndBravoLiveChatParams) []livechat.EndBravoLiveChatResult {
	t.Helper()
	ended, err := p.EndBravoLiveChat(t.ctx(), params)
	require.NoError(t, err)
	return ended
}

func endBravoLiveChatEndsThoseOfTheAgent(t *trial) {
	h := t.hold(channel.Bravo, livechat.CreateAssignmentParams{})
	other := t.requestTaken(t.neighbourPlace(), h.desk, livechat.CreateAssignmentParams{})
	ended := t.endBravo(t.home, livechat.EndBravoLiveChatParams{
		AdminExternalID: h.desk.agent.ExternalID, BravoGroupID: h.group.ExternalID, ChannelID: h.desk.ID,
	})
	require.Len(t, ended, 1)
	require.NotEmpty(t, ended[0].ClientMutationID)
	requireSameAssignment(t, t.assignment(t.home, h.assignment.ID), ended[0].AssignmentRaw)
	require.Zero(t, ended[0].AssignmentRaw.Expiry)
	require.False(t, t.isInLiveChat(t.home.member))
	require.False(t, t.groupOf(t.home, h.assignment).Active)
	requireSameAssignment(t, other, t.assignment(t.home, other.ID))
	require.True(t, t.groupOf(t.home, other).Active)
}

func endBravoLiveChatEndsAGroupWithoutAssignment(t *trial) {
	d := t.openDesk(t.home, channel.Bravo)
	made, err := t.home.CreateBravoGroup(t.ctx(), livechat.CreateBravoGroupParams{ChannelID: d.ID, Name: "The kettle"})
	require.NoError(t, err)
	_, err = t.home.HandleAdminJoinedGroup(t.ctx(), livechat.HandleAdminJoinedGroupParams{
		Channel: d.Channel, ExternalID: d.agent.ExternalID, BravoGroupID: made.GroupID,
	})
	require.NoError(t, err)
	ended := t.endBravo(t.home, livechat.EndBravoLiveChatParams{
		AdminExternalID: d.agent.ExternalID, BravoGroupID: made.GroupID, ChannelID: d.ID,
	})
	require.Len(t, ended, 1)
	require.JSONEq(t, `{"clientMutationId": "`+ended[0].ClientMutationID+`"}`, textOf(t, ended[0]))
	require.NotEmpty(t, ended[0].ClientMutationID)
	g, err := t.home.GetGroupByGroupExternalID(t.ctx(), livechat.GetGroupByGroupExternalIDParams{GroupExternalID: made.GroupID})
	require.NoError(t, err)
	require.False(t, g.Active)
}

func endBravoLiveChatOfNothing(t *trial) {
	h := t.hold(channel.Bravo, livechat.CreateAssignmentParams{})
	params := livechat.EndBravoLiveChatParams{
		AdminExternalID: t.Agent(h.desk.Channel).ExternalID, BravoGroupID: h.group.ExternalID, ChannelID: h.desk.ID,
	}
	before := t.state()
	require.Equal(t, "[]", textOf(t, t.endBravo(t.home, params)), "another agent")
	require.Equal(t, before, t.state())
	params.AdminExternalID = h.desk.agent.ExternalID
	require.Len(t, t.endBravo(t.home, params), 1)
	before = t.state()
	require.Equal(t, "[]", textOf(t, t.endBravo(t.home, params)), "it has ended")
	require.Equal(t, before, t.state())
}
