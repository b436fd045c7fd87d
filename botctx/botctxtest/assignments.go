package botctxtest

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func assignmentRules() []Rule {
	return slices.Concat(
		createAssignmentRules, assignmentDefaultRules, routingRules, takeRules, newTargetRules, reassignRules, reassignDefaultRules,
		readAssignmentRules, assignmentByOutletRules, assignmentListRules, updateAssignmentRules, assignmentGroupRules,
		removeAssignmentRules, momentRules,
		endLiveChatRules, inletEndRules, needing([]Capability{On(channel.Bravo)}, endBravoRules),
	)
}

// strangeChannels returns ids that are not channels of the app home, by case.
func (t *trial) strangeChannels() map[string]string {
	t.Helper()
	return map[string]string{"of nobody": unique("channel"), "of another app": t.away.scope.Channel}
}

// withoutScope returns operations in the app of a place, without a channel or a member.
func (t *trial) withoutScope(p *place) botctx.Operations {
	t.Helper()
	return t.Operations(botctx.Scope{App: p.scope.App})
}

func addressOf(id string) *channel.Channel { return &channel.Channel{ID: id} }

// forged returns a copy of a member's record with wrong fields, which operations must ignore.
func forged(m *member.Member, app string) *member.Member {
	return &member.Member{ID: m.ID, App: app, Channel: unique("channel"), ExternalID: unique("external"), FirstName: "Forged"}
}

func tooLong() string { return strings.Repeat("ä", send.MaxText+1) }

// textsTo returns the texts that arrived through a channel for a recipient, in order.
func (t *trial) textsTo(channelID, externalID string) []string {
	t.Helper()
	texts := []string{}
	for _, s := range t.sentTo(channelID, externalID) {
		texts = append(texts, s.Response.Text())
	}
	return texts
}

// requireTickets checks the number of tickets for each broadcast group.
func (t *trial) requireTickets(outlet *desk, counts map[channel.BroadcastGroupMember]int) {
	t.Helper()
	if t.Sent == nil {
		return
	}
	for group, count := range counts {
		require.Len(t, t.sentTo(outlet.ID, group.ID), count, "the tickets in the broadcast group %s", group.ID)
	}
}

func idsOf(assignments []*livechat.Assignment) []string {
	ids := []string{}
	for _, a := range assignments {
		ids = append(ids, a.ID)
	}
	return ids
}

// assignmentsOf returns the assignments of a member, the oldest first.
func (t *trial) assignmentsOf(p *place, m *member.Member) []*livechat.Assignment {
	t.Helper()
	return must(t, p.GetAssignmentsByMemberID, livechat.GetAssignmentsByMemberIDParams{MemberID: m.ID})
}

var createAssignmentRules = []Rule{
	rule(createAssignmentPutsTheMemberInLiveChat,
		"the member that createAssignment returns has botMeta.liveChat true, and so has the stored one"),
	rule(createAssignmentKeepsTheRequest,
		"the assignment has the member, the channel, the targets and the details of the request, and no agent"),
	rule(createAssignmentSendsTickets,
		"the ticket is the relay message of its platform, else a text that names the member; {{path}} is filled from the member", readSent),
	rule(createAssignmentAgainGivesTheOpenOne,
		"if the member has an open request, it is returned and nothing is sent; after its end there is a new one"),
	rule(createAssignmentTakesMembersAsAddresses,
		"of a member record in the parameters only the _id counts: the member is loaded again"),
	rule(createAssignmentNeedsWhoTakesIt, "a request that no outlet can take is FailedPrecondition, and the member is not in live chat"),
	rule(createAssignmentTakesACopy, "later changes to the parameters and the result of createAssignment do not change the stored record"),
	rule(createAssignmentMakesOneOfManyAtOnce,
		"concurrent requests of a member create one assignment, which all callers get, and its ticket is sent once"),
}

func createAssignmentPutsTheMemberInLiveChat(t *trial) {
	t.openDesk(t.home, t.ticketing())
	created := must(t, t.home.CreateAssignment, livechat.CreateAssignmentParams{})
	require.NotNil(t, created.Member)
	require.Equal(t, t.home.member.ID, created.Member.ID)
	require.True(t, created.Member.BotMeta.LiveChat())
	require.True(t, t.isInLiveChat(t.home.member))
	require.Equal(t, textOf(t, t.load(t.home.member)), textOf(t, created.Member))
	require.NotEmpty(t, created.AssignmentID)
	require.Empty(t, created.GroupID, "without createGroup")
	require.NotContains(t, textOf(t, created), "groupId")
}

