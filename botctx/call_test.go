package botctx_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
)

func TestCall_KnowsEveryOperation(t *testing.T) {
	t.Parallel()
	var names []botctx.Op
	for _, operation := range operations.All() {
		names = append(names, botctx.Op(operation.Name))
		require.True(t, botctx.Op(operation.Name).Exists())
		require.Contains(t, templates, operation.Name, "needs a row with one argument")
	}
	require.Len(t, templates, len(names))
	require.Equal(t, names, botctx.Ops())
}

func TestCall_UnknownOperation(t *testing.T) {
	t.Parallel()
	bot := fakes.New(fakes.For(t)).Operations(botctx.Scope{})
	for _, name := range []string{"", "GetMember", "getmember", "getMembers", "getMember ", "fetch"} {
		result, err := bot.Call(t.Context(), name, json.RawMessage(`{}`))
		require.Nil(t, result)
		requireFailure(t, err, name, boterr.InvalidArgument, "")
	}
}

func TestCall_NoObject(t *testing.T) {
	t.Parallel()
	p, bot := newCaller(t)
	before := stateOf(t, p)
	for name := range templates {
		for _, args := range []string{`[]`, `"x"`, `1`, `{`, `{"memberId": }`, `{} {}`, "\xff"} {
			result, err := bot.Call(t.Context(), name, json.RawMessage(args))
			require.Nil(t, result)
			requireFailure(t, err, name, boterr.InvalidArgument, "")
		}
	}
	require.Equal(t, before, stateOf(t, p))
}

// outcome calls an operation as ada on a fork of a platform. It returns the result and the state of the fork after the
// call.
func outcome(t *testing.T, platform *fakes.Platform, name string, args json.RawMessage) string {
	t.Helper()
	return outcomeIn(t, ada, platform, name, args)
}

func outcomeIn(t *testing.T, scope botctx.Scope, platform *fakes.Platform, name string, args json.RawMessage) string {
	t.Helper()
	p := platform.Fork()
	result, err := p.Operations(scope).Call(t.Context(), name, args)
	require.NoError(t, err, "%s(%s)", name, args)
	return string(result) + "\n" + stateOf(t, p)
}

func TestCall_NoParameters(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t)
	shown := map[string]botctx.Scope{
		"createAssignment": ada, "inletEndLiveChat": {Channel: "channel-1", Member: "fay"}, "alphaPassThreadControl": {Channel: "page", Member: "tess"},
	}
	for _, operation := range operations.All() {
		scope, isShown := shown[operation.Name]
		require.Equal(t, !needsParameters(operation), isShown, operation.Name)
		if isShown {
			want := outcomeIn(t, scope, platform, operation.Name, json.RawMessage(`{}`))
			require.Equal(t, want, outcomeIn(t, scope, platform, operation.Name, nil))
			require.Equal(t, want, outcomeIn(t, scope, platform, operation.Name, json.RawMessage(`null`)))
		}
	}
}

func TestCall_UnknownParameter(t *testing.T) {
	t.Parallel()
	lenient, _ := newCaller(t)
	strict, _ := newCaller(t, strictly())
	for name := range templates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := arguments(t, lenient, name)
			more := withParameter(t, args, "appId", `"app-2"`)
			require.Equal(t, outcome(t, lenient, name, json.RawMessage(args)), outcome(t, lenient, name, more), "it is ignored")
			require.Equal(t, outcome(t, lenient, name, json.RawMessage(args)), outcome(t, strict, name, json.RawMessage(args)))
			p := strict.Fork()
			before := stateOf(t, p)
			_, err := caller(p).Call(t.Context(), name, more)
			requireFailure(t, err, name, boterr.InvalidArgument, "appId")
			require.Equal(t, before, stateOf(t, p))
		})
	}
}

