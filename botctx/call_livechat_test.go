package botctx_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound/replies"
)

// inGroup is an event in the conversation of Grace with Bob.
const inGroup = `{"type": "TEXT", "data": {"text": "hi"}, "from": "external-agent-1", "to": "group-1", "timestamp": 1, "messageId": "m-1"}`

// liveChatArguments are one argument of each operation of live chat, in JSON. They are for
// the platform that newLiveChatCaller makes. TAKEN and PENDING stand for the assignments of
// Bob and Cleo, GROUP for the group of Bob.
var liveChatArguments = map[string]string{
	"createAssignment":                   `{"label": "default", "assignmentDetails": {"summary": "It leaks."}, "meta": {"order": 7}}`,
	"addNewTargetsToAssignment":          `{"assignmentId": "PENDING", "targets": [{"id": "boss", "type": "user"}]}`,
	"reassignAssignment":                 `{"channel": {"_id": "phone"}, "label": "default", "messageEvent": ` + inGroup + `}`,
	"getAssignment":                      `{"assignmentId": "TAKEN"}`,
	"getAssignmentByOutlet":              `{"channelId": "phone"}`,
	"getAssignmentByBravoGroupId":        `{"bravoGroupId": "group-1"}`,
	"getAssignmentsByMemberId":           `{"memberId": "member-2"}`,
	"getAssignmentsByMeta":               `{"meta": {"order": 8}}`,
	"getAssignmentsByParentAssignmentId": `{"assignmentId": "TAKEN"}`,
	"updateAssignmentGroup":              `{"assignmentId": "PENDING", "group": {"_id": "GROUP"}, "bravoGroupId": "group-1"}`,
	"updateAssignmentMeta":               `{"assignmentId": "TAKEN", "meta": {"rating": 5}}`,
	"removePendingAssignmentByMemberId":  `{"memberId": "member-3"}`,
	"endLiveChat":                        `{"channel": {"_id": "phone"}, "messageEvent": ` + inGroup + `}`,
	"inletEndLiveChat":                   `{"channel": {"_id": "family"}, "member": {"_id": "member-2"}}`,
	"endBravoLiveChat":                   `{"adminExternalId": "external-agent-1", "bravoGroupId": "group-1", "channelId": "phone"}`,
	"getGroup":                           `{"groupId": "GROUP"}`,
	"getGroupByExternalId":               `{"adminExternalId": "external-agent-1", "groupId": "group-1", "channelId": "phone"}`,
	"getGroupByGroupExternalId":          `{"groupExternalId": "group-1"}`,
	"getGroupByInletGroup":               `{"inlet": "family", "inletGroupExternalId": "kitchen"}`,
	"getGroupByMemberId":                 `{"inlet": "family", "memberId": "member-2"}`,
	"updateGroup":                        `{"group": {"_id": "GROUP", "name": "Bob's kettle"}}`,
	"updateGroupMeta":                    `{"groupId": "GROUP", "meta": {"tone": "kind"}}`,
	"inactivateGroup":                    `{"groupId": "GROUP"}`,
	"handleAdminJoinedGroup":             `{"channel": {"_id": "phone"}, "externalId": "external-agent-1", "bravoGroupId": "group-1"}`,
	"createBravoGroup":                   `{"channelId": "phone", "name": "Kettles"}`,
	"disableBravoGroupInviteLink":        `{"channel": {"_id": "phone"}, "externalId": "group-1"}`,
	"setBravoGroupIcon":                  `{"channelId": "phone", "imageUrl": "https://shop.example/kettle.png", "bravoGroupId": "group-1"}`,
	"createHotelChannel":                 `{"channel": {"_id": "hotel"}, "hotelGroupId": "floor 3", "displayName": "Room service"}`,
	"getAdmin":                           `{"adminId": "agent-1"}`,
	"getAdminByExternalId":               `{"externalId": "external-agent-1"}`,
	"sendMessageToInlet":                 `{"channel": {"_id": "phone"}, "messageEvent": ` + inGroup + `, "response": {"type": "TEXT", "text": "Hello"}}`,
	"sendMessageToInletGroup":            `{"groupId": "GROUP", "response": {"type": "TEXT", "text": "Hello"}}`,
	"sendMessageToOutletGroup":           `{"groupId": "GROUP", "response": {"type": "TEXT", "text": "Hello"}}`,
	"saveGroupIdToMember":                `{"channel": {"_id": "phone"}, "messageEvent": ` + inGroup + `}`,
}

// newLiveChatCaller returns the context of Ada, who is in no live chat. Bob talks with Grace
// in a group on Bravo, on both sides, and the outlet's group has a link; Cleo has asked for a
// person.
func newLiveChatCaller(t *testing.T, options ...fakes.Option) (*fakes.Platform, botctx.Caller) {
	t.Helper()
	p, ada := newCaller(t, options...)
	p.AddChannel(channel.Channel{ID: "hotel", Type: channel.Hotel})
	p.AddChannel(channel.Channel{ID: "family", Type: channel.Bravo})
	p.AddChannel(channel.Channel{ID: "phone", Type: channel.Bravo, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}}},
	}})
	p.Pair("channel-1", "phone")
	p.Pair("family", "phone")
	p.HTTP.Add("GET", "https://shop.example/kettle.png", replies.Reply{Header: map[string][]string{"Content-Type": {"image/png"}}, Body: "\x89PNG\r\n\x1a\n"})
	grace := p.AddAgent("phone", "Grace")
	chats := p.Runtime().LiveChats(fakes.DefaultApp)
	ask := func(name string) string {
		asked, err := chats.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
			Member: p.AddMember(member.Member{Channel: "family", FirstName: name}).Member(), Meta: document.O("order", 8),
		})
		require.NoError(t, err)
		return asked.AssignmentID
	}
	taken := ask("Bob")
	grace.Takes(grace.Ticket())
	group, err := chats.GetGroupByMemberID(t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "family", MemberID: "member-2"})
	require.NoError(t, err)
	_, err = chats.UpdateGroup(t.Context(), livechat.UpdateGroupParams{Group: document.O("_id", group.ID, "inletGroupExternalId", "kitchen")})
	require.NoError(t, err)
	_, err = chats.HandleAdminJoinedGroup(t.Context(), livechat.HandleAdminJoinedGroupParams{
		Channel: &channel.Channel{ID: "phone"}, ExternalID: grace.ExternalID(), BravoGroupID: group.ExternalID,
	})
	require.NoError(t, err)
	return p, withNames{ada, strings.NewReplacer("TAKEN", taken, "PENDING", ask("Cleo"), "GROUP", group.ID)}
}

// withNames is a Caller that is given names in place of ids.
type withNames struct {
	botctx.Caller

	ids *strings.Replacer
}

// Call implements botctx.Caller.
func (w withNames) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	return w.Caller.Call(ctx, name, json.RawMessage(w.ids.Replace(string(args))))
}
