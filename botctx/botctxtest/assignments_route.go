package botctxtest

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var routingRules = []Rule{
	rule(createAssignmentGoesToAllPairedOutlets,
		"tickets are sent to all broadcast groups with the label in all channels paired with the inlet, in order"),
	rule(createAssignmentPassesOverWhatIsOff,
		"paired channels that are off get no ticket; if the member's channel or a target is off, the call is FailedPrecondition", switchOff),
	rule(createAssignmentGoesToItsTargets,
		"targets replace label, pairing and broadcast groups; missing parts of a target follow from its label, whose default is \"default\""),
	rule(createAssignmentGoesToFoxtrotAlone,
		"only a Foxtrot channel with a broadcast group for the label gets the request; others are skipped", On(channel.Foxtrot)),
	rule(createAssignmentNeedsNoIDOfAGroup,
		"the id of a Foxtrot broadcast group is optional, in the channel and in a target: the request goes to the channel itself",
		On(channel.Foxtrot)),
	rule(createAssignmentGoesToCustomAlone,
		"if the outlets or targets include a custom channel, only that channel gets the request; of several, the first", On(channel.Custom)),
	rule(createAssignmentAsksALiveChatAPI,
		"with createGroup the live-chat API of a custom channel gets one request with all details; groupId is the group that it created",
		On(channel.Custom), readAsked),
	rule(createAssignmentMakesNoGroupByDefault,
		"without createGroup the API of a custom channel also gets the request, and there is no groupId", On(channel.Custom), readAsked),
	rule(createAssignmentTakesAnyDetailsForCustom,
		"a custom channel gets assignmentDetails unchanged, with any content; on other platforms a wrong type in it is InvalidArgument",
		On(channel.Custom), readAsked),
}

// toGroup returns a broadcast group of an outlet as a target.
func toGroup(outlet *desk, label string, group channel.BroadcastGroupMember) livechat.Target {
	return livechat.Target{Channel: outlet.ID, BroadcastGroups: []channel.BroadcastGroupMember{group}, Label: label}
}

// requireTargets checks the targets of a request.
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
		_, err := p.CreateAssignment(t.Context(), params)
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

func createAssignmentNeedsNoIDOfAGroup(t *trial) {
	group := channel.BroadcastGroupMember{Type: string(channel.Foxtrot)}
	for name, stored := range map[string][]channel.BroadcastGroup{
		"in the channel": {{Label: "default", Groups: []channel.BroadcastGroupMember{group}}},
		"in a target":    nil,
	} {
		t.try(name, func(t *trial) {
			helpdesk := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Foxtrot, BroadcastGroups: stored})
			target := livechat.Target{Channel: helpdesk.ID, BroadcastGroups: []channel.BroadcastGroupMember{group}, Label: "default"}
			params := livechat.CreateAssignmentParams{Targets: []livechat.Target{target}}
			if stored != nil {
				t.Pair(t.home.channel, helpdesk)
				params.Targets = nil
			}
			a := t.request(t.neighbourPlace(), params)
			requireTargets(t, a, target)
			require.True(t, a.IsZendesk)
			if t.Sent != nil {
				require.Len(t, t.sentThrough(helpdesk), 1)
			}
		})
	}
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
	created := must(t, t.home.CreateAssignment, livechat.CreateAssignmentParams{
		CreateGroup: &livechat.CreateGroup{ExternalID: "wanted"},
		Meta:        document.O("n", 1),
		AssignmentDetails: livechat.AssignmentDetails{
			Summary: "A kettle", GroupName: "Ada's", Unknown: document.O("own", document.O("x", 1)),
		},
	})
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
	again := must(t, t.home.CreateAssignment, livechat.CreateAssignmentParams{CreateGroup: &livechat.CreateGroup{}})
	require.Equal(t, created.GroupID, again.GroupID)
	require.Len(t, t.Asked(), 1)
}

