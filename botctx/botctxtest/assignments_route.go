package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var routingRules = []Rule{
	{
		Name:  "CreateAssignmentGoesToAllPairedOutlets",
		Text:  "tickets are sent to all broadcast groups with the label in all channels that are paired with the inlet, in order",
		check: createAssignmentGoesToAllPairedOutlets,
	},
	{
		Name:  "CreateAssignmentPassesOverWhatIsOff",
		Text:  "paired channels that are off get no ticket; a member whose channel is off, and a target that is, are FailedPrecondition",
		Needs: []Capability{switchOff},
		check: createAssignmentPassesOverWhatIsOff,
	},
	{
		Name:  "CreateAssignmentGoesToItsTargets",
		Text:  "targets override label, pairing and broadcast groups; what a target does not say is by its label, default by default",
		check: createAssignmentGoesToItsTargets,
	},
	{
		Name:  "CreateAssignmentGoesToFoxtrotAlone",
		Text:  "a Foxtrot channel with a broadcast group of the label takes the request alone; one without is passed over",
		Needs: []Capability{On(channel.Foxtrot)},
		check: createAssignmentGoesToFoxtrotAlone,
	},
	{
		Name:  "CreateAssignmentGoesToCustomAlone",
		Text:  "a custom channel takes the request alone, also where it is a target; of several the first does",
		Needs: []Capability{On(channel.Custom)},
		check: createAssignmentGoesToCustomAlone,
	},
	{
		Name:  "CreateAssignmentAsksALiveChatAPI",
		Text:  "with createGroup a custom channel's live-chat API is asked once, and told everything; groupId is the group that it made",
		Needs: []Capability{On(channel.Custom), readAsked},
		check: createAssignmentAsksALiveChatAPI,
	},
	{
		Name:  "CreateAssignmentMakesNoGroupByDefault",
		Text:  "without createGroup a custom channel's live-chat API is asked, too, and there is no groupId",
		Needs: []Capability{On(channel.Custom), readAsked},
		check: createAssignmentMakesNoGroupByDefault,
	},
	{
		Name:  "CreateAssignmentTakesAnyDetailsForCustom",
		Text:  "a custom channel gets assignmentDetails as they are, whatever they hold; elsewhere another type is InvalidArgument",
		Needs: []Capability{On(channel.Custom), readAsked},
		check: detailsOfACustomChannelAreItsOwn,
	},
}

// toGroup is a broadcast group of an outlet as an assignment keeps it.
func toGroup(outlet *desk, label string, group channel.BroadcastGroupMember) livechat.Target {
	return livechat.Target{Channel: outlet.ID, BroadcastGroups: []channel.BroadcastGroupMember{group}, Label: label}
}

// requireTargets checks where a request went: to broadcast groups of outlets.
func requireTargets(t *trial, a *livechat.Assignment, expected ...livechat.Target) {
	t.Helper()
	require.Equal(t, textOf(t, expected), textOf(t, a.Targets))
}

func createAssignmentGoesToAllPairedOutlets(t *trial) {
	first, second, unpaired := t.addDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	one, two := newBroadcastGroup(t.ticketing()), newBroadcastGroup(t.ticketing())
	third := &desk{Channel: t.AddChannel(channel.Channel{App: t.home.scope.App, Type: t.ticketing(), BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{one, two}},
	}})}
	t.Pair(t.home.channel, second.Channel, third.Channel, first.Channel)
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	requireTargets(t, a,
		toGroup(second, "default", second.support),
		livechat.Target{Channel: third.ID, BroadcastGroups: []channel.BroadcastGroupMember{one, two}, Label: "default"},
		toGroup(first, "default", first.support))
	t.requireTickets(first, map[channel.BroadcastGroupMember]int{first.support: 1, first.sales: 0})
	t.requireTickets(second, map[channel.BroadcastGroupMember]int{second.support: 1, second.sales: 0})
	t.requireTickets(third, map[channel.BroadcastGroupMember]int{one: 1, two: 1})
	t.requireTickets(unpaired, map[channel.BroadcastGroupMember]int{unpaired.support: 0, unpaired.sales: 0})
	sales := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Label: "sales"})
	requireTargets(t, sales,
		toGroup(second, "sales", second.sales),
		toGroup(first, "sales", first.sales))
}

