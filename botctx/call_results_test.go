package botctx_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// furtherResults are what is changed in the arguments of an operation so that each shape that the
// table has for its result is shown: first by the templates, and then by these.
func furtherResults() map[string][]string {
	return map[string][]string{
		"fetchDataFromDataSource":         {`{"count": true}`},
		"fetchDistinctDataFromDataSource": {`{"count": true}`},
		"sendResponse": {
			`{"channelId": "desk", "memberId": ["rose"]}`, `{"channelId": "account", "memberId": ["saul"]}`, `{"memberId": ["member-1", "bob"]}`,
		},
		"sendMessageToInlet": {
			`{"channel": {"_id": "outlet of saul"}, "messageEvent": {"from": "<saul's agent>", "to": "<saul's conversation>"}}`,
			`{"channel": {"_id": "outlet of rose"}, "messageEvent": {"from": "<rose's agent>", "to": "<rose's conversation>"}}`,
		},
		"sendMessageToOutletGroup": {`{"groupId": "<hal's group>"}`},
	}
}

func TestCall_Results(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t)
	serve(t, platform, "account", "saul", channel.Charlie)
	serve(t, platform, "desk", "rose", channel.Charlie)
	for _, operation := range operations.All() {
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			shown := map[int]bool{}
			for _, change := range append([]string{`{}`}, furtherResults()[operation.Name]...) {
				p := platform.Fork()
				args := withParameters(t, arguments(t, p, operation.Name), withIDs(t, p, change))
				text, err := caller(p).Call(t.Context(), operation.Name, args)
				require.NoError(t, err)
				shown[shapeOf(t, operation, text)] = true
			}
			require.Len(t, shown, len(operation.Responses), "the table has shapes that no call shows")
		})
	}
}

// shapeOf returns which of the results that the table shows for an operation this is one of.
func shapeOf(t *testing.T, operation operations.Operation, result []byte) int {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(result, &value))
	found := slices.IndexFunc(operation.Responses, func(r operations.Response) bool {
		return r.Type.Accepts(value) && hasKeys(fieldsOf(r.Fields, r.Kind), value)
	})
	require.GreaterOrEqual(t, found, 0, "operations.json shows no response of %s such as %s", operation.Name, result)
	return found
}

// fieldsOf returns the fields of an object, or of the kind that it has. An entry of a data
// source has fields of the bot's own beside.
func fieldsOf(fields []operations.Field, kind string) []operations.Field {
	if named, ok := operations.KindNamed(kind); ok && len(fields) == 0 && kind != "entry" {
		return named.Fields
	}
	return fields
}

// hasKeys reports whether a value, or each value in it, has exactly these keys, in their
// types. Any will do where none are known.
func hasKeys(fields []operations.Field, value any) bool {
	if list, ok := value.([]any); ok {
		return !slices.ContainsFunc(list, func(item any) bool { return !hasKeys(fields, item) })
	}
	object, ok := value.(map[string]any)
	if !ok || len(fields) == 0 {
		return true
	}
	known := 0
	for _, field := range fields {
		inner, given := object[field.Name]
		if given {
			known++
		}
		switch {
		case !given && field.Need == operations.Always:
			return false
		case given && (!field.Type.Accepts(inner) || !hasKeys(fieldsOf(field.Fields, field.Kind), inner)):
			return false
		}
	}
	return known == len(object)
}

// serve makes a request of a member, who is new unless there is one of that id, and lets an
// agent of a new outlet take it.
func serve(t *testing.T, p *fakes.Platform, inlet, memberID string, outlet channel.Type) {
	t.Helper()
	id := "outlet of " + memberID
	p.AddChannel(channel.Channel{ID: id, Type: outlet, BroadcastGroups: supportAndSales()})
	p.Pair(inlet, id)
	agent := p.AddAgent(id, "Ida")
	_, err := p.Runtime().LiveChats(fakes.DefaultApp).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
		Member: &member.Member{ID: memberID},
	})
	require.NoError(t, err)
	agent.Takes(agent.Ticket())
}

// callf calls an operation by its name with the JSON of its parameters, which must go well.
// The answer has exactly the keys that the table shows, in the types that it shows.
func callf(t *testing.T, bot botctx.Caller, name, args string, values ...any) gjson.Result {
	t.Helper()
	text := json.RawMessage(args)
	if len(values) > 0 {
		text = fmt.Appendf(nil, args, values...)
	}
	result, err := bot.Call(t.Context(), name, text)
	require.NoError(t, err, name)
	operation, known := operations.ByName(name)
	require.True(t, known)
	shapeOf(t, operation, result)
	return gjson.ParseBytes(result)
}

func TestCall_ResultThatJSONDoesNotHave(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	bot := p.AddMember(member.Member{}).Context()
	ask := func(op, params string) string {
		result, err := bot.Call(t.Context(), op, json.RawMessage(params))
		require.NoError(t, err)
		return string(result)
	}
	ask("upsertDataToDataSource", `{"dataSourceId": "coupons", "data": {"_id": 1, "n": 1000, "location": [1, 2]}}`)
	taken := ask("findAndModifyDataFromDataSource", `{"dataSourceId": "coupons", "filter": {}, "patch": {"$set": {"taken": true}},
		"option": {"projection": {"v": {"$exp": "$n"}, "list": [{"$exp": "$n"}]}}}`)
	require.JSONEq(t, `{"ok": 1, "value": {"_id": 1, "v": null, "list": [null]}}`, taken, "what was taken is not lost")
}
