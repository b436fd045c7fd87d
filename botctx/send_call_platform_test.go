package botctx_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// platformCases are those of the operations that some platforms but Alpha have, and of the
// comments on posts.
func platformCases() map[string]chatCase {
	return map[string]chatCase{
		"sendHotelResponse": {
			scenes: map[string]scene{"a user or a group gets it": callHotel},
			refusals: append(append(toOnePlatform("sendHotelResponse"), ofMessages("sendHotelResponse")...),
				refusal{boterr.InvalidArgument, "`receiverType` is `user`", callHotelToNobody},
				refusal{boterr.Unavailable, "did not answer", callWhileDisconnected("sendHotelResponse")}),
		},
		"sendDeltaResponse": {
			scenes: map[string]scene{"one request has a message for each member": callDelta},
			refusals: append(contradictory("sendDeltaResponse"),
				refusal{boterr.Unavailable, "did not answer", callWhileDisconnected("sendDeltaResponse")},
				refusal{boterr.Unavailable, "some of several members", callToSomeInVain("sendDeltaResponse")}),
		},
		"savePostCommentAnalytics": {
			scenes:   map[string]scene{"the host reads the comment": callToComment},
			defaults: map[string]scene{"isMatched": callToCommentUnmatched},
			refusals: []refusal{
				{boterr.NotFound, "does not exist in the app", callInVain("savePostCommentAnalytics")},
				{boterr.InvalidArgument, "is in another channel", callToOtherChannel("savePostCommentAnalytics")},
			},
		},
		"charlieArchiveConversation": {
			scenes: map[string]scene{"nothing can be sent there any more": callToArchive},
			refusals: []refusal{
				{boterr.InvalidArgument, "does not say which conversation", callToArchiveNothing},
				{boterr.NotFound, "does not exist in the app", callToArchiveInVain},
				{boterr.Unsupported, "is not of type", callElsewhere("charlieArchiveConversation")},
			},
		},
		"updateMessage": {
			scenes: map[string]scene{"the message shows the new text": callToUpdate},
			refusals: []refusal{
				{boterr.InvalidArgument, "name different messages", callToUpdateTwo},
				{boterr.InvalidArgument, "`text` has more than", callToUpdateTooLong},
				{boterr.NotFound, "does not exist in the app", callToUpdateInVain},
				{boterr.Unsupported, "cannot change messages", callToUpdateElsewhere},
			},
		},
		"EchoSaveMemberTag": {
			scenes: map[string]scene{
				"the member has the tag":                 callToTag,
				"of fifty tags at once twenty are saved": callToTagAtOnce,
			},
			refusals: append(toMembers("EchoSaveMemberTag"),
				refusal{boterr.InvalidArgument, "is negative", callToTagWrongly}),
		},
	}
}

func callHotel(t *testing.T) {
	t.Helper()
	for args, want := range map[string][3]string{ // To, the kind of receiver, and the group.
		`"recipientId": "u1"`: {"u1", "user", ""}, `"hotelGroupId": "lobby"`: {"lobby", "group", ""},
		`"recipientId": "u1", "hotelGroupId": "lobby"`:    {"u1", "user", "lobby"},
		`"recipientId": "u1", "receiverType": "guest"`:    {"u1", "guest", ""},
		`"hotelGroupId": "lobby", "receiverType": "room"`: {"lobby", "room", ""},
		`"channel": {"_id": "%s"}, "recipientId": "u1"`:   {"u1", "user", ""},
	} {
		s := openShop(t, channel.Hotel)
		call := `{` + args + `, "response": {"type": "TEXT", "text": "Hello from {{firstName}}"}}`
		answer := callf(t, s.ada.Context(), "sendHotelResponse", strings.ReplaceAll(call, "%s", "shop"))
		sent := s.last(t)
		require.Equal(t, []string{"", want[0], "Hello from Ada"}, []string{sent.Member, sent.To, sent.Response.Text()})
		require.JSONEq(t, strings.Replace(answerTo(t, sent, answer), "bot-7", "", 1), answer.Raw)

		h := newHost(t, channel.Hotel, channel.Charlie)
		callf(t, h.ada, "sendHotelResponse", strings.ReplaceAll(call, "%s", "web"))
		got := h.platform.sent[0]
		require.Equal(t, want, [3]string{got.To, got.ReceiverType, got.GroupID})
	}
}

