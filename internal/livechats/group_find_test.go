package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

func TestGetGroup_Shape(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	group := `{"_id": "g1", "app": "mine", "_version": 3, "createdAt": 1, "updatedAt": 2, "inlet": "web", "outlet": "desk", "name": "Ada",
		"meta": {"n": 1}, "active": true, "valid": true, "externalId": "G1", "botId": "bot", "type": "charlie", "adminExternalId": "E1",
		"admin": "eve", "assignment": "a1", "member": "ada", "custom": "kept"}`
	s.put(t, "groups", group)
	for name, shown := range map[string]string{
		"getGroup":                  must(t, s.mine.GetGroup, `{"groupId": "g1"}`),
		"getGroupByExternalId":      must(t, s.mine.GetGroupByExternalID, `{"adminExternalId": "E1", "channelId": "desk"}`),
		"getGroupByGroupExternalId": must(t, s.mine.GetGroupByGroupExternalID, `{"groupExternalId": "G1"}`),
		"getGroupByMemberId":        must(t, s.mine.GetGroupByMemberID, `{"inlet": "web", "memberId": "ada"}`),
	} {
		require.JSONEq(t, group, shown, name)
	}
}

func TestGetGroup_EmptyMeta(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "groups", `{"_id": "g1", "app": "mine"}`)
	require.JSONEq(t, `{"_id": "g1", "app": "mine", "meta": {}, "active": false, "valid": false}`,
		must(t, s.mine.GetGroup, `{"groupId": "g1"}`))
}

