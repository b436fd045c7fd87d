package botctx_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/record"
)

// memberParameterOf returns the parameter by which an operation is told its one member, ""
// where there is none.
func memberParameterOf(operation operations.Operation) string {
	for _, name := range []string{"member", "memberId"} {
		if _, ok := operation.Parameter(name); ok {
			return name
		}
	}
	return ""
}

// toMember returns parameters for another member.
func toMember(t *testing.T, name, args, memberID string) string {
	t.Helper()
	operation, _ := operations.ByName(name)
	if memberParameterOf(operation) == "member" {
		return with(t, args, "member", `{"_id": %q}`, memberID)
	}
	if parameter, _ := operation.Parameter("memberId"); parameter.Type.Accepts([]any{memberID}) {
		return with(t, args, "memberId", `[%q]`, memberID)
	}
	return with(t, args, "memberId", `%q`, memberID)
}

// inChannel returns parameters for another channel.
func inChannel(t *testing.T, name, args, channelID string) string {
	t.Helper()
	operation, _ := operations.ByName(name)
	given, ok := onChannel(t, operation, args, channelID)
	require.True(t, ok, name)
	return string(given)
}

// callInVain is the scene of calls for channels and members that do not exist in the app.
func callInVain(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		operation, _ := operations.ByName(name)
		for _, id := range []string{"none", "theirs"} {
			s, args := newLeast(t, name)
			s.refusef(t, s.ada.Context(), boterr.NotFound, channelParameterOf(operation), name, inChannel(t, name, args, id))
		}
		for _, id := range []string{"none", "eve"} {
			s, args := newLeast(t, name)
			if field := memberParameterOf(operation); field != "" {
				s.refusef(t, s.ada.Context(), boterr.NotFound, field, name, toMember(t, name, args, id))
			}
		}
	}
}

// callElsewhere is the scene of calls on every platform that the operation does not have. The
// error names those that it has.
func callElsewhere(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		operation, _ := operations.ByName(name)
		require.NotEmpty(t, operation.Platforms)
		for _, platform := range append(allTypes(), "pigeon") {
			if slices.Contains(operation.Platforms, string(platform)) {
				continue
			}
			s, args := newLeast(t, name)
			s.AddChannel(channel.Channel{ID: "other", Type: platform})
			says := s.refusef(t, s.ada.Context(), boterr.Unsupported, channelParameterOf(operation), name, inChannel(t, name, args, "other"))
			require.Contains(t, says, strings.Join(operation.Platforms, ", "))
			require.Contains(t, says, string(platform))
			here := s.Operations(record.Scope{Channel: "other", Member: "ada"})
			s.refusef(t, here, boterr.Unsupported, ownChannelParameterOf(operation), name, args)
		}
	}
}

// ownChannelParameterOf returns the parameter that a channel of the context's own is told at.
func ownChannelParameterOf(operation operations.Operation) string {
	if _, ok := operation.Parameter("channelId"); ok {
		return "channelId"
	}
	return "channel"
}

// callContradicting is the scene of calls whose parameters name two channels or two members.
func callContradicting(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		s, args := newLeast(t, name)
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "channelId", name, with(t, with(t, args, "channel", `{"_id": "shop"}`), "channelId", `"branch"`))
		operation, _ := operations.ByName(name)
		if _, ok := operation.Parameter("member"); ok {
			s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "memberId", name, with(t, with(t, args, "member", `{"_id": "ada"}`), "memberId", `"bob"`))
		}
	}
}

// callToOtherChannel is the scene of a call for a member who is in another channel.
func callToOtherChannel(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		s, args := newLeast(t, name)
		operation, _ := operations.ByName(name)
		says := s.refusef(t, s.ada.Context(), boterr.InvalidArgument, memberParameterOf(operation), name, toMember(t, name, args, "dora"))
		require.Contains(t, says, "branch")
	}
}

// callToNoID is the scene of a call for a member whom the platform does not know.
func callToNoID(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		s, args := newLeast(t, name)
		operation, _ := operations.ByName(name)
		says := s.refusef(t, s.ada.Context(), boterr.FailedPrecondition, memberParameterOf(operation), name, toMember(t, name, args, "nora"))
		require.Contains(t, says, "nora")
	}
}

// callTooLong is the scene of messages that break limits.
func callTooLong(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		s, args := newLeast(t, name)
		for response, at := range map[string]string{
			`{}`:               "response.type",
			`{"text": "x"}`:    "response.type",
			`{"type": "TEXT"}`: "response.text",
			`{"type": "BUTTON", "text": "x", "buttons": [{"type": "web_url", "title": "a", "url": "u"}, {"type": "postback", "title": "a title of more than twenty characters", "payload": "p"}]}`: "response.buttons[1].title",
		} {
			s.refusef(t, s.ada.Context(), boterr.InvalidArgument, at, name, with(t, args, "response", "%s", response))
		}
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "response", name, string(withoutParameter(t, json.RawMessage(args), "response")))
	}
}

