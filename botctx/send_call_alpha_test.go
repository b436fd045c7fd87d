package botctx_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// alphaCases are those of the operations that Alpha alone has.
func alphaCases() map[string]chatCase {
	return map[string]chatCase{
		"sendAlphaResponse": {
			scenes:   map[string]scene{"the member that is named gets it": callAlpha},
			refusals: append(contradictory("sendAlphaResponse"), refusal{boterr.Unavailable, "did not answer", callWhileDisconnected("sendAlphaResponse")}),
		},
		"sendAlphaResponseToMemberIds": {
			scenes: map[string]scene{"each member gets it, and the answer is an array": callAlphaToMembers},
			refusals: append(contradictory("sendAlphaResponseToMemberIds"),
				refusal{boterr.Unavailable, "some of several members", callToSomeInVain("sendAlphaResponseToMemberIds")}),
		},
		"alphaPassThreadControl": {
			scenes: map[string]scene{"another application has the conversation": callToPassThread},
			refusals: append(toOnePlatform("alphaPassThreadControl"),
				refusal{boterr.InvalidArgument, "is in another channel", callToOtherChannel("alphaPassThreadControl")},
				refusal{boterr.FailedPrecondition, "another application controls", callToPassThreadAgain}),
		},
		"alphaSaveCustomLabel": {
			scenes:   map[string]scene{"the member has the label": callToLabel},
			refusals: toMembers("alphaSaveCustomLabel"),
		},
		"alphaRemoveCustomLabel": {
			scenes:   map[string]scene{"the member has the label no more": callToUnlabel},
			refusals: toMembers("alphaRemoveCustomLabel"),
		},
		"alphaCreateBroadcast": {
			scenes: map[string]scene{"Alpha keeps the message as it is": callToStore},
			refusals: append(toOnePlatform("alphaCreateBroadcast"),
				refusal{boterr.InvalidArgument, "breaks a limit", callTooLong("alphaCreateBroadcast")}),
		},
		"alphaSendBroadcast": {
			scenes: map[string]scene{"all with the label get it, however the message is named": callToBroadcast},
			refusals: []refusal{
				{boterr.NotFound, "does not exist in the app", callToBroadcastInVain},
				{boterr.InvalidArgument, "holds no id", callToBroadcastNothing},
				{boterr.Unsupported, "is not of type", callElsewhere("alphaSendBroadcast")},
				{boterr.ResourceExhausted, "rate limit", callBeyondRate("alphaSendBroadcast")},
				{boterr.Unavailable, "did not answer", callWhileDisconnected("alphaSendBroadcast")},
			},
		},
		"alphaGetAttachmentId": {
			scenes: map[string]scene{"messages use the file by its id": callToUpload},
			refusals: append(toOnePlatform("alphaGetAttachmentId"),
				refusal{boterr.InvalidArgument, "is no kind of file", callToUploadNothing}),
		},
	}
}

// contradictory are the refusals of operations that send to members of one platform.
func contradictory(name string) []refusal {
	return append(append(toMembers(name), ofMessages(name)...),
		refusal{boterr.InvalidArgument, "name different records", callContradicting(name)})
}

func callAlpha(t *testing.T) {
	t.Helper()
	for args, to := range map[string]string{
		``: "ada", `"channel": {"_id": "shop"}, "memberId": "bob",`: "bob", `"channelId": "shop", "member": {"_id": "bob"},`: "bob",
		`"member": {"_id": "cleo"}, "memberId": "cleo",`: "cleo", `"channelId": "branch", "memberId": "dora",`: "dora",
	} {
		s := openShop(t, channel.Alpha)
		answer := callf(t, s.ada.Context(), "sendAlphaResponse", `{%s "response": {"type": "TEXT", "text": "Hello"}}`, args)
		require.Len(t, s.Sent(), 1)
		require.Equal(t, to, s.last(t).Member)
		if to != "dora" { // Whose botId is not known.
			require.JSONEq(t, answerTo(t, s.last(t), answer), answer.Raw)
		}
	}
}

func callAlphaToMembers(t *testing.T) {
	t.Helper()
	for args, to := range map[string][]string{
		`"memberId": ["ada"]`: {"ada"}, `"memberId": "bob"`: {"bob"},
		`"channelId": "shop", "memberId": ["cleo", "ada", "cleo"]`: {"cleo", "ada"},
	} {
		s := openShop(t, channel.Alpha)
		answer := callf(t, s.bob.Context(), "sendAlphaResponseToMemberIds", `{%s, "response": {"type": "TEXT", "text": "Hello, {{firstName}}"}}`, args)
		require.Len(t, answer.Array(), len(to))
		require.Len(t, s.Sent(), len(to))
		for i, id := range to {
			for _, sent := range s.Sent() {
				if sent.Member == id {
					require.JSONEq(t, answerTo(t, sent, answer.Array()[i]), answer.Array()[i].Raw)
				}
			}
		}
	}
}