// A parameter that is null or has its default value is like an absent one.
func TestCall_NullAndDefault(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t)
	for _, operation := range operations.All() {
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			args := arguments(t, platform, operation.Name)
			for _, parameter := range operation.Parameters {
				if parameter.Need == operations.Optional {
					absent := outcome(t, platform, operation.Name, withoutPath(t, args, parameter.Name))
					require.Equal(t, absent, outcome(t, platform, operation.Name, withParameter(t, args, parameter.Name, "null")), parameter.Name)
				}
			}
			for path, value := range defaultsOf("", operation.Parameters) {
				absent := outcome(t, platform, operation.Name, withoutPath(t, args, path))
				require.Equal(t, absent, outcome(t, platform, operation.Name, withPath(t, args, path, string(value))), path)
			}
		})
	}
}

func defaultsOf(path string, fields []operations.Field) map[string]json.RawMessage {
	defaults := map[string]json.RawMessage{}
	for _, field := range fields {
		if field.Default != nil {
			defaults[path+field.Name] = field.Default
		}
		maps.Copy(defaults, defaultsOf(path+field.Name+".", field.Fields))
	}
	return defaults
}

func withPath(t *testing.T, args, path, value string) json.RawMessage {
	t.Helper()
	var object document.Object
	require.NoError(t, object.UnmarshalJSON([]byte(args)))
	parsed, err := document.ParseJSON([]byte(value))
	require.NoError(t, err)
	object.Set(path, parsed)
	text, err := object.MarshalJSON()
	require.NoError(t, err)
	return text
}

func withoutPath(t *testing.T, args, path string) json.RawMessage {
	t.Helper()
	var object document.Object
	require.NoError(t, object.UnmarshalJSON([]byte(args)))
	object.Delete(path)
	text, err := object.MarshalJSON()
	require.NoError(t, err)
	return text
}

// Package botctxtest covers the other forms of parameters, such as records in place of ids.
func TestCall_OtherForms(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t, strictly())
	for name, form := range map[string]string{
		"sendResponse":            `{"response": "{\"type\": \"TEXT\", \"text\": \"Hello\"}"}`,
		"sendAlphaResponse":       `{"memberId": ["paul"]}`,
		"uploadFileToObjectStore": `{"contentType": "Application/PDF"}`,
	} {
		args := arguments(t, platform, name)
		want := outcome(t, platform, name, json.RawMessage(args))
		require.Equal(t, want, outcome(t, platform, name, withParameters(t, args, form)), name)
	}
}

// A parameter for some platforms is ignored on the others, or refused in strict mode.
func TestCall_OtherPlatform(t *testing.T) {
	t.Parallel()
	lenient, _ := newCaller(t)
	strict, _ := newCaller(t, strictly())
	elsewhere := map[string][2]string{
		"createAssignment createGroup":         {`{}`, `{"externalId": "wish"}`},
		"reassignAssignment takenMessage":      {`{"channel": {"_id": "phone"}, "messageEvent": null, "previousAssignment": {"_id": "<hal's assignment>"}}`, `"Gone"`},
		"updateAssignmentGroup bravoGroupId":   {`{}`, `"b"`},
		"sendMessageToOutletGroup responseUrl": {`{"groupId": "<hal's group>"}`, `"https://hooks.example/7"`},
		"sendResponse messagingType":           {`{}`, `"MESSAGE_TAG"`},
		"sendResponse messagingTag":            {`{}`, `"ACCOUNT_UPDATE"`},
	}
	for _, operation := range operations.All() {
		for _, parameter := range operation.Parameters {
			if len(parameter.Platforms) == 0 {
				continue
			}
			given, ok := elsewhere[operation.Name+" "+parameter.Name]
			require.True(t, ok, "%s of %s", parameter.Name, operation.Name)
			args := withParameters(t, arguments(t, lenient, operation.Name), withIDs(t, lenient, given[0]))
			more := withParameter(t, string(args), parameter.Name, given[1])
			without, _, _ := strings.Cut(outcome(t, lenient, operation.Name, args), "\n")
			with, _, _ := strings.Cut(outcome(t, lenient, operation.Name, more), "\n")
			require.Equal(t, without, with)
			p := strict.Fork()
			before := stateOf(t, p)
			_, err := caller(p).Call(t.Context(), operation.Name, more)
			requireFailure(t, err, operation.Name, boterr.InvalidArgument, parameter.Name)
			require.Equal(t, before, stateOf(t, p))
		}
	}
}

