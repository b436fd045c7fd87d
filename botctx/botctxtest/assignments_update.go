package botctxtest

import (
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var updateAssignmentRules = []Rule{
	{
		Name:  "UpdateAssignmentGroupSetsTheGroup",
		Text:  "updateAssignmentGroup sets the group and what is known of it; a group that is passed in is an address",
		check: updateAssignmentGroupSetsTheGroup,
	},
	{
		Name:  "UpdateAssignmentGroupSetsTheBravoGroup",
		Text:  "bravoGroupId is by what getAssignmentByBravoGroupId finds the assignment; it is the external id of the group by default",
		Needs: []Capability{On(channel.Bravo)},
		check: updateAssignmentGroupSetsTheBravoGroup,
	},
	{
		Name:  "UpdateAssignmentGroupFindsNoOthers",
		Text:  "assignments and groups of another app are NotFound for updateAssignmentGroup, and nothing is changed",
		check: updateAssignmentGroupFindsNoOthers,
	},
	{
		Name:  "UpdateAssignmentGroupRefusesBadInput",
		Text:  "bad input of updateAssignmentGroup is InvalidArgument with the name of the parameter, and changes nothing",
		check: updateAssignmentGroupRefusesBadInput,
	},
	{
		Name:  "UpdateAssignmentMetaSetsTheGivenFields",
		Text:  "updateAssignmentMeta sets the given fields and leaves others as they are; a field may be a dotted path",
		check: updateAssignmentMetaSetsTheGivenFields,
	},
	{
		Name:  "UpdateAssignmentMetaTellsWhatItDid",
		Text:  "the result has the id and the record of what matched; modified counts what had other values before",
		check: updateAssignmentMetaTellsWhatItDid,
	},
	{
		Name:  "AssignmentsTellWhenTheyChanged",
		Text:  "a change renews updatedAt, _version and etag of an assignment, and what changes nothing renews none",
		Needs: []Capability{moveClock},
		check: assignmentsTellWhenTheyChanged,
	},
	{
		Name:  "UpdateAssignmentMetaFindsNoOthers",
		Text:  "assignments of another app are NotFound for updateAssignmentMeta, and nothing is changed",
		check: updateAssignmentMetaFindsNoOthers,
	},
	{
		Name:  "UpdateAssignmentMetaRefusesBadInput",
		Text:  "bad input of updateAssignmentMeta is InvalidArgument with the name of the parameter, and changes nothing",
		check: updateAssignmentMetaRefusesBadInput,
	},
	{
		Name:  "UpdateAssignmentMetaLosesNoField",
		Text:  "updateAssignmentMeta writes the given fields alone: of many at once, none takes back what another wrote",
		check: updateAssignmentMetaLosesNoField,
	},
}

// requireUpdated checks the result of an update of one assignment against what is stored.
func requireUpdated(t *trial, id string, modified int64, result livechat.UpdateAssignmentResult) {
	t.Helper()
	require.Equal(t, []string{id}, result.DocsIDs.Updated)
	require.Len(t, result.Docs, 1)
	requireSameAssignment(t, t.assignment(t.home, id), result.Docs[0])
	require.Equal(t, modified, result.Modified)
}

func updateAssignmentGroupSetsTheGroup(t *trial) {
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	for _, modified := range []int64{1, 0} {
		result, err := t.home.UpdateAssignmentGroup(t.ctx(), livechat.UpdateAssignmentGroupParams{
			AssignmentID: a.ID, Group: &livechat.Group{ID: h.group.ID, App: t.away.scope.App, ExternalID: "forged", Name: "forged"},
		})
		require.NoError(t, err)
		requireUpdated(t, a.ID, modified, result)
		require.Equal(t, h.group.ID, result.Docs[0].Group)
		require.Equal(t, h.assignment.GroupInfo.String(), result.Docs[0].GroupInfo.String())
	}
	requireSameAssignment(t, h.assignment, t.assignment(t.home, h.assignment.ID))
}

func updateAssignmentGroupSetsTheBravoGroup(t *trial) {
	h := t.hold(channel.Bravo, livechat.CreateAssignmentParams{})
	a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{})
	for given, found := range map[string]string{"": h.group.ExternalID, "own-" + a.ID: "own-" + a.ID} {
		t.try("bravoGroupId "+given, func(t *trial) {
			result, err := t.home.UpdateAssignmentGroup(t.ctx(), livechat.UpdateAssignmentGroupParams{
				AssignmentID: a.ID, Group: h.group, BravoGroupID: given,
			})
			require.NoError(t, err)
			require.Equal(t, found, document.Get(result.Docs[0].GroupInfo, "bravoGroupId", ""))
			require.Equal(t, a.ID, t.byBravoGroup(t.home, found).ID)
		})
	}
}