func callToPassThread(t *testing.T) {
	t.Helper()
	for args, want := range map[string]fakes.Thread{
		`{}`: {AppID: fakes.PageInbox},
		`{"channel": {"_id": "shop"}, "member": {"_id": "ada"}, "targetAppId": "26"}`: {AppID: "26"},
		`{"targetAppId": "26", "metadata": "a person"}`:                               {AppID: "26", Metadata: "a person"},
	} {
		s := openShop(t, channel.Alpha)
		require.JSONEq(t, `{"success": true}`, callf(t, s.ada.Context(), "alphaPassThreadControl", args).Raw)
		require.Equal(t, want, s.ada.Thread())
		require.True(t, s.bob.Thread().IsWithBot())
		s.refusef(t, s.ada.Context(), boterr.FailedPrecondition, "", "sendResponse", sayHello)
	}
}

func callToPassThreadAgain(t *testing.T) {
	t.Helper()
	callToNoID("alphaPassThreadControl")(t)
	s := openShop(t, channel.Alpha)
	callf(t, s.ada.Context(), "alphaPassThreadControl", `{"targetAppId": "26"}`)
	s.refusef(t, s.ada.Context(), boterr.FailedPrecondition, "", "alphaPassThreadControl", `{"targetAppId": "27"}`)
}

func callToLabel(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Alpha)
	first := callf(t, s.ada.Context(), "alphaSaveCustomLabel", `{"labelId": "tea"}`)
	require.JSONEq(t, first.Raw, callf(t, s.ada.Context(), "alphaSaveCustomLabel", `{"labelId": "tea"}`).Raw, "it is there already")
	require.JSONEq(t, first.Raw, callf(t, s.ada.Context(), "alphaSaveCustomLabel", `{"member": {"_id": "bob"}, "labelId": "tea"}`).Raw, "it is one label")
	other := callf(t, s.ada.Context(), "alphaSaveCustomLabel", `{"channel": {"_id": "shop"}, "labelId": "17"}`)
	require.JSONEq(t, `{"id": 17}`, other.Raw)
	require.Equal(t, []string{"tea", "17"}, s.ada.Labels())
	require.Equal(t, []string{"tea"}, s.bob.Labels())
	require.Empty(t, s.cleo.Labels())
}

func callToUnlabel(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Alpha)
	for _, who := range []string{"ada", "bob"} {
		callf(t, s.ada.Context(), "alphaSaveCustomLabel", `{"member": {"_id": %q}, "labelId": "tea"}`, who)
	}
	for range 2 { // One that the member does not have is no error.
		require.JSONEq(t, `{"success": true}`, callf(t, s.ada.Context(), "alphaRemoveCustomLabel", `{"labelId": "tea"}`).Raw)
		require.Empty(t, s.ada.Labels())
		require.Equal(t, []string{"tea"}, s.bob.Labels())
	}
	callf(t, s.ada.Context(), "alphaRemoveCustomLabel", `{"channel": {"_id": "shop"}, "member": {"_id": "bob"}, "labelId": "tea"}`)
	require.Empty(t, s.bob.Labels())
}

func callToStore(t *testing.T) {
	t.Helper()
	const text = `{"type": "TEXT", "text": "Hello, {{firstName}}"}`
	for _, given := range []string{text, strconv.Quote(text)} {
		for _, where := range []string{``, `"channel": {"_id": "shop"},`} {
			s := openShop(t, channel.Alpha)
			answer := callf(t, s.ada.Context(), "alphaCreateBroadcast", `{%s "response": %s}`, where, given)
			require.Equal(t, []fakes.StoredMessage{{
				Channel: "shop", ID: answer.Get("result.0.response.message_creative_id").Int(), Response: send.Text("Hello, {{firstName}}"),
			}}, s.StoredMessages("shop"))
			require.JSONEq(t, `{"ok": 1, "result": [{"response": `+answer.Get("result.0.response").Raw+`, "accessToken": "token-of-shop"}]}`, answer.Raw)
			require.Empty(t, s.Sent())
			second := callf(t, s.ada.Context(), "alphaCreateBroadcast", `{"response": %s}`, given)
			require.NotEqual(t, answer.Raw, second.Raw)
		}
	}
}

