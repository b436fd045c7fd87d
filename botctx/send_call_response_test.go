package botctx_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/send"
)

// answerTo is what sendResponse answers to a message, by what the outbox has of it: exactly
// the keys of the platform's shape, with the platform's ids.
func answerTo(t *testing.T, sent fakes.Sent, answer gjson.Result) string {
	t.Helper()
	var reply string
	switch sent.Type {
	case channel.Charlie:
		message := sent.Response.With("type", "message").With("ts", sent.MessageID)
		return fmt.Sprintf(`{"ok": true, "channel": %q, "ts": %q, "message": %s}`, sent.ChatID, sent.MessageID, message)
	case channel.Echo:
		return echoAnswerTo(t, sent)
	case channel.Alpha:
		reply = fmt.Sprintf(`{"recipient_id": %q, "message_id": %q}`, sent.To, sent.MessageID)
	case channel.Bravo:
		reply = fmt.Sprintf(`{"contacts": [{"input": %[1]q, "wa_id": %[1]q}], "messages": [{"id": %[2]q}]}`, sent.To, sent.MessageID)
	case channel.Delta:
		require.Regexp(t, `^req-\d{6}$`, answer.Get("result.id").String())
		reply = fmt.Sprintf(`{"id": %q, "STATUS": "OK"}`, answer.Get("result.id").String())
	default:
		reply = fmt.Sprintf(`{"id": %q}`, sent.MessageID)
	}
	return fmt.Sprintf(`{"result": %s, "messageEvent": {"from": "bot-7", "to": %q, "data": %s, "type": %q, "timestamp": %d, "messageId": %q}}`,
		reply, sent.To, sent.Response.Data(), sent.Response.Type(), sent.At, sent.MessageID)
}

// echoAnswerTo is answerTo on Echo, which tells of a message only what it shows of it.
func echoAnswerTo(t *testing.T, sent fakes.Sent) string {
	t.Helper()
	switch sent.Response.Type() {
	case send.TypeText, send.TypeQuickReplies, send.TypeButton:
		return fmt.Sprintf(`{"msgType": "text", "text": %q}`, sent.Response.Text())
	case send.TypeImage:
		return `{"msgType": "image", "url": "https://shop.example/a.png", "image": "https://shop.example/a.png"}`
	case send.TypeAudio:
		return `{"msgType": "voice", "url": "https://shop.example/a.mp3"}`
	case send.TypeVideo:
		return `{"msgType": "video", "url": "https://shop.example/a.mp4", "video": "https://shop.example/a.mp4"}`
	case send.TypeFile:
		return `{"msgType": "file", "url": "https://shop.example/a.pdf"}`
	case send.TypeNews:
		return `{"msgType": "news", "news": [{"title": "Tea", "description": "Green", "url": "https://shop.example", "picurl": "https://shop.example/a.png"}],
			"title": "Tea", "description": "Green", "url": "https://shop.example", "image": "https://shop.example/a.png"}`
	case send.TypeCarousel:
		return `{"msgType": "news", "news": [{"title": "Tea", "description": "Green", "picurl": "https://shop.example/a.png"}],
			"title": "Tea", "description": "Green", "image": "https://shop.example/a.png"}`
	case send.TypeTyping:
		return `{"msgType": "typing"}`
	default:
		return `{"msgType": "poll", "text": "Tea?"}`
	}
}