// callBeyondRate is the scene of a platform that takes one message in a minute.
func callBeyondRate(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		s, args := newLeast(t, name)
		s.LimitSends("shop", 1, time.Minute)
		callf(t, s.ada.Context(), name, args)
		sent := len(s.Sent())
		text, err := s.ada.Context().Call(t.Context(), name, json.RawMessage(args))
		requireFailure(t, err, name, boterr.ResourceExhausted, "")
		if operation, _ := operations.ByName(name); !tellsOutcomes(operation) {
			require.Nil(t, text)
		}
		require.Len(t, s.Sent(), sent)
		s.Advance(time.Minute)
		callf(t, s.ada.Context(), name, args)
		require.Len(t, s.Sent(), sent+1)
	}
}

// tellsOutcomes reports whether an operation tells what came of each member also where there
// is but one.
func tellsOutcomes(operation operations.Operation) bool {
	return operation.Name == "sendAlphaResponseToMemberIds" || operation.Name == "sendDeltaResponse"
}

// callWhileDisconnected is the scene of a platform that does not answer.
func callWhileDisconnected(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		s, args := newLeast(t, name)
		s.Disconnect("shop")
		before := s.state()
		_, err := s.ada.Context().Call(t.Context(), name, json.RawMessage(args))
		requireFailure(t, err, name, boterr.Unavailable, "")
		require.Equal(t, before, s.state())
		s.Reconnect("shop")
		callf(t, s.ada.Context(), name, args)
	}
}

func TestEverySendIsUnavailableWhileItsPlatformIs(t *testing.T) {
	t.Parallel()
	for _, operation := range sendingOperations() {
		if operation.Package == "send" && operation.Name != "savePostCommentAnalytics" {
			t.Run(operation.Name, func(t *testing.T) {
				t.Parallel()
				callWhileDisconnected(operation.Name)(t)
			})
		}
	}
}

// Records of another app do not exist for a call, and neither do accounts of another app. A
// mail belongs to no record.
func TestSendsOfAnotherAppFindNothing(t *testing.T) {
	t.Parallel()
	for _, operation := range sendingOperations() {
		if operation.Name == "sendEmail" {
			continue
		}
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			s, args := newLeast(t, operation.Name)
			field := "golfName"
			if operation.Name != "golf" {
				args, field = inChannel(t, operation.Name, args, "shop"), channelParameterOf(operation)
			}
			s.refusef(t, s.eve.Context(), boterr.NotFound, field, operation.Name, args)
		})
	}
}

func TestSendsWithoutAChannelOrAMemberSayWhichParameterIsMissing(t *testing.T) {
	t.Parallel()
	for _, operation := range sendingOperations() {
		if operation.Package != "send" {
			continue
		}
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			s, args := newLeast(t, operation.Name)
			e := failureOf(t, s.outside(), operation.Name, args)
			require.Equal(t, boterr.InvalidArgument, e.Code)
			require.Contains(t, []string{"channel", "channelId", "member", "memberId"}, e.Field)
			require.ErrorContains(t, e, "is missing")
			if memberParameterOf(operation) != "" && operation.Name != "sendAlphaResponseToMemberIds" {
				e = failureOf(t, s.Operations(record.Scope{Channel: "shop"}), operation.Name, args)
				require.Equal(t, boterr.InvalidArgument, e.Code)
				require.Contains(t, []string{"member", "memberId"}, e.Field)
			}
		})
	}
}

// failureOf calls an operation that is refused, and returns its error.
func failureOf(t *testing.T, bot botctx.Caller, name, args string) *boterr.Error {
	t.Helper()
	_, err := bot.Call(t.Context(), name, json.RawMessage(args))
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%s: %v", name, err)
	return e
}

// Who has gone is answered nothing, and nothing is done for them.
func TestSendsOfACallerWhoHasGoneDoNothing(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, operation := range sendingOperations() {
		if operation.Name == "golf" {
			continue // It asks nobody.
		}
		s, args := newLeast(t, operation.Name)
		before := s.state()
		text, err := s.ada.Context().Call(gone, operation.Name, json.RawMessage(args))
		requireFailure(t, err, operation.Name, boterr.Canceled, "")
		if !tellsOutcomes(operation) {
			require.Nil(t, text)
		}
		require.Equal(t, before, s.state(), operation.Name)
	}
}

func TestSendsRefuseIdsThatAreEmpty(t *testing.T) {
	t.Parallel()
	for _, operation := range sendingOperations() {
		for _, parameter := range []string{"channel", "member"} {
			if declared, ok := operation.Parameter(parameter); ok {
				s, args := newLeast(t, operation.Name)
				s.refusef(t, s.ada.Context(), boterr.InvalidArgument, parameter+"._id", operation.Name, with(t, args, declared.Name, `{}`))
			}
		}
	}
}

// Each parameter that is required is told by its name where it is missing.
func TestSendsSayWhichRequiredParameterIsMissing(t *testing.T) {
	t.Parallel()
	for _, operation := range sendingOperations() {
		for _, parameter := range operation.Parameters {
			if parameter.Need != operations.Required {
				continue
			}
			s, args := newLeast(t, operation.Name)
			without := string(withoutParameter(t, json.RawMessage(args), parameter.Name))
			s.refusef(t, s.ada.Context(), boterr.InvalidArgument, parameter.Name, operation.Name, without)
			if parameter.Type == "string" {
				s.refusef(t, s.ada.Context(), boterr.InvalidArgument, parameter.Name, operation.Name, with(t, args, parameter.Name, `""`))
			}
		}
	}
}