func TestGetGroup_Unreadable(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putGroup(t, "g1", `, "name": 7`)
	_, err := call(t, s.mine.GetGroup, `{"groupId": "g1"}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "g1")
	require.ErrorContains(t, err, "name")
}

// manyGroups stores groups that differ in one thing each.
func manyGroups(t *testing.T, s *fixture) {
	t.Helper()
	s.putGroup(t, "g1", `, "createdAt": 1, "outlet": "desk", "type": "charlie", "adminExternalId": "E1", "externalId": "G1", "inlet": "web", "member": "ada"`)
	s.putGroup(t, "g2", `, "createdAt": 2, "outlet": "desk", "type": "charlie", "adminExternalId": "E2", "externalId": "G2", "inlet": "web", "member": "bob"`)
	s.putGroup(t, "g3", `, "createdAt": 3, "outlet": "team", "type": "delta", "adminExternalId": "E1", "externalId": "G3", "inlet": "web2", "member": "ada"`)
	s.putGroup(t, "g4", `, "createdAt": 4, "outlet": "web", "type": "webchat", "adminExternalId": "E1", "externalId": "G1", "inlet": "web",
		"inletGroupExternalId": "I1"`)
	s.putGroup(t, "g5", `, "createdAt": 5, "outlet": "phone", "inlet": "web2", "inletGroupExternalId": "I1"`)
	s.put(t, "groups", `{"_id": "foreign", "app": "theirs", "createdAt": 9, "active": true, "outlet": "desk", "adminExternalId": "E1", "externalId": "G9",
		"inlet": "web", "member": "ada", "inletGroupExternalId": "I1"}`)
}

func TestGetGroupByExternalID(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	manyGroups(t, s)
	for params, want := range map[string]string{
		`{"adminExternalId": "E1", "channelId": "desk"}`:                  "g1",
		`{"adminExternalId": "E2", "channelId": "desk"}`:                  "g2",
		`{"adminExternalId": "E1", "channelId": "team"}`:                  "g3",
		`{"adminExternalId": "E1"}`:                                       "g4",
		`{"groupId": "G1"}`:                                               "g4",
		`{"groupId": "G1", "channelId": "desk"}`:                          "g1",
		`{"groupId": "G2", "channelId": "desk", "type": "charlie"}`:       "g2",
		`{"groupId": "G2", "adminExternalId": "E2", "channelId": "desk"}`: "g2",
		`{"adminExternalId": "E1", "channelId": "team", "type": "delta"}`: "g3",
	} {
		require.Equal(t, want, withField(t, must(t, s.mine.GetGroupByExternalID, params), "_id"), params)
	}
	requireRefused(t, s, s.mine.GetGroupByExternalID,
		refused{`{}`, boterr.InvalidArgument, "adminExternalId"},
		refused{`{"channelId": "desk"}`, boterr.InvalidArgument, "adminExternalId"},
		refused{`{"adminExternalId": "E9", "channelId": "desk"}`, boterr.NotFound, "adminExternalId"},
		refused{`{"adminExternalId": "E2", "channelId": "team"}`, boterr.NotFound, "adminExternalId"},
		refused{`{"adminExternalId": "E1", "channelId": "none"}`, boterr.NotFound, "adminExternalId"},
		refused{`{"adminExternalId": "E1", "channelId": "desk", "type": "delta"}`, boterr.NotFound, "adminExternalId"},
		refused{`{"groupId": "G2", "adminExternalId": "E1", "channelId": "desk"}`, boterr.NotFound, "adminExternalId"},
		refused{`{"groupId": "G9", "channelId": "desk"}`, boterr.NotFound, "groupId"})
	requireRefused(t, s, s.mine.as("", "").GetGroupByExternalID,
		refused{`{"adminExternalId": "E1"}`, boterr.InvalidArgument, "channelId"})
}

func TestGetGroup_ByOtherKeys(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	manyGroups(t, s)
	require.Equal(t, "g2", withField(t, must(t, s.mine.GetGroupByGroupExternalID, `{"groupExternalId": "G2"}`), "_id"))
	require.Equal(t, "g1", withField(t, must(t, s.mine.GetGroupByMemberID, `{"inlet": "web", "memberId": "ada"}`), "_id"))
	require.Equal(t, "g3", withField(t, must(t, s.mine.GetGroupByMemberID, `{"inlet": "web2", "memberId": "ada"}`), "_id"))
	require.Equal(t, "g4", withField(t, must(t, s.mine.GetGroupByInletGroup, `{"inlet": "web", "inletGroupExternalId": "I1"}`), "_id"))
	require.Equal(t, "g5", withField(t, must(t, s.mine.GetGroupByInletGroup, `{"inlet": "web2", "inletGroupExternalId": "I1"}`), "_id"))
	requireRefused(t, s, s.mine.GetGroup,
		refused{`{}`, boterr.InvalidArgument, "groupId"},
		refused{`{"groupId": "none"}`, boterr.NotFound, "groupId"},
		refused{`{"groupId": "foreign"}`, boterr.NotFound, "groupId"})
	requireRefused(t, s, s.mine.GetGroupByGroupExternalID,
		refused{`{}`, boterr.InvalidArgument, "groupExternalId"},
		refused{`{"groupExternalId": "G9"}`, boterr.NotFound, "groupExternalId"})
	requireRefused(t, s, s.mine.GetGroupByInletGroup,
		refused{`{"inletGroupExternalId": "I1"}`, boterr.InvalidArgument, "inlet"},
		refused{`{"inlet": "web"}`, boterr.InvalidArgument, "inletGroupExternalId"},
		refused{`{"inlet": "web", "inletGroupExternalId": "I9"}`, boterr.NotFound, "inletGroupExternalId"},
		refused{`{"inlet": "desk", "inletGroupExternalId": "I1"}`, boterr.NotFound, "inletGroupExternalId"})
	requireRefused(t, s, s.mine.GetGroupByMemberID,
		refused{`{"memberId": "ada"}`, boterr.InvalidArgument, "inlet"},
		refused{`{"inlet": "web"}`, boterr.InvalidArgument, "memberId"},
		refused{`{"inlet": "web", "memberId": "tom"}`, boterr.NotFound, "memberId"},
		refused{`{"inlet": "desk", "memberId": "ada"}`, boterr.NotFound, "memberId"})
}

func TestGetGroup_LiveFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ groups, want string }{
		"the newest":               {`[{"_id": "a", "createdAt": 1, "active": true}, {"_id": "b", "createdAt": 2, "active": true}]`, "b"},
		"the newest of one moment": {`[{"_id": "b", "createdAt": 1, "active": true}, {"_id": "a", "createdAt": 1, "active": true}]`, "a"},
		"the live one":             {`[{"_id": "a", "createdAt": 1, "active": true}, {"_id": "b", "createdAt": 2, "active": false}]`, "a"},
		"the newest of none live":  {`[{"_id": "b", "createdAt": 2}, {"_id": "a", "createdAt": 1}]`, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			for _, g := range document.Get(object(t, `{"all": `+c.groups+`}`), "all", []document.Object{}) {
				keys := document.O("app", "mine", "outlet", "desk", "adminExternalId", "E", "externalId", "G", "inlet", "web", "member", "ada",
					"inletGroupExternalId", "I")
				for key, value := range keys.All() {
					g = g.With(key, value)
				}
				require.NoError(t, s.store.Collection("groups").Insert(t.Context(), g))
			}
			for name, found := range map[string]string{
				"getGroupByExternalId":      must(t, s.mine.GetGroupByExternalID, `{"adminExternalId": "E", "channelId": "desk"}`),
				"getGroupByGroupExternalId": must(t, s.mine.GetGroupByGroupExternalID, `{"groupExternalId": "G"}`),
				"getGroupByInletGroup":      must(t, s.mine.GetGroupByInletGroup, `{"inlet": "web", "inletGroupExternalId": "I"}`),
				"getGroupByMemberId":        must(t, s.mine.GetGroupByMemberID, `{"inlet": "web", "memberId": "ada"}`),
			} {
				require.Equal(t, c.want, withField(t, found, "_id"), name)
			}
		})
	}
}
