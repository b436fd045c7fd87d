package livechats_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
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

// manyGroups stores groups that differ from each other in one field each.
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

// phone is the channel in which groups for agents are created.
func phone() *channel.Channel { return &channel.Channel{ID: "phone"} }

func TestTake_NeverEntersTheConversationOfAnotherMember(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	ofAda := s.taken(t, "a1", "ada", "eve@phone").Group
	s.pending(t, "a2", "bob")
	_, err := s.mine.UpdateAssignmentGroup(t.Context(), livechat.UpdateAssignmentGroupParams{AssignmentID: "a2", Group: ofAda})
	require.NoError(t, err)

	s.platform.forget()
	_, err = s.mine.RelayFromAgent(t.Context(), "phone", *event("eve", ofAda.ExternalID, "for Ada"))
	require.NoError(t, err)
	require.Equal(t, []string{"web: send to ada-web: for Ada"}, s.platform.did(), "also while Bob's request names the group")

	ofBob, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a2", ChannelID: "phone", AdminExternalID: "mallory"})
	require.NoError(t, err)
	require.NotEqual(t, ofAda.ID, ofBob.Group.ID)
	s.platform.forget()
	_, err = s.mine.RelayFromMember(t.Context(), "bob", *event("bob-web", "", "Bob's secret"))
	require.NoError(t, err)
	_, err = s.mine.RelayFromAgent(t.Context(), "phone", *event("eve", ofAda.ExternalID, "for Ada only"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"phone: send to " + ofBob.Group.ExternalID + ": Bob's secret", "web: send to ada-web: for Ada only",
	}, s.platform.did())

	again, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a1", ChannelID: "phone", AdminExternalID: "eve"})
	require.NoError(t, err)
	require.Equal(t, ofAda.ID, again.Group.ID, "Ada's stays where it is")
}

func TestTake_OpensAConversationWhereTheNamedOneIsOver(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	over := s.taken(t, "a1", "ada", "eve@phone").Group
	_, err := s.mine.EndLiveChat(t.Context(), livechat.EndParams{Channel: phone(), MessageEvent: event("eve", over.ExternalID, "bye")})
	require.NoError(t, err)
	s.pending(t, "a2", "ada")
	_, err = s.mine.UpdateAssignmentGroup(t.Context(), livechat.UpdateAssignmentGroupParams{AssignmentID: "a2", Group: over})
	require.NoError(t, err)

	took, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a2", ChannelID: "phone", AdminExternalID: "eve"})
	require.NoError(t, err)
	require.True(t, took.Group.Active)
	isRelayed, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "", "hello?"))
	require.NoError(t, err)
	require.Equal(t, livechats.OutcomeDelivered, isRelayed)
}

func TestCreateAssignment_InAGroupThatIsOverIsTakenByNobody(t *testing.T) {
	t.Parallel()
	var over *livechat.Group
	s := before(func(s *fixture, _ send.Message) {
		if over == nil {
			return
		}
		named := over
		over = nil
		id := s.assignments(t, "ada")[1].ID
		_, err := s.mine.UpdateAssignmentGroup(t.Context(), livechat.UpdateAssignmentGroupParams{AssignmentID: id, Group: named})
		require.NoError(t, err)
	})(t)
	ended := s.taken(t, "a1", "ada", "eve@phone").Group
	_, err := s.mine.EndLiveChat(t.Context(), livechat.EndParams{Channel: phone(), MessageEvent: event("eve", ended.ExternalID, "bye")})
	require.NoError(t, err)
	over = ended
	asked := s.mustAsk(t, `{}`)
	require.Equal(t, ended.ID, asked.Group)
	require.Equal(t, livechat.Pending, asked.State())
}

func TestRelayFromAgent_TalkAmongAgentsReachesNoMember(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	s.taken(t, "a1", "ada", "mallory@desk")
	s.platform.forget()
	isRelayed, err := s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "mallory", "what a customer"))
	require.NoError(t, err)
	require.Equal(t, livechats.OutcomeNone, isRelayed)
	_, err = s.mine.EndLiveChat(t.Context(), livechat.EndParams{Channel: desk(), MessageEvent: event("eve", "mallory", "bye")})
	require.Error(t, err)
	require.Empty(t, s.platform.did())
	require.Equal(t, livechat.Taken, s.record(t, "a1").State())
}