func callToBroadcast(t *testing.T) {
	t.Helper()
	for _, named := range []string{
		`"%[1]d"`, `%[1]d`, `{"id": %[1]d}`, `{"id": "%[1]d"}`, `{"broadcast_id": %[1]d}`, `{"broadcastId": %[1]d}`, `{"message_creative_id": %[1]d}`,
		`{"response": {"message_creative_id": %[1]d}, "accessToken": "[redacted]"}`,
		`{"ok": 1, "result": [{"response": {"message_creative_id": %[1]d}, "accessToken": "[redacted]"}]}`,
	} {
		s := openShop(t, channel.Alpha)
		id := prepareBroadcast(t, s)[0]
		callf(t, s.cleo.Context(), "alphaSaveCustomLabel", `{"labelId": "buyers"}`)
		answer := callf(t, s.ada.Context(), "alphaSendBroadcast",
			`{"channel": {"_id": "shop"}, "broadcastId": %s, "labelId": "buyers", "notificationType": "SILENT_PUSH"}`, withValues(named, []any{id}))
		made := s.Broadcasts("shop")
		require.Equal(t, []fakes.Broadcast{{
			At: document.At(s.Now()), Channel: "shop", ID: answer.Get("broadcast_id").Int(), Message: s.StoredMessages("shop")[0],
			LabelID: "buyers", NotificationType: "SILENT_PUSH", Reached: []string{s.ada.ExternalID(), s.cleo.ExternalID()},
		}}, made)
		require.Len(t, s.Sent(), 2)
		require.Equal(t, "Hello", s.cleo.Last())
		again := callf(t, s.ada.Context(), "alphaSendBroadcast", `{"broadcastId": %d, "labelId": "buyers", "notificationType": "REGULAR"}`, id)
		require.NotEqual(t, answer.Raw, again.Raw)
	}
}

func callToBroadcastInVain(t *testing.T) {
	t.Helper()
	callInVain("alphaSendBroadcast")(t)
	s := openShop(t, channel.Alpha)
	id := prepareBroadcast(t, s)[0]
	s.refusef(t, s.ada.Context(), boterr.NotFound, "", "alphaSendBroadcast", `{"broadcastId": "7", "labelId": "buyers", "notificationType": "REGULAR"}`)
	s.refusef(t, s.ada.Context(), boterr.NotFound, "", "alphaSendBroadcast", `{"broadcastId": %d, "labelId": "tea", "notificationType": "REGULAR"}`, id)
}

func callToBroadcastNothing(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Alpha)
	prepareBroadcast(t, s)
	for _, wrong := range []string{`{}`, `{"id": null}`, `{"id": ""}`, `{"id": true}`, `{"response": {}}`, `{"result": []}`, `{"result": [{"id": 1}, {"id": 2}]}`, `1.5`, `""`} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "broadcastId", "alphaSendBroadcast",
			`{"broadcastId": %s, "labelId": "buyers", "notificationType": "REGULAR"}`, wrong)
	}
}

func callToUpload(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Alpha)
	ids := map[string]bool{}
	for kind, given := range map[send.Type][]string{
		send.TypeImage: {`"image"`, `"IMAGE"`, `{"type": "image"}`}, send.TypeAudio: {`"audio"`}, send.TypeVideo: {`{"type": "Video"}`}, send.TypeFile: {`"file"`},
	} {
		var answer gjson.Result
		for _, spelling := range given {
			answer = callf(t, s.ada.Context(), "alphaGetAttachmentId", `{"type": %s, "url": "https://shop.example/a"}`, spelling)
		}
		id := answer.Get("attachment_id").String()
		require.Contains(t, s.Attachments("shop"), fakes.Attachment{Channel: "shop", ID: id, Type: kind, URL: "https://shop.example/a"})
		callf(t, s.ada.Context(), "sendResponse", `{"response": {"type": %q, "attachment_id": %q}}`, kind, id)
		require.Equal(t, send.Attachment(kind, id), s.ada.LastMessage())
		ids[id] = true
	}
	require.Len(t, ids, 4)
	require.Len(t, s.Attachments("shop"), 4, "the same file has the same id")
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "response.attachment_id", "sendResponse", `{"response": {"type": "IMAGE", "attachment_id": "7"}}`)
}

func callToUploadNothing(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Alpha)
	const name = "alphaGetAttachmentId"
	for _, wrong := range []string{`"template"`, `"text"`, `{"type": "sticker"}`, `{"type": 7}`, `{}`} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "type", name, `{"type": %s, "url": "https://shop.example/a"}`, wrong)
	}
	for _, wrong := range []string{"shop.example/a", "ftp://shop.example/a", "https://", "file:///etc/passwd", "https://shop example/"} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "url", name, `{"type": "image", "url": %q}`, wrong)
	}
}
