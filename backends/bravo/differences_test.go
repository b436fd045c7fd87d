package bravo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// differences are the responses that the connector and the connector of package fakes handle differently, with
// the outcome of each. docs/decisions/platforms.md explains the reasons.
var differences = map[string][2]string{
	"a text of 1025 characters above buttons": {"InvalidArgument text", "message"},
	"11 quick replies":                        {"InvalidArgument quickReplies", "message"},
	"two quick replies of a title":            {"InvalidArgument quickReplies[1].title", "message"},
	"a payload of 300 characters":             {"InvalidArgument buttons[0].payload", "message"},
	"an address among postbacks":              {"InvalidArgument buttons[1].type", "message"},
	"a carousel":                              {"Unsupported type", "message"},
	"an unknown type":                         {"Unsupported type", "message"},
	"typing":                                  {"no message", "message"},
	"buttons to a group":                      {"InvalidArgument type", "message"},
}

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), ada)
	made, err := fake.(livechat.GroupCreator).CreateGroup(t.Context(), in, livechat.NewGroup{Name: "Ada"})
	require.NoError(t, err)
	platform := newPlatform()
	platform.AddGroup(shopNumber, made.ExternalID, "Ada")
	connector := over(t, platform)
	found := map[string][2]string{}
	for name, response := range map[string]send.Response{
		"a text":        send.Text("Hello"),
		"a picture":     send.Image("https://x.test/a.png"),
		"quick replies": replies(3, nil),
		"a list":        replies(10, nil),
		"buttons":       send.Buttons("Now?", send.PostbackValue("Yes", "book", 2)),
		"an address":    send.Buttons("Now?", send.WebURL("Menu", "https://x.test")),
		"a template":    send.BravoTemplate("order", "en"),
		"news":          send.News(send.Article{Title: "News"}),
		"a location":    send.Other("LOCATION", document.O("location", document.O("latitude", 1, "longitude", 2))),
		"a text of 1025 characters above buttons": send.Buttons(strings.Repeat("x", 1025), send.Postback("A", "a")),
		"11 quick replies":                        replies(11, nil),
		"two quick replies of a title":            replies(2, func(_ int, r *send.QuickReply) { r.Title = "same" }),
		"a payload of 300 characters":             send.Buttons("x", send.Postback("A", strings.Repeat("x", 300))),
		"an address among postbacks":              send.Buttons("x", send.Postback("A", "a"), send.WebURL("B", "https://x.test")),
		"a carousel":                              send.Carousel(send.Card{Title: "Tea"}),
		"an unknown type":                         send.Other("POLL", document.O("text", "x")),
		"typing":                                  send.Typing(1),
		"a text to a group":                       send.Text("Hello"),
		"buttons to a group":                      send.Buttons("Now?", send.Postback("A", "a")),
	} {
		message := to(ada, response)
		message.Channel, message.ID = in, name
		if strings.HasSuffix(name, "to a group") {
			message.To = made.ExternalID
		}
		outcomes := [2]string{outcome(t, connector, message), outcome(t, fake, message)}
		if outcomes[0] != outcomes[1] {
			found[name] = outcomes
		}
	}
	require.Equal(t, differences, found)
}

// outcome returns whether the sent message has an id. If sending fails, it returns the code and the field of
// the error.
func outcome(t *testing.T, connector send.Connector, message send.Message) string {
	t.Helper()
	delivery, err := connector.Send(t.Context(), message)
	if refused, ok := boterr.AsError(err); ok {
		return string(refused.Code) + " " + refused.Field
	}
	require.NoError(t, err)
	if delivery.MessageID == "" {
		return "no message"
	}
	require.True(t, strings.HasPrefix(delivery.MessageID, "wamid."))
	require.Equal(t, delivery.MessageID, document.Get(delivery.Reply, "messages[0].id", ""))
	return "message"
}
