package botctxtest

import (
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

var assignmentListRules = []Rule{
	rule(getAssignmentsByMemberIDReadsAll,
		"getAssignmentsByMemberId returns all assignments of the member, also ended ones, in the order of creation"),
	rule(getAssignmentsByMemberIDSorts, "sortBy of getAssignmentsByMemberId is the order of the assignments"),
	rule(getAssignmentsByMemberIDIsEmptyForOthers,
		"for a member without assignments or of another app, the list is empty and not null"),
	rule(getAssignmentsByMetaReadsWhatHoldsIt,
		"getAssignmentsByMeta returns the assignments whose meta has each given field with an equal value, the oldest first"),
	rule(getAssignmentsByMetaStaysInTheApp, "assignments of another app do not exist for getAssignmentsByMeta"),
	rule(getAssignmentsByParentAssignmentIDReadsWhatItWasHandedOnTo,
		"getAssignmentsByParentAssignmentId returns the assignments that replaced an assignment, and no others"),
	rule(getAssignmentsByParentAssignmentIDIsEmptyForOthers,
		"for an assignment that was not reassigned or belongs to another app, the list is empty and not null"),
}

// requestSeveral creates assignments of the home member one after the other. Their meta is {n: 0}, {n: 1} and so on. All
// except the last have ended.
func (t *trial) requestSeveral(count int) []*livechat.Assignment {
	t.Helper()
	var made []*livechat.Assignment
	for n := range count {
		if n > 0 {
			must(t, t.home.InletEndLiveChat, livechat.InletEndParams{})
		}
		made = append(made, t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", n)}))
	}
	return made
}

func getAssignmentsByMemberIDReadsAll(t *trial) {
	t.openDesk(t.home, t.ticketing())
	made := t.requestSeveral(3)
	eve := t.neighbourPlace()
	other := t.request(eve, livechat.CreateAssignmentParams{})
	found := t.assignmentsOf(t.home, t.home.member)
	require.Equal(t, idsOf(made), idsOf(found))
	for _, a := range found {
		requireSameAssignment(t, t.assignment(t.home, a.ID), a)
	}
	require.Equal(t, []string{other.ID}, idsOf(t.assignmentsOf(t.home, eve.member)))
}

func getAssignmentsByMemberIDSorts(t *trial) {
	t.openDesk(t.home, t.ticketing())
	ids := idsOf(t.requestSeveral(3))
	reversed := slices.Clone(ids)
	slices.Reverse(reversed)
	for name, c := range map[string]struct {
		sortBy document.Object
		want   []string
	}{
		"none": {document.Object{}, ids}, "an empty one": {document.O(), ids},
		"up": {document.O("meta.n", 1), ids}, "down": {document.O("meta.n", -1), reversed},
	} {
		t.try(name, func(t *trial) {
			found := must(t, t.home.GetAssignmentsByMemberID, livechat.GetAssignmentsByMemberIDParams{
				MemberID: t.home.member.ID, SortBy: c.sortBy,
			})
			require.Equal(t, c.want, idsOf(found))
		})
	}
}

func getAssignmentsByMemberIDIsEmptyForOthers(t *trial) {
	t.openDesk(t.away, t.ticketing())
	t.request(t.away, livechat.CreateAssignmentParams{})
	for name, id := range map[string]string{
		"without any": t.home.member.ID, "of nobody": unique("member"), "of another app": t.away.member.ID,
	} {
		t.try(name, func(t *trial) {
			found := must(t, t.home.GetAssignmentsByMemberID, livechat.GetAssignmentsByMemberIDParams{MemberID: id})
			require.Equal(t, "[]", textOf(t, found))
		})
	}
}

func (t *trial) byMeta(p *place, meta document.Object) []*livechat.Assignment {
	t.Helper()
	found := must(t, p.GetAssignmentsByMeta, livechat.GetAssignmentsByMetaParams{Meta: meta})
	require.NotNil(t, found)
	return found
}

func getAssignmentsByMetaReadsWhatHoldsIt(t *trial) {
	t.openDesk(t.home, t.ticketing())
	ids := []string{}
	for _, meta := range []document.Object{
		document.O("topic", "bill", "order", document.O("id", 7, "n", 1)),
		document.O("topic", "kettle", "order", document.O("id", 7)),
		document.O("topic", nil),
		{},
	} {
		ids = append(ids, t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Meta: meta}).ID)
	}
	for name, c := range map[string]struct {
		meta document.Object
		want []string
	}{
		"one field":         {document.O("topic", "bill"), ids[:1]},
		"two fields":        {document.O("topic", "kettle", "order.id", 7), ids[1:2]},
		"fields that clash": {document.O("topic", "kettle", "order.n", 1), []string{}},
		"a path":            {document.O("order.id", 7), ids[:2]},
		"a whole object":    {document.O("order", document.O("id", 7)), ids[1:2]},
		"null":              {document.O("topic", nil), ids[2:3]},
		"nothing like it":   {document.O("topic", "tea"), []string{}},
		"all":               {document.O(), ids},
	} {
		t.try(name, func(t *trial) {
			found := t.byMeta(t.home, c.meta)
			require.Equal(t, c.want, idsOf(found))
			for _, a := range found {
				requireSameAssignment(t, t.assignment(t.home, a.ID), a)
			}
		})
	}
}

