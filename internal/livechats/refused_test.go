package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// errGone is how a platform refuses what is sent to a group that is not there any more.
var errGone = boterr.New(boterr.NotFound, "", "there is no such group")

// ticketed returns the broadcast groups that an assignment has tickets for.
func (s *fixture) ticketed(t *testing.T, id string) []string {
	t.Helper()
	var groups []string
	for _, ticket := range s.record(t, id).Tickets {
		groups = append(groups, ticket.Group.ID)
	}
	return groups
}

// requireOpenWithout asserts that a call failed for one target, and that the request is open
// without it. It returns the assignment's id.
func requireOpenWithout(t *testing.T, s *fixture, gone string, err error) string {
	t.Helper()
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorIs(t, err, boterr.NotFound)
	unsent := unsentOf(t, err)
	require.True(t, unsent.IsOpen)
	require.ErrorContains(t, err, "the assignment "+unsent.AssignmentID+" is open without them")
	require.Len(t, unsent.Failures, 1)
	require.Equal(t, gone, unsent.Failures[0].Group.ID)
	require.Equal(t, livechat.Pending, s.record(t, unsent.AssignmentID).State())
	require.Nil(t, s.record(t, unsent.AssignmentID).Sender)
	require.NotContains(t, s.ticketed(t, unsent.AssignmentID), gone)
	require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	s.mine.onlyAgenda(t, "ada")
	return unsent.AssignmentID
}

func TestCreateAssignment_GroupGone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.platform.fail("U1", errGone)
	_, err := s.ask(t, `{}`)
	require.ErrorContains(t, err, "1 of 3 targets did not get the request: desk U1 (")
	id := requireOpenWithout(t, s, "U1", err)
	require.Equal(t, id, s.mustAsk(t, `{}`).ID)
	require.Equal(t, []string{"desk C1", "team D1"}, s.sentTo())
	_, err = s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: id, ChannelID: "desk", AdminExternalID: "eve"})
	require.NoError(t, err)
}

func TestCreateAssignment_GroupGoneAndOneDown(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.platform.fail("U1", errGone)
	s.platform.fail("D1", errDown)
	_, err := s.ask(t, `{}`)
	require.ErrorContains(t, err, "2 of 3 targets did not get the request")
	require.False(t, unsentOf(t, err).IsOpen)
	require.Equal(t, livechat.Sending, s.record(t, unsentOf(t, err).AssignmentID).State())
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	s.platform.work("D1")
	_, err = s.ask(t, `{}`)
	requireOpenWithout(t, s, "U1", err)
	require.Equal(t, []string{"desk C1", "team D1"}, s.sentTo())
}

func TestCreateAssignment_ChannelGone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.platform.fail("D1", errDown)
	_, err := s.ask(t, `{}`)
	require.ErrorIs(t, err, boterr.Unavailable)
	s.change(t, "channels", document.O("_id", "team"), document.Set("app", "another"))
	_, err = s.ask(t, `{}`)
	require.ErrorContains(t, err, "team D1 (not found")
	requireOpenWithout(t, s, "D1", err)
}

func TestAddNewTargetsToAssignment_TargetGone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	r := s.mustAsk(t, `{"label": "sales"}`)
	s.platform.forget()
	s.platform.fail("U1", errGone)
	_, err := call(t, s.mine.AddNewTargetsToAssignment, `{"assignmentId": "`+r.ID+`", "targets": [{"channel": "desk"}]}`)
	require.Equal(t, r.ID, requireOpenWithout(t, s, "U1", err))
	must(t, s.mine.AddNewTargetsToAssignment, `{"assignmentId": "`+r.ID+`", "targets": [{"channel": "team"}]}`)
	s.platform.work("U1")
	must(t, s.mine.AddNewTargetsToAssignment, `{"assignmentId": "`+r.ID+`", "targets": [{"channel": "desk"}]}`)
	require.Equal(t, []string{"C9", "C1", "D1", "U1"}, s.ticketed(t, r.ID))
}

func TestReassignAssignment_GroupGone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	previous, group, event := conversation(t, s)
	s.platform.fail("C9", errGone)
	_, err := call(t, s.mine.ReassignAssignment, `{`+event+`, "targets": [{"channel": "phone"}, {"channel": "desk", "label": "sales"}]}`)
	id := requireOpenWithout(t, s, "C9", err)
	require.Equal(t, previous.ID, s.record(t, id).ParentAssignment)
	require.NotZero(t, s.record(t, previous.ID).ClosedAt)
	require.False(t, s.group(t, group.ID).Active)
}