func TestCall_DeepestEntry(t *testing.T) {
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

// templates has valid JSON arguments for each operation on the platform of newCaller. withIDs replaces the names in <>.
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

// withParameters returns arguments with the fields of change added or replaced.
func withParameters(t *testing.T, args, change string) json.RawMessage {
	t.Helper()
	require.NotEmpty(t, args, "the table of arguments above has no arguments of the operation")
	var fields, changed map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(args), &fields))
	require.NoError(t, json.Unmarshal([]byte(change), &changed), change)
	maps.Copy(fields, changed)
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return text
}

// withParameter returns arguments with one parameter changed.
func withParameter(t *testing.T, args, name, value string) json.RawMessage {
	t.Helper()
	return withParameters(t, args, `{"`+name+`": `+value+`}`)
}

// needsParameters reports whether an operation has required parameters.
func needsParameters(operation operations.Operation) bool {
	return slices.ContainsFunc(operation.Parameters, func(p operations.Field) bool {
		return p.Need == operations.Required || p.Need == operations.RequiredUnless
	})
}

// CallValue keeps the types of times and 64-bit integers in parameters and results.
func TestCallValue_KeepsTypes(t *testing.T) {
	t.Parallel()
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{}).Context()
	call := func(name string, args document.Object) any {
		result, err := bot.CallValue(t.Context(), name, args)
		require.NoError(t, err)
		return result
	}
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	row := document.O("z", at, "a", int64(1<<62+1), "f", 0.5, "list", document.A(at, nil))
	call("upsertDataToDataSource", document.O("dataSourceId", "visits", "data", row))
	filter := document.O("z", document.O("$gte", at), "a", int64(1<<62+1))
	require.Equal(t, document.A(at), call("fetchDistinctDataFromDataSource",
		document.O("dataSourceId", "visits", "key", "z", "filter", filter)))
	changed := call("findAndModifyDataFromDataSource",
		document.O("dataSourceId", "visits", "filter", filter, "patch", document.Set("seen", at), "option", document.O("new", true)))
	require.Equal(t, at, document.Get(changed.(document.Object), "value.seen", time.Time{}))

	found := call("fetchDataFromDataSource", document.O("dataSourceId", "visits", "filter", filter)).(document.Array)
	require.Equal(t, 1, found.Len())
	for name, value := range row.All() {
		require.Equal(t, value, found.At(0).(document.Object).Value(name), name)
	}

	call("patchMembers", document.O("memberId", bot.Member.ID, "patch", document.O("meta.born", at)))
	ada := call("getMember", document.O("memberId", bot.Member.ID)).(document.Object)
	require.Equal(t, at, document.Get(ada, "meta.born", time.Time{}))
}

// A time.Time is accepted for a parameter in milliseconds.
func TestCallValue_TimeAsMilliseconds(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "remind", Responses: botctx.Say("Hello")})
	bot := p.AddMember(member.Member{}).Context()
	at := p.Now().Add(time.Hour).Truncate(time.Millisecond)
	made, err := bot.CallValue(t.Context(), "newAgenda", document.O("nodeCompositeId", "remind", "memberId", bot.Member.ID, "nextRunAt", at))
	require.NoError(t, err)
	require.Equal(t, at.UnixMilli(), made.(document.Object).Value("nextRunAt"))
}

func TestCallValue_NoResult(t *testing.T) {
	t.Parallel()
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{}).Context()
	result, err := bot.CallValue(t.Context(), "getMember", document.O("memberId", "nobody"))
	require.ErrorIs(t, err, boterr.NotFound)
	require.Equal(t, document.Missing, result)
}