func createAssignmentPassesOverWhatIsOff(t *trial) {
	on, off := t.addDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	t.SwitchOff(off.Channel)
	t.Pair(t.home.channel, off.Channel, on.Channel)
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	requireTargets(t, a, toGroup(on, "default", on.support))
	t.requireTickets(off, map[channel.BroadcastGroupMember]int{off.support: 0})
	refused := func(p *place, params livechat.CreateAssignmentParams) {
		t.Helper()
		before := t.state()
		_, err := p.CreateAssignment(t.ctx(), params)
		t.requireCode(boterr.FailedPrecondition, err)
		require.Equal(t, before, t.state())
	}
	eve := t.neighbourPlace()
	refused(eve, livechat.CreateAssignmentParams{Targets: []livechat.Target{{Channel: off.ID}}})
	t.SwitchOff(t.home.channel)
	refused(eve, livechat.CreateAssignmentParams{})
}

func createAssignmentGoesToItsTargets(t *trial) {
	paired, other := t.openDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	own := newBroadcastGroup(t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{Label: "nobody's", Targets: []livechat.Target{
		{Channel: other.ID, BroadcastGroups: []channel.BroadcastGroupMember{own}, Unknown: document.O("note", "x")},
		{Channel: paired.ID, Label: "sales"},
	}})
	requireTargets(t, a,
		livechat.Target{
			Channel: other.ID, BroadcastGroups: []channel.BroadcastGroupMember{own}, Label: "default", Unknown: document.O("note", "x"),
		},
		toGroup(paired, "sales", paired.sales))
	t.requireTickets(paired, map[channel.BroadcastGroupMember]int{paired.support: 0, paired.sales: 1})
	t.requireTickets(other, map[channel.BroadcastGroupMember]int{other.support: 0, own: 1})
	eve := t.neighbourPlace()
	a = t.request(eve, livechat.CreateAssignmentParams{Label: "sales", Targets: []livechat.Target{{Channel: other.ID}}})
	requireTargets(t, a, toGroup(other, "default", other.support))
	a = t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Targets: []livechat.Target{}})
	requireTargets(t, a, toGroup(paired, "default", paired.support))
}

func createAssignmentGoesToFoxtrotAlone(t *trial) {
	tickets, helpdesk := t.addDesk(t.home, t.ticketing()), t.addDesk(t.home, channel.Foxtrot)
	t.Pair(t.home.channel, tickets.Channel, helpdesk.Channel)
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	require.True(t, a.IsZendesk)
	requireTargets(t, a, toGroup(helpdesk, "default", helpdesk.support))
	t.requireTickets(tickets, map[channel.BroadcastGroupMember]int{tickets.support: 0})
	bare := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Foxtrot})
	t.Pair(t.home.channel, bare, tickets.Channel)
	a = t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	require.False(t, a.IsZendesk)
	requireTargets(t, a, toGroup(tickets, "default", tickets.support))
}

func createAssignmentGoesToCustomAlone(t *trial) {
	tickets := t.addDesk(t.home, t.ticketing())
	first := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Custom})
	second := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Custom})
	t.Pair(t.home.channel, tickets.Channel, first, second)
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	requireTargets(t, a, livechat.Target{Channel: first.ID, Label: "default"})
	require.False(t, a.IsZendesk)
	targets := []livechat.Target{{Channel: tickets.ID}, {Channel: second.ID}, {Channel: first.ID}}
	a = t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Targets: targets})
	requireTargets(t, a, livechat.Target{Channel: second.ID, Label: "default"})
	t.requireTickets(tickets, map[channel.BroadcastGroupMember]int{tickets.support: 0})
	if t.Sent != nil && t.Asked != nil {
		for _, c := range []*channel.Channel{first, second} {
			require.Equal(t, 1, len(t.sentThrough(c))+len(t.askedOf(c)))
		}
	}
}

