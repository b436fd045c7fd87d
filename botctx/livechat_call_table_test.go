package botctx_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
)

// liveChatOperations returns the operations of live chat.
func liveChatOperations() []operations.Operation {
	return slices.DeleteFunc(operations.All(), func(o operations.Operation) bool { return o.Package != "livechat" })
}

// What the first app has does not exist for the other one: it is not found, lists are
// empty, and what is withdrawn was not there.
func TestLiveChatsOfAnotherAppDoNotExist(t *testing.T) {
	t.Parallel()
	given := arguments(t)
	for _, operation := range liveChatOperations() {
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			p, _ := newCaller(t)
			other := p.AddMember(member.Member{App: "app-2", FirstName: "Eve"}).Context()
			before := stateOf(t, p)
			text, err := other.Call(t.Context(), operation.Name, json.RawMessage(given[operation.Name]))
			switch {
			case hasCode(operation, boterr.NotFound):
				requireFailure(t, err, operation.Name, boterr.NotFound, fieldIn(t, err))
				require.NotEmpty(t, fieldIn(t, err), "%v", err)
			case operation.Responses[0].Type == "object[]":
				require.NoError(t, err)
				require.JSONEq(t, `[]`, string(text))
			default:
				require.NoError(t, err)
				requireShape(t, operation.Name, "", text)
			}
			require.Equal(t, before, stateOf(t, p))
		})
	}
}

// hasCode reports whether the table has an error of that code for an operation.
func hasCode(operation operations.Operation, code boterr.Code) bool {
	return slices.ContainsFunc(operation.Errors, func(f operations.Failure) bool { return f.Code == code })
}

// fieldIn returns the parameter that an error names.
func fieldIn(t *testing.T, err error) string {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%v", err)
	return e.Field
}

// Where an operation is for some platforms alone and has a parameter for the channel, a
// channel of any other platform is refused.
func TestLiveChatOperationsOfSomePlatformsRefuseAllOthers(t *testing.T) {
	t.Parallel()
	given := arguments(t)
	var tried []string
	for _, operation := range liveChatOperations() {
		args, isPossible := onChannel(t, operation, given[operation.Name], "other")
		if len(operation.Platforms) == 0 || !isPossible {
			continue
		}
		tried = append(tried, operation.Name)
		for _, platform := range allTypes() {
			if slices.Contains(operation.Platforms, string(platform)) {
				continue
			}
			p, bot := newCaller(t)
			p.AddChannel(channel.Channel{ID: "other", Type: platform})
			before := stateOf(t, p)
			_, err := bot.Call(t.Context(), operation.Name, args)
			requireFailure(t, err, operation.Name, boterr.Unsupported, channelParameterOf(operation))
			require.ErrorContains(t, err, string(platform))
			for _, allowed := range operation.Platforms {
				require.ErrorContains(t, err, allowed)
			}
			require.Equal(t, before, stateOf(t, p))
		}
	}
	require.Len(t, tried, 7)
}

// onChannel returns arguments for another channel, and whether there is a parameter for
// it.
func onChannel(t *testing.T, operation operations.Operation, args, channelID string) (json.RawMessage, bool) {
	t.Helper()
	if _, ok := operation.Parameter("channel"); ok {
		return withoutParameter(t, withParameter(t, args, "channel", `{"_id": "`+channelID+`"}`), "channelId"), true
	}
	_, ok := operation.Parameter("channelId")
	return withParameter(t, args, "channelId", `"`+channelID+`"`), ok
}

// withoutParameter returns arguments without one of them.
func withoutParameter(t *testing.T, args json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(args, &fields))
	delete(fields, name)
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return text
}

// Parameters that only some platforms look at are ignored by the others, and refused in
// strict mode.
func TestParametersOfOtherPlatformsAreIgnoredOrRefused(t *testing.T) {
	t.Parallel()
	shown := []string{}
	for _, test := range []struct {
		operation, parameter string
		args                 string
	}{
		{"createAssignment", "createGroup", `{"createGroup": {"externalId": "wish"}}`},
		{"reassignAssignment", "takenMessage", `{"channel": {"_id": "phone"}, "previousAssignment": {"_id": "<hal's assignment>"}, "label": "sales", "takenMessage": "Gone"}`},
		{"updateAssignmentGroup", "bravoGroupId", `{"assignmentId": "<dora's assignment>", "group": {"_id": "<dora's group>"}, "bravoGroupId": "b"}`},
		{"sendMessageToOutletGroup", "responseUrl", `{"groupId": "<hal's group>", "response": {"type": "TEXT", "text": "Hello"}, "responseUrl": "https://hooks.example/7"}`},
	} {
		shown = append(shown, test.operation+" "+test.parameter)
		p, lenient := newCaller(t)
		_, err := lenient.Call(t.Context(), test.operation, json.RawMessage(idsOfLiveChats(t, p).Replace(test.args)))
		require.NoError(t, err, test.operation)
		p, strict := newCaller(t, strictly())
		before := stateOf(t, p)
		_, err = strict.Call(t.Context(), test.operation, json.RawMessage(idsOfLiveChats(t, p).Replace(test.args)))
		requireFailure(t, err, test.operation, boterr.InvalidArgument, test.parameter)
		require.Equal(t, before, stateOf(t, p))
	}
	var limited []string
	for _, operation := range liveChatOperations() {
		for _, parameter := range operation.Parameters {
			if len(parameter.Platforms) > 0 {
				limited = append(limited, operation.Name+" "+parameter.Name)
			}
		}
	}
	require.ElementsMatch(t, limited, shown)
}

// channelParameterOf returns the parameter by which an operation is told its channel.
func channelParameterOf(operation operations.Operation) string {
	if _, ok := operation.Parameter("channel"); ok {
		return "channel"
	}
	return "channelId"
}

// Who has gone is answered nothing, and nothing is done for them.
func TestLiveChatOperationsOfACallerWhoHasGoneDoNothing(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	given := arguments(t)
	for _, operation := range liveChatOperations() {
		p, bot := newCaller(t)
		before := stateOf(t, p)
		text, err := bot.Call(gone, operation.Name, json.RawMessage(given[operation.Name]))
		requireFailure(t, err, operation.Name, boterr.Canceled, "")
		require.Nil(t, text)
		require.Equal(t, before, stateOf(t, p), operation.Name)
	}
}
