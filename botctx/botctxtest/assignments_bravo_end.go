package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
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
	{
		Name:  "EndBravoLiveChatTakesTheContextsChannel",
		Text:  "the channel of endBravoLiveChat is given by a record or an id, and is the context's own by default",
		check: endBravoLiveChatTakesTheContextsChannel,
	},
	{
		Name:  "EndBravoLiveChatFindsNoOthers",
		Text:  "channels of another app, and groups that the channel does not have, are NotFound, and nothing is changed",
		check: endBravoLiveChatFindsNoOthers,
	},
	{
		Name:  "EndBravoLiveChatIsForBravo",
		Text:  "a channel of another type than bravo is Unsupported, and nothing is changed",
		check: endBravoLiveChatIsForBravo,
	},
	{
		Name:  "EndBravoLiveChatRefusesBadInput",
		Text:  "bad input of endBravoLiveChat is InvalidArgument with the name of the parameter, and changes nothing",
		check: endBravoLiveChatRefusesBadInput,
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

func endBravoLiveChatTakesTheContextsChannel(t *trial) {
	d := t.openDesk(t.home, channel.Bravo)
	for name, give := range map[string]func(*livechat.EndBravoLiveChatParams) *place{
		"by a record": func(p *livechat.EndBravoLiveChatParams) *place {
			p.Channel = &channel.Channel{ID: d.ID, App: t.away.scope.App, Type: channel.Charlie}
			return t.home
		},
		"by an id": func(p *livechat.EndBravoLiveChatParams) *place {
			p.ChannelID = d.ID
			return t.home
		},
		"by both": func(p *livechat.EndBravoLiveChatParams) *place {
			p.Channel, p.ChannelID = d.Channel, d.ID
			return t.home
		},
		"by default": func(*livechat.EndBravoLiveChatParams) *place { return t.at(t.home, d.Channel, nil) },
	} {
		t.try(name, func(t *trial) {
			a := t.requestTaken(t.neighbourPlace(), d, livechat.CreateAssignmentParams{})
			params := livechat.EndBravoLiveChatParams{
				AdminExternalID: d.agent.ExternalID, BravoGroupID: t.groupOf(t.home, a).ExternalID,
			}
			require.Len(t, t.endBravo(give(&params), params), 1)
		})
	}
}

func endBravoLiveChatFindsNoOthers(t *trial) {
	type params = livechat.EndBravoLiveChatParams
	h := t.hold(channel.Bravo, livechat.CreateAssignmentParams{})
	theirs := t.openDesk(t.away, channel.Bravo)
	agent, group := theirs.agent.ExternalID, t.groupOf(t.away, t.requestTaken(t.away, theirs, livechat.CreateAssignmentParams{})).ExternalID
	requireFails(t, botctx.OpEndBravoLiveChat, t.home.EndBravoLiveChat, boterr.NotFound, []badInput[params]{
		{"a group of nobody", params{AdminExternalID: agent, BravoGroupID: unique("group"), ChannelID: h.desk.ID}, "bravoGroupId"},
		{"a group of another channel", params{AdminExternalID: agent, BravoGroupID: group, ChannelID: h.desk.ID}, "bravoGroupId"},
		{"a channel of another app", params{AdminExternalID: agent, BravoGroupID: group, ChannelID: theirs.ID}, "channelId"},
		{"a channel of nobody", params{AdminExternalID: agent, BravoGroupID: group, Channel: addressOf(unique("channel"))}, "channel"},
	})
	require.True(t, t.isInLiveChat(t.away.member))
}

func endBravoLiveChatIsForBravo(t *trial) {
	other := slices.DeleteFunc(slices.Clone(platforms), func(c channel.Type) bool { return c == channel.Bravo })
	for _, platform := range other {
		if !t.offers(On(platform)) {
			continue
		}
		t.try(string(platform), func(t *trial) {
			c := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: platform})
			requireFails(t, botctx.OpEndBravoLiveChat, t.home.EndBravoLiveChat, boterr.Unsupported, []badInput[livechat.EndBravoLiveChatParams]{
				{"by id", livechat.EndBravoLiveChatParams{AdminExternalID: "agent", BravoGroupID: "group", ChannelID: c.ID}, "channelId"},
			})
		})
	}
}

func endBravoLiveChatRefusesBadInput(t *trial) {
	type params = livechat.EndBravoLiveChatParams
	h := t.hold(channel.Bravo, livechat.CreateAssignmentParams{})
	agent, group := h.desk.agent.ExternalID, h.group.ExternalID
	requireRefused(t, botctx.OpEndBravoLiveChat, t.home.EndBravoLiveChat, []badInput[params]{
		{"no adminExternalId", params{BravoGroupID: group, ChannelID: h.desk.ID}, "adminExternalId"},
		{"no bravoGroupId", params{AdminExternalID: agent, ChannelID: h.desk.ID}, "bravoGroupId"},
		{"channels that contradict each other", params{
			AdminExternalID: agent, BravoGroupID: group, ChannelID: h.desk.ID, Channel: t.home.channel,
		}, "channelId"},
		{"a channel without _id", params{AdminExternalID: agent, BravoGroupID: group, Channel: &channel.Channel{Name: "x"}}, "channel"},
	})
	requireRefused(t, botctx.OpEndBravoLiveChat, t.withoutScope(t.home).EndBravoLiveChat, []badInput[params]{
		{"no channel, in a context without one", params{AdminExternalID: agent, BravoGroupID: group}, "channelId"},
	})
}