func createAssignmentAsksALiveChatAPI(t *trial) {
	custom := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Custom})
	t.Pair(t.home.channel, custom)
	created, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{
		CreateGroup: &livechat.CreateGroup{ExternalID: "wanted"},
		Meta:        document.O("n", 1),
		AssignmentDetails: livechat.AssignmentDetails{
			Summary: "A kettle", GroupName: "Ada's", Unknown: document.O("own", document.O("x", 1)),
		},
	})
	require.NoError(t, err)
	require.Len(t, t.Asked(), 1)
	require.Equal(t, custom.ID, t.Asked()[0].Channel)
	body := t.Asked()[0].Body
	require.Equal(t, created.AssignmentID, document.Get(body, "assignmentId", ""))
	require.Equal(t, t.home.member.ID, document.Get(body, "member._id", ""))
	require.JSONEq(t, `{"summary": "A kettle", "groupName": "Ada's", "own": {"x": 1}}`,
		document.Get(body, "assignmentDetails", document.O()).String())
	require.Equal(t, `{"n":1}`, document.Get(body, "meta", document.O()).String())
	require.Equal(t, "wanted", document.Get(body, "externalId", ""))
	a := t.assignment(t.home, created.AssignmentID)
	require.Equal(t, a.Group, created.GroupID)
	g := t.groupOf(t.home, a)
	require.NotEmpty(t, g.ExternalID)
	require.Equal(t, []string{custom.ID, t.home.member.ID, a.ID}, []string{g.Outlet, g.Member, g.Assignment})
	again, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{CreateGroup: &livechat.CreateGroup{}})
	require.NoError(t, err)
	require.Equal(t, created.GroupID, again.GroupID)
	require.Len(t, t.Asked(), 1)
}

func createAssignmentMakesNoGroupByDefault(t *trial) {
	custom := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Custom})
	t.Pair(t.home.channel, custom)
	created, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	require.Empty(t, created.GroupID)
	require.NotContains(t, textOf(t, created), "groupId")
	require.Len(t, t.askedOf(custom), 1)
	require.Empty(t, t.assignment(t.home, created.AssignmentID).Group)
}

func detailsOfACustomChannelAreItsOwn(t *trial) {
	tickets := t.addDesk(t.home, t.ticketing())
	details := document.O(
		"summary", document.O("a", 1), "groupName", document.A("x"), "relayMessage", "as you like it", "own", nil)
	before := t.state()
	_, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Unknown: details}, Targets: []livechat.Target{{Channel: tickets.ID}},
	})
	t.requireError(botctx.OpCreateAssignment, boterr.InvalidArgument, "assignmentDetails", err)
	require.Equal(t, before, t.state())
	custom := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Custom})
	t.Pair(t.home.channel, custom)
	t.request(t.home, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{Unknown: details}})
	require.JSONEq(t, details.String(), document.Get(t.askedOf(custom)[0].Body, "assignmentDetails", document.O()).String())
}

// askedOf returns what the live-chat API of a channel was asked, in order.
func (t *trial) askedOf(c *channel.Channel) []Asked {
	t.Helper()
	var all []Asked
	for _, asked := range t.Asked() {
		if asked.Channel == c.ID {
			all = append(all, asked)
		}
	}
	return all
}

// sentThrough returns what has arrived through a channel, in order.
func (t *trial) sentThrough(c *channel.Channel) []Sent {
	t.Helper()
	var through []Sent
	for _, s := range t.Sent() {
		if s.Channel == c.ID {
			through = append(through, s)
		}
	}
	return through
}