// everyType are responses of every type, and of one that nobody knows.
func everyType() []string {
	return []string{
		`{"type": "TEXT", "text": "Hello", "transform": {"lang": "fr"}}`,
		`{"type": "IMAGE", "url": "https://shop.example/a.png"}`,
		`{"type": "AUDIO", "url": "https://shop.example/a.mp3"}`,
		`{"type": "VIDEO", "url": "https://shop.example/a.mp4"}`,
		`{"type": "FILE", "url": "https://shop.example/a.pdf"}`,
		`{"type": "QUICK_REPLIES", "text": "Tea?", "quickReplies": [{"content_type": "text", "title": "Yes", "payload": "yes"}, {"content_type": "location"}]}`,
		`{"type": "BUTTON", "text": "Tea?", "buttons": [{"type": "postback", "title": "Yes", "payload": {"payload": "yes", "value": 1}}, {"type": "web_url", "title": "Shop", "url": "https://shop.example"}]}`,
		`{"type": "CAROUSEL", "carousel": [{"title": "Tea", "subtitle": "Green", "image_url": "https://shop.example/a.png"}]}`,
		`{"type": "TYPING", "duration": 500}`,
		`{"type": "NEWS", "articles": [{"title": "Tea", "description": "Green", "url": "https://shop.example", "picurl": "https://shop.example/a.png"}]}`,
		`{"type": "TEMPLATE", "elementName": "hello", "languageCode": "en", "components": []}`,
		`{"type": "POLL", "text": "Tea?", "choices": ["yes", null, {"n": 1.5}]}`,
	}
}

// isOfAnother reports whether a response, perhaps as JSON text, is of a documented type that
// another platform alone has.
func isOfAnother(platform channel.Type, response string) bool {
	given := gjson.Parse(response)
	if given.Type == gjson.String {
		given = gjson.Parse(given.String())
	}
	owner, isOwned := map[string]channel.Type{"NEWS": channel.Echo, "TEMPLATE": channel.Bravo}[given.Get("type").String()]
	return isOwned && owner != platform
}

func TestEveryTypeOfMessageIsAnsweredInTheShapeOfItsPlatform(t *testing.T) {
	t.Parallel()
	for _, platform := range allTypes() {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			s := openShop(t, platform)
			seen := map[string]bool{}
			for _, response := range everyType() {
				if isOfAnother(platform, response) {
					s.refusef(t, s.ada.Context(), boterr.Unsupported, "response.type", "sendResponse", `{"response": %s}`, response)
					continue
				}
				answer := callf(t, s.ada.Context(), "sendResponse", `{"response": %s}`, response)
				sent := s.last(t)
				require.JSONEq(t, response, sent.Response.String())
				require.Equal(t, []string{"shop", "ada", s.ada.ExternalID()}, []string{sent.Channel, sent.Member, sent.To})
				requireShape(t, "sendResponse", platform, []byte(answer.Raw))
				if platform == channel.Echo && sent.Response.Type() == send.TypeTyping {
					require.Equal(t, gjson.Parse(echoAnswerTo(t, sent)).Get("msgType").Raw, answer.Get("msgType").Raw)
				} else {
					require.JSONEq(t, answerTo(t, sent, answer), answer.Raw)
				}
				require.False(t, seen[sent.MessageID], "the id %s comes twice", sent.MessageID)
				seen[sent.MessageID] = true
			}
			require.Len(t, s.Sent(), len(seen))
		})
	}
}

func TestAMessageGoesToWhomTheParametersName(t *testing.T) {
	t.Parallel()
	for _, platform := range allTypes() {
		s := openShop(t, platform)
		branch := s.Operations(s.ada.Scope())
		for args, to := range map[string]string{
			``:                            "ada",
			`"channel": {"_id": "shop"},`: "ada",
			`"channelId": "shop",`:        "ada",
			`"channel": {"_id": "shop", "type": "echo", "info": {}}, "channelId": "shop",`: "ada",
			`"member": {"_id": "bob"},`:   "bob",
			`"memberId": "bob",`:          "bob",
			`"memberId": ["bob"],`:        "bob",
			`"memberId": ["bob", "bob"],`: "bob",
			`"member": {"_id": "bob", "externalId": "forged"}, "memberId": "bob",`: "bob",
			`"channelId": "branch", "member": {"_id": "dora"},`:                    "dora",
			`"channel": {"_id": "branch"}, "memberId": ["dora"],`:                  "dora",
		} {
			before := len(s.Sent())
			callf(t, branch, "sendResponse", `{%s "response": {"type": "TEXT", "text": "Hello, {{firstName}}!"}}`, args)
			require.Len(t, s.Sent(), before+1, args)
			sent := s.last(t)
			require.Equal(t, to, sent.Member, args)
			require.NotEqual(t, "forged", sent.To)
			require.Equal(t, map[string]string{"ada": "Hello, Ada!", "bob": "Hello, Bob!", "dora": "Hello, !"}[to], sent.Response.Text())
		}
	}
}

