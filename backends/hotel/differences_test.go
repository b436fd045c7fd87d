package hotel_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

// differences are the responses that the connector and the connector of package fakes handle differently, with
// the outcome of each. docs/decisions/platforms.md explains the reasons.
var differences = map[string][2]string{
	"a file by an id":                  {"Unsupported attachment_id", "message post-"}, // The platform has no files by id.
	"an address that is not the web's": {"InvalidArgument url", "message post-"},       // The fakes have the limits of the specification.
	"a long payload":                   {"InvalidArgument buttons", "message post-"},
	"an unknown type":                  {"Unsupported type", "message post-"}, // The fakes accept every type.
	"a button of another type":         {"Unsupported buttons[0].type", "message post-"},
	"a quick reply of another type":    {"Unsupported quickReplies[0].content_type", "message post-"},
	"typing":                           {"no message", "message post-"}, // The platform gives ids to messages only.
}

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), adaID)
	platform := newPlatform()
	connector := through(t, platform, platform)
	found := map[string][2]string{}
	for name, response := range map[string]send.Response{
		"a text":                           send.Text("Hello"),
		"a picture":                        send.Image("https://x.test/a.png"),
		"a file":                           send.File("https://x.test/a.pdf"),
		"quick replies":                    send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}),
		"buttons":                          send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")),
		"cards":                            send.Carousel(send.Card{Title: "Tea"}),
		"news":                             send.News(send.Article{Title: "News"}),
		"a template":                       send.BravoTemplate("order", "en"),
		"the platform's own":               send.Other("CARD", document.O("attachments", document.A(document.O("contentType", "image/png")))),
		"a file by an id":                  send.Attachment(send.TypeImage, "77"),
		"an address that is not the web's": send.Image("data:image/png;base64,AA"),
		"a long payload":                   send.Buttons("x", send.Postback("A", strings.Repeat("x", 41_000))),
		"an unknown type":                  send.Other("POLL", document.O("text", "x")),
		"a button of another type":         send.Buttons("x", send.Button{Type: "phone_number", Title: "Call", Payload: "1"}),
		"a quick reply of another type":    send.QuickReplies("x", send.QuickReply{ContentType: "location"}),
		"typing":                           send.Typing(1),
	} {
		message := to(adaID, response)
		message.Channel, message.ID = in, name
		outcomes := [2]string{outcome(t, connector, message), outcome(t, fake, message)}
		if outcomes[0] != outcomes[1] && outcomes != [2]string{"message", "message post-"} {
			found[name] = outcomes
		}
	}
	require.Equal(t, differences, found)
}

// outcome returns the prefix of a sent message's id. If sending fails, it returns the code and the field of the
// error.
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
	require.Equal(t, []string{"id"}, delivery.Reply.Keys())
	return strings.TrimSpace("message " + regexp.MustCompile(`^[a-z]*-?`).FindString(delivery.MessageID))
}