func getAssignmentsByMetaStaysInTheApp(t *trial) {
	t.openDesk(t.home, t.ticketing())
	t.openDesk(t.away, t.ticketing())
	ours := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	t.request(t.away, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	require.Equal(t, []string{ours.ID}, idsOf(t.byMeta(t.home, document.O("n", 1))))
	require.Equal(t, []string{ours.ID}, idsOf(t.byMeta(t.home, document.O())))
	require.Empty(t, t.byMeta(t.home, document.O("app", t.away.scope.App)))
}

// byParent returns the assignments that replaced an assignment.
func (t *trial) byParent(p *place, id string) []*livechat.Assignment {
	t.Helper()
	return must(t, p.GetAssignmentsByParentAssignmentID, livechat.GetAssignmentsByParentAssignmentIDParams{AssignmentID: id})
}

func getAssignmentsByParentAssignmentIDReadsWhatItWasHandedOnTo(t *trial) {
	h := t.talk()
	next := t.handOn(h, livechat.ReassignAssignmentParams{})
	found := t.byParent(t.home, h.assignment.ID)
	require.Len(t, found, 1)
	requireSameAssignment(t, next, found[0])
	require.NoError(t, h.desk.agent.Take(next.ID))
	last := t.handOn(talk{desk: h.desk, group: t.groupOf(t.home, t.assignment(t.home, next.ID))}, livechat.ReassignAssignmentParams{})
	require.Equal(t, []string{next.ID}, idsOf(t.byParent(t.home, h.assignment.ID)))
	require.Equal(t, []string{last.ID}, idsOf(t.byParent(t.home, next.ID)))
}

func getAssignmentsByParentAssignmentIDIsEmptyForOthers(t *trial) {
	t.openDesk(t.home, t.ticketing())
	theirs := t.openDesk(t.away, t.ticketing())
	handedOn := t.requestTaken(t.away, theirs, livechat.CreateAssignmentParams{})
	must(t, t.away.ReassignAssignment, livechat.ReassignAssignmentParams{
		Channel: theirs.Channel, Label: "sales", PreviousAssignment: handedOn,
	})
	require.Len(t, t.byParent(t.away, handedOn.ID), 1)
	for name, id := range map[string]string{
		"not handed on":  t.request(t.home, livechat.CreateAssignmentParams{}).ID,
		"of nobody":      unique("assignment"),
		"of another app": handedOn.ID,
	} {
		t.try(name, func(t *trial) { require.Equal(t, "[]", textOf(t, t.byParent(t.home, id))) })
	}
}

var assignmentGroupRules = []Rule{
	rule(createAssignmentRemembersTheGroup,
		"the assignment and its group have the group in which the member made the request; a request for another member has none"),
	rule(updateAssignmentGroupConnectsBothSides,
		"a request whose group has an agent is taken, and both refer to each other, in any order of the calls", On(channel.Bravo), readMade),
}

func createAssignmentRemembersTheGroup(t *trial) {
	k := t.talkInFamily(t.home)
	family := familyOf(t.home.member.ID)
	require.Equal(t, family, document.Get(k.assignment.InletGroupInfo, "externalId", ""))
	require.Equal(t, family, k.group.InletGroupExternalID)

	inFamily := t.inGroup(t.home, "family")
	bob := t.neighbour(member.Member{FirstName: "Bob"})
	a := t.requestTaken(inFamily, k.desk, livechat.CreateAssignmentParams{Member: bob})
	require.Empty(t, document.Get(a.InletGroupInfo, "externalId", ""))
	require.Empty(t, t.groupOf(t.home, a).InletGroupExternalID)
}

// connecting is the state of bot logic that brings an agent into a group on Bravo for a request.
type connecting struct {
	asking *place
	desk   *desk
	// assignment is the id of the assignment. group is the group's id on Bravo.
	assignment, group string
}

func updateAssignmentGroupConnectsBothSides(t *trial) {
	for name, order := range map[string][]func(*trial, *connecting){
		"the group at last":  {ask, makeRoom, joinRoom, giveGroup},
		"the group at first": {makeRoom, joinRoom, ask, giveGroup},
		"the agent at last":  {ask, makeRoom, giveRoom, joinRoom},
		"with repeats":       {ask, ask, makeRoom, giveRoom, giveRoom, joinRoom, joinRoom, giveGroup, giveGroup, ask},
	} {
		t.try(name, func(t *trial) {
			d := t.addDesk(t.home, channel.Bravo)
			c := &connecting{asking: t.neighbourPlace(), desk: d}
			for _, step := range order {
				step(t, c)
			}
			c.requireConnected(t)
		})
	}
}

func ask(t *trial, c *connecting) {
	created := must(t, c.asking.CreateAssignment, livechat.CreateAssignmentParams{Targets: []livechat.Target{{Channel: c.desk.ID}}})
	c.assignment = created.AssignmentID
}

func makeRoom(t *trial, c *connecting) {
	made := must(t, t.home.CreateBravoGroup, livechat.CreateBravoGroupParams{ChannelID: c.desk.ID, Name: "Kettles"})
	c.group = made.GroupID
}

// joinRoom reports that the agent of the desk joined the group.
func joinRoom(t *trial, c *connecting) {
	must(t, t.home.HandleAdminJoinedGroup, livechat.HandleAdminJoinedGroupParams{
		Channel: c.desk.Channel, ExternalID: c.desk.agent.ExternalID, BravoGroupID: c.group,
	})
}

// giveGroup sets the group of the request by its record.
func giveGroup(t *trial, c *connecting) {
	must(t, t.home.UpdateAssignmentGroup, livechat.UpdateAssignmentGroupParams{
		AssignmentID: c.assignment, Group: c.record(t), BravoGroupID: c.group,
	})
}

// giveRoom sets the group of the request by its id on Bravo.
func giveRoom(t *trial, c *connecting) {
	must(t, t.home.UpdateAssignmentGroup, livechat.UpdateAssignmentGroupParams{
		AssignmentID: c.assignment, BravoGroupID: c.group,
	})
}

func (c *connecting) record(t *trial) *livechat.Group {
	t.Helper()
	return must(t, t.home.GetGroupByGroupExternalID, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: c.group})
}

