package botctxtest

import (
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

var endLiveChatRules = []Rule{
	rule(endLiveChatEndsTheLiveChat,
		"endLiveChat ends the live chat of the event: the member leaves it, and its group is inactive"),
	rule(endLiveChatClearsTheMembersGroup, "at the end of a live chat, the member's group is cleared, unless it is a different group"),
	rule(endLiveChatEndsOnce, "ending a live chat that has ended is FailedPrecondition, whichever side ended it, also in concurrent calls"),
}

// requireEnded checks that a live chat has ended, and that result agrees with the stored records.
func requireEnded(t *trial, a *livechat.Assignment, m *member.Member, result livechat.EndResult) {
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

// endParams returns the params for ending the live chat by an event in its group.
func (k talk) endParams() livechat.EndParams {
	return livechat.EndParams{Channel: addressOf(k.desk.ID), MessageEvent: eventIn(k.group)}
}

func endLiveChatEndsTheLiveChat(t *trial) {
	h := t.talk()
	eve := t.neighbourPlace()
	other := t.requestTaken(eve, h.desk, livechat.CreateAssignmentParams{})
	result := must(t, t.home.EndLiveChat, h.endParams())
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
		must(t, asking.PatchMembers, member.PatchParams{
			MemberID: asking.member.ID, Patch: document.Set("group", group), WithModifier: true,
		})
		must(t, t.home.EndLiveChat, talk{desk: d, group: t.groupOf(t.home, a)}.endParams())
		require.Equal(t, want, t.load(asking.member).Group)
	}
}

func endLiveChatEndsOnce(t *trial) {
	h := t.talk()
	var ended atomic.Int64
	t.atOnce(func(int) error {
		_, err := t.home.EndLiveChat(t.Context(), h.endParams())
		if err == nil {
			ended.Add(1)
		} else if boterr.CodeOf(err) == boterr.FailedPrecondition {
			return nil
		}
		return err
	})
	require.Positive(t, ended.Load())
	require.False(t, t.isInLiveChat(t.home.member))
	requireFails(t, botctx.OpEndLiveChat, t.home.EndLiveChat, boterr.FailedPrecondition, []badInput[livechat.EndParams]{
		{"again", h.endParams(), "messageEvent"},
	})
	next := t.talk()
	must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
	requireFails(t, botctx.OpEndLiveChat, t.home.EndLiveChat, boterr.FailedPrecondition, []badInput[livechat.EndParams]{
		{"after the inlet", next.endParams(), "messageEvent"},
	})
}

var inletEndRules = []Rule{
	rule(inletEndLiveChatEndsTheLiveChat,
		"inletEndLiveChat ends the live chat of the context's own member, taken or not, and returns the update and the member"),
	rule(inletEndLiveChatTakesAddresses,
		"of a member record and a channel record in the parameters only the _id counts: the records are loaded again"),
	rule(inletEndLiveChatRecallsOnlyOnDemand,
		"tickets are recalled only if options.recallRelayMessage is true", readSent, recalledTickets),
	rule(inletEndLiveChatCannotRecallEverywhere,
		"if the outlet cannot recall tickets, options.recallRelayMessage is Unsupported, and nothing ends", On(channel.Bravo)),
	rule(inletEndLiveChatNeedsALiveChat, "a member without an open assignment is FailedPrecondition, also after a live chat has ended"),
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
			result := must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
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
	result := must(t, t.home.InletEndLiveChat, livechat.InletEndParams{
		Channel: &channel.Channel{ID: eve.scope.Channel, App: t.away.scope.App}, Member: forged(eve.member, t.away.scope.App),
	})
	requireEnded(t, a, eve.member, result)
	require.True(t, t.isInLiveChat(t.home.member))
}

func inletEndLiveChatRecallsOnlyOnDemand(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	for i, isRecalled := range []bool{false, true} {
		asking := t.neighbourPlace()
		t.request(asking, livechat.CreateAssignmentParams{})
		must(t, asking.InletEndLiveChat, livechat.InletEndParams{
			Options: livechat.InletEndLiveChatOptions{RecallRelayMessage: livechat.Truthy(isRecalled)},
		})
		tickets := t.sentTo(d.ID, d.support.ID)
		require.Len(t, tickets, i+1)
		require.Equal(t, isRecalled, tickets[i].IsRecalled)
	}
}

func inletEndLiveChatCannotRecallEverywhere(t *trial) {
	t.openDesk(t.home, channel.Bravo)
	t.request(t.home, livechat.CreateAssignmentParams{})
	requireFails(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, boterr.Unsupported, []badInput[livechat.InletEndParams]{
		{"on Bravo", livechat.InletEndParams{
			Options: livechat.InletEndLiveChatOptions{RecallRelayMessage: true},
		}, "options.recallRelayMessage"},
	})
	require.True(t, t.isInLiveChat(t.home.member))
}

func inletEndLiveChatNeedsALiveChat(t *trial) {
	type params = livechat.InletEndParams
	d := t.openDesk(t.home, t.ticketing())
	none := []badInput[params]{{"none", params{}, "member"}}
	requireFails(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, boterr.FailedPrecondition, none)
	a := t.requestTaken(t.home, d, livechat.CreateAssignmentParams{})
	must(t, t.home.EndLiveChat, talk{desk: d, group: t.groupOf(t.home, a)}.endParams())
	requireFails(t, botctx.OpInletEndLiveChat, t.home.InletEndLiveChat, boterr.FailedPrecondition, none)
}

var endBravoRules = []Rule{
	rule(endBravoLiveChatEndsThoseOfTheAgent,
		"endBravoLiveChat ends the live chats of an agent in a group on Bravo, and returns each; other agents' continue"),
	rule(endBravoLiveChatEndsAGroupWithoutAssignment,
		"an active group of the agent without a live chat is set to inactive, and its element of the result has no assignment"),
	rule(endBravoLiveChatOfNothing, "if the agent has no open live chat in the group, the list is empty and not null"),
}

func (t *trial) endBravo(p *place, params livechat.EndBravoParams) []livechat.EndBravoResult {
	t.Helper()
	return must(t, p.EndBravoLiveChat, params)
}

func endBravoLiveChatEndsThoseOfTheAgent(t *trial) {
	h := t.talkOn(channel.Bravo)
	other := t.requestTaken(t.neighbourPlace(), h.desk, livechat.CreateAssignmentParams{})
	ended := t.endBravo(t.home, livechat.EndBravoParams{
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
	made := must(t, t.home.CreateBravoGroup, livechat.CreateBravoGroupParams{ChannelID: d.ID, Name: "The kettle"})
	must(t, t.home.HandleAdminJoinedGroup, livechat.HandleAdminJoinedGroupParams{
		Channel: d.Channel, ExternalID: d.agent.ExternalID, BravoGroupID: made.GroupID,
	})
	ended := t.endBravo(t.home, livechat.EndBravoParams{
		AdminExternalID: d.agent.ExternalID, BravoGroupID: made.GroupID, ChannelID: d.ID,
	})
	require.Len(t, ended, 1)
	require.JSONEq(t, `{"clientMutationId": "`+ended[0].ClientMutationID+`"}`, textOf(t, ended[0]))
	require.NotEmpty(t, ended[0].ClientMutationID)
	g := must(t, t.home.GetGroupByGroupExternalID, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: made.GroupID})
	require.False(t, g.Active)
}

func endBravoLiveChatOfNothing(t *trial) {
	h := t.talkOn(channel.Bravo)
	params := livechat.EndBravoParams{
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