func createAssignmentMakesNoGroupByDefault(t *trial) {
	custom := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Custom})
	t.Pair(t.home.channel, custom)
	created := must(t, t.home.CreateAssignment, livechat.CreateAssignmentParams{})
	require.Empty(t, created.GroupID)
	require.NotContains(t, textOf(t, created), "groupId")
	require.Len(t, t.askedOf(custom), 1)
	require.Empty(t, t.assignment(t.home, created.AssignmentID).Group)
}

func createAssignmentTakesAnyDetailsForCustom(t *trial) {
	tickets := t.addDesk(t.home, t.ticketing())
	details := document.O(
		"summary", document.O("a", 1), "groupName", document.A("x"), "relayMessage", "as you like it", "own", nil)
	before := t.state()
	_, err := t.home.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Unknown: details}, Targets: []livechat.Target{{Channel: tickets.ID}},
	})
	t.requireError(botctx.OpCreateAssignment, boterr.InvalidArgument, "assignmentDetails", err)
	require.Equal(t, before, t.state())
	custom := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: channel.Custom})
	t.Pair(t.home.channel, custom)
	t.request(t.home, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{Unknown: details}})
	require.JSONEq(t, details.String(), document.Get(t.askedOf(custom)[0].Body, "assignmentDetails", document.O()).String())
}

// askedOf returns the requests to the live-chat API of a channel, in order.
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

// sentThrough returns the messages sent through a channel, in order.
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

var takeRules = []Rule{
	rule(aTakenAssignmentTellsWhoHasIt,
		"a taken assignment has assignee, assignedAt and its group; the group has the assignment, the member and the agent"),
	rule(theConversationIsNamedAndSummedUp,
		"the name of the conversation is groupName or else the member's name; summary, if given, is sent to it unchanged at once",
		readSent),
	rule(oneOfFiftyAgentsTakesATicket, "if fifty agents take a ticket concurrently, one of them gets the request"),
	rule(anAgentTakesOnlyWhatIsOpenThere,
		"an agent cannot take a request that has ended, was withdrawn, or was not offered in the outlet"),
}

func aTakenAssignmentTellsWhoHasIt(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	asked := t.request(t.home, livechat.CreateAssignmentParams{})
	require.NoError(t, d.agent.Take(asked.ID))
	a := t.assignment(t.home, asked.ID)
	require.Equal(t, d.agent.ExternalID, a.Assignee)
	require.GreaterOrEqual(t, a.AssignedAt, a.CreatedAt)
	require.Greater(t, a.Version, asked.Version)
	require.NotEqual(t, asked.Etag, a.Etag)
	g := t.groupOf(t.home, a)
	require.Equal(t, g.ExternalID, document.Get(a.GroupInfo, "externalId", ""))
	require.Equal(t, a.ID, g.Assignment)
	require.Equal(t, t.home.member.ID, g.Member)
	require.Equal(t, []string{t.home.scope.Channel, d.ID}, []string{g.Inlet, g.Outlet})
	require.Equal(t, []string{d.agent.ExternalID, d.agent.AdminID}, []string{g.AdminExternalID, g.Admin})
	require.True(t, g.Active)
	require.True(t, g.Valid)
	require.True(t, t.isInLiveChat(t.home.member))
}

func theConversationIsNamedAndSummedUp(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	plain := t.groupOf(t.home, t.requestTaken(t.home, d, livechat.CreateAssignmentParams{}))
	require.Contains(t, plain.Name, "Ada")
	require.Empty(t, t.textsTo(d.ID, plain.ExternalID))
	eve := t.neighbour(member.Member{FirstName: "Eve"})
	named := t.groupOf(t.home, t.requestTaken(t.home, d, livechat.CreateAssignmentParams{
		Member: eve, AssignmentDetails: livechat.AssignmentDetails{Summary: "{{lastName}} has a kettle", GroupName: "The {{meta.kettle}}"},
	}))
	require.Equal(t, "The {{meta.kettle}}", named.Name)
	require.Equal(t, []string{"{{lastName}} has a kettle"}, t.textsTo(d.ID, named.ExternalID))
	require.NotEqual(t, plain.ExternalID, named.ExternalID, "each has a separate conversation")
}

