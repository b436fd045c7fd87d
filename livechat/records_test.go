package livechat_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// requireKept decodes JSON as a T, and asserts that the JSON and document forms of the T contain all fields.
func requireKept[T any](t *testing.T, text string) {
	t.Helper()
	var read T
	require.NoError(t, json.Unmarshal([]byte(text), &read))
	written, err := json.Marshal(read)
	require.NoError(t, err)
	require.JSONEq(t, text, string(written))
	encoded, err := document.Encode(read)
	require.NoError(t, err)
	require.JSONEq(t, text, encoded.String())
	var again T
	require.NoError(t, document.Decode(encoded, &again))
	require.Equal(t, read, again)
}

func TestRecords_JSON(t *testing.T) {
	t.Parallel()
	const assignment = `"_id": "a1", "_version": 3, "app": "mine", "assignedAt": 3, "assignee": "eve", "createdAt": 1, "updatedAt": 2,
		"etag": "e", "expiry": 4, "group": "g1", "groupInfo": {"externalId": "G"}, "history": true, "isZendesk": true, "inlet": "web",
		"inletGroupInfo": {"externalId": "I"}, "member": "ada", "meta": {"topic": "bill"}, "parentAssignment": "a0",
		"relayMessage": {"charlie": {"type": "TEXT", "text": "hi"}},
		"targets": [{"channel": "desk", "broadcastGroups": [{"type": "user", "id": "U1", "own": 1}], "label": "default", "own": 1}], "own": 1`
	requireKept[livechat.Assignment](t, `{`+assignment+`}`)
	requireKept[livechat.AssignmentRecord](t, `{`+assignment+`, "slot": "member/ada", "label": "default", "summary": "s", "groupName": "n",
		"takenMessage": "t", "details": {"summary": "s", "x": 1}, "createGroup": {"externalId": "G"}, "liveChatAgenda": true,
		"tickets": [{"id": "1", "channel": "desk", "type": "charlie", "group": {"type": "user", "id": "U1"}, "messageId": "m", "chatId": "c",
			"sentAt": 1, "recalledAt": 2}],
		"direct": "help", "outlet": "desk", "sentAt": 1, "endedAt": 2, "endedBy": "idle"}`)
	requireKept[livechat.Group](t, `{"_id": "g1", "createdAt": 1, "updatedAt": 2, "inlet": "web", "outlet": "desk", "name": "n", "meta": {"n": 1},
		"active": true, "valid": true, "externalId": "G", "botId": "b", "type": "charlie", "adminExternalId": "E", "admin": "eve", "app": "mine",
		"assignment": "a1", "member": "ada", "_version": 3, "inletGroupExternalId": "I", "own": 1}`)
	requireKept[livechat.Admin](t, `{"appId": "mine", "adminId": "eve", "externalId": "E", "name": "Eve", "own": 1}`)
	requireKept[livechat.Target](t, `{"channel": "desk", "broadcastGroups": [{"type": "user", "id": "U1", "own": 1}], "label": "x", "own": 1}`)
	requireKept[livechat.NewTarget](t, `{"channel": "desk", "broadcastGroups": [{"id": "C1"}], "label": "x", "own": 1}`)
	requireKept[livechat.NewTarget](t, `{"id": "C1", "type": "user"}`)
	requireKept[livechat.AssignmentDetails](t, `{"summary": "s", "groupName": "n", "relayMessage": {"charlie": {"type": "TEXT", "text": "hi"}},
		"own": {"x": 1}}`)
}

func TestAssignmentDetails_RelayMessage(t *testing.T) {
	t.Parallel()
	var p livechat.CreateAssignmentParams
	require.NoError(t, document.DecodeJSON([]byte(`{"assignmentDetails": {"relayMessage": {"charlie": {"type": "TEXT", "text": "hi"}}}}`), &p))
	require.Equal(t, send.Text("hi"), p.AssignmentDetails.RelayMessage[channel.Charlie])
}

func TestAssignmentRecord_State(t *testing.T) {
	t.Parallel()
	r := &livechat.AssignmentRecord{}
	require.Equal(t, livechat.Sending, r.State())
	r.SentAt = 1
	require.Equal(t, livechat.Pending, r.State())
	r.Assignee = "eve"
	require.Equal(t, livechat.Taken, r.State())
	r.EndedAt = 2
	require.Equal(t, livechat.Ended, r.State())
}

func TestTruthy(t *testing.T) {
	t.Parallel()
	for given, isRecalled := range map[string]bool{
		`true`: true, `1`: true, `-0.5`: true, `"no"`: true, `{}`: true, `[]`: true,
		`false`: false, `null`: false, `0`: false, `-0.0`: false, `""`: false,
	} {
		var p livechat.InletEndParams
		require.NoError(t, document.DecodeJSON([]byte(`{"options": {"recallRelayMessage": `+given+`}}`), &p))
		require.Equal(t, isRecalled, bool(p.Options.RecallRelayMessage), given)
	}
}