// requireConnected checks that the agent has the request and that the assignment and the group refer to each other.
func (c *connecting) requireConnected(t *trial) {
	t.Helper()
	a, g := t.assignment(t.home, c.assignment), c.record(t)
	require.Equal(t, []string{c.desk.agent.ExternalID, g.ID}, []string{a.Assignee, a.Group})
	require.Positive(t, a.AssignedAt)
	require.Equal(t, []string{a.ID, c.asking.member.ID, c.asking.channel.ID, c.desk.agent.ExternalID},
		[]string{g.Assignment, g.Member, g.Inlet, g.AdminExternalID})
	require.Equal(t, a.ID, t.byBravoGroup(t.home, c.group).ID)
	found := must(t, t.home.GetGroupByMemberID, livechat.GetGroupByMemberIDParams{
		Inlet: c.asking.channel.ID, MemberID: c.asking.member.ID,
	})
	requireSameGroup(t, g, found)
	require.True(t, t.isInLiveChat(c.asking.member))
}

var updateAssignmentRules = []Rule{
	rule(updateAssignmentGroupSetsTheGroup,
		"updateAssignmentGroup sets the group and the fields that follow from it; of a group record only the _id counts"),
	rule(updateAssignmentGroupSetsTheBravoGroup,
		"getAssignmentByBravoGroupId finds the assignment by bravoGroupId, whose default is the external id of the group",
		On(channel.Bravo)),
	rule(updateAssignmentMetaSetsTheGivenFields,
		"updateAssignmentMeta sets the given fields and keeps the others; a field may be a dotted path"),
	rule(updateAssignmentMetaTellsWhatItDid,
		"the result has the ids and the matching record; modified is 1 if the record changed"),
	rule(assignmentsTellWhenTheyChanged,
		"a change renews updatedAt, _version and etag of an assignment; a call without a change does not", moveClock),
	rule(updateAssignmentMetaLosesNoField,
		"updateAssignmentMeta writes only the given fields, so concurrent calls do not undo each other's changes"),
}