func oneOfFiftyAgentsTakesATicket(t *trial) {
	const crowd = 50
	d := t.openDesk(t.home, t.ticketing())
	agents := make([]*Agent, crowd)
	for i := range agents {
		agents[i] = t.Agent(d.Channel)
	}
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	failures := conformance.AtOnce(crowd, func(i int) error { return agents[i].Take(a.ID) })
	var got []string
	for i, err := range failures {
		if err == nil {
			got = append(got, agents[i].ExternalID)
		}
	}
	require.Len(t, got, 1, "the number of agents who got the request")
	taken := t.assignment(t.home, a.ID)
	require.Equal(t, got[0], taken.Assignee)
	require.Equal(t, got[0], t.groupOf(t.home, taken).AdminExternalID)
}

func anAgentTakesOnlyWhatIsOpenThere(t *trial) {
	d, other := t.openDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	before := t.state()
	require.Error(t, other.agent.Take(a.ID), "the request was not offered in this outlet")
	require.Equal(t, before, t.state())
	must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
	withdrawn := t.request(t.home, livechat.CreateAssignmentParams{})
	t.withdraw(t.home.member)
	before = t.state()
	require.Error(t, d.agent.Take(a.ID), "it has ended")
	require.Error(t, d.agent.Take(withdrawn.ID), "the request was withdrawn")
	require.Equal(t, before, t.state())
}

func (t *trial) withdraw(m *member.Member) livechat.RemovePendingAssignmentByMemberIDResult {
	t.Helper()
	return must(t, t.home.RemovePendingAssignmentByMemberID, livechat.RemovePendingAssignmentByMemberIDParams{MemberID: m.ID})
}

func groupTarget(group channel.BroadcastGroupMember) livechat.NewTarget {
	return livechat.NewTarget{ID: group.ID, Type: group.Type}
}

var reassignRules = []Rule{
	rule(reassignAssignmentEndsOneAndBeginsAnother,
		"reassignAssignment ends the previous assignment and creates a new one for the groups of the label, with it as parentAssignment"),
	rule(reassignAssignmentFindsThePrevious,
		"the previous assignment is found by messageEvent or by the _id of previousAssignment, whose other fields are ignored"),
	rule(reassignAssignmentGoesToItsTargets, "targets override label, pairing and broadcast groups"),
	rule(reassignAssignmentAgainGivesTheNewOne,
		"reassigning again returns the new assignment while no agent has taken it, and sends nothing"),
	rule(reassignAssignmentNeedsWhatCanBeHandedOn,
		"an ended assignment, and a label or target that cannot take requests, are FailedPrecondition, and the live chat continues"),
	rule(reassignAssignmentMakesOneOfManyAtOnce,
		"concurrent calls that reassign an assignment create one new assignment, which all callers get, and its ticket is sent once"),
}

// handOn reassigns the assignment of a live chat, and returns the new assignment.
func (t *trial) handOn(k talk, params livechat.ReassignAssignmentParams) *livechat.Assignment {
	t.Helper()
	params.Channel, params.MessageEvent = addressOf(k.desk.ID), eventIn(k.group)
	if len(params.Targets) == 0 {
		params.Label = "sales"
	}
	result := must(t, t.home.ReassignAssignment, params)
	require.NotNil(t, result.Member)
	require.Equal(t, textOf(t, t.load(t.home.member)), textOf(t, result.Member))
	return t.assignment(t.home, result.AssignmentID)
}

