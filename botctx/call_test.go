package botctx_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
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

// arguments returns one argument of each operation, in JSON, for the platforms that newCaller
// makes.
func arguments(t *testing.T) map[string]string {
	t.Helper()
	p, _ := newCaller(t)
	filled := make(map[string]string, len(templates))
	ids, sends := idsOfLiveChats(t, p), idsOfSends(t, p)
	for name, template := range templates {
		filled[name] = sends.Replace(ids.Replace(template))
	}
	return filled
}

// newCaller returns the context of a member of a new platform with one data source, with
// live chats of other members, and with what the sends are about.
func newCaller(t *testing.T, options ...fakes.Option) (*fakes.Platform, *botctx.Context) {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.Handle(&botctx.Node{ID: "hello"})
	p.AddData("places", document.O("_id", "a", "n", 1, "taken", false, "location", document.A(0, 1)))
	addLiveChats(t, p)
	addSends(t, p)
	return p, ada.Context()
}

func TestCallKnowsEveryOperationOfTheSpecification(t *testing.T) {
	t.Parallel()
	_, bot := newCaller(t)
	given := arguments(t)
	names := make([]string, 0, len(operations.All()))
	for _, operation := range operations.All() {
		names = append(names, operation.Name)
		require.True(t, botctx.Op(operation.Name).Exists())
		_, err := bot.Call(t.Context(), operation.Name, json.RawMessage(given[operation.Name]))
		require.NoError(t, err, operation.Name)
	}
	require.Len(t, names, 69)
	require.Len(t, given, 69)
	all := []string{}
	for _, op := range botctx.Ops() {
		all = append(all, string(op))
	}
	require.Equal(t, names, all)
}

// requireFailure checks the error of an operation: its code, and the parameter at
// fault or a path in it.
func requireFailure(t *testing.T, err error, op string, code boterr.Code, field string) {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%s gives no *boterr.Error: %v", op, err)
	require.Equal(t, op, e.Op)
	require.Equal(t, code, e.Code, "%v", err)
	rest, found := strings.CutPrefix(e.Field, field)
	require.True(t, found && (rest == "" || rest[0] == '.' || rest[0] == '['), "the field is %q and should be %q: %v", e.Field, field, err)
}

func TestCallGivesWhatTheSpecificationShows(t *testing.T) {
	t.Parallel()
	for name, args := range arguments(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, bot := newCaller(t)
			text, err := bot.Call(t.Context(), name, json.RawMessage(args))
			require.NoError(t, err)
			var result any
			require.NoError(t, json.Unmarshal(text, &result))
			operation, _ := operations.ByName(name)
			require.True(t, slices.ContainsFunc(operation.Responses, func(r operations.Response) bool {
				return r.Type.Accepts(result) && hasKeys(fieldsOf(r.Fields, r.Kind), result)
			}), "the table shows no response such as %s", text)
		})
	}
}

func TestCallRefusesOperationsThatDoNotExist(t *testing.T) {
	t.Parallel()
	_, bot := newCaller(t)
	for _, name := range []string{"", "GetMember", "getmember", "getMembers", "getMember ", "fetch"} {
		result, err := bot.Call(t.Context(), name, json.RawMessage(`{}`))
		require.Nil(t, result)
		requireFailure(t, err, name, boterr.InvalidArgument, "")
	}
}

func TestCallRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for name := range arguments(t) {
		p, bot := newCaller(t)
		before := p.Data("places")
		for _, args := range []string{`[]`, `"x"`, `1`, `{`, `{"memberId": }`, `{} {}`, "\xff"} {
			result, err := bot.Call(t.Context(), name, json.RawMessage(args))
			require.Nil(t, result)
			requireFailure(t, err, name, boterr.InvalidArgument, "")
		}
		require.Equal(t, before, p.Data("places"))
	}
}

func TestNoArgumentsCountAsAnEmptyObject(t *testing.T) {
	t.Parallel()
	_, bot := newCaller(t)
	for name := range arguments(t) {
		if !needsParameters(name) {
			continue
		}
		for _, args := range []string{``, `{}`, `null`} {
			_, err := bot.Call(t.Context(), name, json.RawMessage(args))
			e, ok := boterr.AsError(err)
			require.True(t, ok, "%s without arguments: %v", name, err)
			require.Equal(t, boterr.InvalidArgument, e.Code, "%s(%s): %v", name, args, err)
			require.NotEmpty(t, e.Field, "%s(%s): %v", name, args, err)
		}
	}
}

// needsParameters reports whether an operation cannot do with what the context has.
func needsParameters(name string) bool {
	operation, _ := operations.ByName(name)
	return slices.ContainsFunc(operation.Parameters, func(p operations.Field) bool {
		return p.Need == operations.Required || p.Need == operations.RequiredUnless
	})
}

