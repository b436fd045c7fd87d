package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

var saveGroupRules = []Rule{
	{
		Name:  "SaveGroupIdToMemberKeepsTheGroup",
		Text:  "the group of the event is kept in group of the member of its live chat, and of no other member",
		Needs: []Capability{Members},
		check: saveGroupKeepsTheGroup,
	},
	{
		Name:  "SaveGroupIdToMemberKnowsTheInletsGroups",
		Text:  "an event in a group on the inlet's side leads to the group of the live chat, too",
		Needs: []Capability{Members},
		check: saveGroupKnowsTheInletsGroups,
	},
	{
		Name:  "SaveGroupIdToMemberAnswersWithANewID",
		Text:  "clientMutationId of saveGroupIdToMember is a new id each time",
		check: saveGroupAnswersWithANewID,
	},
}

// saveGroup keeps the group of an event, without an error.
func (t *trial) saveGroup(operations botctx.Operations, c *channel.Channel, event *send.MessageEvent) livechat.SaveGroupIDToMemberResult {
	t.Helper()
	result, err := operations.SaveGroupIDToMember(t.ctx(), livechat.SaveGroupIDToMemberParams{Channel: c, MessageEvent: event})
	require.NoError(t, err)
	return result
}

func saveGroupKeepsTheGroup(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	t.saveGroup(t.home, second.desk.Channel, second.agentEvent())
	require.Equal(t, second.group.ID, t.load(second.inlet.member).Group)
	require.Empty(t, t.load(first.inlet.member).Group)
	t.saveGroup(t.home, first.desk.Channel, first.agentEvent())
	require.Equal(t, first.group.ID, t.load(first.inlet.member).Group)
	require.Equal(t, second.group.ID, t.load(second.inlet.member).Group)
}

func saveGroupKnowsTheInletsGroups(t *trial) {
	k := t.talkInFamily(t.home)
	t.saveGroup(t.home, nil, &send.MessageEvent{
		Type: send.TypeText, From: t.home.member.ExternalID, To: familyOf(t.home.member.ID), Timestamp: later, MessageID: unique("message"),
	})
	require.Equal(t, k.group.ID, t.load(t.home.member).Group)
}

func saveGroupAnswersWithANewID(t *trial) {
	k := t.talk()
	first := t.saveGroup(t.home, k.desk.Channel, k.agentEvent()).ClientMutationID
	second := t.saveGroup(t.home, k.desk.Channel, k.agentEvent()).ClientMutationID
	require.NotEmpty(t, first)
	require.NotEqual(t, first, second)
}
