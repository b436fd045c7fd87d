package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var readAssignmentRules = []Rule{
	{
		Name:  "GetAssignmentReadsIt",
		Text:  "getAssignment returns the assignment of that id, as it is now, the ended one included",
		check: assignmentReadsIt,
	},
	{
		Name:  "GetAssignmentByBravoGroupIdReadsTheNewest",
		Text:  "getAssignmentByBravoGroupId returns the newest assignment of a group on Bravo",
		Needs: []Capability{On(channel.Bravo)},
		check: assignmentByBravoGroupIDReadsTheNewest,
	},
}

var assignmentByOutletRules = []Rule{
	{
		Name:  "GetAssignmentByOutletReadsTheNewestOpen",
		Text:  "getAssignmentByOutlet returns the newest assignment in the outlet that has not ended",
		Needs: []Capability{OutletLookups},
		check: assignmentByOutletReadsTheNewestOpen,
	},
	{
		Name:  "GetAssignmentByOutletIsWhereItWasTaken",
		Text:  "a request is in each outlet with a ticket while nobody has taken it, and then in the one where it was taken",
		Needs: []Capability{OutletLookups},
		check: assignmentByOutletIsWhereItWasTaken,
	},
	{
		Name:  "GetAssignmentByOutletTakesMetaAsAFilter",
		Text:  "where an assignment's meta has operators, the context's member must match them, else the assignment is passed over",
		Needs: []Capability{OutletLookups},
		check: assignmentByOutletTakesMetaAsAFilter,
	},
}

// requireSameAssignment checks that two are the same record, with the same content.
func requireSameAssignment(t *trial, want, got *livechat.Assignment) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, textOf(t, want), textOf(t, got))
}

func assignmentReadsIt(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	first := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	second := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Meta: document.O("n", 2)})
	require.NotEqual(t, first.ID, second.ID)
	requireSameAssignment(t, first, t.assignment(t.home, first.ID))
	require.Equal(t, `{"n":2}`, t.assignment(t.home, second.ID).Meta.String())
	require.NoError(t, d.agent.Take(first.ID))
	require.Equal(t, d.agent.ExternalID, t.assignment(t.home, first.ID).Assignee)
	_, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
	require.NoError(t, err)
	ended := t.assignment(t.home, first.ID)
	require.Equal(t, d.agent.ExternalID, ended.Assignee)
	require.Zero(t, ended.Expiry)
}

// byBravoGroup reads the assignment of a group on Bravo, without an error.
func (t *trial) byBravoGroup(p *place, id string) *livechat.Assignment {
	t.Helper()
	found, err := p.GetAssignmentByBravoGroupID(t.ctx(), livechat.GetAssignmentByBravoGroupIDParams{BravoGroupID: id})
	require.NoError(t, err)
	return found
}

func assignmentByBravoGroupIDReadsTheNewest(t *trial) {
	h := t.hold(channel.Bravo, livechat.CreateAssignmentParams{})
	second := t.requestTaken(t.neighbourPlace(), h.desk, livechat.CreateAssignmentParams{})
	requireSameAssignment(t, h.assignment, t.byBravoGroup(t.home, h.group.ExternalID))
	requireSameAssignment(t, second, t.byBravoGroup(t.home, t.groupOf(t.home, second).ExternalID))
	_, err := t.home.UpdateAssignmentGroup(t.ctx(), livechat.UpdateAssignmentGroupParams{
		AssignmentID: second.ID, Group: h.group,
	})
	require.NoError(t, err)
	require.Equal(t, second.ID, t.byBravoGroup(t.home, h.group.ExternalID).ID)
}

// inOutlet reads the assignment in an outlet, nil where there is none.
func (t *trial) inOutlet(p *place, channelID string) *livechat.Assignment {
	t.Helper()
	found, err := p.GetAssignmentByOutlet(t.ctx(), livechat.GetAssignmentByOutletParams{ChannelID: channelID})
	if boterr.CodeOf(err) != boterr.NotFound {
		require.NoError(t, err)
	}
	return found
}

func assignmentByOutletReadsTheNewestOpen(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	first := t.request(t.home, livechat.CreateAssignmentParams{})
	eve := t.neighbourPlace()
	t.requestTaken(eve, d, livechat.CreateAssignmentParams{})
	third := t.neighbourPlace()
	requireSameAssignment(t, t.request(third, livechat.CreateAssignmentParams{}), t.inOutlet(t.home, d.ID))
	for _, p := range []*place{third, eve} {
		_, err := p.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
		require.NoError(t, err)
	}
	requireSameAssignment(t, first, t.inOutlet(t.home, d.ID))
}

func assignmentByOutletIsWhereItWasTaken(t *trial) {
	one, two := t.addDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	t.Pair(t.home.channel, one.Channel, two.Channel)
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	requireSameAssignment(t, a, t.inOutlet(t.home, one.ID))
	requireSameAssignment(t, a, t.inOutlet(t.home, two.ID))
	require.NoError(t, two.agent.Take(a.ID))
	require.Nil(t, t.inOutlet(t.home, one.ID))
	requireSameAssignment(t, t.assignment(t.home, a.ID), t.inOutlet(t.home, two.ID))
}

func assignmentByOutletTakesMetaAsAFilter(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	plain := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("locale", "de")})
	forEve := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{
		Meta: document.O("firstName", document.O("$in", document.A("Eve", "Bob")), "data", 1),
	})
	require.Equal(t, plain.ID, t.inOutlet(t.home, d.ID).ID)
	require.Equal(t, forEve.ID, t.inOutlet(t.neighbourPlace(), d.ID).ID)
	forAda := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{
		Meta: document.O("$or", document.A(document.O("firstName", "Ada"))),
	})
	require.Equal(t, forAda.ID, t.inOutlet(t.home, d.ID).ID)
}