func updateAssignmentGroupFindsNoOthers(t *trial) {
	type params = livechat.UpdateAssignmentGroupParams
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	theirs := t.requestTaken(t.away, t.openDesk(t.away, t.ticketing()), livechat.CreateAssignmentParams{})
	requireFails(t, botctx.OpUpdateAssignmentGroup, t.home.UpdateAssignmentGroup, boterr.NotFound, []badInput[params]{
		{"an assignment of nobody", params{AssignmentID: unique("assignment"), Group: h.group}, "assignmentId"},
		{"an assignment of another app", params{AssignmentID: theirs.ID, Group: h.group}, "assignmentId"},
		{"a group of nobody", params{AssignmentID: h.assignment.ID, Group: &livechat.Group{ID: unique("group")}}, "group"},
		{"a group of another app", params{AssignmentID: h.assignment.ID, Group: &livechat.Group{
			ID: theirs.Group, App: t.home.scope.App,
		}}, "group"},
	})
	requireSameAssignment(t, theirs, t.assignment(t.away, theirs.ID))
}

func updateAssignmentGroupRefusesBadInput(t *trial) {
	type params = livechat.UpdateAssignmentGroupParams
	h := t.hold(t.ticketing(), livechat.CreateAssignmentParams{})
	requireRefused(t, botctx.OpUpdateAssignmentGroup, t.home.UpdateAssignmentGroup, []badInput[params]{
		{"no assignmentId", params{Group: h.group}, "assignmentId"},
		{"no group", params{AssignmentID: h.assignment.ID}, "group"},
		{"a group without _id", params{AssignmentID: h.assignment.ID, Group: &livechat.Group{ExternalID: h.group.ExternalID}}, "group"},
	})
}

// setMeta updates the meta of an assignment, without an error.
func (t *trial) setMeta(id string, meta document.Object) livechat.UpdateAssignmentResult {
	t.Helper()
	result, err := t.home.UpdateAssignmentMeta(t.ctx(), livechat.UpdateAssignmentMetaParams{AssignmentID: id, Meta: meta})
	require.NoError(t, err)
	return result
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

func updateAssignmentMetaFindsNoOthers(t *trial) {
	type params = livechat.UpdateAssignmentMetaParams
	var cases []badInput[params]
	for name, id := range t.strangeAssignments() {
		cases = append(cases, badInput[params]{name, params{AssignmentID: id, Meta: document.O("n", 1)}, "assignmentId"})
	}
	requireFails(t, botctx.OpUpdateAssignmentMeta, t.home.UpdateAssignmentMeta, boterr.NotFound, cases)
}

func updateAssignmentMetaRefusesBadInput(t *trial) {
	type params = livechat.UpdateAssignmentMetaParams
	t.openDesk(t.home, t.ticketing())
	id := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("text", "x")}).ID
	cases := []badInput[params]{
		{"no assignmentId", params{Meta: document.O("n", 1)}, "assignmentId"},
		{"no meta", params{AssignmentID: id}, "meta"},
	}
	for name, meta := range map[string]document.Object{
		"a modifier":                  document.O("$inc", document.O("n", 1)),
		"a positional operator":       document.O("list.$", 1),
		"an empty name":               document.O("", 1),
		"a path with an empty part":   document.O("a..b", 1),
		"a path into a text":          document.O("text.inside", 1),
		"a path and a path in it":     document.O("a", document.O(), "a.b", 1),
		"a value that is no value":    document.O("n", make(chan int)),
		"a good field beside the bad": document.O("n", 1, "text.inside", 1),
	} {
		cases = append(cases, badInput[params]{name, params{AssignmentID: id, Meta: meta}, "meta"})
	}
	requireRefused(t, botctx.OpUpdateAssignmentMeta, t.home.UpdateAssignmentMeta, cases)
}

func updateAssignmentMetaLosesNoField(t *trial) {
	t.openDesk(t.home, t.ticketing())
	id := t.request(t.home, livechat.CreateAssignmentParams{}).ID
	t.atOnce(func(worker int) error {
		return errorOf(t.home.UpdateAssignmentMeta(t.ctx(), livechat.UpdateAssignmentMetaParams{
			AssignmentID: id, Meta: document.O("by."+strconv.Itoa(worker), true),
		}))
	})
	require.Equal(t, workers, document.Get(t.assignment(t.home, id).Meta, "by", document.O()).Len())
}
