package botctx_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/outbound/replies"
)

// leastCall is a call of an operation with the least that it needs: the channel and the member
// come from the context.
type leastCall struct {
	// platform is that of the channel.
	platform channel.Type
	// args are the parameters in JSON; what is in <> stands for what prepare returns.
	args string
	// prepare makes what the call is about. nil where it needs nothing.
	prepare func(t *testing.T, s *shop) []any
}

// sayHello are parameters with nothing but a message.
const sayHello = `{"response": {"type": "TEXT", "text": "Hello"}}`

// leastCalls returns the least call of each send, and of the utilities.
func leastCalls() map[string]leastCall {
	return map[string]leastCall{
		"sendResponse":                 {platform: channel.Webchat, args: sayHello},
		"sendAlphaResponse":            {platform: channel.Alpha, args: sayHello},
		"sendAlphaResponseToMemberIds": {platform: channel.Alpha, args: `{"memberId": ["ada"], "response": {"type": "TEXT", "text": "Hello"}}`},
		"sendHotelResponse":            {platform: channel.Hotel, args: `{"recipientId": "u1", "response": {"type": "TEXT", "text": "Hello"}}`},
		"sendDeltaResponse":            {platform: channel.Delta, args: sayHello},
		"alphaCreateBroadcast":         {platform: channel.Alpha, args: sayHello},
		"alphaSendBroadcast": {
			platform: channel.Alpha, args: `{"broadcastId": %d, "labelId": "buyers", "notificationType": "REGULAR"}`,
			prepare: prepareBroadcast,
		},
		"alphaGetAttachmentId":     {platform: channel.Alpha, args: `{"type": "image", "url": "https://shop.example/kettle.png"}`},
		"alphaPassThreadControl":   {platform: channel.Alpha, args: `{}`},
		"alphaSaveCustomLabel":     {platform: channel.Alpha, args: `{"labelId": "tea"}`},
		"alphaRemoveCustomLabel":   {platform: channel.Alpha, args: `{"labelId": "tea"}`, prepare: prepareLabel},
		"savePostCommentAnalytics": {platform: channel.Alpha, args: `{"comment": "price?", "fbId": "u1", "name": "Ada", "postId": "p1"}`},
		"charlieArchiveConversation": {
			platform: channel.Charlie, args: `{"messageEvent": {"to": %q}}`,
			prepare: func(t *testing.T, s *shop) []any { t.Helper(); return prepareMessage(t, s)[:1] },
		},
		"updateMessage":     {platform: channel.Charlie, args: `{"externalChannelId": %q, "messageTs": %q, "text": "Bye"}`, prepare: prepareMessage},
		"EchoSaveMemberTag": {platform: channel.Echo, args: `{"tagId": 7}`},

		"sendEmail": {
			platform: channel.Webchat,
			args:     `{"destination": {"ToAddresses": ["ada@shop.example"]}, "message": {"Subject": {"Data": "A kettle"}, "Body": {"Text": {"Data": "Here it is."}}}}`,
		},
		"golf": {platform: channel.Webchat, args: `{"golfName": "shop"}`, prepare: func(_ *testing.T, s *shop) []any { s.AddAccount("shop"); return nil }},
		"uploadFileToObjectStore": {
			platform: channel.Webchat, args: `{"url": "https://shop.example/bill.pdf", "filename": "7.pdf", "contentType": "application/pdf"}`,
			prepare: func(_ *testing.T, s *shop) []any {
				s.HTTP.Add("GET", "https://shop.example/bill.pdf", replies.Text(200, "One kettle."))
				return nil
			},
		},
	}
}

// prepareBroadcast stores a message and gives Ada a label, and returns the message's id.
func prepareBroadcast(t *testing.T, s *shop) []any {
	t.Helper()
	callf(t, s.ada.Context(), "alphaSaveCustomLabel", `{"labelId": "buyers"}`)
	callf(t, s.ada.Context(), "alphaCreateBroadcast", sayHello)
	return []any{s.StoredMessages("shop")[0].ID}
}

func prepareLabel(t *testing.T, s *shop) []any {
	t.Helper()
	callf(t, s.ada.Context(), "alphaSaveCustomLabel", `{"labelId": "tea"}`)
	return nil
}

// prepareMessage sends Ada a message, and returns the ids of the conversation and of the
// message.
func prepareMessage(t *testing.T, s *shop) []any {
	t.Helper()
	callf(t, s.ada.Context(), "sendResponse", sayHello)
	return []any{s.last(t).ChatID, s.last(t).MessageID}
}

// newLeast returns a shop where an operation can be called, and the parameters for it.
func newLeast(t *testing.T, name string, options ...fakes.Option) (*shop, string) {
	t.Helper()
	least, ok := leastCalls()[name]
	require.True(t, ok, name)
	s := openShop(t, least.platform, options...)
	var values []any
	if least.prepare != nil {
		values = least.prepare(t, s)
	}
	return s, string(withValues(least.args, values))
}

// with returns parameters with one of them set.
func with(t *testing.T, args, name, valueFormat string, values ...any) string {
	t.Helper()
	return string(withParameter(t, args, name, fmt.Sprintf(valueFormat, values...)))
}

// sendingOperations returns the operations of package send, and the utilities.
func sendingOperations() []operations.Operation {
	utilities := []string{"sendEmail", "golf", "uploadFileToObjectStore"}
	return slices.DeleteFunc(operations.All(), func(o operations.Operation) bool {
		return o.Package != "send" && !slices.Contains(utilities, o.Name)
	})
}

func TestTheContextIsEnoughForEverySend(t *testing.T) {
	t.Parallel()
	require.Len(t, sendingOperations(), 18)
	require.Len(t, leastCalls(), 18)
	for _, operation := range sendingOperations() {
		for name, options := range map[string][]fakes.Option{"lenient": nil, "strict": {strictly()}} {
			t.Run(operation.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				s, args := newLeast(t, operation.Name, options...)
				before := s.state()
				text, err := s.ada.Context().Call(t.Context(), operation.Name, json.RawMessage(args))
				require.NoError(t, err)
				requireShape(t, operation.Name, s.platform, text)
				if operation.Name != "golf" {
					require.NotEqual(t, before, s.state(), "it did nothing")
				}
			})
		}
	}
}
