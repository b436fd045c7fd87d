package livechats_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
)

// putGroup stores a group of mine. The fields are JSON that begins with a comma.
func (s *fixture) putGroup(t *testing.T, id string, fields string) {
	t.Helper()
	s.put(t, "groups", `{"_id": "`+id+`", "app": "mine", "_version": 1, "active": true, "valid": true`+fields+`}`)
}

func TestUpdateAssignmentGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ group, params, info string }{
		"of charlie": {
			`, "externalId": "G1", "type": "charlie", "name": "Ada"`, `{"assignmentId": "a1", "group": {"_id": "g1"}}`,
			`{"externalId": "G1", "type": "charlie", "name": "Ada"}`,
		},
		"of bravo": {
			`, "externalId": "G1", "type": "bravo", "name": "Ada"`, `{"assignmentId": "a1", "group": {"_id": "g1"}}`,
			`{"externalId": "G1", "type": "bravo", "name": "Ada", "bravoGroupId": "G1"}`,
		},
		"with another id on bravo": {
			`, "externalId": "G1", "type": "bravo", "name": "Ada"`, `{"assignmentId": "a1", "group": {"_id": "g1"}, "bravoGroupId": "B2"}`,
			`{"externalId": "G1", "type": "bravo", "name": "Ada", "bravoGroupId": "B2"}`,
		},
		"a group is an address": {
			`, "externalId": "G1", "type": "charlie", "name": "Ada"`,
			`{"assignmentId": "a1", "group": {"_id": "g1", "app": "theirs", "externalId": "forged"}, "bravoGroupId": "B2"}`,
			`{"externalId": "G1", "type": "charlie", "name": "Ada"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.putAssignment(t, "a1", 1, `, "groupInfo": {"old": 1}`)
			s.putGroup(t, "g1", c.group)
			s.advance(time.Second)
			updated := must(t, s.mine.UpdateAssignmentGroup, c.params)
			kept := s.record(t, "a1")
			require.JSONEq(t, `{"_docsIds": {"updated": ["a1"]}, "modified": 1, "_docs": [
				{"_id": "a1", "app": "mine", "_version": 2, "createdAt": 1, "updatedAt": 1709294401000, "etag": "`+kept.Etag+`",
				"inlet": "web", "member": "ada", "history": false, "isZendesk": false, "meta": {}, "targets": [], "group": "g1",
				"groupInfo": `+c.info+`}]}`, updated)
			require.NotEqual(t, "e", kept.Etag)
			s.advance(time.Second)
			again := must(t, s.mine.UpdateAssignmentGroup, c.params)
			require.EqualValues(t, 0, withField(t, again, "modified"))
			require.Equal(t, kept, s.record(t, "a1"), "what is so already is not changed")
		})
	}
}

func TestUpdateAssignmentGroup_BravoGroupID(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, ``)
	s.putGroup(t, "g1", `, "externalId": "G1", "type": "bravo"`)
	must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "a1", "group": {"_id": "g1"}}`)
	require.Equal(t, "a1", withField(t, must(t, s.mine.GetAssignmentByBravoGroupID, `{"bravoGroupId": "G1"}`), "_id"))
	must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "a1", "group": {"_id": "g1"}, "bravoGroupId": "B2"}`)
	require.Equal(t, "a1", withField(t, must(t, s.mine.GetAssignmentByBravoGroupID, `{"bravoGroupId": "B2"}`), "_id"))
	_, err := call(t, s.mine.GetAssignmentByBravoGroupID, `{"bravoGroupId": "G1"}`)
	require.ErrorIs(t, err, boterr.NotFound)
}

func TestUpdateAssignmentGroup_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) { p.IsStrict = true })
	s.putAssignment(t, "a1", 1, ``)
	s.putGroup(t, "g1", `, "type": "charlie"`)
	s.put(t, "groups", `{"_id": "foreign", "app": "theirs"}`)
	s.put(t, "assignments", `{"_id": "foreign", "app": "theirs", "slot": "ended/foreign"}`)
	requireRefused(t, s, s.mine.UpdateAssignmentGroup,
		refused{`{"group": {"_id": "g1"}}`, boterr.InvalidArgument, "assignmentId"},
		refused{`{"assignmentId": "a1"}`, boterr.InvalidArgument, "group"},
		refused{`{"assignmentId": "a1", "group": "g1"}`, boterr.InvalidArgument, "group"},
		refused{`{"assignmentId": "a1", "group": {"externalId": "G1"}}`, boterr.InvalidArgument, "group._id"},
		refused{`{"assignmentId": "a1", "group": {"_id": "none"}}`, boterr.NotFound, "group._id"},
		refused{`{"assignmentId": "a1", "group": {"_id": "foreign"}}`, boterr.NotFound, "group._id"},
		refused{`{"assignmentId": "none", "group": {"_id": "g1"}}`, boterr.NotFound, "assignmentId"},
		refused{`{"assignmentId": "foreign", "group": {"_id": "g1"}}`, boterr.NotFound, "assignmentId"},
		refused{`{"assignmentId": "a1", "group": {"_id": "g1"}, "bravoGroupId": "B"}`, boterr.InvalidArgument, "bravoGroupId"})
}

func TestUpdateAssignmentMeta_OtherFieldsStay(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"topic": "bill"}`:                   `{"topic": "bill", "order": {"id": 1}, "list": [1, 2]}`,
		`{"new": null}`:                       `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "new": null}`,
		`{"order": {"n": 2}}`:                 `{"topic": "x", "order": {"n": 2}, "list": [1, 2]}`,
		`{"order.n": 2, "list.1": 5}`:         `{"topic": "x", "order": {"id": 1, "n": 2}, "list": [1, 5]}`,
		`{"for": {"$in": ["de"]}}`:            `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "for": {"$in": ["de"]}}`,
		`{"_id": 1, "app": "a", "member": 1}`: `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "_id": 1, "app": "a", "member": 1}`,
	} {
		t.Run(params, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.putAssignment(t, "a1", 1, `, "meta": {"topic": "x", "order": {"id": 1}, "list": [1, 2]}`)
			s.putGroup(t, "g1", `, "meta": {"topic": "x", "order": {"id": 1}, "list": [1, 2]}`)
			updated := must(t, s.mine.UpdateAssignmentMeta, `{"assignmentId": "a1", "meta": `+params+`}`)
			requireMetaSet(t, updated, "a1", want)
			require.JSONEq(t, want, metaOf(t, must(t, s.mine.GetAssignment, `{"assignmentId": "a1"}`)))
			updated = must(t, s.mine.UpdateGroupMeta, `{"groupId": "g1", "meta": `+params+`}`)
			requireMetaSet(t, updated, "g1", want)
			require.JSONEq(t, want, metaOf(t, must(t, s.mine.GetGroup, `{"groupId": "g1"}`)))
		})
	}
}

