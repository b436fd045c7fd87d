package bravo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), ada)
	made, err := fake.(livechat.GroupCreator).CreateGroup(t.Context(), in, livechat.NewGroup{Name: "Ada"})
	require.NoError(t, err)
	platform := newPlatform()
	platform.AddGroup(shopNumber, made.ExternalID, "Ada")
	connectortest.Differences{
		Connector: over(t, platform), Fake: fake,
		Message: func(name string, response send.Response) send.Message {
			message := send.Message{ID: name, Channel: in, To: ada, Response: response}
			if strings.HasSuffix(name, "to a group") {
				message.To = made.ExternalID
			}
			return message
		},
		Describe: func(t *testing.T, _ send.Message, delivery send.Delivery) string {
			t.Helper()
			require.True(t, strings.HasPrefix(delivery.MessageID, "wamid."))
			require.Equal(t, delivery.MessageID, document.Get(delivery.Reply, "messages[0].id", ""))
			return "message"
		},
	}.Run(t, map[string]connectortest.Compared{
		"a text":            {Response: send.Text("Hello")},
		"a picture":         {Response: send.Image("https://x.test/a.png")},
		"quick replies":     {Response: replies(3, nil)},
		"a list":            {Response: replies(10, nil)},
		"buttons":           {Response: send.Buttons("Now?", send.PostbackValue("Yes", "book", 2))},
		"an address":        {Response: send.Buttons("Now?", send.WebURL("Menu", "https://x.test"))},
		"a template":        {Response: send.BravoTemplate("order", "en")},
		"news":              {Response: send.News(send.Article{Title: "News"})},
		"a location":        {Response: send.Other("LOCATION", document.O("location", document.O("latitude", 1, "longitude", 2)))},
		"a text to a group": {Response: send.Text("Hello")},
		"a text of 1025 characters above buttons": {
			send.Buttons(strings.Repeat("x", 1025), send.Postback("A", "a")), "InvalidArgument text", "message",
		},
		"11 quick replies": {replies(11, nil), "InvalidArgument quickReplies", "message"},
		"two quick replies of a title": {
			replies(2, func(_ int, r *send.QuickReply) { r.Title = "same" }), "InvalidArgument quickReplies[1].title", "message",
		},
		"a payload of 300 characters": {
			send.Buttons("x", send.Postback("A", strings.Repeat("x", 300))), "InvalidArgument buttons[0].payload", "message",
		},
		"an address among postbacks": {
			send.Buttons("x", send.Postback("A", "a"), send.WebURL("B", "https://x.test")), "InvalidArgument buttons[1].type", "message",
		},
		"a carousel":         {send.Carousel(send.Card{Title: "Tea"}), "Unsupported type", "message"},
		"an unknown type":    {send.Other("POLL", document.O("text", "x")), "Unsupported type", "message"},
		"typing":             {send.Typing(1), "no message", "message"},
		"buttons to a group": {send.Buttons("Now?", send.Postback("A", "a")), "InvalidArgument type", "message"},
	})
}