func TestTheContextIsEnoughWhereNoParameterIsNeeded(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range arguments(t) {
		if !needsParameters(name) {
			names = append(names, name)
		}
	}
	require.ElementsMatch(t, []string{"createAssignment", "inletEndLiveChat", "alphaPassThreadControl"}, names)
	for _, args := range []string{``, `{}`, `null`} {
		p, bot := newCaller(t)
		pending := len(p.Queue("desk"))
		_, err := bot.Call(t.Context(), "createAssignment", json.RawMessage(args))
		require.NoError(t, err)
		require.Len(t, p.Queue("desk"), pending+1)
		_, err = bot.Call(t.Context(), "inletEndLiveChat", json.RawMessage(args))
		require.NoError(t, err)
		require.Len(t, p.Queue("desk"), pending)

		una := p.AddMember(member.Member{Channel: "page"})
		_, err = una.Context().Call(t.Context(), "alphaPassThreadControl", json.RawMessage(args))
		require.NoError(t, err)
		require.Equal(t, fakes.Thread{AppID: fakes.PageInbox}, una.Thread())
	}
}

func TestWrongTypesNameTheirParameter(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"true": true, "12": 12.0, `"x"`: "x", `{"x": 1}`: map[string]any{"x": 1.0}, `[true]`: []any{true}, `[[]]`: []any{[]any{}},
	}
	for name, args := range arguments(t) {
		operation, _ := operations.ByName(name)
		for _, parameter := range operation.Parameters {
			t.Run(name+" "+parameter.Name, func(t *testing.T) {
				t.Parallel()
				p, bot := newCaller(t)
				before, sent := p.Data("places"), p.Sent()
				for text, value := range values {
					if parameter.Type.Accepts(value) {
						continue
					}
					_, err := bot.Call(t.Context(), name, withParameter(t, args, parameter.Name, text))
					requireFailure(t, err, name, boterr.InvalidArgument, parameter.Name)
				}
				require.Equal(t, before, p.Data("places"))
				require.Equal(t, sent, p.Sent())
			})
		}
	}
}

// withParameter returns arguments with one of them changed.
func withParameter(t *testing.T, args, name, value string) json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(args), &fields))
	fields[name] = json.RawMessage(value)
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return text
}

func TestUnknownParametersAreIgnoredOrRefused(t *testing.T) {
	t.Parallel()
	for name, args := range arguments(t) {
		_, lenient := newCaller(t)
		_, err := lenient.Call(t.Context(), name, withParameter(t, args, "appId", `"app-2"`))
		require.NoError(t, err, name)
		p, strict := newCaller(t, strictly())
		before := p.Data("places")
		_, err = strict.Call(t.Context(), name, withParameter(t, args, "appId", `"app-2"`))
		requireFailure(t, err, name, boterr.InvalidArgument, "appId")
		require.Equal(t, before, p.Data("places"))
		_, err = strict.Call(t.Context(), name, json.RawMessage(args))
		require.NoError(t, err, name)
	}
}

func TestParametersThatAreNullAreAbsent(t *testing.T) {
	t.Parallel()
	for name, args := range arguments(t) {
		operation, _ := operations.ByName(name)
		for _, parameter := range operation.Parameters {
			if parameter.Need != operations.Optional {
				continue
			}
			_, bot := newCaller(t)
			_, err := bot.Call(t.Context(), name, withParameter(t, args, parameter.Name, "null"))
			require.NoError(t, err, "%s with %s null", name, parameter.Name)
		}
	}
}

func TestTheDeepestEntryIsWrittenAndReadByName(t *testing.T) {
	t.Parallel()
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{}).Context()
	entry := document.O("end", 1)
	for range document.MaxDepth - 2 {
		entry = document.O("in", entry)
	}
	entry = document.O("_id", "deep", "in", entry)
	call := func(operation string, pairs ...any) (string, error) {
		arguments, err := document.O(append([]any{"dataSourceId", "deep"}, pairs...)...).MarshalJSON()
		require.NoError(t, err)
		result, err := bot.Call(t.Context(), operation, arguments)
		return string(result), err
	}
	_, err := call("upsertDataToDataSource", "data", entry)
	require.NoError(t, err)
	path := strings.Repeat("in.", document.MaxDepth-1) + "end"
	for operation, arguments := range map[string][]any{
		"fetchDataFromDataSource":         {"filter", document.O(path, 1)},
		"fetchDistinctDataFromDataSource": {"key", "in"},
		"findAndModifyDataFromDataSource": {"filter", document.O("_id", "deep"), "patch", document.Set(path, 1)},
	} {
		result, err := call(operation, arguments...)
		require.NoError(t, err, operation)
		require.Contains(t, result, `{"in":{"end":1}}`, operation)
	}
	_, err = call("upsertDataToDataSource", "data", document.O("_id", "deeper", "in", entry))
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
