package botctx_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/operations"
)

// templates are one argument of each operation, in JSON. They are for the
// platform that newCaller makes; what is in <> stands for an id there.
var templates = map[string]string{
	"getChannel":                      `{"channelId": "channel-1"}`,
	"getMember":                       `{"memberId": "member-1"}`,
	"findAndModifyMember":             `{"filter": {"firstName": "Ada"}, "patch": {"$set": {"meta.seen": true}}, "option": {"new": true}}`,
	"patchMembers":                    `{"channel": {"_id": "channel-1"}, "memberId": "member-1", "patch": {"meta.seen": true}}`,
	"updateMember":                    `{"member": {"_id": "member-1", "gender": "f"}}`,
	"checkAndSaveMemberReferFrom":     `{"memberId": "member-1", "referFrom": "elsewhere"}`,
	"findAndModifyDataFromDataSource": `{"dataSourceId": "places", "filter": {"taken": false}, "patch": {"$set": {"taken": true}}, "sortBy": {"n": 1}}`,
	"upsertDataToDataSource":          `{"dataSourceId": "places", "data": [{"_id": "a", "n": 2}, {"n": 3}]}`,
	"countDataSource":                 `{"dataSourceId": "places", "filter": {"n": {"$gt": 0}}}`,
	"fetchDataFromDataSource":         `{"dataSourceId": "places", "sortBy": {"n": -1}}`,
	"fetchDistinctDataFromDataSource": `{"dataSourceId": "places", "key": "n"}`,
	"fetchGeoNearFromDataSource":      `{"dataSourceId": "places", "data": {"near": [0, 0]}}`,
	"patchDataToDataSource":           `{"dataSourceId": "places", "filter": {}, "patch": {"n": 1}, "options": {"upsert": false}, "multi": true}`,
	"newAgenda":                       `{"memberId": "member-1", "nodeCompositeId": "hello", "pattern": "0 9 * * *", "runUntil": 1800000000000, "tag": "daily"}`,
	"updateAgenda":                    `{"memberId": "member-1", "tag": "daily", "priority": 1}`,
	"deleteMemberAgenda":              `{"memberId": "member-1"}`,
	"redirectMemberToNode":            `{"memberId": "member-1", "nodeCompositeId": "hello"}`,
	"sendResponse":                    `{"channelId": "channel-1", "memberId": ["member-1"], "response": {"type": "TEXT", "text": "Hello"}}`,
	"savePostCommentAnalytics":        `{"comment": "price?", "fbId": "u1", "isMatched": true, "name": "Ada", "postId": "p1"}`,

	"createAssignment":                   `{"member": {"_id": "member-1"}, "assignmentDetails": {"summary": "It leaks."}, "label": "sales", "meta": {"order": 7}}`,
	"addNewTargetsToAssignment":          `{"assignmentId": "<bob's assignment>", "targets": [{"id": "sales", "type": "public_channel"}]}`,
	"reassignAssignment":                 `{"channel": {"_id": "desk"}, "messageEvent": {"type": "TEXT", "data": {"text": "hi"}, "from": "<dora's agent>", "to": "<gus's conversation>", "timestamp": 1, "messageId": "m"}, "label": "sales"}`,
	"getAssignment":                      `{"assignmentId": "<dora's assignment>"}`,
	"getAssignmentByOutlet":              `{"channelId": "desk"}`,
	"getAssignmentByBravoGroupId":        `{"bravoGroupId": "<hal's conversation>"}`,
	"getAssignmentsByMemberId":           `{"memberId": "dora", "sortBy": {"createdAt": -1}}`,
	"getAssignmentsByMeta":               `{"meta": {"who": "dora"}}`,
	"getAssignmentsByParentAssignmentId": `{"assignmentId": "<dora's assignment>"}`,
	"updateAssignmentGroup":              `{"assignmentId": "<dora's assignment>", "group": {"_id": "<dora's group>"}}`,
	"updateAssignmentMeta":               `{"assignmentId": "<dora's assignment>", "meta": {"seen": true}}`,
	"removePendingAssignmentByMemberId":  `{"memberId": "carl"}`,
	"endLiveChat":                        `{"channel": {"_id": "desk"}, "messageEvent": {"type": "TEXT", "data": {"text": "hi"}, "from": "<dora's agent>", "to": "<emil's conversation>", "timestamp": 1, "messageId": "m"}}`,
	"inletEndLiveChat":                   `{"channel": {"_id": "channel-1"}, "member": {"_id": "fay"}, "options": {"recallRelayMessage": true}}`,
	"endBravoLiveChat":                   `{"adminExternalId": "<hal's agent>", "bravoGroupId": "<hal's conversation>", "channelId": "phone"}`,
	"getGroup":                           `{"groupId": "<dora's group>"}`,
	"getGroupByExternalId":               `{"adminExternalId": "<dora's agent>", "channelId": "desk", "type": "charlie"}`,
	"getGroupByGroupExternalId":          `{"groupExternalId": "<dora's conversation>"}`,
	"getGroupByInletGroup":               `{"inlet": "family", "inletGroupExternalId": "family of hal"}`,
	"getGroupByMemberId":                 `{"inlet": "channel-1", "memberId": "dora"}`,
	"updateGroup":                        `{"group": {"_id": "<dora's group>", "name": "Kettles"}}`,
	"updateGroupMeta":                    `{"groupId": "<dora's group>", "meta": {"seen": true}}`,
	"inactivateGroup":                    `{"groupId": "<fay's group>"}`,
	"handleAdminJoinedGroup":             `{"channel": {"_id": "phone"}, "externalId": "<hal's agent>", "bravoGroupId": "<hal's conversation>"}`,
	"createBravoGroup":                   `{"channelId": "phone", "name": "Kettles"}`,
	"disableBravoGroupInviteLink":        `{"channel": {"_id": "phone"}, "externalId": "<hal's conversation>"}`,
	"setBravoGroupIcon":                  `{"channelId": "phone", "imageUrl": "https://shop.example/kettle.png", "bravoGroupId": "<hal's conversation>"}`,
	"createHotelChannel":                 `{"channel": {"_id": "hotel"}, "hotelGroupId": "lobby", "displayName": "Kettles"}`,
	"getAdmin":                           `{"adminId": "agent-1"}`,
	"getAdminByExternalId":               `{"externalId": "<dora's agent>"}`,
	"sendMessageToInlet":                 `{"channel": {"_id": "desk"}, "messageEvent": {"type": "TEXT", "data": {"text": "hi"}, "from": "<dora's agent>", "to": "<dora's conversation>", "timestamp": 1, "messageId": "m"}, "response": {"type": "TEXT", "text": "Hello"}}`,
	"sendMessageToInletGroup":            `{"groupId": "<ivy's group>", "response": {"type": "TEXT", "text": "Hello"}}`,
	"sendMessageToOutletGroup":           `{"groupId": "<dora's group>", "response": {"type": "TEXT", "text": "Hello"}}`,
	"saveGroupIdToMember":                `{"channel": {"_id": "desk"}, "messageEvent": {"type": "TEXT", "data": {"text": "hi"}, "from": "<dora's agent>", "to": "<dora's conversation>", "timestamp": 1, "messageId": "m"}}`,

	"sendAlphaResponse":            `{"channelId": "page", "memberId": "paul", "response": {"type": "TEXT", "text": "Hello"}}`,
	"sendAlphaResponseToMemberIds": `{"channelId": "page", "memberId": ["paul", "quinn"], "response": {"type": "TEXT", "text": "Hello"}}`,
	"sendHotelResponse":            `{"channel": {"_id": "hotel"}, "recipientId": "u1", "receiverType": "user", "hotelGroupId": "lobby", "response": {"type": "TEXT", "text": "Hello"}}`,
	"sendDeltaResponse":            `{"channelId": "family", "memberId": ["hal", "ivy"], "response": {"type": "TEXT", "text": "Hello"}}`,
	"alphaCreateBroadcast":         `{"channel": {"_id": "page"}, "response": "{\"type\": \"TEXT\", \"text\": \"Hello\"}"}`,
	"alphaSendBroadcast":           `{"channel": {"_id": "page"}, "broadcastId": {"id": <stored message>}, "labelId": "buyers", "notificationType": "REGULAR"}`,
	"alphaGetAttachmentId":         `{"channel": {"_id": "page"}, "type": {"type": "image"}, "url": "https://shop.example/kettle.png"}`,
	"alphaPassThreadControl":       `{"channel": {"_id": "page"}, "member": {"_id": "tess"}, "targetAppId": "263902037430900", "metadata": "wants a person"}`,
	"alphaSaveCustomLabel":         `{"channel": {"_id": "page"}, "member": {"_id": "paul"}, "labelId": "tea"}`,
	"alphaRemoveCustomLabel":       `{"channel": {"_id": "page"}, "member": {"_id": "paul"}, "labelId": "buyers"}`,
	"charlieArchiveConversation":   `{"channel": {"_id": "desk"}, "messageEvent": {"type": "TEXT", "data": {"text": "hi"}, "from": "rose", "to": "<rose's chat>", "timestamp": 1, "messageId": "m"}}`,
	"updateMessage":                `{"channel": {"_id": "desk"}, "externalChannelId": "<rose's chat>", "messageTs": "<rose's message>", "text": "Hello", "attachments": [{"fallback": "a kettle"}]}`,
	"EchoSaveMemberTag":            `{"channel": {"_id": "account"}, "member": {"_id": "saul"}, "tagId": 7}`,

	"sendEmail":               `{"destination": {"ToAddresses": ["ada@shop.example"], "CcAddresses": ["Bob <bob@shop.example>"]}, "message": {"Subject": {"Data": "A kettle"}, "Body": {"Text": {"Data": "Here it is.", "Charset": "UTF-8"}, "Html": {"Data": "<p>Here it is."}}}}`,
	"golf":                    `{"golfName": "shop"}`,
	"uploadFileToObjectStore": `{"url": "https://shop.example/bill.pdf", "options": {"method": "GET"}, "channel": "page", "filename": "bills/7.pdf", "contentType": "application/pdf"}`,
}

// withParameters returns arguments with those of a change in the place of, or beside, their own.
func withParameters(t *testing.T, args, change string) json.RawMessage {
	t.Helper()
	require.NotEmpty(t, args, "call_arguments_test.go has no arguments of the operation")
	var fields, changed map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(args), &fields))
	require.NoError(t, json.Unmarshal([]byte(change), &changed), change)
	maps.Copy(fields, changed)
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return text
}

// withParameter returns arguments with one of them changed.
func withParameter(t *testing.T, args, name, value string) json.RawMessage {
	t.Helper()
	return withParameters(t, args, `{"`+name+`": `+value+`}`)
}

// needsParameters reports whether an operation cannot do with what the context has.
func needsParameters(operation operations.Operation) bool {
	return slices.ContainsFunc(operation.Parameters, func(p operations.Field) bool {
		return p.Need == operations.Required || p.Need == operations.RequiredUnless
	})
}