func createAssignmentKeepsTheRequest(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	meta := document.O("order", document.O("id", 7), "list", document.A(1, nil))
	a := t.request(t.home, livechat.CreateAssignmentParams{
		Meta: meta,
		AssignmentDetails: livechat.AssignmentDetails{
			RelayMessage: map[channel.Type]send.Response{d.Type: send.Template("Who helps {{firstName}}?")},
		},
	})
	require.Equal(t, t.home.scope.App, a.App)
	require.Equal(t, t.home.scope.Channel, a.Inlet)
	require.Equal(t, t.home.scope.Member, a.Member)
	require.Equal(t, meta.String(), a.Meta.String())
	require.Equal(t, `[{"channel":"`+d.ID+`","broadcastGroups":`+textOf(t, []channel.BroadcastGroupMember{d.support})+`,"label":"default"}]`,
		textOf(t, a.Targets))
	require.Equal(t, "Who helps Ada?", document.Get(a.RelayMessage, string(d.Type)+".text", ""))
	require.Positive(t, a.Version)
	require.NotEmpty(t, a.Etag)
	require.GreaterOrEqual(t, a.CreatedAt, t.home.member.CreatedAt)
	require.GreaterOrEqual(t, a.UpdatedAt, a.CreatedAt)
	require.Zero(t, a.AssignedAt)
	require.Empty(t, a.Assignee)
	require.Empty(t, a.Group)
	require.Empty(t, a.ParentAssignment)
	require.False(t, a.IsZendesk)
}

func createAssignmentSendsTickets(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	t.request(t.home, livechat.CreateAssignmentParams{})
	plain := t.textsTo(d.ID, d.support.ID)
	require.Len(t, plain, 1)
	require.Contains(t, plain[0], "Ada")
	eve := t.neighbour(member.Member{FirstName: "Eve", Meta: document.O("n", 7)})
	t.request(t.home, livechat.CreateAssignmentParams{Member: eve, AssignmentDetails: livechat.AssignmentDetails{
		RelayMessage: map[channel.Type]send.Response{
			d.Type: send.Template("{{firstName}} has {{meta.n}}"), channel.Foxtrot: send.Text("for others"),
		},
	}})
	require.Equal(t, append(plain, "Eve has 7"), t.textsTo(d.ID, d.support.ID))
	require.Empty(t, t.textsTo(d.ID, d.sales.ID))
}

func createAssignmentAgainGivesTheOpenOne(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	first := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	again := func(name string) {
		t.Helper()
		before := t.state()
		repeated := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 2), Label: "sales"})
		require.Equal(t, first.ID, repeated.ID, name)
		require.Equal(t, before, t.state(), name)
	}
	again("pending")
	require.NoError(t, d.agent.Take(first.ID))
	again("taken")
	must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
	next := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 2)})
	require.NotEqual(t, first.ID, next.ID)
	require.True(t, t.isInLiveChat(t.home.member))
}

func createAssignmentTakesMembersAsAddresses(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	eve := t.neighbour(member.Member{FirstName: "Eve"})
	created := must(t, t.home.CreateAssignment, livechat.CreateAssignmentParams{Member: forged(eve, t.away.scope.App)})
	require.Equal(t, textOf(t, t.load(eve)), textOf(t, created.Member))
	require.True(t, t.isInLiveChat(eve))
	require.False(t, t.isInLiveChat(t.home.member))
	a := t.assignment(t.home, created.AssignmentID)
	require.Equal(t, []string{eve.ID, eve.Channel}, []string{a.Member, a.Inlet})
	if t.Sent != nil {
		require.NotContains(t, t.textsTo(d.ID, d.support.ID)[0], "Forged")
	}
}

func createAssignmentNeedsWhoTakesIt(t *trial) {
	type params = livechat.CreateAssignmentParams
	requireFails(t, botctx.OpCreateAssignment, t.home.CreateAssignment, boterr.FailedPrecondition, []badInput[params]{
		{"nothing is paired", params{}, ""},
	})
	d := t.openDesk(t.home, t.ticketing())
	requireFails(t, botctx.OpCreateAssignment, t.home.CreateAssignment, boterr.FailedPrecondition, []badInput[params]{
		{"no broadcast groups of the label", params{Label: "nobody's"}, "label"},
		{"none of the label of a target", params{Targets: []livechat.Target{{Channel: d.ID, Label: "nobody's"}}}, "targets[0]"},
	})
	require.False(t, t.isInLiveChat(t.home.member))
	require.Empty(t, t.assignmentsOf(t.home, t.home.member))
}

