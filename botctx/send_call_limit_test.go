package botctx_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// messageLimit is one limit of a type of message.
type messageLimit struct {
	// response returns a message with so many of what is limited.
	response func(n int) string
	// most is the limit, at is the path of what is beyond it.
	most int
	at   string
}

// Each of these is one code point, of two and of four bytes of UTF-8.
const (
	twoBytes  = "é"
	fourBytes = "🫖"
)

// listOf returns a JSON array of so many of an element.
func listOf(n int, element string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
}

// inText returns a message whose text of so many code points stands at %s.
func inText(format, character string) func(n int) string {
	return func(n int) string { return fmt.Sprintf(format, strings.Repeat(character, n)) }
}

// inList returns a message whose list of so many elements stands at %s.
func inList(format, element string) func(n int) string {
	return func(n int) string { return fmt.Sprintf(format, listOf(n, element)) }
}

// messageLimits returns the limits of the specification's notes, each with characters of one,
// two and four bytes where it is one of text.
func messageLimits() map[string]messageLimit {
	const (
		quick    = `{"content_type": "text", "title": "a", "payload": "p"}`
		postback = `{"type": "postback", "title": "a", "payload": "p"}`
		card     = `{"title": "a"}`
	)
	limits := map[string]messageLimit{
		"quick replies":     {inList(`{"type": "QUICK_REPLIES", "text": "x", "quickReplies": %s}`, quick), send.MaxQuickReplies, "response.quickReplies"},
		"buttons":           {inList(`{"type": "BUTTON", "text": "x", "buttons": %s}`, postback), send.MaxButtons, "response.buttons"},
		"buttons of a card": {inList(`{"type": "CAROUSEL", "carousel": [`+card+`, {"title": "a", "buttons": %s}]}`, postback), send.MaxButtons, "response.carousel[1].buttons"},
		"cards":             {inList(`{"type": "CAROUSEL", "carousel": %s}`, card), send.MaxCards, "response.carousel"},
		"articles":          {inList(`{"type": "NEWS", "articles": %s}`, card), send.MaxArticles, "response.articles"},
	}
	for name, limit := range map[string]struct {
		format string
		most   int
		at     string
	}{
		"text":                     {`{"type": "TEXT", "text": "%s"}`, send.MaxText, "response.text"},
		"text of quick replies":    {`{"type": "QUICK_REPLIES", "text": "%s", "quickReplies": [` + quick + `]}`, send.MaxText, "response.text"},
		"text of buttons":          {`{"type": "BUTTON", "text": "%s", "buttons": [` + postback + `]}`, send.MaxText, "response.text"},
		"title of a quick reply":   {`{"type": "QUICK_REPLIES", "text": "x", "quickReplies": [` + quick + `, {"content_type": "text", "title": "%s", "payload": "p"}]}`, send.MaxQuickReplyTitle, "response.quickReplies[1].title"},
		"payload of a quick reply": {`{"type": "QUICK_REPLIES", "text": "x", "quickReplies": [` + quick + `, {"content_type": "text", "title": "a", "payload": "%s"}]}`, send.MaxQuickReplyPayload, "response.quickReplies[1].payload"},
		"title of a postback":      {`{"type": "BUTTON", "text": "x", "buttons": [` + postback + `, ` + postback + `, {"type": "postback", "title": "%s", "payload": {"payload": "p"}}]}`, send.MaxButtonTitle, "response.buttons[2].title"},
		"title of a link":          {`{"type": "BUTTON", "text": "x", "buttons": [{"type": "web_url", "title": "%s", "url": "https://shop.example"}]}`, send.MaxButtonTitle, "response.buttons[0].title"},
		"title of a card":          {`{"type": "CAROUSEL", "carousel": [` + card + `, {"title": "%s"}]}`, send.MaxCardTitle, "response.carousel[1].title"},
		"subtitle of a card":       {`{"type": "CAROUSEL", "carousel": [{"title": "a", "subtitle": "%s"}]}`, send.MaxCardTitle, "response.carousel[0].subtitle"},
		"title of a card's button": {`{"type": "CAROUSEL", "carousel": [` + card + `, {"title": "a", "buttons": [` + postback + `, {"type": "postback", "title": "%s", "payload": "p"}]}]}`, send.MaxButtonTitle, "response.carousel[1].buttons[1].title"},
	} {
		for _, character := range []string{"a", twoBytes, fourBytes} {
			limits[name+" of "+character] = messageLimit{inText(limit.format, character), limit.most, limit.at}
		}
	}
	return limits
}

// limitedSends are the operations that are tried with each limit.
func limitedSends() []string {
	return []string{"sendResponse", "sendAlphaResponse", "sendAlphaResponseToMemberIds", "sendHotelResponse", "sendDeltaResponse", "alphaCreateBroadcast"}
}

