package alpha_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), "100")
	connectortest.Differences{
		Connector: over(t, newPlatform()), Fake: fake,
		Message: func(name string, response send.Response) send.Message {
			return send.Message{ID: name, Channel: in, To: "100", Response: response}
		},
		Describe: func(t *testing.T, _ send.Message, delivery send.Delivery) string {
			t.Helper()
			require.Equal(t, []string{"recipient_id", "message_id"}, delivery.Reply.Keys())
			return "message " + regexp.MustCompile(`^[a-z]+_?`).FindString(delivery.MessageID)
		},
	}.Run(t, map[string]connectortest.Compared{
		"a text":             {Response: send.Text("Hello")},
		"a picture":          {Response: send.Image("https://x.test/a.png")},
		"quick replies":      {Response: send.QuickReplies("Again?", send.QuickReply{Title: "Yes"})},
		"buttons":            {Response: send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test"))},
		"cards":              {Response: send.Carousel(send.Card{Title: "Tea", Subtitle: "green"})},
		"news":               {Response: send.News(send.Article{Title: "News"})},
		"a template":         {Response: send.BravoTemplate("order", "en")},
		"the platform's own": {Response: send.Other("RECEIPT", document.O("message", document.O("text", "x")))},
		// The fakes have the limits of the specification.
		"a text of 641 characters above buttons": {
			send.Buttons(strings.Repeat("x", 641), send.Postback("A", "a")), "InvalidArgument text", "message m_",
		},
		"a payload that is long as text": {
			send.Buttons("x", send.PostbackValue("A", "a", strings.Repeat("x", 1000))), "InvalidArgument buttons[0].payload", "message m_",
		},
		"a card with a title alone":        {send.Carousel(send.Card{Title: "Tea"}), "InvalidArgument carousel[0].subtitle", "message m_"},
		"an address that is not the web's": {send.Image("data:image/png;base64,AA"), "InvalidArgument url", "message m_"},
		"an unknown type":                  {send.Other("POLL", document.O("text", "x")), "Unsupported type", "message m_"}, // The fakes accept every type.
		"a file by an unknown id":          {send.Attachment(send.TypeImage, "77"), "message m_", "InvalidArgument attachment_id"},
		"typing":                           {send.Typing(1), "no message", "message m_"}, // The platform gives ids to messages only.
	})
}