func TestTake_SendsTheSummaryWhereAnOutletIgnoresCreateGroup(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	asked := s.mustAsk(t, `{"createGroup": {}, "assignmentDetails": {"summary": "Order 7"}}`)
	took, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: asked.ID, ChannelID: "desk", AdminExternalID: "eve"})
	require.NoError(t, err)
	require.Contains(t, s.platform.did(), "desk: send to "+took.Group.ExternalID+": Order 7")
}

func TestCreateAssignment_LongSummaryLeavesRoomForTheHistory(t *testing.T) {
	t.Parallel()
	s := newFixture(t, historyAt)
	s.mustAsk(t, `{"history": true, "assignmentDetails": {"summary": "`+strings.Repeat("a", 1990)+`"}}`)
	text := s.lastSent(t).Text()
	require.Equal(t, send.MaxText, utf8.RuneCountInString(text))
	require.Contains(t, text, "…\nhttps://", "the address is whole")
}

func TestTake_SummaryIsSentAgainWithTheSameID(t *testing.T) {
	t.Parallel()
	p := livechat.TakeParams{AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "eve"}
	twice := false
	for writes := range 14 {
		s := newFixture(t)
		s.pending(t, "a1", "ada")
		s.platform.forget()
		broken, _ := s.interrupted(writes)
		_, _ = broken.Take(t.Context(), p) // The call may fail or succeed.
		_, err := s.mine.Take(t.Context(), p)
		require.NoError(t, err)
		ids := map[string]bool{}
		sent := 0
		for _, m := range s.platform.sent() {
			if strings.HasPrefix(m.Response.Text(), "Order 7") {
				ids[m.ID] = true
				sent++
			}
		}
		require.Len(t, ids, 1, "after %d writes", writes)
		twice = twice || sent > 1
	}
	require.True(t, twice, "once it could not be noted that it was sent")
}

