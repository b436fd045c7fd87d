package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var newTargetRules = []Rule{
	{
		Name:  "AddNewTargetsToAssignmentSendsFurtherTickets",
		Text:  "addNewTargetsToAssignment sends the ticket to further targets and keeps them; those that have it get no second one",
		check: addNewTargetsSendsFurtherTickets,
	},
	{
		Name:  "AddNewTargetsToAssignmentTakesEveryForm",
		Text:  "a new target is a target, a broadcast group of the outlet that is there, or a label with its groups",
		check: addNewTargetsTakesEveryForm,
	},
	{
		Name:  "AddNewTargetsToAssignmentPutsTheMemberInLiveChat",
		Text:  "the member is in live chat after addNewTargetsToAssignment, unless liveChat is false",
		check: addNewTargetsPutsTheMemberInLiveChat,
	},
	{
		Name:  "AddNewTargetsToAssignmentCanBeTakenThere",
		Text:  "an agent of an outlet that was added can take the request",
		check: addNewTargetsCanBeTakenThere,
	},
	{
		Name:  "AddNewTargetsToAssignmentNeedsAPendingRequest",
		Text:  "where the request has been taken or has ended, or a target can take nothing, it is FailedPrecondition, and nothing is sent",
		check: addNewTargetsNeedsAPendingRequest,
	},
	{
		Name:  "AddNewTargetsToAssignmentSendsOneOfManyAtOnce",
		Text:  "of many that add one target at one instant one sends the ticket, and none fails",
		check: addNewTargetsSendsOneOfManyAtOnce,
	},
}

// addTargets adds targets to an assignment, without an error.
func (t *trial) addTargets(a *livechat.Assignment, liveChat *bool, targets ...livechat.NewTarget) livechat.AddNewTargetsToAssignmentResult {
	t.Helper()
	added, err := t.home.AddNewTargetsToAssignment(t.ctx(), livechat.AddNewTargetsToAssignmentParams{
		AssignmentID: a.ID, LiveChat: liveChat, Targets: targets,
	})
	require.NoError(t, err)
	require.Equal(t, a.ID, added.AssignmentID)
	require.NotNil(t, added.Member)
	return added
}

func addNewTargetsSendsFurtherTickets(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	for range 2 {
		added := t.addTargets(a, nil, groupTarget(d.sales), groupTarget(d.support))
		require.Equal(t, textOf(t, t.load(t.home.member)), textOf(t, added.Member))
		requireTargets(t, t.assignment(t.home, a.ID),
			toGroup(d, "default", d.support),
			toGroup(d, "default", d.sales))
		t.requireTickets(d, map[channel.BroadcastGroupMember]int{d.support: 1, d.sales: 1})
	}
	if t.Sent != nil {
		require.Equal(t, t.textsTo(d.ID, d.support.ID), t.textsTo(d.ID, d.sales.ID), "it is the same ticket")
	}
}

func addNewTargetsTakesEveryForm(t *trial) {
	d, other := t.openDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	own, further := newBroadcastGroup(d.Type), newBroadcastGroup(d.Type)
	groups := []channel.BroadcastGroupMember{own, further}
	for name, c := range map[string]struct {
		given livechat.NewTarget
		want  livechat.Target
	}{
		"a broadcast group": {groupTarget(own), livechat.Target{Channel: d.ID, BroadcastGroups: groups[:1], Label: "default"}},
		"a channel": {
			livechat.NewTarget{Channel: other.ID},
			toGroup(other, "default", other.support),
		},
		"a channel and a label": {
			livechat.NewTarget{Channel: other.ID, Label: "sales"},
			toGroup(other, "sales", other.sales),
		},
		"broadcast groups": {
			livechat.NewTarget{Channel: other.ID, BroadcastGroups: groups, Unknown: document.O("note", "x")},
			livechat.Target{Channel: other.ID, BroadcastGroups: groups, Label: "default", Unknown: document.O("note", "x")},
		},
		"a label with groups": {
			livechat.NewTarget{Label: "vip", Groups: groups},
			livechat.Target{Channel: d.ID, BroadcastGroups: groups, Label: "vip"},
		},
	} {
		t.try(name, func(t *trial) {
			a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
			t.addTargets(a, nil, c.given)
			requireTargets(t, t.assignment(t.home, a.ID), a.Targets[0], c.want)
		})
	}
}

func addNewTargetsPutsTheMemberInLiveChat(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	for _, c := range []struct {
		name  string
		given *bool
		want  bool
	}{{"false", new(false), false}, {"not given", nil, true}, {"false again", new(false), false}, {"true", new(true), true}} {
		added := t.addTargets(a, c.given, groupTarget(d.sales))
		require.Equal(t, c.want, added.Member.BotMeta.LiveChat(), c.name)
		require.Equal(t, c.want, t.isInLiveChat(t.home.member), c.name)
	}
}

func addNewTargetsCanBeTakenThere(t *trial) {
	t.openDesk(t.home, t.ticketing())
	other := t.addDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	t.addTargets(a, nil, livechat.NewTarget{Channel: other.ID})
	require.NoError(t, other.agent.Take(a.ID))
	require.Equal(t, other.agent.ExternalID, t.assignment(t.home, a.ID).Assignee)
}

func addNewTargetsNeedsAPendingRequest(t *trial) {
	type params = livechat.AddNewTargetsToAssignmentParams
	d := t.openDesk(t.home, t.ticketing())
	targets := []livechat.NewTarget{groupTarget(d.sales)}
	ended := t.request(t.home, livechat.CreateAssignmentParams{})
	_, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
	require.NoError(t, err)
	taken := t.requestTaken(t.neighbourPlace(), d, livechat.CreateAssignmentParams{})
	pending := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	requireFails(t, botctx.OpAddNewTargetsToAssignment, t.home.AddNewTargetsToAssignment, boterr.FailedPrecondition, []badInput[params]{
		{"taken", params{AssignmentID: taken.ID, Targets: targets}, "assignmentId"},
		{"ended", params{AssignmentID: ended.ID, Targets: targets}, "assignmentId"},
		{"no groups of the label", params{
			AssignmentID: pending.ID, Targets: []livechat.NewTarget{targets[0], {Channel: d.ID, Label: "nobody's"}},
		}, "targets[1]"},
	})
}

func addNewTargetsSendsOneOfManyAtOnce(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	t.atOnce(func(int) error {
		return errorOf(t.home.AddNewTargetsToAssignment(t.ctx(), livechat.AddNewTargetsToAssignmentParams{
			AssignmentID: a.ID, Targets: []livechat.NewTarget{groupTarget(d.sales)},
		}))
	})
	t.requireTickets(d, map[channel.BroadcastGroupMember]int{d.support: 1, d.sales: 1})
	require.Len(t, t.assignment(t.home, a.ID).Targets, 2)
}