func callHotelToNobody(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Hotel)
	const response = `"response": {"type": "TEXT", "text": "Hello"}`
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "recipientId", "sendHotelResponse", `{"hotelGroupId": "lobby", "receiverType": "user", `+response+`}`)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "recipientId", "sendHotelResponse", `{"receiverType": "group", `+response+`}`)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "recipientId", "sendHotelResponse", `{`+response+`}`)
}

func callDelta(t *testing.T) {
	t.Helper()
	for args, to := range map[string][]string{
		``: {"ada"}, `"member": {"_id": "bob"},`: {"bob"}, `"memberId": "bob",`: {"bob"},
		`"channelId": "shop", "memberId": ["cleo", "ada", "cleo"],`: {"cleo", "ada"}, `"channel": {"_id": "branch"}, "memberId": ["dora"],`: {"dora"},
	} {
		s := openShop(t, channel.Delta)
		answers := map[string]bool{}
		for range 2 {
			before := len(s.Sent())
			answer := callf(t, s.ada.Context(), "sendDeltaResponse", `{%s "response": {"type": "TEXT", "text": "Hello"}}`, args)
			require.Regexp(t, `^req-\d{6}$`, answer.Get("id").String())
			require.JSONEq(t, fmt.Sprintf(`{"id": %q, "STATUS": "OK"}`, answer.Get("id").String()), answer.Raw)
			answers[answer.Raw] = true
			got := []string{}
			for _, sent := range s.Sent()[before:] {
				got = append(got, sent.Member)
			}
			require.Equal(t, to, got)
		}
		require.Len(t, answers, 2, "each request has an id of its own")
	}
}

func callToComment(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Alpha)
	ids := map[string]bool{}
	for i, where := range []string{``, `"channelId": "shop", "memberId": "ada",`, `"memberId": "ada", "isMatched": true,`} {
		answer := callf(t, s.ada.Context(), "savePostCommentAnalytics", `{%s "comment": "price?", "fbId": "u1", "name": "Ada L", "postId": "p%d"}`, where, i)
		ids[answer.Get("clientMutationId").String()] = true
		comment := *s.PostComments()[i]
		require.NotEmpty(t, comment.ID)
		require.Equal(t, send.PostComment{
			ID: comment.ID, App: fakes.DefaultApp, Channel: "shop", Member: "ada", Comment: "price?", ExternalID: "u1", Name: "Ada L",
			IsMatched: i == 2, PostID: "p" + strconv.Itoa(i), CreatedAt: document.At(s.Now()),
		}, comment)
	}
	require.Len(t, ids, 3)
	callf(t, s.ada.Context(), "savePostCommentAnalytics", `{"channelId": "branch", "memberId": "dora", "comment": "c", "fbId": "u", "name": "n", "postId": "p"}`)
	require.Equal(t, "dora", s.PostComments()[3].Member)
}

func callToCommentUnmatched(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Webchat)
	for i, matched := range []string{``, `, "isMatched": null`, `, "isMatched": false`, `, "isMatched": true`} {
		callf(t, s.ada.Context(), "savePostCommentAnalytics", `{"comment": "c", "fbId": "u", "name": "n", "postId": "p"%s}`, matched)
		require.Equal(t, i == 3, s.PostComments()[i].IsMatched)
	}
}

func callToArchive(t *testing.T) {
	t.Helper()
	for _, where := range []string{``, `"channel": {"_id": "shop"},`} {
		s := openShop(t, channel.Charlie)
		chat := prepareMessage(t, s)[0]
		for range 2 { // One that is archived already is no error.
			answer := callf(t, s.ada.Context(), "charlieArchiveConversation", `{%s "messageEvent": {"type": "TEXT", "data": {"text": "x"}, "from": "u", "to": %q, "timestamp": "1767225600.000100", "messageId": "m"}}`, where, chat)
			require.JSONEq(t, `{"ok": true}`, answer.Raw)
			require.True(t, s.IsArchived("shop", fmt.Sprint(chat)))
		}
		s.refusef(t, s.ada.Context(), boterr.FailedPrecondition, "", "sendResponse", sayHello)
		callf(t, s.bob.Context(), "sendResponse", sayHello)
		require.False(t, s.IsArchived("shop", s.last(t).ChatID))
	}
}