// requireUpdated checks the result of an update of one assignment, which must agree with the stored record.
func requireUpdated(t *trial, id string, modified int64, result livechat.UpdateAssignmentResult) {
	t.Helper()
	require.Equal(t, []string{id}, result.DocsIDs.Updated)
	require.Len(t, result.Docs, 1)
	requireSameAssignment(t, t.assignment(t.home, id), result.Docs[0])
	require.Equal(t, modified, result.Modified)
}

func updateAssignmentGroupSetsTheGroup(t *trial) {
	h := t.talk()
	a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	for _, modified := range []int64{1, 0} {
		result := must(t, t.home.UpdateAssignmentGroup, livechat.UpdateAssignmentGroupParams{
			AssignmentID: a.ID, Group: &livechat.Group{ID: h.group.ID, App: t.away.scope.App, ExternalID: "forged", Name: "forged"},
		})
		requireUpdated(t, a.ID, modified, result)
		require.Equal(t, h.group.ID, result.Docs[0].Group)
		require.Equal(t, h.assignment.GroupInfo.String(), result.Docs[0].GroupInfo.String())
	}
	requireSameAssignment(t, h.assignment, t.assignment(t.home, h.assignment.ID))
}

func updateAssignmentGroupSetsTheBravoGroup(t *trial) {
	h := t.talkOn(channel.Bravo)
	a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	for given, found := range map[string]string{"": h.group.ExternalID, "own-" + a.ID: "own-" + a.ID} {
		t.try("bravoGroupId "+given, func(t *trial) {
			result := must(t, t.home.UpdateAssignmentGroup, livechat.UpdateAssignmentGroupParams{
				AssignmentID: a.ID, Group: h.group, BravoGroupID: given,
			})
			require.Equal(t, found, document.Get(result.Docs[0].GroupInfo, "bravoGroupId", ""))
			require.Equal(t, a.ID, t.byBravoGroup(t.home, found).ID)
		})
	}
}

func (t *trial) setMeta(id string, meta document.Object) livechat.UpdateAssignmentResult {
	t.Helper()
	return must(t, t.home.UpdateAssignmentMeta, livechat.UpdateAssignmentMetaParams{AssignmentID: id, Meta: meta})
}

func updateAssignmentMetaSetsTheGivenFields(t *trial) {
	t.openDesk(t.home, t.ticketing())
	before := document.O("topic", "x", "order", document.O("id", 1), "list", document.A(1, 2))
	for name, c := range map[string]struct {
		given document.Object
		want  string
	}{
		"a field":        {document.O("topic", "bill"), `{"topic": "bill", "order": {"id": 1}, "list": [1, 2]}`},
		"a new one":      {document.O("new", nil), `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "new": null}`},
		"a whole object": {document.O("order", document.O("n", 2)), `{"topic": "x", "order": {"n": 2}, "list": [1, 2]}`},
		"paths":          {document.O("order.n", 2, "list.1", 5), `{"topic": "x", "order": {"id": 1, "n": 2}, "list": [1, 5]}`},
		"words of records": {
			document.O("_id", 1, "app", "a", "createdAt", 2),
			`{"topic": "x", "order": {"id": 1}, "list": [1, 2], "_id": 1, "app": "a", "createdAt": 2}`,
		},
	} {
		t.try(name, func(t *trial) {
			a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Meta: before})
			other := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Meta: before})
			t.setMeta(a.ID, c.given)
			require.JSONEq(t, c.want, t.assignment(t.home, a.ID).Meta.String())
			requireSameAssignment(t, other, t.assignment(t.home, other.ID))
		})
	}
}

func updateAssignmentMetaTellsWhatItDid(t *trial) {
	t.openDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	for _, modified := range []int64{1, 0} {
		requireUpdated(t, a.ID, modified, t.setMeta(a.ID, document.O("n", 1)))
	}
	before := t.assignment(t.home, a.ID)
	requireUpdated(t, a.ID, 0, t.setMeta(a.ID, document.O()))
	requireSameAssignment(t, before, t.assignment(t.home, a.ID))
}

