package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
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