func TestUpdateAssignmentMeta_Unchanged(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, `, "meta": {"topic": "x"}`)
	s.putGroup(t, "g1", `, "meta": {"topic": "x"}`)
	before := s.stored(t)
	s.advance(time.Second)
	for _, meta := range []string{`{}`, `{"topic": "x"}`} {
		require.EqualValues(t, 0, withField(t, must(t, s.mine.UpdateAssignmentMeta, `{"assignmentId": "a1", "meta": `+meta+`}`), "modified"))
		require.EqualValues(t, 0, withField(t, must(t, s.mine.UpdateGroupMeta, `{"groupId": "g1", "meta": `+meta+`}`), "modified"))
		require.Equal(t, before, s.stored(t))
	}
}

func TestUpdateAssignmentMeta_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, `, "meta": {"text": "x"}`)
	s.putGroup(t, "g1", `, "meta": {"text": "x"}`)
	s.put(t, "groups", `{"_id": "foreign", "app": "theirs"}`)
	s.put(t, "assignments", `{"_id": "foreign", "app": "theirs", "slot": "ended/foreign"}`)
	for meta, field := range map[string]string{
		`null`:               "meta",
		`"x"`:                "meta",
		`{"$inc": {"n": 1}}`: "meta.$inc",
		`{"list.$": 1}`:      "meta.list.$",
		`{"list.$[].n": 1}`:  "meta.list.$[].n",
		`{"": 1}`:            "meta.",
		`{"a..b": 1}`:        "meta.a..b",
		`{"text.inside": 1}`: "meta.text.inside",
		`{"a": 1, "a.b": 1}`: "meta.a.b",
	} {
		requireRefused(t, s, s.mine.UpdateAssignmentMeta, refused{`{"assignmentId": "a1", "meta": ` + meta + `}`, boterr.InvalidArgument, field})
		requireRefused(t, s, s.mine.UpdateGroupMeta, refused{`{"groupId": "g1", "meta": ` + meta + `}`, boterr.InvalidArgument, field})
	}
	requireRefused(t, s, s.mine.UpdateAssignmentMeta,
		refused{`{"meta": {"n": 1}}`, boterr.InvalidArgument, "assignmentId"},
		refused{`{"assignmentId": "a1"}`, boterr.InvalidArgument, "meta"},
		refused{`{"assignmentId": "none", "meta": {"n": 1}}`, boterr.NotFound, "assignmentId"},
		refused{`{"assignmentId": "foreign", "meta": {"n": 1}}`, boterr.NotFound, "assignmentId"})
	requireRefused(t, s, s.mine.UpdateGroupMeta,
		refused{`{"meta": {"n": 1}}`, boterr.InvalidArgument, "groupId"},
		refused{`{"groupId": "g1"}`, boterr.InvalidArgument, "meta"},
		refused{`{"groupId": "none", "meta": {"n": 1}}`, boterr.NotFound, "groupId"},
		refused{`{"groupId": "foreign", "meta": {"n": 1}}`, boterr.NotFound, "groupId"})
}

// requireMetaSet asserts what an update of the meta of one record tells.
func requireMetaSet(t *testing.T, updated, id, meta string) {
	t.Helper()
	require.EqualValues(t, 1, withField(t, updated, "modified"))
	require.Equal(t, id, withField(t, updated, "_docsIds.updated.0"))
	doc := object(t, updated)
	first, ok := doc.Lookup("_docs.0")
	require.True(t, ok)
	text, err := json.Marshal(first)
	require.NoError(t, err)
	require.JSONEq(t, meta, metaOf(t, string(text)))
}

// metaOf returns the meta of a record in JSON.
func metaOf(t *testing.T, text string) string {
	t.Helper()
	o := object(t, text)
	return document.Get(o, "meta", document.O()).String()
}
