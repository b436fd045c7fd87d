package botctxtest

import (
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var updateGroupRules = []Rule{
	{
		Name:  "UpdateGroupSetsTheGivenFields",
		Text:  "updateGroup sets the given fields of the group, unknown ones included, and leaves others and other groups as they are",
		check: updateGroupSetsTheGivenFields,
	},
	{
		Name:  "UpdateGroupTellsWhatItDid",
		Text:  "the result of updateGroup has the id and the record; modified counts what had other values before",
		check: updateGroupTellsWhatItDid,
	},
	{
		Name:  "GroupsTellWhenTheyChanged",
		Text:  "a change renews updatedAt and _version of a group, and what changes nothing renews neither",
		Needs: []Capability{moveClock},
		check: groupsTellWhenTheyChanged,
	},
	{
		Name:  "GroupsAreCopies",
		Text:  "what a caller does with a group that was given or returned does not change the stored one",
		check: groupsAreCopies,
	},
}

func updateGroupSetsTheGivenFields(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	before := *first.group
	t.setGroup(t.home, before.ID, "name", "Order 7", "meta", document.O("n", 1), "list", document.A(1, document.O("x", nil)))
	t.setGroup(t.home, before.ID, "valid", false, "meta.m", 2, "_id", before.ID, "app", before.App, "createdAt", before.CreatedAt)
	g := t.storedGroup(t.home, before.ID)
	require.Equal(t, "Order 7", g.Name)
	require.False(t, g.Valid)
	require.JSONEq(t, `{"n": 1, "m": 2}`, g.Meta.String())
	require.JSONEq(t, `{"list": [1, {"x": null}]}`, g.Unknown.String())
	g.Name, g.Valid, g.Meta, g.Unknown = before.Name, before.Valid, before.Meta, before.Unknown
	g.UpdatedAt, g.Version = before.UpdatedAt, before.Version
	requireSameGroup(t, &before, g)
	requireSameGroup(t, second.group, t.storedGroup(t.home, second.group.ID))
}

// requireGroupUpdate checks the result of an update of one group against what is stored.
func requireGroupUpdate(t *trial, id string, modified int64, result livechat.UpdateGroupResult) {
	t.Helper()
	require.Equal(t, []string{id}, result.DocsIDs.Updated)
	require.Len(t, result.Docs, 1)
	requireSameGroup(t, t.storedGroup(t.home, id), result.Docs[0])
	require.Equal(t, modified, result.Modified)
}

func updateGroupTellsWhatItDid(t *trial) {
	id := t.talk().group.ID
	for _, modified := range []int64{1, 0} {
		requireGroupUpdate(t, id, modified, t.setGroup(t.home, id, "name", "Order 7"))
	}
	requireGroupUpdate(t, id, 0, t.setGroup(t.home, id))
}

func groupsTellWhenTheyChanged(t *trial) {
	made := t.talk().group
	t.Advance(time.Second)
	t.setGroup(t.home, made.ID, "name", "Order 7")
	changed := t.storedGroup(t.home, made.ID)
	require.Equal(t, made.CreatedAt, changed.CreatedAt)
	require.Greater(t, changed.UpdatedAt, made.UpdatedAt)
	require.Greater(t, changed.Version, made.Version)
	t.Advance(time.Second)
	t.setGroup(t.home, made.ID, "name", "Order 7")
	requireSameGroup(t, changed, t.storedGroup(t.home, made.ID))
}

func groupsAreCopies(t *trial) {
	id := t.talk().group.ID
	list := []any{1, 2}
	meta := document.O("list", list)
	result := t.setGroup(t.home, id, "meta", meta)
	before := textOf(t, t.storedGroup(t.home, id))
	list[0] = "changed"
	meta.Set("list", "changed")
	result.Docs[0].Name = "changed"
	result.Docs[0].Meta.Set("list", "changed")
	found := t.storedGroup(t.home, id)
	found.Name, found.Active = "changed", false
	found.Meta.Set("n", 1)
	require.Equal(t, before, textOf(t, t.storedGroup(t.home, id)))
	require.JSONEq(t, `{"list": [1, 2]}`, t.storedGroup(t.home, id).Meta.String())
}

var updateGroupMetaRules = []Rule{
	{
		Name:  "UpdateGroupMetaSetsTheGivenFields",
		Text:  "updateGroupMeta sets the given fields of meta and leaves others as they are; a field may be a dotted path",
		check: updateGroupMetaSetsTheGivenFields,
	},
	{
		Name:  "UpdateGroupMetaTellsWhatItDid",
		Text:  "the result of updateGroupMeta has the id and the record; modified counts what had other values before",
		check: updateGroupMetaTellsWhatItDid,
	},
	{
		Name:  "UpdateGroupMetaLosesNoField",
		Text:  "updateGroupMeta writes the given fields alone: of many at once, none takes back what another wrote",
		check: updateGroupMetaLosesNoField,
	},
}

// setGroupMeta sets fields of the meta of a group of the home app, without an error.
func (t *trial) setGroupMeta(id string, pairs ...any) livechat.UpdateGroupResult {
	t.Helper()
	result, err := t.home.UpdateGroupMeta(t.ctx(), livechat.UpdateGroupMetaParams{GroupID: id, Meta: document.O(pairs...)})
	require.NoError(t, err)
	return result
}

func updateGroupMetaSetsTheGivenFields(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	before := document.O("topic", "x", "order", document.O("id", 1), "list", document.A(1, 2))
	for name, c := range map[string]struct {
		pairs []any
		want  string
	}{
		"a field":          {[]any{"topic", "bill"}, `{"topic": "bill", "order": {"id": 1}, "list": [1, 2]}`},
		"a new one":        {[]any{"new", nil}, `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "new": null}`},
		"a whole object":   {[]any{"order", document.O("n", 2)}, `{"topic": "x", "order": {"n": 2}, "list": [1, 2]}`},
		"paths":            {[]any{"order.n", 2, "list.1", 5}, `{"topic": "x", "order": {"id": 1, "n": 2}, "list": [1, 5]}`},
		"nothing":          {nil, `{"topic": "x", "order": {"id": 1}, "list": [1, 2]}`},
		"words of records": {[]any{"_id", 1, "app", "a"}, `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "_id": 1, "app": "a"}`},
	} {
		t.try(name, func(t *trial) {
			t.setGroup(t.home, first.group.ID, "meta", before)
			t.setGroupMeta(first.group.ID, c.pairs...)
			g := t.storedGroup(t.home, first.group.ID)
			require.JSONEq(t, c.want, g.Meta.String())
			require.Equal(t, []string{first.group.ID, first.group.App, first.group.Name}, []string{g.ID, g.App, g.Name})
			requireSameGroup(t, second.group, t.storedGroup(t.home, second.group.ID))
		})
	}
}

func updateGroupMetaTellsWhatItDid(t *trial) {
	id := t.talk().group.ID
	for _, modified := range []int64{1, 0} {
		requireGroupUpdate(t, id, modified, t.setGroupMeta(id, "n", 1))
	}
	requireGroupUpdate(t, id, 0, t.setGroupMeta(id))
}

func updateGroupMetaLosesNoField(t *trial) {
	id := t.talk().group.ID
	t.atOnce(func(worker int) error {
		return errorOf(t.home.UpdateGroupMeta(t.ctx(), livechat.UpdateGroupMetaParams{
			GroupID: id, Meta: document.O("by."+strconv.Itoa(worker), true),
		}))
	})
	require.Equal(t, workers, document.Get(t.storedGroup(t.home, id).Meta, "by", document.O()).Len())
}

var inactivateGroupRules = []Rule{
	{
		Name:  "InactivateGroupPutsItOutOfUse",
		Text:  "inactivateGroup makes the group neither live nor valid and leaves all else as it is; once more is no error",
		check: inactivateGroupPutsItOutOfUse,
	},
	{
		Name:  "InactivateGroupTellsOfTheRecord",
		Text:  "inactivateGroup returns the id, createdAt and _version of the record, with email, apps and acls that are empty",
		check: inactivateGroupTellsOfTheRecord,
	},
}

func inactivateGroupPutsItOutOfUse(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	for range 2 {
		t.putOutOfUse(first.group.ID)
		g := t.storedGroup(t.home, first.group.ID)
		require.Equal(t, []bool{false, false}, []bool{g.Active, g.Valid})
		g.Active, g.Valid, g.UpdatedAt, g.Version = true, true, first.group.UpdatedAt, first.group.Version
		requireSameGroup(t, first.group, g)
	}
	requireSameGroup(t, second.group, t.storedGroup(t.home, second.group.ID))
}

func inactivateGroupTellsOfTheRecord(t *trial) {
	id := t.talk().group.ID
	result := t.putOutOfUse(id)
	g := t.storedGroup(t.home, id)
	require.JSONEq(t, textOf(t, document.O(
		"_id", g.ID, "email", document.O(), "createdAt", g.CreatedAt, "apps", document.A(), "acls", document.A(), "_version", g.Version,
	)), textOf(t, result))
}