func createAssignmentTakesACopy(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	relay := map[channel.Type]send.Response{d.Type: send.Text("before")}
	targets := []livechat.Target{{Channel: d.ID, BroadcastGroups: []channel.BroadcastGroupMember{d.sales}}}
	created := must(t, t.home.CreateAssignment, livechat.CreateAssignmentParams{
		Targets: targets, AssignmentDetails: livechat.AssignmentDetails{RelayMessage: relay},
	})
	before := t.state()
	relay[d.Type] = send.Text("after")
	targets[0].BroadcastGroups[0].ID, targets[0].Channel = "after", "after"
	created.Member.FirstName = "after"
	created.Member.BotMeta.Set("liveChat", false)
	found := t.assignment(t.home, created.AssignmentID)
	found.Targets[0].BroadcastGroups[0].ID, found.Targets[0].Channel = "after", "after"
	found.Meta.Set("after", true)
	require.Equal(t, before, t.state())
	require.Equal(t, d.sales.ID, t.assignment(t.home, created.AssignmentID).Targets[0].BroadcastGroups[0].ID)
}

func createAssignmentMakesOneOfManyAtOnce(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	var mu sync.Mutex
	ids := map[string]bool{}
	t.atOnce(func(int) error {
		created, err := t.home.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		mu.Lock()
		defer mu.Unlock()
		ids[created.AssignmentID] = true
		return err
	})
	require.Len(t, ids, 1)
	require.Equal(t, slices.Collect(maps.Keys(ids)), idsOf(t.assignmentsOf(t.home, t.home.member)))
	t.requireTickets(d, map[channel.BroadcastGroupMember]int{d.support: 1})
}

var assignmentDefaultRules = []Rule{
	rule(createAssignmentIsForTheLabel, "label selects the broadcast groups that get a ticket, and its default is \"default\""),
	rule(createAssignmentMetaIsEmptyByDefault, "meta is stored unchanged, and its default is {}"),
	rule(createAssignmentIsWithoutHistoryByDefault, "history is false by default"),
	rule(createAssignmentAddsTheHistory,
		"with history, the ticket has the address of the conversation's history, and history of the assignment is true", Histories, readSent),
	rule(createAssignmentWatchesIdleTimeByDefault,
		"unless setLiveChatAgenda is false, an idle live chat ends at the time in expiry"),
	rule(createAssignmentEndsWhenIdle,
		"an idle live chat ends at expiry, and a live chat without expiry continues", moveClock, handleNodes),
}

func createAssignmentIsForTheLabel(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	for _, c := range []struct {
		label, kept string
		gets        channel.BroadcastGroupMember
	}{
		{"", "default", d.support},
		{"default", "default", d.support},
		{"sales", "sales", d.sales},
	} {
		t.try("label "+c.label, func(t *trial) {
			asking := t.neighbourPlace()
			a := t.request(asking, livechat.CreateAssignmentParams{Label: c.label})
			require.Len(t, a.Targets, 1)
			require.Equal(t, c.kept, a.Targets[0].Label)
			require.Equal(t, []channel.BroadcastGroupMember{c.gets}, a.Targets[0].BroadcastGroups)
		})
	}
	t.requireTickets(d, map[channel.BroadcastGroupMember]int{d.support: 2, d.sales: 1})
}

func createAssignmentMetaIsEmptyByDefault(t *trial) {
	t.openDesk(t.home, t.ticketing())
	for name, meta := range map[string]document.Object{
		"no meta": {}, "an empty one": document.O(), "some": document.O("z", 1, "a", document.O("$in", document.A(1)), "_id", "own"),
	} {
		t.try(name, func(t *trial) {
			want := meta
			if meta.IsZero() {
				want = document.O()
			}
			require.Equal(t, want.String(), t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Meta: meta}).Meta.String())
		})
	}
}

func createAssignmentIsWithoutHistoryByDefault(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	require.False(t, t.request(t.home, livechat.CreateAssignmentParams{}).History)
	if t.Sent != nil {
		require.NotContains(t, t.textsTo(d.ID, d.support.ID)[0], "://")
	}
}

func createAssignmentAddsTheHistory(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	require.True(t, t.request(t.home, livechat.CreateAssignmentParams{History: true}).History)
	require.Contains(t, t.textsTo(d.ID, d.support.ID)[0], "://")
}