func TestAResponseMayBeGivenAsJSONText(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Webchat)
	callf(t, s.ada.Context(), "sendResponse", `{"response": %q}`, `{"type": "TEXT", "text": "Hello, {{firstName}}!"}`)
	require.Equal(t, "Hello, Ada!", s.ada.Last())
	for _, text := range []string{``, `Hello`, `[]`, `"x"`, `null`, `{`} {
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "response", "sendResponse", `{"response": %q}`, text)
	}
}

// callToSeveral is the scene of one message to several members, on each platform.
func callToSeveral(t *testing.T) {
	t.Helper()
	for _, platform := range allTypes() {
		s := openShop(t, platform)
		answer := callf(t, s.ada.Context(), "sendResponse",
			`{"memberId": ["cleo", "ada", "cleo", "bob"], "response": {"type": "TEXT", "text": "Hello, {{firstName}}!"}}`)
		requireShape(t, "sendResponse", platform, []byte(answer.Raw))
		require.Len(t, s.Sent(), 3, "a member who is named twice gets one message")
		byMember := map[string]fakes.Sent{}
		for _, sent := range s.Sent() {
			byMember[sent.Member] = sent
		}
		require.Len(t, answer.Array(), 3)
		for i, id := range []string{"cleo", "ada", "bob"} {
			one := answer.Array()[i]
			require.JSONEq(t, answerTo(t, byMember[id], one), one.Raw)
		}
		require.Equal(t, "Hello, Cleo!", s.cleo.Last())
		require.Equal(t, "Hello, Bob!", s.bob.Last())
	}
}

// callToSomeInVain is the scene of a message that one of several members does not get.
func callToSomeInVain(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		platform := leastCalls()[name].platform
		for _, code := range []boterr.Code{boterr.FailedPrecondition, boterr.Unavailable, boterr.ResourceExhausted} {
			s := openShop(t, platform)
			s.RefuseSends(code, s.bob)
			text, err := s.ada.Context().Call(t.Context(), name,
				json.RawMessage(`{"memberId": ["cleo", "bob", "ada"], "response": {"type": "TEXT", "text": "Hello"}}`))
			requireFailure(t, err, name, boterr.Unavailable, "")
			require.ErrorContains(t, err, "1 of 3 members did not get the message: bob")
			undelivered, ok := errors.AsType[*send.UndeliveredError](err)
			require.True(t, ok)
			require.Len(t, undelivered.Failures, 1)
			require.ErrorIs(t, undelivered.Failures[0].Err, code)
			require.Len(t, s.Sent(), 2, "the others get theirs")
			require.Equal(t, "Hello", s.cleo.Last())
			require.Equal(t, "Hello", s.ada.Last())
			requireOutcomes(t, s, gjson.ParseBytes(text), code)
		}
	}
}

// requireOutcomes checks what is told of a message that cleo and ada got, and bob did not.
func requireOutcomes(t *testing.T, s *shop, answer gjson.Result, code boterr.Code) {
	t.Helper()
	if answer.IsObject() { // Delta tells of the request as a whole.
		require.Regexp(t, `^req-\d{6}$`, answer.Get("id").String())
		require.Equal(t, "PARTIAL", answer.Get("STATUS").String())
		return
	}
	outcomes := answer.Array()
	require.Len(t, outcomes, 3)
	require.Equal(t, string(code), outcomes[1].Get("error.code").String(), "%s", outcomes[1].Raw)
	require.False(t, outcomes[1].Get("messageEvent").Exists())
	for i, id := range map[int]string{0: "cleo", 2: "ada"} {
		for _, sent := range s.Sent() {
			if sent.Member == id {
				require.JSONEq(t, answerTo(t, sent, outcomes[i]), outcomes[i].Raw)
			}
		}
	}
}

