package botctx_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// allTypes returns the types of channels that there are.
func allTypes() []channel.Type { return channel.Types() }

// newRecipient returns the only member of a platform of a type, by which the channel is called.
func newRecipient(t *testing.T, platform channel.Type) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: string(platform), Type: platform})
	recipient := p.AddMember(member.Member{Channel: string(platform), FirstName: "Ada", BotID: "bot-7"})
	return p, recipient
}

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
		reply, sent.To, sent.Response.Data(), sent.Response.Type(), sent.SentAt.UnixMilli(), sent.MessageID)
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

func TestSendResponse_PlatformShape(t *testing.T) {
	t.Parallel()
	for _, platform := range allTypes() {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			p, recipient := newRecipient(t, platform)
			for _, response := range everyType() {
				if !requireRefusedOrSent(t, recipient, response) {
					require.True(t, isOfAnother(platform, response))
					continue
				}
				sent := p.Sent()[len(p.Sent())-1]
				require.Equal(t, []string{recipient.ID(), recipient.ExternalID()}, []string{sent.Member, sent.To})
				again, err := recipient.Context().Call(t.Context(), "sendResponse", json.RawMessage(`{"response": `+response+`}`))
				require.NoError(t, err)
				answer := gjson.ParseBytes(again)
				sent = p.Sent()[len(p.Sent())-1]
				if platform == channel.Echo && sent.Response.Type() == send.TypeTyping {
					require.Equal(t, "typing", answer.Get("msgType").String())
					continue
				}
				require.JSONEq(t, answerTo(t, sent, answer), answer.Raw)
			}
		})
	}
}

// requireRefusedOrSent checks that JSON as a response to a member is either refused with its
// path, or sent, and returns which.
func requireRefusedOrSent(t *testing.T, to *fakes.Actor, response string) bool {
	t.Helper()
	before := len(to.Messages())
	answer, err := to.Context().Call(t.Context(), "sendResponse", json.RawMessage(`{"response": `+response+`}`))
	platform := channel.Type(to.Scope().Channel)
	if err != nil {
		if boterr.CodeOf(err) == boterr.Unsupported {
			require.True(t, isOfAnother(platform, response), "%v", err)
			requireFailure(t, err, "sendResponse", boterr.Unsupported, "response.type")
		} else {
			requireFailure(t, err, "sendResponse", boterr.InvalidArgument, "response")
		}
		require.Nil(t, answer)
		require.Len(t, to.Messages(), before)
		return false
	}
	require.False(t, isOfAnother(platform, response))
	require.Len(t, to.Messages(), before+1)
	operation, _ := operations.ByName("sendResponse")
	shapeOf(t, operation, answer)
	requireSentAs(t, response, to.LastMessage(), answer)
	return true
}