func createAssignmentWatchesIdleTimeByDefault(t *trial) {
	t.openDesk(t.home, t.ticketing())
	for name, c := range map[string]struct {
		given     *bool
		isWatched bool
	}{
		"not given": {nil, true}, "true": {new(true), true}, "false": {new(false), false},
	} {
		t.try(name, func(t *trial) {
			a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{SetLiveChatAgenda: c.given})
			require.Equal(t, c.isWatched, a.Expiry > a.CreatedAt, "expiry is %d", a.Expiry)
			require.Equal(t, c.isWatched, a.Expiry != 0, "expiry is %d", a.Expiry)
		})
	}
}

func createAssignmentEndsWhenIdle(t *trial) {
	t.openDesk(t.home, t.ticketing())
	watched, unwatched := t.neighbourPlace(), t.neighbourPlace()
	a := t.request(watched, livechat.CreateAssignmentParams{})
	t.request(unwatched, livechat.CreateAssignmentParams{SetLiveChatAgenda: new(false)})
	left := time.Duration(a.Expiry-a.CreatedAt) * time.Millisecond
	t.Advance(left / 2)
	require.True(t, t.isInLiveChat(watched.member))
	t.Advance(left)
	require.False(t, t.isInLiveChat(watched.member))
	require.True(t, t.isInLiveChat(unwatched.member))
	require.NotEqual(t, a.ID, t.request(watched, livechat.CreateAssignmentParams{}).ID, "it has ended")
}

var newTargetRules = []Rule{
	rule(addNewTargetsToAssignmentSendsFurtherTickets,
		"addNewTargetsToAssignment sends the ticket to new targets and stores them; targets with a ticket get no second one"),
	rule(addNewTargetsToAssignmentTakesEveryForm,
		"a new target is a target, a broadcast group of an outlet of the request, or a label with its groups"),
	rule(addNewTargetsToAssignmentPutsTheMemberInLiveChat,
		"the member is in live chat after addNewTargetsToAssignment, unless liveChat is false"),
	rule(addNewTargetsToAssignmentCanBeTakenThere, "an agent of an outlet that was added can take the request"),
	rule(addNewTargetsToAssignmentNeedsAPendingRequest,
		"if the request is taken or has ended, or if a target cannot take requests, the call is FailedPrecondition, and nothing is sent"),
	rule(addNewTargetsToAssignmentSendsOneOfManyAtOnce,
		"if concurrent calls add the same target, one of them sends the ticket, and all succeed"),
}

func (t *trial) addTargets(a *livechat.Assignment, liveChat *bool, targets ...livechat.NewTarget) livechat.AddNewTargetsToAssignmentResult {
	t.Helper()
	added := must(t, t.home.AddNewTargetsToAssignment, livechat.AddNewTargetsToAssignmentParams{
		AssignmentID: a.ID, LiveChat: liveChat, Targets: targets,
	})
	require.Equal(t, a.ID, added.AssignmentID)
	require.NotNil(t, added.Member)
	return added
}

