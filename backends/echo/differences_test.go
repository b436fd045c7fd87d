package echo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/send"
)

// differences are the responses that the connector and the connector of package fakes handle differently, with
// the outcome of each. docs/decisions/platforms.md explains the reasons.
var differences = map[string][2]string{
	"a text of 683 Chinese characters": {"InvalidArgument text", `{"msgType":"text","text":"…"}`}, // The fakes have the limits of the specification.
	"a picture by address":             {`{"msgType":"image","url":"https://x.test/a.png","image":"media-000002"}`, `{"msgType":"image","url":"https://x.test/a.png","image":"https://x.test/a.png"}`},
	"a file":                           {"Unsupported type", `{"msgType":"file","url":"https://x.test/a.pdf"}`}, // The platform has no files.
	"a long payload":                   {"InvalidArgument buttons[0].payload", `{"msgType":"text","text":"x"}`},
	"cards":                            {"InvalidArgument carousel", `{"msgType":"news","title":"Tea","news":[{"title":"Tea"},{"title":"Cake"}]}`},
	"a card without a link":            {"InvalidArgument carousel[0].buttons", `{"msgType":"news","title":"Tea","news":[{"title":"Tea"}]}`},
	"a card with a link": {
		`{"msgType":"news","url":"https://x.test","title":"Tea","news":[{"title":"Tea","url":"https://x.test"}]}`,
		`{"msgType":"news","title":"Tea","news":[{"title":"Tea"}]}`, // The fakes leave out buttons of cards.
	},
	"an unknown type":     {"Unsupported type", `{"msgType":"poll","text":"x"}`}, // The fakes accept every type.
	"news without a link": {"InvalidArgument articles[0].url", `{"msgType":"news","title":"News","news":[{"title":"News"}]}`},
}

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), ada)
	found := map[string][2]string{}
	for name, response := range map[string]send.Response{
		"a text":                           send.Text("Hello"),
		"quick replies":                    send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}),
		"buttons":                          send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")),
		"news":                             send.News(send.Article{Title: "News", Description: "more", URL: "https://x.test", PicURL: "https://x.test/a.png"}),
		"a text of 683 Chinese characters": send.Text(strings.Repeat("\u8336", 683)),
		"a picture by address":             send.Image("https://x.test/a.png"),
		"a recording by address":           send.Audio("https://x.test/a.mp3"),
		"a file":                           send.File("https://x.test/a.pdf"),
		"a long payload":                   send.Buttons("x", send.PostbackValue("A", "a", strings.Repeat("x", 120))),
		"cards":                            send.Carousel(send.Card{Title: "Tea"}, send.Card{Title: "Cake"}),
		"a card without a link":            send.Carousel(send.Card{Title: "Tea"}),
		"a card with a link":               send.Carousel(send.Card{Title: "Tea", Buttons: []send.Button{send.WebURL("Buy", "https://x.test")}}),
		"news without a link":              send.News(send.Article{Title: "News"}),
		"an unknown type":                  send.Other("POLL", document.O("text", "x")),
		"a file by an unknown id":          send.Attachment(send.TypeImage, "77"),
		"a template":                       send.BravoTemplate("order", "en"),
	} {
		message := toAda(response)
		message.Channel, message.ID = in, name
		outcomes := [2]string{outcome(t, over(t, newPlatform()), message), outcome(t, fake, message)}
		if outcomes[0] != outcomes[1] {
			found[name] = outcomes
		}
	}
	require.Equal(t, differences, found)
}

// outcome returns the reply to a message. If sending fails, it returns the code and the field of the error.
func outcome(t *testing.T, connector send.Connector, message send.Message) string {
	t.Helper()
	result, err := sends.Deliver(t.Context(), record.Env{}, connector, message)
	if refused, ok := boterr.AsError(err); ok {
		return string(refused.Code) + " " + strings.TrimPrefix(refused.Field, "response.")
	}
	require.NoError(t, err)
	text, err := result.MarshalJSON()
	require.NoError(t, err)
	if len(text) > 500 {
		return `{"msgType":"text","text":"…"}`
	}
	return string(text)
}