func TestAddNewTargets_TakenMeanwhileIsShownOnTheNewTicket(t *testing.T) {
	t.Parallel()
	s := before(func(s *fixture, m send.Message) {
		if m.To == "C9" {
			_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "eve", BroadcastGroupID: "C1"})
			require.NoError(t, err)
		}
	})(t)
	s.pending(t, "a1", "ada")
	_, err := call(t, s.mine.AddNewTargetsToAssignment, `{"assignmentId": "a1", "targets": [{"channel": "desk", "label": "sales"}]}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	for _, ticket := range s.record(t, "a1").Tickets {
		if ticket.Group.ID == "C9" {
			require.NotZero(t, ticket.TakenAt, "C9 is offered it no more")
		}
	}
}

func TestEndLiveChat_OfAMemberWhoWasRemoved(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	s.taken(t, "a1", "ada", "eve@desk")
	_, err := s.store.Collection("members").Delete(t.Context(), nil, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	ended, err := s.mine.EndLiveChat(t.Context(), livechat.EndParams{Channel: desk(), MessageEvent: event("eve", "", "bye")})
	require.NoError(t, err)
	require.Nil(t, ended.Member)
	require.NotZero(t, s.record(t, "a1").ClosedAt)
}

// addAdmin saves an agent.
func (a *app) addAdmin(t *testing.T, adminID, externalID, name string) {
	t.Helper()
	_, err := a.SaveAdmin(t.Context(), livechat.Admin{AdminID: adminID, ExternalID: externalID, Name: name})
	require.NoError(t, err)
}

func TestGetAdmin_ByBothIDs(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addAdmin(t, "eve", "E1", "")
	s.mine.addAdmin(t, "max", "E2", "Max")
	for _, shown := range []string{
		must(t, s.mine.GetAdmin, `{"adminId": "eve"}`),
		must(t, s.mine.GetAdminByExternalID, `{"externalId": "E1"}`),
	} {
		require.JSONEq(t, `{"appId": "mine", "adminId": "eve", "externalId": "E1"}`, shown)
	}
	require.JSONEq(t, `{"appId": "mine", "adminId": "max", "externalId": "E2", "name": "Max"}`,
		must(t, s.mine.GetAdminByExternalID, `{"externalId": "E2"}`))
}

func TestSaveAdmin_SameIDInTwoApps(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addAdmin(t, "eve", "E1", "mine")
	s.theirs.addAdmin(t, "eve", "E1", "theirs")
	require.Equal(t, "mine", withField(t, must(t, s.mine.GetAdmin, `{"adminId": "eve"}`), "name"))
	require.Equal(t, "theirs", withField(t, must(t, s.theirs.GetAdmin, `{"adminId": "eve"}`), "name"))
	require.Equal(t, "theirs", withField(t, must(t, s.theirs.GetAdminByExternalID, `{"externalId": "E1"}`), "name"))
}

func TestGetAdmin_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.theirs.addAdmin(t, "eve", "E1", "")
	requireRefused(t, s, s.mine.GetAdmin,
		refused{`{}`, boterr.InvalidArgument, "adminId"},
		refused{`{"adminId": "eve"}`, boterr.NotFound, "adminId"},
		refused{`{"adminId": "theirs/eve"}`, boterr.NotFound, "adminId"})
	requireRefused(t, s, s.mine.GetAdminByExternalID,
		refused{`{}`, boterr.InvalidArgument, "externalId"},
		refused{`{"externalId": "E1"}`, boterr.NotFound, "externalId"})
}

func TestSaveAdmin_Replaces(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	saved, err := s.mine.SaveAdmin(t.Context(), livechat.Admin{AdminID: "eve", ExternalID: "E1", Name: "Eve", Unknown: document.O("desk", 4)})
	require.NoError(t, err)
	require.Equal(t, livechat.Admin{AppID: "mine", AdminID: "eve", ExternalID: "E1", Name: "Eve", Unknown: document.O("desk", 4)}, *saved)
	saved, err = s.mine.SaveAdmin(t.Context(), livechat.Admin{AppID: "mine", AdminID: "eve", ExternalID: "E2"})
	require.NoError(t, err)
	require.Equal(t, livechat.Admin{AppID: "mine", AdminID: "eve", ExternalID: "E2"}, *saved)
	requireRefused(t, s, s.mine.GetAdminByExternalID, refused{`{"externalId": "E1"}`, boterr.NotFound, "externalId"})
	require.JSONEq(t, `{"appId": "mine", "adminId": "eve", "externalId": "E2"}`, must(t, s.mine.GetAdmin, `{"adminId": "eve"}`))
}

func TestSaveAdmin_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addAdmin(t, "max", "E1", "")
	before := s.stored(t)
	for field, c := range map[string]struct {
		given livechat.Admin
		code  boterr.Code
	}{
		"adminId":    {livechat.Admin{ExternalID: "E2"}, boterr.InvalidArgument},
		"appId":      {livechat.Admin{AdminID: "eve", ExternalID: "E2", AppID: "theirs"}, boterr.InvalidArgument},
		"externalId": {livechat.Admin{AdminID: "eve"}, boterr.InvalidArgument},
	} {
		_, err := s.mine.SaveAdmin(t.Context(), c.given)
		require.ErrorIs(t, err, c.code)
		require.Equal(t, field, fieldOf(t, err))
	}
	_, err := s.mine.SaveAdmin(t.Context(), livechat.Admin{AdminID: "eve", ExternalID: "E1"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.Equal(t, "externalId", fieldOf(t, err))
	require.Equal(t, before, s.stored(t))
}

func TestSaveAdmin_OneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	const many = 8
	errs := make([]error, many)
	var saving sync.WaitGroup
	for i := range many {
		saving.Go(func() {
			_, errs[i] = s.mine.SaveAdmin(t.Context(), livechat.Admin{AdminID: string(rune('a' + i)), ExternalID: "E1"})
		})
	}
	saving.Wait()
	var refusals int
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, boterr.AlreadyExists)
			refusals++
		}
	}
	require.Equal(t, many-1, refusals)
	require.NotEmpty(t, must(t, s.mine.GetAdminByExternalID, `{"externalId": "E1"}`))
}