func addNewTargetsToAssignmentSendsFurtherTickets(t *trial) {
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

func addNewTargetsToAssignmentTakesEveryForm(t *trial) {
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

func addNewTargetsToAssignmentPutsTheMemberInLiveChat(t *trial) {
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

func addNewTargetsToAssignmentCanBeTakenThere(t *trial) {
	t.openDesk(t.home, t.ticketing())
	other := t.addDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	t.addTargets(a, nil, livechat.NewTarget{Channel: other.ID})
	require.NoError(t, other.agent.Take(a.ID))
	require.Equal(t, other.agent.ExternalID, t.assignment(t.home, a.ID).Assignee)
}

func addNewTargetsToAssignmentNeedsAPendingRequest(t *trial) {
	type params = livechat.AddNewTargetsToAssignmentParams
	d := t.openDesk(t.home, t.ticketing())
	targets := []livechat.NewTarget{groupTarget(d.sales)}
	ended := t.request(t.home, livechat.CreateAssignmentParams{})
	must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
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

func addNewTargetsToAssignmentSendsOneOfManyAtOnce(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	t.atOnce(func(int) error {
		return errorOf(t.home.AddNewTargetsToAssignment(t.Context(), livechat.AddNewTargetsToAssignmentParams{
			AssignmentID: a.ID, Targets: []livechat.NewTarget{groupTarget(d.sales)},
		}))
	})
	t.requireTickets(d, map[channel.BroadcastGroupMember]int{d.support: 1, d.sales: 1})
	require.Len(t, t.assignment(t.home, a.ID).Targets, 2)
}

var readAssignmentRules = []Rule{
	rule(getAssignmentReadsIt, "getAssignment returns the current record of an assignment, even if it has ended"),
	rule(getAssignmentByBravoGroupIDReadsTheNewest,
		"getAssignmentByBravoGroupId returns the newest assignment of a group on Bravo", On(channel.Bravo)),
}

var assignmentByOutletRules = []Rule{
	rule(getAssignmentByOutletReadsTheNewestOpen,
		"getAssignmentByOutlet returns the newest assignment in the outlet that has not ended", OutletLookups),
	rule(getAssignmentByOutletIsWhereItWasTaken,
		"a request is found in each outlet with a ticket, and after an agent takes it, only in that agent's outlet", OutletLookups),
	rule(getAssignmentByOutletTakesMetaAsAFilter,
		"if an assignment's meta has operators, it is found only for a context whose member matches them", OutletLookups),
}

// requireSameAssignment checks that two assignments have the same id and the same content.
func requireSameAssignment(t *trial, want, got *livechat.Assignment) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, textOf(t, want), textOf(t, got))
}

func getAssignmentReadsIt(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	first := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	second := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Meta: document.O("n", 2)})
	require.NotEqual(t, first.ID, second.ID)
	requireSameAssignment(t, first, t.assignment(t.home, first.ID))
	require.Equal(t, `{"n":2}`, t.assignment(t.home, second.ID).Meta.String())
	require.NoError(t, d.agent.Take(first.ID))
	require.Equal(t, d.agent.ExternalID, t.assignment(t.home, first.ID).Assignee)
	must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
	ended := t.assignment(t.home, first.ID)
	require.Equal(t, d.agent.ExternalID, ended.Assignee)
	require.Zero(t, ended.Expiry)
}

func (t *trial) byBravoGroup(p *place, id string) *livechat.Assignment {
	t.Helper()
	return must(t, p.GetAssignmentByBravoGroupID, livechat.GetAssignmentByBravoGroupIDParams{BravoGroupID: id})
}

func getAssignmentByBravoGroupIDReadsTheNewest(t *trial) {
	h := t.talkOn(channel.Bravo)
	second := t.requestTaken(t.neighbourPlace(), h.desk, livechat.CreateAssignmentParams{})
	requireSameAssignment(t, h.assignment, t.byBravoGroup(t.home, h.group.ExternalID))
	requireSameAssignment(t, second, t.byBravoGroup(t.home, t.groupOf(t.home, second).ExternalID))
	must(t, t.home.UpdateAssignmentGroup, livechat.UpdateAssignmentGroupParams{
		AssignmentID: second.ID, Group: h.group,
	})
	require.Equal(t, second.ID, t.byBravoGroup(t.home, h.group.ExternalID).ID)
}

// inOutlet returns the open assignment of an outlet, or nil if there is none.
func (t *trial) inOutlet(p *place, channelID string) *livechat.Assignment {
	t.Helper()
	found, err := p.GetAssignmentByOutlet(t.Context(), livechat.GetAssignmentByOutletParams{ChannelID: channelID})
	if boterr.CodeOf(err) != boterr.NotFound {
		require.NoError(t, err)
	}
	return found
}

func getAssignmentByOutletReadsTheNewestOpen(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	first := t.request(t.home, livechat.CreateAssignmentParams{})
	eve := t.neighbourPlace()
	t.requestTaken(eve, d, livechat.CreateAssignmentParams{})
	third := t.neighbourPlace()
	requireSameAssignment(t, t.request(third, livechat.CreateAssignmentParams{}), t.inOutlet(t.home, d.ID))
	for _, p := range []*place{third, eve} {
		must(t, p.InletEndLiveChat, livechat.InletEndParams{})
	}
	requireSameAssignment(t, first, t.inOutlet(t.home, d.ID))
}

func getAssignmentByOutletIsWhereItWasTaken(t *trial) {
	one, two := t.addDesk(t.home, t.ticketing()), t.addDesk(t.home, t.ticketing())
	t.Pair(t.home.channel, one.Channel, two.Channel)
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	requireSameAssignment(t, a, t.inOutlet(t.home, one.ID))
	requireSameAssignment(t, a, t.inOutlet(t.home, two.ID))
	require.NoError(t, two.agent.Take(a.ID))
	require.Nil(t, t.inOutlet(t.home, one.ID))
	requireSameAssignment(t, t.assignment(t.home, a.ID), t.inOutlet(t.home, two.ID))
}

func getAssignmentByOutletTakesMetaAsAFilter(t *trial) {
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
