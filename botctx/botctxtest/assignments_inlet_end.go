package botctxtest

import (
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
		Needs: []Capability{readSent, recalledTickets},
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
	for i, isRecalled := range []bool{false, true} {
		asking := t.neighbourPlace()
		t.request(asking, livechat.CreateAssignmentParams{})
		_, err := asking.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{
			Options: livechat.InletEndLiveChatOptions{RecallRelayMessage: livechat.Truthy(isRecalled)},
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
