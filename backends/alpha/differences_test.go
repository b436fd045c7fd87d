package alpha_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

// differences are the responses that the connector and the connector of package fakes handle differently, with
// the outcome of each. docs/decisions/platforms.md explains the reasons.
var differences = map[string][2]string{
	"a text of 641 characters above buttons": {"InvalidArgument text", "message m_"}, // The fakes have the limits of the specification.
	"a payload that is long as text":         {"InvalidArgument buttons[0].payload", "message m_"},
	"a card with a title alone":              {"InvalidArgument carousel[0].subtitle", "message m_"},
	"an address that is not the web's":       {"InvalidArgument url", "message m_"},
	"an unknown type":                        {"Unsupported type", "message m_"}, // The fakes accept every type.
	"a file by an unknown id":                {"message m_", "InvalidArgument attachment_id"},
	"typing":                                 {"no message", "message m_"}, // The platform gives ids to messages only.
}

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, shop(), "100")
	connector := newConnector(t, alpha.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: newPlatform()}}})
	found := map[string][2]string{}
	for name, response := range map[string]send.Response{
		"a text":                                 send.Text("Hello"),
		"a picture":                              send.Image("https://x.test/a.png"),
		"quick replies":                          send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}),
		"buttons":                                send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")),
		"cards":                                  send.Carousel(send.Card{Title: "Tea", Subtitle: "green"}),
		"news":                                   send.News(send.Article{Title: "News"}),
		"a template":                             send.BravoTemplate("order", "en"),
		"the platform's own":                     send.Other("RECEIPT", document.O("message", document.O("text", "x"))),
		"a text of 641 characters above buttons": send.Buttons(strings.Repeat("x", 641), send.Postback("A", "a")),
		"a payload that is long as text":         send.Buttons("x", send.PostbackValue("A", "a", strings.Repeat("x", 1000))),
		"a card with a title alone":              send.Carousel(send.Card{Title: "Tea"}),
		"an address that is not the web's":       send.Image("data:image/png;base64,AA"),
		"an unknown type":                        send.Other("POLL", document.O("text", "x")),
		"a file by an unknown id":                send.Attachment(send.TypeImage, "77"),
		"typing":                                 send.Typing(1),
	} {
		message := to("100", response)
		message.Channel, message.ID = in, name
		outcomes := [2]string{outcome(t, connector, message), outcome(t, fake, message)}
		if outcomes[0] != outcomes[1] {
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
	require.Equal(t, []string{"recipient_id", "message_id"}, delivery.Reply.Keys())
	return "message " + regexp.MustCompile(`^[a-z]+_?`).FindString(delivery.MessageID)
}
