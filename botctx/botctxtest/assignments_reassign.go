package botctxtest

import (
	"maps"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var reassignRules = []Rule{
	{
		Name:  "ReassignAssignmentEndsOneAndBeginsAnother",
		Text:  "reassignAssignment ends the previous assignment and makes a new one, whose parentAssignment it is, for the groups of the label",
		check: reassignEndsOneAndBeginsAnother,
	},
	{
		Name:  "ReassignAssignmentFindsThePrevious",
		Text:  "the previous assignment is found by messageEvent or by the _id of previousAssignment, whatever else that says",
		check: reassignFindsThePrevious,
	},
	{
		Name:  "ReassignAssignmentGoesToItsTargets",
		Text:  "targets override label, pairing and broadcast groups",
		check: reassignGoesToItsTargets,
	},
	{
		Name:  "ReassignAssignmentAgainGivesTheNewOne",
		Text:  "handing it on again gives the new assignment while nobody has taken it, and sends nothing",
		check: reassignAgainGivesTheNewOne,
	},
	{
		Name:  "ReassignAssignmentNeedsWhatCanBeHandedOn",
		Text:  "an assignment that has ended, and a label or target that can take nothing, are FailedPrecondition, and it goes on as before",
		check: reassignNeedsWhatCanBeHandedOn,
	},
	{
		Name:  "ReassignAssignmentMakesOneOfManyAtOnce",
		Text:  "of many that hand an assignment on at one instant one makes the new one, all get it, and its ticket is sent once",
		check: reassignMakesOneOfManyAtOnce,
	},
}

// held is a live chat of the home member that an agent has taken.
type held struct {
	desk       *desk
	assignment *livechat.Assignment
	group      *livechat.Group
}

// hold begins a live chat of the home member, in an outlet of a platform.
func (t *trial) hold(platform channel.Type, params livechat.CreateAssignmentParams) held {
	t.Helper()
	h := held{desk: t.openDesk(t.home, platform)}
	h.assignment = t.requestTaken(t.home, h.desk, params)
	h.group = t.groupOf(t.home, h.assignment)
	return h
}

// handOn hands an assignment on, without an error, and returns the new one.
func (t *trial) handOn(h held, params livechat.ReassignAssignmentParams) *livechat.Assignment {
	t.Helper()
	params.Channel, params.MessageEvent = addressOf(h.desk.ID), eventIn(h.group)
	if len(params.Targets) == 0 {
		params.Label = "sales"
	}
	result, err := t.home.ReassignAssignment(t.ctx(), params)
	require.NoError(t, err)
	require.NotNil(t, result.Member)
	require.Equal(t, textOf(t, t.load(t.home.member)), textOf(t, result.Member))
	return t.assignment(t.home, result.AssignmentID)
}

func reassignEndsOneAndBeginsAnother(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	next := t.handOn(h, livechat.ReassignAssignmentParams{})
	require.NotEqual(t, h.assignment.ID, next.ID)
	require.Equal(t, h.assignment.ID, next.ParentAssignment)
	require.Equal(t, []string{t.home.member.ID, t.home.scope.Channel}, []string{next.Member, next.Inlet})
	require.Empty(t, next.Assignee)
	requireTargets(t, next, toGroup(h.desk, "sales", h.desk.sales))
	t.requireTickets(h.desk, map[channel.BroadcastGroupMember]int{h.desk.support: 1, h.desk.sales: 1})
	require.True(t, t.isInLiveChat(t.home.member))
	require.False(t, t.groupOf(t.home, h.assignment).Active, "the previous conversation is not live any more")
	require.Equal(t, next.ID, t.request(t.home, livechat.CreateAssignmentParams{}).ID, "the new one stands")
	require.Error(t, h.desk.agent.Take(h.assignment.ID))
	require.NoError(t, h.desk.agent.Take(next.ID))
}

func reassignFindsThePrevious(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	for name, give := range map[string]func(*livechat.ReassignAssignmentParams, *livechat.Assignment, *livechat.Group){
		"by the event": func(p *livechat.ReassignAssignmentParams, _ *livechat.Assignment, g *livechat.Group) {
			p.MessageEvent = eventIn(g)
		},
		"by the assignment": func(p *livechat.ReassignAssignmentParams, a *livechat.Assignment, _ *livechat.Group) {
			p.PreviousAssignment = a
		},
		"by both": func(p *livechat.ReassignAssignmentParams, a *livechat.Assignment, g *livechat.Group) {
			p.MessageEvent, p.PreviousAssignment = eventIn(g), a
		},
		"by a forged assignment": func(p *livechat.ReassignAssignmentParams, a *livechat.Assignment, _ *livechat.Group) {
			p.PreviousAssignment = &livechat.Assignment{
				ID: a.ID, App: t.away.scope.App, Member: t.away.member.ID, Inlet: t.away.scope.Channel, Meta: document.O("forged", true),
			}
		},
	} {
		t.try(name, func(t *trial) {
			asking := t.neighbourPlace()
			a := t.requestTaken(asking, d, livechat.CreateAssignmentParams{})
			params := livechat.ReassignAssignmentParams{Label: "sales"}
			give(&params, a, t.groupOf(t.home, a))
			result, err := t.at(t.home, d.Channel, nil).ReassignAssignment(t.ctx(), params)
			require.NoError(t, err)
			require.Equal(t, asking.member.ID, result.Member.ID)
			next := t.assignment(t.home, result.AssignmentID)
			require.Equal(t, []string{a.ID, asking.member.ID, asking.scope.Channel}, []string{next.ParentAssignment, next.Member, next.Inlet})
			require.Equal(t, "{}", next.Meta.String())
		})
	}
}

func reassignGoesToItsTargets(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	other := t.addDesk(t.home, t.ticketing())
	next := t.handOn(h, livechat.ReassignAssignmentParams{Targets: []livechat.Target{{Channel: other.ID, Label: "sales"}}})
	requireTargets(t, next, toGroup(other, "sales", other.sales))
	t.requireTickets(h.desk, map[channel.BroadcastGroupMember]int{h.desk.support: 1, h.desk.sales: 0})
	t.requireTickets(other, map[channel.BroadcastGroupMember]int{other.support: 0, other.sales: 1})
	require.NoError(t, other.agent.Take(next.ID))
}

func reassignAgainGivesTheNewOne(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	next := t.handOn(h, livechat.ReassignAssignmentParams{})
	before := t.state()
	require.Equal(t, next.ID, t.handOn(h, livechat.ReassignAssignmentParams{}).ID)
	require.Equal(t, before, t.state())
	require.NoError(t, h.desk.agent.Take(next.ID))
	requireFails(t, botctx.OpReassignAssignment, t.home.ReassignAssignment, boterr.FailedPrecondition,
		[]badInput[livechat.ReassignAssignmentParams]{{"taken", livechat.ReassignAssignmentParams{
			Channel: h.desk.Channel, Label: "sales", PreviousAssignment: h.assignment,
		}, "previousAssignment"}})
}

func reassignNeedsWhatCanBeHandedOn(t *trial) {
	type params = livechat.ReassignAssignmentParams
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	cases := []badInput[params]{
		{"no groups of the label", params{Channel: h.desk.Channel, Label: "nobody's", MessageEvent: eventIn(h.group)}, "label"},
		{"no groups of the label of a target", params{
			Channel: h.desk.Channel, MessageEvent: eventIn(h.group), Targets: []livechat.Target{{Channel: h.desk.ID, Label: "nobody's"}},
		}, "targets[0]"},
	}
	requireFails(t, botctx.OpReassignAssignment, t.home.ReassignAssignment, boterr.FailedPrecondition, cases)
	_, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
	require.NoError(t, err)
	ended := params{Channel: h.desk.Channel, Label: "sales", PreviousAssignment: h.assignment}
	requireFails(t, botctx.OpReassignAssignment, t.home.ReassignAssignment, boterr.FailedPrecondition, []badInput[params]{
		{"ended", ended, "previousAssignment"},
	})
}

func reassignMakesOneOfManyAtOnce(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	var mu sync.Mutex
	ids := map[string]bool{}
	t.atOnce(func(int) error {
		result, err := t.home.ReassignAssignment(t.ctx(), livechat.ReassignAssignmentParams{
			Channel: h.desk.Channel, Label: "sales", MessageEvent: eventIn(h.group),
		})
		mu.Lock()
		defer mu.Unlock()
		ids[result.AssignmentID] = true
		return err
	})
	require.Len(t, ids, 1)
	require.Equal(t, append([]string{h.assignment.ID}, slices.Collect(maps.Keys(ids))...), idsOf(t.assignmentsOf(t.home, t.home.member)))
	t.requireTickets(h.desk, map[channel.BroadcastGroupMember]int{h.desk.support: 1, h.desk.sales: 1})
}
