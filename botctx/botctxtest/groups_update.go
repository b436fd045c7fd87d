package botctxtest

import (
	"context"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
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
		Name:  "UpdateGroupFindsNoOthers",
		Text:  "groups that do not exist, or are of another app, are NotFound for updateGroup, and nothing is changed",
		check: updateGroupFindsNoOthers,
	},
	{
		Name:  "UpdateGroupRefusesBadInput",
		Text:  "bad input of updateGroup is InvalidArgument with the name of the parameter, and changes nothing",
		check: updateGroupRefusesBadInput,
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

// strangeGroups are ids of groups that do not exist for the home app, and one that does for
// another app.
func (t *trial) strangeGroups() (ids map[string]string, theirs *livechat.Group) {
	t.Helper()
	theirs = t.talkAway().group
	return map[string]string{"of nobody": unique("group"), "of another app": theirs.ID}, theirs
}

// requireNoSuchGroup checks that an operation finds no group of another app, and changes
// nothing.
func requireNoSuchGroup[R any](t *trial, op botctx.Op, field string, operation func(ctx context.Context, groupID string) (R, error)) {
	t.Helper()
	ids, theirs := t.strangeGroups()
	for name, id := range ids {
		t.try(name, func(t *trial) {
			before := t.state()
			result, err := operation(t.ctx(), id)
			t.requireError(op, boterr.NotFound, field, err)
			require.Zero(t, result, "the result beside an error")
			require.Equal(t, before, t.state(), "a call that fails changes nothing")
		})
	}
	requireSameGroup(t, theirs, t.storedGroup(t.away, theirs.ID))
}

func updateGroupFindsNoOthers(t *trial) {
	requireNoSuchGroup(t, botctx.OpUpdateGroup, "group", func(ctx context.Context, id string) (livechat.UpdateGroupResult, error) {
		return t.home.UpdateGroup(ctx, livechat.UpdateGroupParams{Group: document.O("_id", id, "name", "Stolen")})
	})
}

func updateGroupRefusesBadInput(t *trial) {
	type params = livechat.UpdateGroupParams
	id := t.talk().group.ID
	t.setGroup(t.home, id, "text", "x")
	cases := []badInput[params]{
		{"no group", params{}, "group"},
		{"no _id", params{Group: document.O("name", "Order 7")}, "group._id"},
		{"an _id that is a number", params{Group: document.O("_id", 7, "name", "Order 7")}, "group._id"},
	}
	for name, fields := range map[string]document.Object{
		"a name that is a number":     document.O("name", 7),
		"active that is a text":       document.O("active", "yes"),
		"meta that is a text":         document.O("meta", "x"),
		"meta that is null":           document.O("meta", nil),
		"another app":                 document.O("app", t.away.scope.App),
		"another createdAt":           document.O("createdAt", 1),
		"a modifier":                  document.O("$inc", document.O("n", 1)),
		"a path into a text":          document.O("text.inside", 1),
		"a path and a path in it":     document.O("meta", document.O(), "meta.n", 1),
		"a path with an empty part":   document.O("a..b", 1),
		"what is no value":            document.O("n", make(chan int)),
		"a good field beside the bad": document.O("name", "Order 7", "active", 1),
	} {
		cases = append(cases, badInput[params]{name, params{Group: fields.With("_id", id)}, "group"})
	}
	requireGroupsRefused(t, id, botctx.OpUpdateGroup, t.home.UpdateGroup, cases)
}

// requireGroupsRefused checks that calls are refused, as requireRefused does, and leave a group
// as it is.
func requireGroupsRefused[P, R any](
	t *trial, id string, op botctx.Op, operation func(context.Context, P) (R, error), cases []badInput[P],
) {
	t.Helper()
	before := t.storedGroup(t.home, id)
	requireRefused(t, op, operation, cases)
	requireSameGroup(t, before, t.storedGroup(t.home, id))
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
		Name:  "UpdateGroupMetaFindsNoOthers",
		Text:  "groups that do not exist, or are of another app, are NotFound for updateGroupMeta, and nothing is changed",
		check: updateGroupMetaFindsNoOthers,
	},
	{
		Name:  "UpdateGroupMetaRefusesBadInput",
		Text:  "bad input of updateGroupMeta is InvalidArgument with the name of the parameter, and changes nothing",
		check: updateGroupMetaRefusesBadInput,
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

func updateGroupMetaFindsNoOthers(t *trial) {
	requireNoSuchGroup(t, botctx.OpUpdateGroupMeta, "groupId", func(ctx context.Context, id string) (livechat.UpdateGroupResult, error) {
		return t.home.UpdateGroupMeta(ctx, livechat.UpdateGroupMetaParams{GroupID: id, Meta: document.O("n", 1)})
	})
}

func updateGroupMetaRefusesBadInput(t *trial) {
	type params = livechat.UpdateGroupMetaParams
	id := t.talk().group.ID
	t.setGroupMeta(id, "text", "x")
	cases := []badInput[params]{
		{"no groupId", params{Meta: document.O("n", 1)}, "groupId"},
		{"no meta", params{GroupID: id}, "meta"},
	}
	for name, meta := range map[string]document.Object{
		"a modifier":                  document.O("$inc", document.O("n", 1)),
		"a positional operator":       document.O("list.$", 1),
		"an empty name":               document.O("", 1),
		"a path with an empty part":   document.O("a..b", 1),
		"a path into a text":          document.O("text.inside", 1),
		"a path and a path in it":     document.O("a", document.O(), "a.b", 1),
		"a good field beside the bad": document.O("n", 1, "text.inside", 1),
	} {
		cases = append(cases, badInput[params]{name, params{GroupID: id, Meta: meta}, "meta"})
	}
	requireGroupsRefused(t, id, botctx.OpUpdateGroupMeta, t.home.UpdateGroupMeta, cases)
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
	{
		Name:  "InactivateGroupFindsNoOthers",
		Text:  "groups that do not exist, or are of another app, are NotFound for inactivateGroup, and nothing is changed",
		check: inactivateGroupFindsNoOthers,
	},
	{
		Name:  "InactivateGroupRefusesBadInput",
		Text:  "bad input of inactivateGroup is InvalidArgument with the name of the parameter",
		check: inactivateGroupRefusesBadInput,
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

func inactivateGroupFindsNoOthers(t *trial) {
	requireNoSuchGroup(t, botctx.OpInactivateGroup, "groupId", func(ctx context.Context, id string) (livechat.RecordUpdate, error) {
		return t.home.InactivateGroup(ctx, livechat.InactivateGroupParams{GroupID: id})
	})
}

func inactivateGroupRefusesBadInput(t *trial) {
	requireRefused(t, botctx.OpInactivateGroup, t.home.InactivateGroup, []badInput[livechat.InactivateGroupParams]{
		{"no groupId", livechat.InactivateGroupParams{}, "groupId"},
	})
}
