package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

func TestAddNewTargetsToAssignment_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	r := s.mustAsk(t, `{}`)
	s.mine.pair(t, "help")
	direct, err := s.ask(t, `{"member": {"_id": "bob"}}`)
	require.NoError(t, err)
	to := func(targets string) string { return `{"assignmentId": "` + r.ID + `", "targets": ` + targets + `}` }
	requireRefused(t, s, s.mine.AddNewTargetsToAssignment,
		refused{`{"assignmentId": "` + direct.AssignmentID + `", "targets": [{"channel": "phone"}]}`, boterr.FailedPrecondition, "assignmentId"},
		refused{to(`[{"groups": [{"id": "C3", "type": "user"}]}]`), boterr.InvalidArgument, "targets[0].channel"},
		refused{to(`[{"groups": [{"id": "C3"}], "id": "C3"}]`), boterr.InvalidArgument, "targets[0]"},
		refused{to(`[{"id": "C3", "type": "user", "label": "sales"}]`), boterr.InvalidArgument, "targets[0]"},
		refused{to(`[{"id": "C3", "type": "user", "broadcastGroups": [{"id": "C4", "type": "user"}]}]`), boterr.InvalidArgument, "targets[0]"},
		refused{
			to(`[{"channel": "desk", "groups": [{"id": "C3", "type": "user"}, {"id": "C4", "type": "x"}]}]`),
			boterr.InvalidArgument, "targets[0].groups[1].type",
		},
		refused{to(`[{"channel": "phone"}, {"channel": "closed"}]`), boterr.FailedPrecondition, "targets[1].channel"},
		refused{to(`[{"channel": "help"}]`), boterr.FailedPrecondition, "targets[0].channel"},
		refused{to(`[{"channel": "hotel", "broadcastGroups": [{"type": "x"}]}]`), boterr.InvalidArgument, "targets[0].broadcastGroups[0].id"},
	)
	must(t, s.mine.InletEndLiveChat, `{}`)
	_, err = s.ask(t, `{"targets": [{"channel": "desk"}]}`)
	require.NoError(t, err)
	open := s.assignmentsThat(t, document.O("slot", "member/ada"))[0]
	requireRefused(t, s, s.mine.AddNewTargetsToAssignment,
		refused{`{"assignmentId": "` + open.ID + `", "targets": [{"id": "C3"}]}`, boterr.InvalidArgument, "targets[0].type"},
		refused{`{"assignmentId": "` + open.ID + `", "targets": [{"type": "user"}]}`, boterr.InvalidArgument, "targets[0].id"})
}

func TestAddNewTargetsToAssignment_GroupOfOneOfTheOutlets(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		`{"label": "sales", "groups": [{"id": "C9", "type": "private_channel"}]}`, `{"id": "C9", "type": "private_channel"}`,
	} {
		s := newFixture(t)
		r := s.mustAsk(t, `{}`)
		must(t, s.mine.AddNewTargetsToAssignment, `{"assignmentId": "`+r.ID+`", "targets": [`+target+`]}`)
		require.Equal(t, []string{"desk C1", "desk U1", "team D1", "desk C9"}, s.sentTo())
	}
}

func TestAddNewTargetsToAssignment_SendFails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	r := s.mustAsk(t, `{"label": "sales"}`)
	s.platform.forget()
	s.platform.fail("D1", errDown)
	params := `{"assignmentId": "` + r.ID + `", "targets": [{"channel": "phone"}, {"channel": "team"}, {"channel": "desk"}]}`
	_, err := call(t, s.mine.AddNewTargetsToAssignment, params)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "1 of 5 targets did not get the request: team D1 (")
	require.Equal(t, livechat.Pending, s.record(t, r.ID).State(), "the request is open all the same")
	s.platform.work("D1")
	must(t, s.mine.AddNewTargetsToAssignment, params)
	require.Equal(t, []string{"phone B1", "desk C1", "desk U1", "team D1"}, s.sentTo())
}

func TestAddNewTargetsToAssignment_AfterCrash(t *testing.T) {
	t.Parallel()
	wasBroken := true
	for writes := 0; wasBroken; writes++ {
		s := newFixture(t)
		r := s.mustAsk(t, `{"label": "sales"}`)
		p := livechat.AddNewTargetsToAssignmentParams{AssignmentID: r.ID, Targets: []livechat.NewTarget{{Channel: "desk"}}}
		service, hasBroken := s.interrupted(writes)
		_, err := service.AddNewTargetsToAssignment(t.Context(), p)
		if wasBroken = hasBroken(); wasBroken && err != nil {
			require.ErrorIs(t, err, errInterrupted)
		}
		_, err = s.afterCrash().AddNewTargetsToAssignment(t.Context(), p)
		require.NoError(t, err)
		after := s.record(t, r.ID)
		require.Len(t, after.Tickets, 3)
		require.Len(t, after.Targets, 2)
		for _, ticket := range after.Tickets {
			require.NotZero(t, ticket.SentAt)
		}
		require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	}
}

// errGone is a platform's error for a message to a group that no longer exists.
var errGone = boterr.New(boterr.NotFound, "", "there is no such group")

// ticketed returns the broadcast groups for which an assignment has tickets.
func (s *fixture) ticketed(t *testing.T, id string) []string {
	t.Helper()
	var groups []string
	for _, ticket := range s.record(t, id).Tickets {
		groups = append(groups, ticket.Group.ID)
	}
	return groups
}

// requireOpenWithout checks that a call failed for one target, and that the request is open without it. It returns
// the assignment's id.
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
	s.mine.onlyAgenda(t)
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
	s.take(t, id, "eve@desk")
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

// The request is taken before the run is tried again.
func TestAddNewTargets_OnceByTwoAttempts(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", onlyInDesk)
	run := s.attempts()
	p := paramsOf[livechat.AddNewTargetsToAssignmentParams](t, `{"assignmentId": "a1", "targets": [{"channel": "team"}]}`)
	first, err := run.next(s.store).AddNewTargetsToAssignment(t.Context(), p)
	require.NoError(t, err)
	s.take(t, "a1", "eve@desk")
	second, err := run.next(s.store).AddNewTargetsToAssignment(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, first.AssignmentID, second.AssignmentID)
}
