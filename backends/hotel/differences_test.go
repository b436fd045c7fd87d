package hotel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), adaID)
	platform := newPlatform()
	connectortest.Differences{
		Connector: through(t, platform, platform), Fake: fake,
		Message: func(name string, response send.Response) send.Message {
			return send.Message{ID: name, Channel: in, To: adaID, Response: response}
		},
		Describe: func(t *testing.T, _ send.Message, delivery send.Delivery) string {
			t.Helper()
			require.Equal(t, []string{"id"}, delivery.Reply.Keys())
			return "message"
		},
	}.Run(t, map[string]connectortest.Compared{
		"a text":             {Response: send.Text("Hello")},
		"a picture":          {Response: send.Image("https://x.test/a.png")},
		"a file":             {Response: send.File("https://x.test/a.pdf")},
		"quick replies":      {Response: send.QuickReplies("Again?", send.QuickReply{Title: "Yes"})},
		"buttons":            {Response: send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test"))},
		"cards":              {Response: send.Carousel(send.Card{Title: "Tea"})},
		"news":               {Response: send.News(send.Article{Title: "News"})},
		"a template":         {Response: send.BravoTemplate("order", "en")},
		"the platform's own": {Response: send.Other("CARD", document.O("attachments", document.A(document.O("contentType", "image/png"))))},
		// The platform has no files by id.
		"a file by an id": {send.Attachment(send.TypeImage, "77"), "Unsupported attachment_id", "message"},
		// The fakes have the limits of the specification.
		"an address that is not the web's": {send.Image("data:image/png;base64,AA"), "InvalidArgument url", "message"},
		"a long payload":                   {send.Buttons("x", send.Postback("A", strings.Repeat("x", 41_000))), "InvalidArgument buttons", "message"},
		"an unknown type":                  {send.Other("POLL", document.O("text", "x")), "Unsupported type", "message"}, // The fakes accept every type.
		"a button of another type": {
			send.Buttons("x", send.Button{Type: "phone_number", Title: "Call", Payload: "1"}), "Unsupported buttons[0].type", "message",
		},
		"a quick reply of another type": {
			send.QuickReplies("x", send.QuickReply{ContentType: "location"}), "Unsupported quickReplies[0].content_type", "message",
		},
		"typing": {send.Typing(1), "no message", "message"}, // The platform gives ids to messages only.
	})
}