func TestOneFailureAmongManyRecipientsKeepsTheOthersOnEachPlatform(t *testing.T) {
	t.Parallel()
	for _, platform := range allTypes() {
		s := openShop(t, platform)
		s.RefuseSends(boterr.FailedPrecondition, s.bob)
		text, err := s.ada.Context().Call(t.Context(), "sendResponse",
			json.RawMessage(`{"memberId": ["cleo", "bob", "ada"], "response": {"type": "TEXT", "text": "Hello"}}`))
		requireFailure(t, err, "sendResponse", boterr.Unavailable, "")
		require.ErrorContains(t, err, "bob")
		requireOutcomes(t, s, gjson.ParseBytes(text), boterr.FailedPrecondition)
	}
}

// Where one member is all there is, the error has the code of what befell that member; an
// operation whose answer is an array, or tells of a request, answers all the same.
func TestAFailureOfTheOnlyRecipientHasItsCode(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"sendResponse": "", "sendAlphaResponse": "", "sendAlphaResponseToMemberIds": "FailedPrecondition", "sendDeltaResponse": "FAILED",
	} {
		s, args := newLeast(t, name)
		s.RefuseSends(boterr.FailedPrecondition, s.ada)
		text, err := s.ada.Context().Call(t.Context(), name, json.RawMessage(args))
		requireFailure(t, err, name, boterr.FailedPrecondition, "")
		require.Empty(t, s.Sent())
		require.Equal(t, want, gjson.GetBytes(text, "0.error.code").String()+gjson.GetBytes(text, "STATUS").String(), "%s: %s", name, text)
	}
}

// callToSomeUnknown is the scene of a message to several members of whom one is not there, or is elsewhere:
// then nobody gets it.
func callToSomeUnknown(t *testing.T) {
	t.Helper()
	s := openShop(t, channel.Webchat)
	for id, code := range map[string]boterr.Code{
		"none": boterr.NotFound, "eve": boterr.NotFound, "dora": boterr.InvalidArgument, "nora": boterr.FailedPrecondition, "": boterr.InvalidArgument,
	} {
		e := failureOf(t, s.ada.Context(), "sendResponse", fmt.Sprintf(`{"memberId": ["ada", %q], "response": {"type": "TEXT", "text": "Hello"}}`, id))
		require.Equal(t, code, e.Code)
		require.Equal(t, "memberId[1]", e.Field)
		require.Empty(t, s.Sent())
	}
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "memberId", "sendResponse", `{"memberId": [], "response": {"type": "TEXT", "text": "Hello"}}`)
}

// callWithMessaging is the scene of what Alpha is told of a message: why it is sent, and under
// which exception.
func callWithMessaging(t *testing.T) {
	t.Helper()
	const args = `{"response": {"type": "TEXT", "text": "Hello"}, "messagingType": "MESSAGE_TAG", "messagingTag": "ACCOUNT_UPDATE"}`
	for _, platform := range allTypes() {
		h := newHost(t, platform, channel.Charlie)
		callf(t, h.ada, "sendResponse", args)
		want := [2]string{}
		if platform == channel.Alpha {
			want = [2]string{"MESSAGE_TAG", "ACCOUNT_UPDATE"}
		}
		require.Equal(t, want, [2]string{h.platform.sent[0].MessagingType, h.platform.sent[0].MessagingTag}, platform)

		s := openShop(t, platform, strictly())
		if platform == channel.Alpha {
			callf(t, s.ada.Context(), "sendResponse", args)
			continue
		}
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messagingType", "sendResponse", args)
		s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "messagingTag", "sendResponse",
			string(withoutParameter(t, json.RawMessage(args), "messagingType")))
	}
}

// callToPigeon is the scene of a channel of a type that the host does not know.
func callToPigeon(t *testing.T) {
	t.Helper()
	s := openShop(t, "pigeon")
	says := s.refusef(t, s.ada.Context(), boterr.Unsupported, "", "sendResponse", sayHello)
	require.Contains(t, says, "pigeon")
}