func TestAMessageAtALimitIsSentAndOneBeyondItIsRefusedWithThePath(t *testing.T) {
	t.Parallel()
	for _, name := range limitedSends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, args := newLeast(t, name)
			for what, limit := range messageLimits() {
				at, beyond := limit.response(limit.most), limit.response(limit.most+1)
				before := s.state()
				e := failureOf(t, s.ada.Context(), name, with(t, args, "response", "%s", beyond))
				require.Equal(t, boterr.InvalidArgument, e.Code, what)
				require.Equal(t, limit.at, e.Field, what)
				require.ErrorContains(t, e, strconv.Itoa(limit.most+1), what)
				require.Equal(t, before, s.state(), what)

				_, err := s.ada.Context().Call(t.Context(), name, withParameter(t, args, "response", at))
				if isOfAnother(leastCalls()[name].platform, at) {
					requireFailure(t, err, name, boterr.Unsupported, "response.type")
					continue
				}
				require.NoError(t, err, what)
				if name != "alphaCreateBroadcast" {
					require.JSONEq(t, at, s.last(t).Response.String(), what)
					continue
				}
				stored := s.StoredMessages("shop")
				require.JSONEq(t, at, stored[len(stored)-1].Response.String(), what)
			}
		})
	}
}

func TestTheLimitsHoldOnEveryPlatform(t *testing.T) {
	t.Parallel()
	for _, platform := range allTypes() {
		s := openShop(t, platform)
		for what, limit := range messageLimits() {
			e := failureOf(t, s.ada.Context(), "sendResponse", fmt.Sprintf(`{"response": %s}`, limit.response(limit.most+1)))
			require.Equal(t, limit.at, e.Field, what)
		}
		require.Empty(t, s.Sent())
	}
}

// A limit holds for what the member reads, not for what the script wrote.
func TestTheLimitsHoldForWhatIsFilledIn(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Webchat)
	callf(t, s.ada.Context(), "patchMembers", `{"memberId": "ada", "patch": {"meta": {"long": %q}}}`, strings.Repeat(twoBytes, send.MaxText))
	callf(t, s.ada.Context(), "sendResponse", `{"response": {"type": "TEXT", "text": "{{meta.long}}"}}`)
	require.Equal(t, strings.Repeat(twoBytes, send.MaxText), s.ada.Last())
	s.refusef(t, s.ada.Context(), boterr.InvalidArgument, "response.text", "sendResponse", `{"response": {"type": "TEXT", "text": "{{meta.long}}!"}}`)
	e := failureOf(t, s.ada.Context(), "sendResponse", `{"memberId": ["bob", "ada"], "response": {"type": "TEXT", "text": "{{meta.long}}!!"}}`)
	require.Equal(t, "response.text", e.Field)
	require.ErrorContains(t, e, "ada")
	require.Empty(t, s.bob.Messages(), "everything is checked before the first message goes out")
}

func TestWhatAMessageNeedsIsToldWithThePath(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Webchat)
	for _, test := range []struct{ response, at string }{
		{`{"type": ""}`, "response.type"},
		{`{"type": 7}`, "response.type"},
		{`{"type": "TEXT", "text": ""}`, "response.text"},
		{`{"type": "TEXT", "text": 7}`, "response.text"},
		{`{"type": "IMAGE"}`, "response.url"},
		{`{"type": "FILE", "attachment_id": 7}`, "response.attachment_id"},
		{`{"type": "QUICK_REPLIES", "text": "x"}`, "response.quickReplies"},
		{`{"type": "QUICK_REPLIES", "text": "x", "quickReplies": []}`, "response.quickReplies"},
		{`{"type": "QUICK_REPLIES", "text": "x", "quickReplies": [7]}`, "response.quickReplies[0]"},
		{`{"type": "QUICK_REPLIES", "text": "x", "quickReplies": [{"content_type": "text", "title": "a"}]}`, "response.quickReplies[0].payload"},
		{`{"type": "BUTTON", "text": "x", "buttons": [{"type": "web_url", "title": "a"}]}`, "response.buttons[0].url"},
		{`{"type": "BUTTON", "text": "x", "buttons": [{"type": "postback", "title": "a", "payload": {}}]}`, "response.buttons[0].payload.payload"},
		{`{"type": "BUTTON", "text": "x", "buttons": [{"title": "a"}]}`, "response.buttons[0].type"},
		{`{"type": "CAROUSEL", "carousel": [{}]}`, "response.carousel[0].title"},
		{`{"type": "TYPING", "duration": -1}`, "response.duration"},
		{`{"type": "TYPING", "duration": "long"}`, "response.duration"},
		{`{"type": "NEWS", "articles": [{"url": "https://shop.example"}]}`, "response.articles[0].title"},
		{`{"type": "TEMPLATE", "elementName": "hello"}`, "response.languageCode"},
		{`{"type": "TEMPLATE", "elementName": "hello", "languageCode": "en", "components": {}}`, "response.components"},
	} {
		require.True(t, json.Valid([]byte(test.response)))
		e := failureOf(t, s.ada.Context(), "sendResponse", `{"response": `+test.response+`}`)
		require.Equal(t, boterr.InvalidArgument, e.Code, test.response)
		require.Equal(t, test.at, e.Field, test.response)
	}
	require.Empty(t, s.Sent())
}
