package botctxtest

import (
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

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
