package echo_test

import (
	"encoding/json"
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
	fake, in := connectortest.Fake(t, shop(), ada)
	connectortest.Differences{
		Connector: over(t, newPlatform()), Fake: fake,
		Message: func(name string, response send.Response) send.Message {
			return send.Message{ID: name, Channel: in, To: ada, Response: response}
		},
		Describe: func(t *testing.T, _ send.Message, delivery send.Delivery) string {
			t.Helper()
			var fields map[string]any
			require.NoError(t, json.Unmarshal([]byte(delivery.Reply.String()), &fields))
			text, err := json.Marshal(fields) // The order of the fields does not matter.
			require.NoError(t, err)
			if len(text) > 500 {
				return `{"msgType":"text","text":"…"}`
			}
			return regexp.MustCompile(`media-\d+`).ReplaceAllString(string(text), "media")
		},
	}.Run(t, map[string]connectortest.Compared{
		"a text":                  {Response: send.Text("Hello")},
		"quick replies":           {Response: send.QuickReplies("Again?", send.QuickReply{Title: "Yes"})},
		"buttons":                 {Response: send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test"))},
		"news":                    {Response: send.News(send.Article{Title: "News", Description: "more", URL: "https://x.test", PicURL: "https://x.test/a.png"})},
		"a recording by address":  {Response: send.Audio("https://x.test/a.mp3")},
		"a file by an unknown id": {Response: send.Attachment(send.TypeImage, "77")},
		"a template":              {Response: send.BravoTemplate("order", "en")},
		// The fakes have the limits of the specification.
		"a text of 683 Chinese characters": {send.Text(strings.Repeat("\u8336", 683)), "InvalidArgument text", `{"msgType":"text","text":"…"}`},
		"a picture by address": {
			send.Image("https://x.test/a.png"), `{"image":"media","msgType":"image","url":"https://x.test/a.png"}`,
			`{"image":"https://x.test/a.png","msgType":"image","url":"https://x.test/a.png"}`,
		},
		"a file": {send.File("https://x.test/a.pdf"), "Unsupported type", `{"msgType":"file","url":"https://x.test/a.pdf"}`}, // The platform has no files.
		"a long payload": {
			send.Buttons("x", send.PostbackValue("A", "a", strings.Repeat("x", 120))), "InvalidArgument buttons[0].payload", `{"msgType":"text","text":"x"}`,
		},
		"cards": {
			send.Carousel(send.Card{Title: "Tea"}, send.Card{Title: "Cake"}), "InvalidArgument carousel",
			`{"msgType":"news","news":[{"title":"Tea"},{"title":"Cake"}],"title":"Tea"}`,
		},
		"a card without a link": {
			send.Carousel(send.Card{Title: "Tea"}), "InvalidArgument carousel[0].buttons", `{"msgType":"news","news":[{"title":"Tea"}],"title":"Tea"}`,
		},
		"a card with a link": {
			send.Carousel(send.Card{Title: "Tea", Buttons: []send.Button{send.WebURL("Buy", "https://x.test")}}),
			`{"msgType":"news","news":[{"title":"Tea","url":"https://x.test"}],"title":"Tea","url":"https://x.test"}`,
			`{"msgType":"news","news":[{"title":"Tea"}],"title":"Tea"}`, // The fakes leave out buttons of cards.
		},
		"news without a link": {
			send.News(send.Article{Title: "News"}), "InvalidArgument articles[0].url", `{"msgType":"news","news":[{"title":"News"}],"title":"News"}`,
		},
		"an unknown type": {send.Other("POLL", document.O("text", "x")), "Unsupported type", `{"msgType":"poll","text":"x"}`}, // The fakes accept every type.
	})
}