func reassignAssignmentEndsOneAndBeginsAnother(t *trial) {
	h := t.talk()
	next := t.handOn(h, livechat.ReassignAssignmentParams{})
	require.NotEqual(t, h.assignment.ID, next.ID)
	require.Equal(t, h.assignment.ID, next.ParentAssignment)
	require.Equal(t, []string{t.home.member.ID, t.home.scope.Channel}, []string{next.Member, next.Inlet})
	require.Empty(t, next.Assignee)
	requireTargets(t, next, toGroup(h.desk, "sales", h.desk.sales))
	t.requireTickets(h.desk, map[channel.BroadcastGroupMember]int{h.desk.support: 1, h.desk.sales: 1})
	require.True(t, t.isInLiveChat(t.home.member))
	require.False(t, t.groupOf(t.home, h.assignment).Active, "the previous group must be inactive")
	require.Equal(t, next.ID, t.request(t.home, livechat.CreateAssignmentParams{}).ID, "the new request must be open")
	require.Error(t, h.desk.agent.Take(h.assignment.ID))
	require.NoError(t, h.desk.agent.Take(next.ID))
}

func reassignAssignmentFindsThePrevious(t *trial) {
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
			result := must(t, t.at(t.home, d.Channel, nil).ReassignAssignment, params)
			require.Equal(t, asking.member.ID, result.Member.ID)
			next := t.assignment(t.home, result.AssignmentID)
			require.Equal(t, []string{a.ID, asking.member.ID, asking.scope.Channel}, []string{next.ParentAssignment, next.Member, next.Inlet})
			require.Equal(t, "{}", next.Meta.String())
		})
	}
}

func reassignAssignmentGoesToItsTargets(t *trial) {
	h := t.talk()
	other := t.addDesk(t.home, t.ticketing())
	next := t.handOn(h, livechat.ReassignAssignmentParams{Targets: []livechat.Target{{Channel: other.ID, Label: "sales"}}})
	requireTargets(t, next, toGroup(other, "sales", other.sales))
	t.requireTickets(h.desk, map[channel.BroadcastGroupMember]int{h.desk.support: 1, h.desk.sales: 0})
	t.requireTickets(other, map[channel.BroadcastGroupMember]int{other.support: 0, other.sales: 1})
	require.NoError(t, other.agent.Take(next.ID))
}