func callToArchiveNothing(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Charlie)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messageEvent.to", "charlieArchiveConversation", `{"messageEvent": {"from": "u"}}`)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messageEvent.timestamp", "charlieArchiveConversation", `{"messageEvent": {"to": "c", "timestamp": "noon"}}`)
}

func callToArchiveInVain(t *testing.T) {
	t.Helper()
	callInVain("charlieArchiveConversation")(t)
	s := openShop(t, channel.Charlie)
	s.refusef(t, s.ada.Context(), boterr.NotFound, "", "charlieArchiveConversation", `{"messageEvent": {"to": "D999999"}}`)
}

func callToUpdate(t *testing.T) {
	t.Helper()
	for _, platform := range []channel.Type{channel.Charlie, channel.Delta} {
		for _, which := range []string{
			`"messageTs": %[1]q`, `"messageEvent": {"messageId": %[1]q}`, `"messageTs": %[1]q, "messageEvent": {"messageId": %[1]q}`,
			`"messageTs": %[1]q, "messageEvent": {"from": "u"}`, `"channel": {"_id": "shop"}, "messageTs": %[1]q`, `"messageTs": %[1]s`,
		} {
			if strings.HasSuffix(which, "s") && platform == channel.Delta {
				continue // Whose ids are no timestamps.
			}
			s := openShop(t, platform)
			ids := prepareMessage(t, s)
			callf(t, s.ada.Context(), "sendResponse", `{"response": {"type": "TEXT", "text": "Another"}}`)
			which := string(withValues(which, ids[1:]))
			answer := callf(t, s.ada.Context(), "updateMessage", `{"externalChannelId": %q, %s, "text": "Bye, {{firstName}}"}`, ids[0], which)
			require.JSONEq(t, fmt.Sprintf(`{"ok": true, "channel": %q, "ts": %q, "text": "Bye, {{firstName}}"}`, ids...), answer.Raw)
			require.Equal(t, send.Text("Bye, {{firstName}}"), s.Sent()[0].Shown)
			require.Equal(t, send.Text("Hello"), s.Sent()[0].Response)
			require.Equal(t, send.Text("Another"), s.Sent()[1].Shown)

			answer = callf(t, s.ada.Context(), "updateMessage", `{"externalChannelId": %q, %s, "attachments": [{"title": "A kettle"}]}`, ids[0], which)
			require.Equal(t, "Bye, {{firstName}}", answer.Get("text").String(), "the text stays")
			require.JSONEq(t, `[{"title": "A kettle"}]`, gjson.Get(s.Sent()[0].Shown.String(), "attachments").Raw)
			callf(t, s.ada.Context(), "updateMessage", `{"externalChannelId": %q, %s, "attachments": []}`, ids[0], which)
			require.JSONEq(t, `[]`, gjson.Get(s.Sent()[0].Shown.String(), "attachments").Raw)
		}
	}
}

func callToUpdateTwo(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Charlie)
	ids := prepareMessage(t, s)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messageTs", "updateMessage",
		`{"externalChannelId": %q, "messageTs": %q, "messageEvent": {"messageId": "1.000001"}, "text": "Bye"}`, ids...)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messageTs", "updateMessage", `{"externalChannelId": %q, "text": "Bye"}`, ids[0])
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messageEvent.messageId", "updateMessage", `{"externalChannelId": %q, "messageEvent": {}, "text": "Bye"}`, ids[0])
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "text", "updateMessage", `{"externalChannelId": %q, "messageTs": %q}`, ids...)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "attachments[1]", "updateMessage", `{"externalChannelId": %q, "messageTs": %q, "attachments": [{}, null]}`, ids...)
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messageTs", "updateMessage", `{"externalChannelId": %q, "messageTs": -1, "text": "Bye"}`, ids[0])
}

