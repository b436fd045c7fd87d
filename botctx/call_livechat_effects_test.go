package botctx_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

// effect is where the effect of an operation shows after it was called with its
// liveChatArguments: in the result of another operation, in what the fake platform keeps
// (sent, groups, channels), or, for look-ups, in its own result.
type effect struct {
	op         string
	shows      string
	args       string
	path, want string
}

// effects has one line for each operation of live chat.
var effects = []effect{
	{"createAssignment", "getAssignmentsByMemberId", `{"memberId": "member-1"}`, "0.meta.order", "7"},
	{"addNewTargetsToAssignment", "sent", "", "@reverse.0.To", "boss"},
	{"reassignAssignment", "getAssignmentsByParentAssignmentId", `{"assignmentId": "TAKEN"}`, "0.member", "member-2"},
	{"getAssignment", "", "", "assignee", "external-agent-1"},
	{"getAssignmentByOutlet", "", "", "_id", "PENDING"},
	{"getAssignmentByBravoGroupId", "", "", "_id", "TAKEN"},
	{"getAssignmentsByMemberId", "", "", "0._id", "TAKEN"},
	{"getAssignmentsByMeta", "", "", "#._id", `["TAKEN","PENDING"]`},
	{"getAssignmentsByParentAssignmentId", "", "", "@this", "[]"},
	{"updateAssignmentGroup", "getAssignment", `{"assignmentId": "PENDING"}`, "group", "GROUP"},
	{"updateAssignmentMeta", "getAssignment", `{"assignmentId": "TAKEN"}`, "meta.rating", "5"},
	{"removePendingAssignmentByMemberId", "getAssignmentsByMemberId", `{"memberId": "member-3"}`, "#", "0"},
	{"endLiveChat", "getMember", `{"memberId": "member-2"}`, "botMeta.liveChat", "false"},
	{"inletEndLiveChat", "getMember", `{"memberId": "member-2"}`, "botMeta.liveChat", "false"},
	{"endBravoLiveChat", "getGroup", `{"groupId": "GROUP"}`, "active", "false"},
	{"getGroup", "", "", "externalId", "group-1"},
	{"getGroupByExternalId", "", "", "_id", "GROUP"},
	{"getGroupByGroupExternalId", "", "", "_id", "GROUP"},
	{"getGroupByInletGroup", "", "", "_id", "GROUP"},
	{"getGroupByMemberId", "", "", "_id", "GROUP"},
	{"updateGroup", "getGroup", `{"groupId": "GROUP"}`, "name", "Bob's kettle"},
	{"updateGroupMeta", "getGroup", `{"groupId": "GROUP"}`, "meta.tone", "kind"},
	{"inactivateGroup", "getGroup", `{"groupId": "GROUP"}`, "valid", "false"},
	{"handleAdminJoinedGroup", "groups", "", "0.InvitationLink", "https://invite.example/link-2"},
	{"createBravoGroup", "groups", "", "1.Name", "Kettles"},
	{"disableBravoGroupInviteLink", "groups", "", "0.InvitationLink", ""},
	{"setBravoGroupIcon", "groups", "", "0.Icon.ContentType", "image/png"},
	{"createHotelChannel", "channels", "", "0.DisplayName", "Room service"},
	{"getAdmin", "", "", "name", "Grace"},
	{"getAdminByExternalId", "", "", "adminId", "agent-1"},
	{"sendMessageToInlet", "sent", "", "@reverse.0.Member", "member-2"},
	{"sendMessageToInletGroup", "sent", "", "@reverse.0.To", "kitchen"},
	{"sendMessageToOutletGroup", "sent", "", "@reverse.0.To", "group-1"},
	{"saveGroupIdToMember", "getMember", `{"memberId": "member-2"}`, "group", "GROUP"},
}

// shown returns what shows an effect, as JSON.
func (e effect) shown(t *testing.T, p *fakes.Platform, bot botctx.Caller, own json.RawMessage) json.RawMessage {
	t.Helper()
	var kept any
	switch e.shows {
	case "":
		return own
	case "sent":
		kept = p.Sent()
	case "groups":
		kept = p.Groups("phone")
	case "channels":
		kept = p.CreatedChannels("hotel")
	default:
		text, err := bot.Call(t.Context(), e.shows, json.RawMessage(e.args))
		require.NoError(t, err)
		return text
	}
	text, err := json.Marshal(kept)
	require.NoError(t, err)
	return text
}

func TestTheEffectOfEachLiveChatOperationIsReadBack(t *testing.T) {
	t.Parallel()
	require.Len(t, effects, len(liveChatArguments))
	for _, e := range effects {
		t.Run(e.op, func(t *testing.T) {
			t.Parallel()
			p, bot := newLiveChatCaller(t)
			if e.shows != "" { // It does not show before.
				before := gjson.GetBytes(e.shown(t, p, bot, nil), e.path)
				require.NotEqual(t, bot.(withNames).ids.Replace(e.want), before.String())
			}
			own, err := bot.Call(t.Context(), e.op, json.RawMessage(liveChatArguments[e.op]))
			require.NoError(t, err)
			shown := gjson.GetBytes(e.shown(t, p, bot, own), e.path)
			require.Equal(t, bot.(withNames).ids.Replace(e.want), shown.String())
		})
	}
}
