package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

var inletEndRules = []Rule{
	{
		Name:  "InletEndLiveChatEndsTheLiveChat",
		Text:  "inletEndLiveChat ends the live chat of the context's own member, taken or not, and returns the update and the member",
		check: inletEndLiveChatEndsTheLiveChat,
	},
	{
		Name:  "InletEndLiveChatTakesAddresses",
		Text:  "a member and a channel that are passed in are addresses: those with the _id are loaded again",
		check: inletEndLiveChatTakesAddresses,
	},
	{
		Name:  "InletEndLiveChatRecallsOnlyOnDemand",
		Text:  "tickets are recalled where options.recallRelayMessage is true, and left as they are by default",
		Needs: []Capability{readSent},
		check: inletEndLiveChatRecallsOnlyOnDemand,
	},
	{
		Name:  "InletEndLiveChatCannotRecallEverywhere",
		Text:  "options.recallRelayMessage is Unsupported where the outlet cannot recall tickets, and nothing ends",
		Needs: []Capability{On(channel.Bravo)},
		check: inletEndLiveChatCannotRecallEverywhere,
	},
	{
		Name:  "InletEndLiveChatNeedsALiveChat",
		Text:  "a member without an open assignment is FailedPrecondition, also after a live chat has ended",
		check: inletEndLiveChatNeedsALiveChat,
	},
	{
		Name:  "InletEndLiveChatFindsNoOthers",
		Text:  "members and channels of another app are NotFound for inletEndLiveChat, and nothing is changed",
		check: inletEndLiveChatFindsNoOthers,
	},
	{
		Name:  "InletEndLiveChatRefusesBadInput",
		Text:  "bad input of inletEndLiveChat is InvalidArgument with the name of the parameter, and changes nothing",
		check: inletEndLiveChatRefusesBadInput,
	},
}

var endBravoRules = func() []Rule {
	rules := []Rule{
		{
			Name:  "EndBravoLiveChatEndsThoseOfTheAgent",
			Text:  "endBravoLiveChat ends the live chats of an agent in a group on Bravo, and tells of each; those of others go on",
			check: endBravoLiveChatEndsThoseOfTheAgent,
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
	return needing([]Capability{On(channel.Bravo)}, rules)
}()

func inletEndLiveChatEndsTheLiveChat(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	other := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	for name, isTaken := range map[string]bool{"pending": false, "taken": true} {
		t.try(name, func(t *trial) {
			a := t.request(t.home, livechat.CreateAssignmentParams{})
			if isTaken {
				require.NoError(t, d.agent.Take(a.ID))
				a = t.assignment(t.home, a.ID)
			}
			result, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
			require.NoError(t, err)
			requireEnded(t, a, t.home.member, result)
		})
	}
	requireSameAssignment(t, other, t.assignment(t.home, other.ID))
}

func inletEndLiveChatTakesAddresses(t *trial) {
	t.openDesk(t.home, t.ticketing())
	t.request(t.home, livechat.CreateAssignmentParams{})
	eve := t.neighbourPlace()
	a := t.request(eve, livechat.CreateAssignmentParams{})
	result, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{
		Channel: &channel.Channel{ID: eve.scope.Channel, App: t.away.scope.App}, Member: forged(eve.member, t.away.scope.App),
	})
	require.NoError(t, err)
	requireEnded(t, a, eve.member, result)
	require.True(t, t.isInLiveChat(t.home.member))
}

func inletEndLiveChatRecallsOnlyOnDemand(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	if !recalls(d) {
		return // No platform with tickets that are recalled is offered.
	}
	for i, isRecalled := range []bool{false, true} {
		asking := t.neighbourPlace()
		t.request(asking, livechat.CreateAssignmentParams{})
		_, err := asking.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{
			Options: livechat.InletEndLiveChatOptions{RecallRelayMessage: isRecalled},
		})
		require.NoError(t, err)
		tickets := t.sentTo(d.ID, d.support.ID)
		require.Len(t, tickets, i+1)
		require.Equal(t, isRecalled, tickets[i].IsRecalled)
	}
}

func inletEndLiveChatCannotRecallEverywhere(t *trial) {
	t.openDesk(t.home, channel.Bravo)
	t.request(t.home, livechat.CreateAssignmentParams{})
	requireFails(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, boterr.Unsupported, []badInput[livechat.InletEndLiveChatParams]{
		{"on Bravo", livechat.InletEndLiveChatParams{
			Options: livechat.InletEndLiveChatOptions{RecallRelayMessage: true},
		}, "options.recallRelayMessage"},
	})
	require.True(t, t.isInLiveChat(t.home.member))
}

func inletEndLiveChatNeedsALiveChat(t *trial) {
	type params = livechat.InletEndLiveChatParams
	d := t.openDesk(t.home, t.ticketing())
	none := []badInput[params]{{"none", params{}, "member"}}
	requireFails(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, boterr.FailedPrecondition, none)
	a := t.requestTaken(t.home, d, livechat.CreateAssignmentParams{})
	_, err := t.home.EndLiveChat(t.ctx(), held{d, a, t.groupOf(t.home, a)}.endParams())
	require.NoError(t, err)
	requireFails(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, boterr.FailedPrecondition, none)
}

func inletEndLiveChatFindsNoOthers(t *trial) {
	type params = livechat.InletEndLiveChatParams
	t.openDesk(t.home, t.ticketing())
	t.request(t.home, livechat.CreateAssignmentParams{})
	t.openDesk(t.away, t.ticketing())
	t.request(t.away, livechat.CreateAssignmentParams{})
	cases := []badInput[params]{
		{"a member of nobody", params{Member: &member.Member{ID: unique("member")}}, "member"},
		{"a member of another app", params{Member: t.away.member}, "member"},
	}
	for name, id := range t.strangeChannels() {
		cases = append(cases, badInput[params]{"a channel " + name, params{Channel: addressOf(id)}, "channel"})
	}
	requireFails(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, boterr.NotFound, cases)
}

func inletEndLiveChatRefusesBadInput(t *trial) {
	type params = livechat.InletEndLiveChatParams
	d := t.openDesk(t.home, t.ticketing())
	t.request(t.home, livechat.CreateAssignmentParams{})
	requireRefused(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, []badInput[params]{
		{"a member without _id", params{Member: &member.Member{FirstName: "Ada"}}, "member"},
		{"a channel without _id", params{Channel: &channel.Channel{Name: "Front desk"}}, "channel"},
		{"another channel than the member's", params{Channel: d.Channel}, "channel"},
	})
	requireRefused(t, botctx.OpInletEndLiveChat, t.withoutScope(t.home).InletEndLiveChat, []badInput[params]{
		{"no member, in a context without one", params{}, "member"},
	})
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
				{"by id", livechat.EndBravoLiveChatParams{AdminExternalID: "agent", BravoGroupID: "group", ChannelID: c.ID}, "channel"},
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
		{"no channel, in a context without one", params{AdminExternalID: agent, BravoGroupID: group}, "channel"},
	})
}