func reassignAssignmentAgainGivesTheNewOne(t *trial) {
	h := t.talk()
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

func reassignAssignmentNeedsWhatCanBeHandedOn(t *trial) {
	type params = livechat.ReassignAssignmentParams
	h := t.talk()
	cases := []badInput[params]{
		{"no groups of the label", params{Channel: h.desk.Channel, Label: "nobody's", MessageEvent: eventIn(h.group)}, "label"},
		{"no groups of the label of a target", params{
			Channel: h.desk.Channel, MessageEvent: eventIn(h.group), Targets: []livechat.Target{{Channel: h.desk.ID, Label: "nobody's"}},
		}, "targets[0]"},
	}
	requireFails(t, botctx.OpReassignAssignment, t.home.ReassignAssignment, boterr.FailedPrecondition, cases)
	must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
	ended := params{Channel: h.desk.Channel, Label: "sales", PreviousAssignment: h.assignment}
	requireFails(t, botctx.OpReassignAssignment, t.home.ReassignAssignment, boterr.FailedPrecondition, []badInput[params]{
		{"ended", ended, "previousAssignment"},
	})
}

func reassignAssignmentMakesOneOfManyAtOnce(t *trial) {
	h := t.talk()
	var mu sync.Mutex
	ids := map[string]bool{}
	t.atOnce(func(int) error {
		result, err := t.home.ReassignAssignment(t.Context(), livechat.ReassignAssignmentParams{
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

var reassignDefaultRules = []Rule{
	rule(reassignAssignmentTakesOverWhatIsNotGiven,
		"the defaults of reassignAssignment come from the previous assignment: meta, ticket, and the name and summary of the conversation",
		readSent),
	rule(reassignAssignmentSetsWhatIsGiven,
		"relayMessage, groupName and summary are for the new conversation; fields of meta are added to the previous meta", readSent),
	rule(reassignAssignmentPutsTheMemberInLiveChat, "the member is in live chat after reassignAssignment, unless liveChat is false"),
	rule(reassignAssignmentIsToNoInletGroupByDefault,
		"inletGroup means that the inlet's side is a group, which the new assignment also gets; the default is false"),
	rule(reassignAssignmentShowsTheTakenMessage,
		"after an agent takes a ticket on Charlie, the other tickets show takenMessage, with the agent's name for [adminName]",
		readSent, On(channel.Charlie)),
}

// elaborateTalk starts a live chat of the home member, whose request has all details that reassignAssignment keeps.
func (t *trial) elaborateTalk() talk {
	t.Helper()
	d := t.openDesk(t.home, t.ticketing())
	a := t.requestTaken(t.home, d, livechat.CreateAssignmentParams{
		Meta: document.O("a", document.O("x", 1), "b", 2),
		AssignmentDetails: livechat.AssignmentDetails{
			Summary: "A kettle", GroupName: "The kettle",
			RelayMessage: map[channel.Type]send.Response{d.Type: send.Template("Who helps {{firstName}}?")},
		},
	})
	return talk{desk: d, inlet: t.home, assignment: a, group: t.groupOf(t.home, a)}
}

func reassignAssignmentTakesOverWhatIsNotGiven(t *trial) {
	h := t.elaborateTalk()
	next := t.handOn(h, livechat.ReassignAssignmentParams{})
	require.Equal(t, h.assignment.Meta.String(), next.Meta.String())
	require.Equal(t, h.assignment.History, next.History)
	require.Equal(t, []string{"Who helps Ada?"}, t.textsTo(h.desk.ID, h.desk.sales.ID))
	require.NoError(t, h.desk.agent.Take(next.ID))
	g := t.groupOf(t.home, t.assignment(t.home, next.ID))
	require.Equal(t, "The kettle", g.Name)
	require.Equal(t, []string{"A kettle"}, t.textsTo(h.desk.ID, g.ExternalID))
}

func reassignAssignmentSetsWhatIsGiven(t *trial) {
	h := t.elaborateTalk()
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

func reassignAssignmentPutsTheMemberInLiveChat(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	for name, c := range map[string]struct {
		given *bool
		want  bool
	}{"not given": {nil, true}, "true": {new(true), true}, "false": {new(false), false}} {
		t.try(name, func(t *trial) {
			asking := t.neighbourPlace()
			a := t.requestTaken(asking, d, livechat.CreateAssignmentParams{})
			result := must(t, t.home.ReassignAssignment, livechat.ReassignAssignmentParams{
				Channel: d.Channel, Label: "sales", PreviousAssignment: a, LiveChat: c.given,
			})
			require.Equal(t, c.want, result.Member.BotMeta.LiveChat())
			require.Equal(t, c.want, t.isInLiveChat(asking.member))
			require.NoError(t, d.agent.Take(result.AssignmentID))
			require.Equal(t, c.want, t.isInLiveChat(asking.member), "also when an agent has taken it")
		})
	}
}

func reassignAssignmentIsToNoInletGroupByDefault(t *trial) {
	h := t.talk()
	params := livechat.ReassignAssignmentParams{
		Channel: h.desk.Channel, Label: "sales", MessageEvent: eventIn(h.group), InletGroup: true,
	}
	requireFails(t, botctx.OpReassignAssignment, t.home.ReassignAssignment, boterr.FailedPrecondition,
		[]badInput[livechat.ReassignAssignmentParams]{{"the inlet's side is no group", params, "inletGroup"}})
	for name, isGroup := range map[string]bool{"not given": false, "true": true} {
		t.try(name, func(t *trial) {
			asking := t.inGroup(t.neighbourPlace(), "family")
			a := t.requestTaken(asking, h.desk, livechat.CreateAssignmentParams{})
			result := must(t, t.home.ReassignAssignment, livechat.ReassignAssignmentParams{
				Channel: h.desk.Channel, Label: "sales", PreviousAssignment: a, InletGroup: isGroup,
			})
			kept := document.Get(t.assignment(t.home, result.AssignmentID).InletGroupInfo, "externalId", "")
			require.Equal(t, isGroup, kept == "family", "inletGroupInfo.externalId is %q", kept)
		})
	}
}

func reassignAssignmentShowsTheTakenMessage(t *trial) {
	h := t.talkOn(channel.Charlie)
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
