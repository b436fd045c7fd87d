package livechats_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// putAssignment stores an assignment of mine with the given fields, JSON that begins with a
// comma: one of ada that has ended.
func (s *fixture) putAssignment(t *testing.T, id string, createdAt int64, fields string) {
	t.Helper()
	s.put(t, "assignments", fmt.Sprintf(`{"_id": %q, "app": "mine", "_version": 1, "createdAt": %d, "updatedAt": %d, "etag": "e",
		"inlet": "web", "member": "ada", "slot": "ended/%s", "endedAt": 5 %s}`, id, createdAt, createdAt, id, fields))
}

// idsOf returns the _ids of records in JSON, in order.
func idsOf(t *testing.T, records string) []string {
	t.Helper()
	ids := []string{}
	for _, o := range document.Get(object(t, `{"all": `+records+`}`), "all", []document.Object{}) {
		ids = append(ids, document.Get(o, "_id", ""))
	}
	return ids
}

// withField returns a string with a field of a JSON object.
func withField(t *testing.T, text, path string) any {
	t.Helper()
	value, _ := object(t, text).Lookup(path)
	return value
}

func TestGetAssignment_Shape(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "assignments", `{"_id": "a1", "app": "mine", "_version": 3, "createdAt": 1, "updatedAt": 2, "etag": "e",
		"assignedAt": 3, "assignee": "eve", "expiry": 4, "group": "g1", "groupInfo": {"externalId": "G"}, "history": true,
		"isZendesk": false, "inlet": "web", "inletGroupInfo": {"externalId": "I"}, "member": "ada", "meta": {"topic": "bill"},
		"parentAssignment": "a0", "relayMessage": {"charlie": {"type": "TEXT", "text": "hi"}},
		"targets": [{"channel": "desk", "broadcastGroups": [{"type": "user", "id": "U1"}], "label": "default", "own": 1}],
		"slot": "member/ada", "label": "default", "summary": "s", "tickets": [], "liveChatAgenda": true, "sentAt": 2, "outlet": "desk",
		"custom": "kept"}`)
	require.JSONEq(t, `{"_id": "a1", "app": "mine", "_version": 3, "createdAt": 1, "updatedAt": 2, "etag": "e",
		"assignedAt": 3, "assignee": "eve", "expiry": 4, "group": "g1", "groupInfo": {"externalId": "G"}, "history": true,
		"isZendesk": false, "inlet": "web", "inletGroupInfo": {"externalId": "I"}, "member": "ada", "meta": {"topic": "bill"},
		"parentAssignment": "a0", "relayMessage": {"charlie": {"type": "TEXT", "text": "hi"}},
		"targets": [{"channel": "desk", "broadcastGroups": [{"type": "user", "id": "U1"}], "label": "default", "own": 1}],
		"custom": "kept"}`, must(t, s.mine.GetAssignment, `{"assignmentId": "a1"}`))
}

func TestGetAssignment_EmptyFields(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, ``)
	require.JSONEq(t, `{"_id": "a1", "app": "mine", "_version": 1, "createdAt": 1, "updatedAt": 1, "etag": "e", "inlet": "web",
		"member": "ada", "history": false, "isZendesk": false, "meta": {}, "targets": []}`,
		must(t, s.mine.GetAssignment, `{"assignmentId": "a1"}`))
}