func assignmentsTellWhenTheyChanged(t *trial) {
	t.openDesk(t.home, t.ticketing())
	made := t.request(t.home, livechat.CreateAssignmentParams{})
	t.Advance(time.Second)
	t.setMeta(made.ID, document.O("n", 1))
	changed := t.assignment(t.home, made.ID)
	require.Equal(t, made.CreatedAt, changed.CreatedAt)
	require.Greater(t, changed.UpdatedAt, made.UpdatedAt)
	require.Greater(t, changed.Version, made.Version)
	require.NotEqual(t, made.Etag, changed.Etag)
	t.Advance(time.Second)
	t.setMeta(made.ID, document.O("n", 1))
	requireSameAssignment(t, changed, t.assignment(t.home, made.ID))
}

func updateAssignmentMetaLosesNoField(t *trial) {
	t.openDesk(t.home, t.ticketing())
	id := t.request(t.home, livechat.CreateAssignmentParams{}).ID
	t.atOnce(func(worker int) error {
		return errorOf(t.home.UpdateAssignmentMeta(t.Context(), livechat.UpdateAssignmentMetaParams{
			AssignmentID: id, Meta: document.O("by."+strconv.Itoa(worker), true),
		}))
	})
	require.Equal(t, workers, document.Get(t.assignment(t.home, id).Meta, "by", document.O()).Len())
}

var removeAssignmentRules = []Rule{
	rule(removePendingAssignmentByMemberIDWithdrawsIt,
		"removePendingAssignmentByMemberId removes the request that no agent has taken, and the member leaves live chat"),
	rule(removePendingAssignmentByMemberIDRecallsTickets,
		"the tickets of a withdrawn request are recalled, on Charlie and Delta", readSent),
	rule(removePendingAssignmentByMemberIDLeavesOthers,
		"requests that are taken or have ended, and requests of other members, do not change"),
	rule(removePendingAssignmentByMemberIDOfNothing,
		"without a request in the app, the call succeeds and changes nothing; clientMutationId is new in each call"),
}

func removePendingAssignmentByMemberIDWithdrawsIt(t *trial) {
	t.openDesk(t.home, t.ticketing())
	a := t.request(t.home, livechat.CreateAssignmentParams{})
	require.NotEmpty(t, t.withdraw(t.home.member).ClientMutationID)
	_, err := t.home.GetAssignment(t.Context(), livechat.GetAssignmentParams{AssignmentID: a.ID})
	t.requireCode(boterr.NotFound, err)
	require.Empty(t, t.assignmentsOf(t.home, t.home.member))
	require.False(t, t.isInLiveChat(t.home.member))
	require.NotEqual(t, a.ID, t.request(t.home, livechat.CreateAssignmentParams{}).ID)
}

// recalls reports whether an outlet's platform can recall tickets.
func recalls(d *desk) bool { return slices.Contains(recalling, d.Type) }

func removePendingAssignmentByMemberIDRecallsTickets(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	t.request(t.home, livechat.CreateAssignmentParams{})
	t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	t.withdraw(t.home.member)
	tickets := t.sentTo(d.ID, d.support.ID)
	require.Len(t, tickets, 2)
	require.Equal(t, recalls(d), tickets[0].IsRecalled)
	require.False(t, tickets[1].IsRecalled)
}

func removePendingAssignmentByMemberIDLeavesOthers(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	ended := t.neighbourPlace()
	t.request(ended, livechat.CreateAssignmentParams{})
	must(t, ended.InletEndLiveChat, livechat.InletEndParams{})
	taken := t.neighbourPlace()
	t.requestTaken(taken, d, livechat.CreateAssignmentParams{})
	t.request(t.home, livechat.CreateAssignmentParams{})
	before := t.state()
	for _, m := range []*member.Member{ended.member, taken.member, t.neighbour(member.Member{})} {
		t.withdraw(m)
	}
	t.added = t.added[:len(t.added)-1]
	require.Equal(t, before, t.state())
	require.True(t, t.isInLiveChat(taken.member))
}

func removePendingAssignmentByMemberIDOfNothing(t *trial) {
	t.openDesk(t.away, t.ticketing())
	t.request(t.away, livechat.CreateAssignmentParams{})
	before := t.state()
	seen := map[string]bool{}
	for _, m := range []*member.Member{t.home.member, t.home.member, {ID: unique("member")}, t.away.member} {
		id := t.withdraw(m).ClientMutationID
		require.NotEmpty(t, id)
		require.False(t, seen[id], "%s came before", id)
		seen[id] = true
	}
	require.Equal(t, before, t.state())
}