func callToUpdateTooLong(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Charlie)
	ids := prepareMessage(t, s)
	const args = `{"externalChannelId": %q, "messageTs": %q, "text": %q}`
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "text", "updateMessage", args, append(ids, strings.Repeat("é", send.MaxText+1))...)
	callf(t, s.ada.Context(), "updateMessage", args, append(ids, strings.Repeat("é", send.MaxText))...)
}

func callToUpdateInVain(t *testing.T) {
	t.Helper()
	callInVain("updateMessage")(t)
	s := openShop(t, channel.Charlie)
	ids := prepareMessage(t, s)
	s.refusef(t, s.ada.Context(), boterr.NotFound, "", "updateMessage", `{"externalChannelId": "D999999", "messageTs": %q, "text": "Bye"}`, ids[1])
	s.refusef(t, s.ada.Context(), boterr.NotFound, "", "updateMessage", `{"externalChannelId": %q, "messageTs": "1.000001", "text": "Bye"}`, ids[0])
}

func callToUpdateElsewhere(t *testing.T) {
	t.Helper()
	for _, platform := range allTypes() {
		if platform == channel.Charlie || platform == channel.Delta {
			continue
		}
		s := openShop(t, platform)
		says := s.refusef(t, s.ada.Context(), boterr.Unsupported, "channel", "updateMessage", `{"externalChannelId": "c", "messageTs": "1.5", "text": "Bye"}`)
		require.Contains(t, says, string(platform))
	}
}

func callToTag(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Echo)
	tags := []int64{}
	for tag := range int64(send.MaxMemberTags) {
		answer := callf(t, s.ada.Context(), "EchoSaveMemberTag", `{"channel": {"_id": "shop"}, "member": {"_id": "ada"}, "tagId": %d}`, tag)
		require.JSONEq(t, `{"errcode": 0, "errmsg": "ok"}`, answer.Raw)
		tags = append(tags, tag)
		require.Equal(t, tags, s.ada.Tags())
	}
	refused := callf(t, s.ada.Context(), "EchoSaveMemberTag", `{"tagId": %d}`, send.MaxMemberTags)
	require.NotZero(t, refused.Get("errcode").Int())
	require.Contains(t, refused.Get("errmsg").String(), strconv.Itoa(send.MaxMemberTags))
	require.JSONEq(t, `{"errcode": 0, "errmsg": "ok"}`, callf(t, s.ada.Context(), "EchoSaveMemberTag", `{"tagId": 7}`).Raw, "it is there already")
	require.Equal(t, tags, s.ada.Tags())
	require.JSONEq(t, `{"errcode": 0, "errmsg": "ok"}`, callf(t, s.bob.Context(), "EchoSaveMemberTag", `{"tagId": %d}`, send.MaxMemberTags).Raw)
	require.Equal(t, []int64{send.MaxMemberTags}, s.bob.Tags())
}

func callToTagAtOnce(t *testing.T) {
	t.Helper()
	const goroutines = 3 * send.MaxMemberTags
	s := openShop(t, channel.Echo)
	answers := make([]string, goroutines)
	var group sync.WaitGroup
	for tag := range goroutines {
		group.Go(func() {
			text, err := s.ada.Context().Call(t.Context(), "EchoSaveMemberTag", fmt.Appendf(nil, `{"tagId": %d}`, tag))
			answers[tag] = string(text)
			if err != nil {
				answers[tag] = err.Error()
			}
		})
	}
	group.Wait()
	var saved []int64
	for tag, answer := range answers {
		if gjson.Get(answer, "errcode").Int() == 0 {
			require.JSONEq(t, `{"errcode": 0, "errmsg": "ok"}`, answer)
			saved = append(saved, int64(tag))
			continue
		}
		require.Contains(t, gjson.Get(answer, "errmsg").String(), strconv.Itoa(send.MaxMemberTags))
	}
	require.Len(t, saved, send.MaxMemberTags)
	require.ElementsMatch(t, saved, s.ada.Tags())
}

func callToTagWrongly(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Echo)
	for _, wrong := range []string{`-1`, `1.5`, `"7"`, `null`, `1e30`} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "tagId", "EchoSaveMemberTag", `{"tagId": %s}`, wrong)
	}
}
