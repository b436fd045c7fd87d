package livechats_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

func TestGetGroup_NewestOfOneMoment(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	for _, id := range []string{"b", "a"} {
		s.putGroup(t, id, `, "createdAt": 1, "outlet": "desk", "adminExternalId": "E", "externalId": "G", "inlet": "web", "member": "ada",
			"inletGroupExternalId": "I"`)
	}
	for name, found := range map[string]string{
		"getGroupByExternalId":      must(t, s.mine.GetGroupByExternalID, `{"adminExternalId": "E", "channelId": "desk"}`),
		"getGroupByGroupExternalId": must(t, s.mine.GetGroupByGroupExternalID, `{"groupExternalId": "G"}`),
		"getGroupByInletGroup":      must(t, s.mine.GetGroupByInletGroup, `{"inlet": "web", "inletGroupExternalId": "I"}`),
		"getGroupByMemberId":        must(t, s.mine.GetGroupByMemberID, `{"inlet": "web", "memberId": "ada"}`),
	} {
		require.Equal(t, "a", withField(t, found, "_id"), name)
	}
}

// An update may have any number of fields. None may copy the others.
func TestUpdateGroup_ManyFields(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const many = 4_000
	fields := document.NewBuilder(many)
	for i := range many {
		fields.Set(fmt.Sprint("f", i), int64(i))
	}
	s := newFixture(t)
	allocated := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.TotalAlloc
	}
	before := allocated()
	_, err := s.mine.UpdateGroup(t.Context(), livechat.UpdateGroupParams{Group: fields.Object()})
	require.ErrorContains(t, err, "group._id: is missing")
	require.Less(t, allocated()-before, uint64(5_000*many))
}

func TestUpdateGroup_Null(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putGroup(t, "g1", `, "name": "Ada", "meta": {"n": 1}`)
	must(t, s.mine.UpdateGroup, `{"group": {"_id": "g1", "name": null}}`)
	require.Empty(t, s.group(t, "g1").Name)
	require.JSONEq(t, `{"n": 1}`, s.group(t, "g1").Meta.String())
	requireRefused(t, s, s.mine.UpdateGroup, refused{`{"group": {"_id": "g1", "name.x": 7}}`, boterr.InvalidArgument, "group.name"})
}

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

	ofBob := s.take(t, "a2", "mallory@phone")
	require.NotEqual(t, ofAda.ID, ofBob.Group.ID)
	s.platform.forget()
	_, err = s.mine.RelayFromMember(t.Context(), "bob", *event("bob-web", "", "Bob's secret"))
	require.NoError(t, err)
	_, err = s.mine.RelayFromAgent(t.Context(), "phone", *event("eve", ofAda.ExternalID, "for Ada only"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"phone: send to " + ofBob.Group.ExternalID + ": Bob's secret", "web: send to ada-web: for Ada only",
	}, s.platform.did())

	again := s.take(t, "a1", "eve@phone")
	require.Equal(t, ofAda.ID, again.Group.ID, "Ada's stays where it is")
}

func TestTake_OpensAConversationWhereTheNamedOneIsOver(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	over := s.taken(t, "a1", "ada", "eve@phone").Group
	s.end(t, "eve@phone", over.ExternalID)
	s.pending(t, "a2", "ada")
	_, err := s.mine.UpdateAssignmentGroup(t.Context(), livechat.UpdateAssignmentGroupParams{AssignmentID: "a2", Group: over})
	require.NoError(t, err)

	took := s.take(t, "a2", "eve@phone")
	require.True(t, took.Group.Active)
	requireOutcome(t, livechats.OutcomeDelivered)(s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "", "hello?")))
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
		id := s.adas(t)[1].ID
		_, err := s.mine.UpdateAssignmentGroup(t.Context(), livechat.UpdateAssignmentGroupParams{AssignmentID: id, Group: named})
		require.NoError(t, err)
	})(t)
	ended := s.taken(t, "a1", "ada", "eve@phone").Group
	s.end(t, "eve@phone", ended.ExternalID)
	over = ended
	asked := s.mustAsk(t, `{}`)
	require.Equal(t, ended.ID, asked.Group)
	require.Equal(t, livechat.Pending, asked.State())
}

func TestTake_SendsTheSummaryWhereAnOutletIgnoresCreateGroup(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	asked := s.mustAsk(t, `{"createGroup": {}, "assignmentDetails": {"summary": "Order 7"}}`)
	took := s.take(t, asked.ID, "eve@desk")
	require.Contains(t, s.platform.did(), "desk: send to "+took.Group.ExternalID+": Order 7")
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
	require.Nil(t, s.record(t, "a1").Sender)
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

// addAdmin saves an agent with the external id E1.
func (a *app) addAdmin(t *testing.T, adminID, name string) {
	t.Helper()
	_, err := a.SaveAdmin(t.Context(), livechat.Admin{AdminID: adminID, ExternalID: "E1", Name: name})
	require.NoError(t, err)
}

func TestGetAdmin_IDOfTheRecord(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.theirs.addAdmin(t, "eve", "")
	requireRefused(t, s, s.mine.GetAdmin, refused{`{"adminId": "theirs/eve"}`, boterr.NotFound, "adminId"})
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
	s.mine.addAdmin(t, "max", "")
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
