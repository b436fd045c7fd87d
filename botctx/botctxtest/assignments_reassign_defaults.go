package botctxtest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

var reassignDefaultRules = []Rule{
	{
		Name:  "ReassignAssignmentTakesOverWhatIsNotGiven",
		Text:  "what reassignAssignment is not given comes from the previous assignment: meta, ticket, name and summary of the conversation",
		Needs: []Capability{readSent},
		check: reassignTakesOverWhatIsNotGiven,
	},
	{
		Name:  "ReassignAssignmentSetsWhatIsGiven",
		Text:  "relayMessage, groupName and summary are for the new conversation; meta is set over that of the previous one, which stays",
		Needs: []Capability{readSent},
		check: reassignSetsWhatIsGiven,
	},
	{
		Name:  "ReassignAssignmentPutsTheMemberInLiveChat",
		Text:  "the member is in live chat after reassignAssignment, unless liveChat is false",
		check: reassignPutsTheMemberInLiveChat,
	},
	{
		Name:  "ReassignAssignmentIsToNoInletGroupByDefault",
		Text:  "inletGroup says that the inlet's side is a group, which the new assignment then has too; it is false by default",
		check: reassignIsToNoInletGroupByDefault,
	},
	{
		Name:  "ReassignAssignmentShowsTheTakenMessage",
		Text:  "takenMessage is what the other tickets on Charlie show once one was taken, with the agent's name for [adminName]",
		Needs: []Capability{readSent, On(channel.Charlie)},
		check: reassignShowsTheTakenMessage,
	},
}

// elaborate are the params of a request that says everything that is handed on.
func elaborate(platform channel.Type) livechat.CreateAssignmentParams {
	return livechat.CreateAssignmentParams{
		Meta: document.O("a", document.O("x", 1), "b", 2),
		AssignmentDetails: livechat.AssignmentDetails{
			Summary: "A kettle", GroupName: "The kettle",
			RelayMessage: map[channel.Type]send.Response{platform: send.Template("Who helps {{firstName}}?")},
		},
	}
}

func reassignTakesOverWhatIsNotGiven(t *trial) {
	h := t.hold(t.ticketing(), elaborate(t.ticketing()))
	next := t.handOn(h, livechat.ReassignAssignmentParams{})
	require.Equal(t, h.assignment.Meta.String(), next.Meta.String())
	require.Equal(t, h.assignment.History, next.History)
	require.Equal(t, []string{"Who helps Ada?"}, t.textsTo(h.desk.ID, h.desk.sales.ID))
	require.NoError(t, h.desk.agent.Take(next.ID))
	g := t.groupOf(t.home, t.assignment(t.home, next.ID))
	require.Equal(t, "The kettle", g.Name)
	require.Equal(t, []string{"A kettle"}, t.textsTo(h.desk.ID, g.ExternalID))
}

func reassignSetsWhatIsGiven(t *trial) {
	h := t.hold(t.ticketing(), elaborate(t.ticketing()))
	next := t.handOn(h, livechat.ReassignAssignmentParams{
		Meta: document.O("a.y", 3, "c", 4), RelayMessage: "{{firstName}} goes on", GroupName: "The bill", Summary: "A bill",
	})
	require.JSONEq(t, `{"a": {"x": 1, "y": 3}, "b": 2, "c": 4}`, next.Meta.String())
	require.JSONEq(t, `{"a": {"x": 1}, "b": 2}`, t.assignment(t.home, h.assignment.ID).Meta.String())
	require.Equal(t, []string{"{{firstName}} goes on"}, t.textsTo(h.desk.ID, h.desk.sales.ID))
	require.NoError(t, h.desk.agent.Take(next.ID))
	g := t.groupOf(t.home, t.assignment(t.home, next.ID))
	require.Equal(t, "The bill", g.Name)
	require.Equal(t, []string{"A bill"}, t.textsTo(h.desk.ID, g.ExternalID))
}

func reassignPutsTheMemberInLiveChat(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	for name, c := range map[string]struct {
		given *bool
		want  bool
	}{"not given": {nil, true}, "true": {new(true), true}, "false": {new(false), false}} {
		t.try(name, func(t *trial) {
			asking := t.neighbourPlace()
			a := t.requestTaken(asking, d, livechat.CreateAssignmentParams{})
			result, err := t.home.ReassignAssignment(t.ctx(), livechat.ReassignAssignmentParams{
				Channel: d.Channel, Label: "sales", PreviousAssignment: a, LiveChat: c.given,
			})
			require.NoError(t, err)
			require.Equal(t, c.want, result.Member.BotMeta.LiveChat())
			require.Equal(t, c.want, t.isInLiveChat(asking.member))
			require.NoError(t, d.agent.Take(result.AssignmentID))
			require.Equal(t, c.want, t.isInLiveChat(asking.member), "also when an agent has taken it")
		})
	}
}

func reassignIsToNoInletGroupByDefault(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	params := livechat.ReassignAssignmentParams{
		Channel: h.desk.Channel, Label: "sales", MessageEvent: eventIn(h.group), InletGroup: true,
	}
	requireFails(t, botctx.OpReassignAssignment, t.home.ReassignAssignment, boterr.FailedPrecondition,
		[]badInput[livechat.ReassignAssignmentParams]{{"the inlet's side is no group", params, "inletGroup"}})
	for name, isGroup := range map[string]bool{"not given": false, "true": true} {
		t.try(name, func(t *trial) {
			asking := t.inGroup(t.neighbourPlace(), "family")
			a := t.requestTaken(asking, h.desk, livechat.CreateAssignmentParams{})
			result, err := t.home.ReassignAssignment(t.ctx(), livechat.ReassignAssignmentParams{
				Channel: h.desk.Channel, Label: "sales", PreviousAssignment: a, InletGroup: isGroup,
			})
			require.NoError(t, err)
			kept := document.Get(t.assignment(t.home, result.AssignmentID).InletGroupInfo, "externalId", "")
			require.Equal(t, isGroup, kept == "family", "inletGroupInfo.externalId is %q", kept)
		})
	}
}

func reassignShowsTheTakenMessage(t *trial) {
	h := t.hold(channel.Charlie, livechat.CreateAssignmentParams{})
	shown := func(params livechat.ReassignAssignmentParams) string {
		t.Helper()
		own := newBroadcastGroup(channel.Charlie)
		params.Targets = []livechat.Target{{Channel: h.desk.ID, BroadcastGroups: []channel.BroadcastGroupMember{own}}}
		next := t.handOn(h, params)
		require.NoError(t, h.desk.agent.Take(next.ID))
		h.assignment = t.assignment(t.home, next.ID)
		h.group = t.groupOf(t.home, h.assignment)
		tickets := t.sentTo(h.desk.ID, own.ID)
		require.Len(t, tickets, 1)
		return tickets[0].Shows
	}
	text := shown(livechat.ReassignAssignmentParams{TakenMessage: "Now with [adminName]!"})
	require.True(t, strings.HasPrefix(text, "Now with ") && strings.HasSuffix(text, "!"), text)
	require.NotContains(t, text, "[adminName]")
	require.Equal(t, text, shown(livechat.ReassignAssignmentParams{}), "that of the previous one")
}
