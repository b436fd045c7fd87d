package livechats_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

func TestUpdateGroup_OtherFieldsStay(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"_id": "g1", "name": "Bob"}`:                     `{"name": "Bob", "meta": {"n": 1, "m": 2}, "active": true, "valid": true}`,
		`{"_id": "g1", "name": null}`:                      `{"meta": {"n": 1, "m": 2}, "active": true, "valid": true}`,
		`{"_id": "g1", "meta": {"n": 3}, "active": false}`: `{"name": "Ada", "meta": {"n": 3}, "active": false, "valid": true}`,
		`{"_id": "g1", "meta.n": 3, "valid": false}`:       `{"name": "Ada", "meta": {"n": 3, "m": 2}, "active": true, "valid": false}`,
		`{"_id": "g1", "own": {"x": 1}, "own2.x": 1}`: `{"name": "Ada", "meta": {"n": 1, "m": 2}, "active": true, "valid": true, "own": {"x": 1},
			"own2": {"x": 1}}`,
		`{"_id": "g1", "app": "mine", "createdAt": 1, "_version": 1, "updatedAt": 1, "type": "delta"}`: `{"name": "Ada", "meta": {"n": 1, "m": 2},
			"active": true, "valid": true, "type": "delta"}`,
		`{"_id": "g1", "inletGroupExternalId": "I1", "outlet": "team", "inlet": "web", "member": "bob", "assignment": "a", "admin": "eve",
			"adminExternalId": "E", "externalId": "G", "botId": "b"}`: `{"name": "Ada", "meta": {"n": 1, "m": 2}, "active": true, "valid": true,
			"inletGroupExternalId": "I1", "outlet": "team", "inlet": "web", "member": "bob", "assignment": "a", "admin": "eve",
			"adminExternalId": "E", "externalId": "G", "botId": "b"}`,
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.putGroup(t, "g1", `, "createdAt": 1, "updatedAt": 1, "name": "Ada", "meta": {"n": 1, "m": 2}`)
			want := object(t, want).With("_id", "g1").With("app", "mine").With("createdAt", 1).
				With("updatedAt", noon).With("_version", 2).String()
			require.JSONEq(t, `{"_docsIds": {"updated": ["g1"]}, "modified": 1, "_docs": [`+want+`]}`,
				must(t, s.mine.UpdateGroup, `{"group": `+given+`}`))
			require.JSONEq(t, want, must(t, s.mine.GetGroup, `{"groupId": "g1"}`))
		})
	}
}

func TestUpdateGroup_Unchanged(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putGroup(t, "g1", `, "createdAt": 1, "updatedAt": 1, "name": "Ada"`)
	before := s.stored(t)
	for _, given := range []string{`{"_id": "g1"}`, `{"_id": "g1", "name": "Ada", "valid": true}`, `{"_id": "g1", "_version": 7}`} {
		require.EqualValues(t, 0, withField(t, must(t, s.mine.UpdateGroup, `{"group": `+given+`}`), "modified"), given)
		require.Equal(t, before, s.stored(t), given)
	}
}

func TestUpdateGroup_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putGroup(t, "g1", `, "createdAt": 1, "name": "Ada", "meta": {}`)
	s.put(t, "groups", `{"_id": "foreign", "app": "theirs", "name": "Tom"}`)
	requireRefused(t, s, s.mine.UpdateGroup,
		refused{`{}`, boterr.InvalidArgument, "group"},
		refused{`{"group": "g1"}`, boterr.InvalidArgument, "group"},
		refused{`{"group": {}}`, boterr.InvalidArgument, "group._id"},
		refused{`{"group": {"name": "x"}}`, boterr.InvalidArgument, "group._id"},
		refused{`{"group": {"_id": 7}}`, boterr.InvalidArgument, "group._id"},
		refused{`{"group": {"_id": "none", "name": "x"}}`, boterr.NotFound, "group._id"},
		refused{`{"group": {"_id": "foreign", "name": "x"}}`, boterr.NotFound, "group._id"},
		refused{`{"group": {"_id": "foreign", "app": "theirs", "name": "x"}}`, boterr.NotFound, "group._id"},
		refused{`{"group": {"_id": "g1", "app": "theirs"}}`, boterr.InvalidArgument, "group.app"},
		refused{`{"group": {"_id": "g1", "createdAt": 2}}`, boterr.InvalidArgument, "group.createdAt"},
		refused{`{"group": {"_id": "g1", "name": 7}}`, boterr.InvalidArgument, "group.name"},
		refused{`{"group": {"_id": "g1", "name.x": 7}}`, boterr.InvalidArgument, "group.name"},
		refused{`{"group": {"_id": "g1", "valid": "yes"}}`, boterr.InvalidArgument, "group.valid"},
		refused{`{"group": {"_id": "g1", "meta": null}}`, boterr.InvalidArgument, "group.meta"},
		refused{`{"group": {"_id": "g1", "meta": []}}`, boterr.InvalidArgument, "group.meta"},
		refused{`{"group": {"_id": "g1", "meta": {"a": 1}, "meta.b": 1}}`, boterr.InvalidArgument, "group.meta.b"},
		refused{`{"group": {"_id": "g1", "$set": {"name": "x"}}}`, boterr.InvalidArgument, "group.$set"})
}

func TestInactivateGroup(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putGroup(t, "g1", `, "createdAt": 7, "updatedAt": 7, "name": "Ada"`)
	told := `{"_id": "g1", "email": {}, "createdAt": 7, "apps": [], "acls": [], "_version": 2}`
	require.JSONEq(t, told, must(t, s.mine.InactivateGroup, `{"groupId": "g1"}`))
	is := `{"_id": "g1", "app": "mine", "_version": 2, "createdAt": 7, "updatedAt": 1709294400000, "name": "Ada", "meta": {},
		"active": false, "valid": false}`
	require.JSONEq(t, is, must(t, s.mine.GetGroup, `{"groupId": "g1"}`))
	s.advance(time.Second)
	require.JSONEq(t, told, must(t, s.mine.InactivateGroup, `{"groupId": "g1"}`))
	require.JSONEq(t, is, must(t, s.mine.GetGroup, `{"groupId": "g1"}`))
}

func TestInactivateGroup_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "groups", `{"_id": "foreign", "app": "theirs", "active": true, "valid": true}`)
	requireRefused(t, s, s.mine.InactivateGroup,
		refused{`{}`, boterr.InvalidArgument, "groupId"},
		refused{`{"groupId": "none"}`, boterr.NotFound, "groupId"},
		refused{`{"groupId": "foreign"}`, boterr.NotFound, "groupId"})
}
