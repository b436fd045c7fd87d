package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var assignmentListRules = []Rule{
	{
		Name:  "GetAssignmentsByMemberIdReadsAll",
		Text:  "getAssignmentsByMemberId returns all assignments of the member, the ended ones too, in the order in which they were made",
		check: assignmentsByMemberIDReadsAll,
	},
	{
		Name:  "GetAssignmentsByMemberIdSorts",
		Text:  "sortBy is the order of getAssignmentsByMemberId",
		check: assignmentsByMemberIDSorts,
	},
	{
		Name:  "GetAssignmentsByMemberIdIsEmptyForOthers",
		Text:  "of a member without assignments, or of another app, the list is empty, and not null",
		check: assignmentsByMemberIDFindsNoOthers,
	},
	{
		Name:  "GetAssignmentsByMetaReadsWhatHoldsIt",
		Text:  "getAssignmentsByMeta returns the assignments whose meta has each given field with an equal value, the oldest first",
		check: assignmentsByMetaReadsWhatHoldsIt,
	},
	{
		Name:  "GetAssignmentsByMetaStaysInTheApp",
		Text:  "assignments of another app do not exist for getAssignmentsByMeta",
		check: assignmentsByMetaStaysInTheApp,
	},
	{
		Name:  "GetAssignmentsByParentAssignmentIdReadsWhatItWasHandedOnTo",
		Text:  "getAssignmentsByParentAssignmentId returns the assignments that one was handed on to, and no others",
		check: assignmentsByParentReadsWhatItWasHandedOnTo,
	},
	{
		Name:  "GetAssignmentsByParentAssignmentIdIsEmptyForOthers",
		Text:  "of an assignment that was not handed on, or is of another app, the list is empty, and not null",
		check: assignmentsByParentFindsNoOthers,
	},
}

// requestSeveral makes assignments of the home member one after the other, with {n: 0},
// {n: 1} and so on as their meta. All but the last have ended.
func (t *trial) requestSeveral(count int) []*livechat.Assignment {
	t.Helper()
	var made []*livechat.Assignment
	for n := range count {
		if n > 0 {
			_, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
			require.NoError(t, err)
		}
		made = append(made, t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", n)}))
	}
	return made
}

func assignmentsByMemberIDReadsAll(t *trial) {
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

func assignmentsByMemberIDSorts(t *trial) {
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
			found, err := t.home.GetAssignmentsByMemberID(t.ctx(), livechat.GetAssignmentsByMemberIDParams{
				MemberID: t.home.member.ID, SortBy: c.sortBy,
			})
			require.NoError(t, err)
			require.Equal(t, c.want, idsOf(found))
		})
	}
}

func assignmentsByMemberIDFindsNoOthers(t *trial) {
	t.openDesk(t.away, t.ticketing())
	t.request(t.away, livechat.CreateAssignmentParams{})
	for name, id := range map[string]string{
		"without any": t.home.member.ID, "of nobody": unique("member"), "of another app": t.away.member.ID,
	} {
		t.try(name, func(t *trial) {
			found, err := t.home.GetAssignmentsByMemberID(t.ctx(), livechat.GetAssignmentsByMemberIDParams{MemberID: id})
			require.NoError(t, err)
			require.Equal(t, "[]", textOf(t, found))
		})
	}
}

// byMeta reads assignments by their meta, without an error.
func (t *trial) byMeta(p *place, meta document.Object) []*livechat.Assignment {
	t.Helper()
	found, err := p.GetAssignmentsByMeta(t.ctx(), livechat.GetAssignmentsByMetaParams{Meta: meta})
	require.NoError(t, err)
	require.NotNil(t, found)
	return found
}

func assignmentsByMetaReadsWhatHoldsIt(t *trial) {
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

func assignmentsByMetaStaysInTheApp(t *trial) {
	t.openDesk(t.home, t.ticketing())
	t.openDesk(t.away, t.ticketing())
	ours := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	t.request(t.away, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	require.Equal(t, []string{ours.ID}, idsOf(t.byMeta(t.home, document.O("n", 1))))
	require.Equal(t, []string{ours.ID}, idsOf(t.byMeta(t.home, document.O())))
	require.Empty(t, t.byMeta(t.home, document.O("app", t.away.scope.App)))
}

// byParent reads what an assignment was handed on to, without an error.
func (t *trial) byParent(p *place, id string) []*livechat.Assignment {
	t.Helper()
	found, err := p.GetAssignmentsByParentAssignmentID(t.ctx(), livechat.GetAssignmentsByParentAssignmentIDParams{AssignmentID: id})
	require.NoError(t, err)
	return found
}

func assignmentsByParentReadsWhatItWasHandedOnTo(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	next := t.handOn(h, livechat.ReassignAssignmentParams{})
	found := t.byParent(t.home, h.assignment.ID)
	require.Len(t, found, 1)
	requireSameAssignment(t, next, found[0])
	require.NoError(t, h.desk.agent.Take(next.ID))
	last := t.handOn(held{h.desk, next, t.groupOf(t.home, t.assignment(t.home, next.ID))}, livechat.ReassignAssignmentParams{})
	require.Equal(t, []string{next.ID}, idsOf(t.byParent(t.home, h.assignment.ID)))
	require.Equal(t, []string{last.ID}, idsOf(t.byParent(t.home, next.ID)))
}

func assignmentsByParentFindsNoOthers(t *trial) {
	t.openDesk(t.home, t.ticketing())
	theirs := t.openDesk(t.away, t.ticketing())
	handedOn := t.requestTaken(t.away, theirs, livechat.CreateAssignmentParams{})
	_, err := t.away.ReassignAssignment(t.ctx(), livechat.ReassignAssignmentParams{
		Channel: theirs.Channel, Label: "sales", PreviousAssignment: handedOn,
	})
	require.NoError(t, err)
	require.Len(t, t.byParent(t.away, handedOn.ID), 1)
	for name, id := range map[string]string{
		"not handed on":  t.request(t.home, livechat.CreateAssignmentParams{}).ID,
		"of nobody":      unique("assignment"),
		"of another app": handedOn.ID,
	} {
		t.try(name, func(t *trial) { require.Equal(t, "[]", textOf(t, t.byParent(t.home, id))) })
	}
}
