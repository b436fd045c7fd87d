package telegram_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), adaID)
	long := strings.Repeat("x", 100)
	connectortest.Differences{
		Connector: newWorld().start(t), Fake: fake,
		Message: func(name string, response send.Response) send.Message {
			return send.Message{ID: name, Channel: in, To: adaID, Response: response}
		},
		Describe: func(*testing.T, send.Message, send.Delivery) string { return "message" },
	}.Run(t, map[string]connectortest.Compared{
		"text":          {Response: send.Text("Hi *you*")},
		"image":         {Response: send.Image(site)},
		"file by id":    {Response: send.Attachment(send.TypeFile, "F1")},
		"buttons":       {Response: send.Buttons("Now?", send.Postback("Yes", "yes"), send.PostbackValue("Two", "two", 2))},
		"a ticket":      {Response: send.Buttons("x", send.PostbackValue("Take", livechat.TakePayload, "01234567-89ab-cdef-0123-456789abcdef"))},
		"quick replies": {Response: send.QuickReplies("Again?", send.QuickReply{Title: "Yes"})},
		"carousel":      {Response: send.Carousel(send.Card{Title: "Tea", Subtitle: "green", Buttons: []send.Button{send.Postback("Buy", "tea")}}, send.Card{Title: "Coffee"})},
		"news":          {Response: send.News(send.Article{Title: "a"})},
		"template":      {Response: send.BravoTemplate("a", "en")},
		"typing":        {send.Typing(time.Second), "no message", "message"},
		"long payload":  {send.Buttons("Now?", send.Postback("Yes", long)), "InvalidArgument buttons[0].payload", "message"},
		"unknown":       {send.Other("HOLOGRAM", document.O("angle", 45)), "Unsupported type", "message"},
		"button of another kind": {
			send.Other(send.TypeButton, document.O("text", "Call", "buttons", document.A(document.O("type", "phone_number", "title", "Dial", "payload", "1")))),
			"Unsupported buttons[0].type", "message",
		},
	})
}

func TestExplore_OrderIsStoredOnce(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		w := newWorld()
		connector := direct(t, w, telegram.Config{Logger: silent()})
		return connectortest.Platform{
			Connector: connector,
			Handler: func(accept func(context.Context, botctx.Inbound) error) http.Handler {
				return routed(connector.Handler(accept))
			},
			Reports: connectortest.Once(func(ctx context.Context) *http.Request {
				return newUpdate(ctx, shopPath, secretToken, document.O("update_id", 1, "message", w.MessageOf(ada, adaID).With("text", "a kettle")).String())
			}),
			SendIDs: func() []string { return make([]string, len(w.Messages())) },
		}
	})
}

// newUpdate returns Telegram's request with an update.
func newUpdate(ctx context.Context, path, secret, body string) *http.Request {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	return request
}
