package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

var saveGroupRules = []Rule{
	{
		Name:  "SaveGroupIDToMemberKeepsTheGroup",
		Text:  "the group of the event is kept in group of the member of its live chat, and of no other member",
		Needs: []Capability{Members},
		check: saveGroupKeepsTheGroup,
	},
	{
		Name:  "SaveGroupIDToMemberKnowsTheInletsGroups",
		Text:  "an event in a group on the inlet's side leads to the group of the live chat, too",
		Needs: []Capability{Members},
		check: saveGroupKnowsTheInletsGroups,
	},
	{
		Name:  "SaveGroupIDToMemberTakesTheContextsChannel",
		Text:  "the channel of the event is the context's own by default, and of one that is passed in only the _id counts",
		Needs: []Capability{Members},
		check: saveGroupTakesTheContextsChannel,
	},
	{
		Name:  "SaveGroupIDToMemberAnswersWithANewID",
		Text:  "clientMutationId of saveGroupIdToMember is a new id each time",
		check: saveGroupAnswersWithANewID,
	},
	{
		Name:  "SaveGroupIDToMemberFindsNoOthers",
		Text:  "events of no group, channels that do not exist, and those of another app are NotFound, and nothing is changed",
		check: saveGroupFindsNoOthers,
	},
	{
		Name:  "SaveGroupIDToMemberRefusesBadInput",
		Text:  "bad input of saveGroupIdToMember is InvalidArgument with the name of the parameter, and changes nothing",
		check: saveGroupRefusesBadInput,
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

func saveGroupTakesTheContextsChannel(t *trial) {
	k := t.talk()
	inDesk := t.Operations(record.Scope{App: t.home.scope.App, Channel: k.desk.ID})
	t.saveGroup(inDesk, nil, k.agentEvent())
	require.Equal(t, k.group.ID, t.load(t.home.member).Group)
	second := t.talkBeside(k)
	t.saveGroup(t.home, givenChannel(k.desk.ID), second.agentEvent())
	require.Equal(t, second.group.ID, t.load(second.inlet.member).Group)
}

func saveGroupAnswersWithANewID(t *trial) {
	k := t.talk()
	first := t.saveGroup(t.home, k.desk.Channel, k.agentEvent()).ClientMutationID
	second := t.saveGroup(t.home, k.desk.Channel, k.agentEvent()).ClientMutationID
	require.NotEmpty(t, first)
	require.NotEqual(t, first, second)
}

func saveGroupFindsNoOthers(t *trial) {
	mine, theirs := t.talk(), t.talkAway()
	nowhere := mine.agentEvent()
	nowhere.To = unique("group")
	for name, c := range map[string]struct {
		channel *channel.Channel
		event   *send.MessageEvent
		field   string
	}{
		"a group of nobody":         {mine.desk.Channel, nowhere, "messageEvent"},
		"a group of another app":    {mine.desk.Channel, theirs.agentEvent(), "messageEvent"},
		"the context's own channel": {nil, mine.agentEvent(), "messageEvent"},
		"a channel of nobody":       {&channel.Channel{ID: unique("channel")}, mine.agentEvent(), "channel"},
		"a channel of another app":  {&channel.Channel{ID: theirs.desk.ID, App: t.home.scope.App}, theirs.agentEvent(), "channel"},
	} {
		t.try(name, func(t *trial) {
			t.requireUnchanged(botctx.OpSaveGroupIDToMember, boterr.NotFound, c.field, func() error {
				return errorOf(t.home.SaveGroupIDToMember(t.ctx(), livechat.SaveGroupIDToMemberParams{Channel: c.channel, MessageEvent: c.event}))
			})
		})
	}
}

func saveGroupRefusesBadInput(t *trial) {
	type params = livechat.SaveGroupIDToMemberParams
	k := t.talk()
	requireRefused(t, botctx.OpSaveGroupIDToMember, t.home.SaveGroupIDToMember, []badInput[params]{
		{"no messageEvent", params{Channel: k.desk.Channel}, "messageEvent"},
		{"a channel without _id", params{Channel: &channel.Channel{Name: "Desk"}, MessageEvent: k.agentEvent()}, "channel"},
	})
	alone := t.Operations(record.Scope{App: t.home.scope.App})
	requireRefused(t, botctx.OpSaveGroupIDToMember, alone.SaveGroupIDToMember, []badInput[params]{
		{"no channel", params{MessageEvent: k.agentEvent()}, "channel"},
	})
}
