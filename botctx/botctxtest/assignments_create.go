package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/livechat"
)

var createAssignmentRules = []Rule{
	{
		Name:  "CreateAssignmentPutsTheMemberInLiveChat",
		Text:  "the member that createAssignment returns has botMeta.liveChat true, and so has the stored one",
		check: createAssignmentPutsTheMemberInLiveChat,
	},
}

func createAssignmentPutsTheMemberInLiveChat(t *trial) {
	t.openDesk(t.home, t.ticketing())
	created, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	require.NotNil(t, created.Member)
	require.Equal(t, t.home.member.ID, created.Member.ID)
	require.True(t, created.Member.BotMeta.LiveChat())
	require.Equal(t, textOf(t, t.load(t.home.member)), textOf(t, created.Member))
	require.NotEmpty(t, created.AssignmentID)
	require.Empty(t, created.GroupID, "without createGroup")
	require.NotContains(t, textOf(t, created), "groupId")
}