func TestGetAssignment_Unreadable(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, `, "targets": 7`)
	_, err := call(t, s.mine.GetAssignment, `{"assignmentId": "a1"}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "a1")
	require.ErrorContains(t, err, "targets")
}

func TestGetAssignment_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "assignments", `{"_id": "foreign", "app": "theirs", "member": "tom", "slot": "ended/foreign", "groupInfo": {"bravoGroupId": "B"}}`)
	requireRefused(t, s, s.mine.GetAssignment,
		refused{`{}`, boterr.InvalidArgument, "assignmentId"},
		refused{`{"assignmentId": 7}`, boterr.InvalidArgument, "assignmentId"},
		refused{`{"assignmentId": "none"}`, boterr.NotFound, "assignmentId"},
		refused{`{"assignmentId": "foreign"}`, boterr.NotFound, "assignmentId"})
	requireRefused(t, s, s.mine.GetAssignmentByBravoGroupID,
		refused{`{}`, boterr.InvalidArgument, "bravoGroupId"},
		refused{`{"bravoGroupId": "B"}`, boterr.NotFound, "bravoGroupId"})
	requireRefused(t, s, s.mine.GetAssignmentsByMemberID,
		refused{`{}`, boterr.InvalidArgument, "memberId"},
		refused{`{"memberId": "ada", "sortBy": {"createdAt": 2}}`, boterr.InvalidArgument, "sortBy.createdAt"},
		refused{`{"memberId": "ada", "sortBy": {"$natural": 1}}`, boterr.InvalidArgument, "sortBy.$natural"})
	requireRefused(t, s, s.mine.GetAssignmentsByParentAssignmentID,
		refused{`{}`, boterr.InvalidArgument, "assignmentId"})
}

func TestGetAssignmentByBravoGroupID_Newest(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "new", 9, `, "groupInfo": {"bravoGroupId": "B"}`)
	s.putAssignment(t, "old", 3, `, "groupInfo": {"bravoGroupId": "B"}`)
	s.putAssignment(t, "other", 10, `, "groupInfo": {"bravoGroupId": "C"}`)
	require.Equal(t, "new", withField(t, must(t, s.mine.GetAssignmentByBravoGroupID, `{"bravoGroupId": "B"}`), "_id"))
}

func TestGetAssignmentsByMemberID_Order(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "b", 3, ``)
	s.putAssignment(t, "a", 2, ``)
	s.putAssignment(t, "bobs", 1, ``)
	s.change(t, "assignments", document.O("_id", "bobs"), document.Set("member", "bob"))
	for params, want := range map[string][]string{
		`{"memberId": "ada"}`:                                     {"b", "a"},
		`{"memberId": "ada", "sortBy": {}}`:                       {"b", "a"},
		`{"memberId": "ada", "sortBy": {"createdAt": 1}}`:         {"a", "b"},
		`{"memberId": "ada", "sortBy": {"createdAt": -1}}`:        {"b", "a"},
		`{"memberId": "ada", "sortBy": {"history": 1, "_id": 1}}`: {"a", "b"},
		`{"memberId": "bob"}`:                                     {"bobs"},
		`{"memberId": "nobody"}`:                                  {},
		`{"memberId": "tom"}`:                                     {},
	} {
		require.Equal(t, want, idsOf(t, must(t, s.mine.GetAssignmentsByMemberID, params)), params)
	}
}

func TestGetAssignmentsByParentAssignmentID(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "first", 1, ``)
	s.putAssignment(t, "second", 2, `, "parentAssignment": "first"`)
	s.putAssignment(t, "third", 3, `, "parentAssignment": "second"`)
	s.putAssignment(t, "fourth", 4, `, "parentAssignment": "first"`)
	for params, want := range map[string][]string{
		`{"assignmentId": "first"}`:  {"second", "fourth"},
		`{"assignmentId": "second"}`: {"third"},
		`{"assignmentId": "third"}`:  {},
		`{"assignmentId": "none"}`:   {},
	} {
		require.Equal(t, want, idsOf(t, must(t, s.mine.GetAssignmentsByParentAssignmentID, params)), params)
	}
}

func TestFindAssignments(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, `, "label": "sales"`)
	s.putAssignment(t, "a2", 1, ``)
	found, err := s.mine.FindAssignments(t.Context(), record.Query{Filter: document.O("label", "sales")})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "a1", found[0].ID)
	require.Equal(t, livechat.Ended, found[0].State())
	found, err = s.theirs.FindAssignments(t.Context(), record.Query{})
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = s.mine.FindAssignments(t.Context(), record.Query{Filter: document.O("$where", "1")})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
