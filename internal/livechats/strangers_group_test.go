package livechats_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// phone is the channel in which groups are made for agents.
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
	_, err := s.mine.EndLiveChat(t.Context(), livechat.EndLiveChatParams{Channel: phone(), MessageEvent: event("eve", over.ExternalID, "bye")})
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
	_, err := s.mine.EndLiveChat(t.Context(), livechat.EndLiveChatParams{Channel: phone(), MessageEvent: event("eve", ended.ExternalID, "bye")})
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
	_, err = s.mine.EndLiveChat(t.Context(), livechat.EndLiveChatParams{Channel: desk(), MessageEvent: event("eve", "mallory", "bye")})
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
		_, _ = broken.Take(t.Context(), p) // It may fail, or not.
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
	ended, err := s.mine.EndLiveChat(t.Context(), livechat.EndLiveChatParams{Channel: desk(), MessageEvent: event("eve", "", "bye")})
	require.NoError(t, err)
	require.Nil(t, ended.Member)
	require.NotZero(t, s.record(t, "a1").ClosedAt)
}
