package foxtrot_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// differences are the responses that the connector and the connector of package fakes handle differently, with
// the outcome of each. docs/decisions/platforms.md explains the reasons.
var differences = map[string][2]string{
	"a card without buttons":           {"InvalidArgument carousel[0].buttons", "message msg in member"},
	"an address that is not the web's": {"InvalidArgument url", "message msg in member"},
	"a file by an id":                  {"InvalidArgument attachment_id", "message msg in member"}, // Files need an address.
	"an unknown type":                  {"Unsupported type", "message msg in member"},              // The fakes accept every type.
	"typing":                           {"no message", "message msg in member"},
	"a request":                        {"message msg in out:cnv", "message msg in cnv"}, // The id has a prefix.
}

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, desk(), ada)
	found := map[string][2]string{}
	for name, response := range map[string]send.Response{
		"a text":                           send.Text("Hello"),
		"a picture":                        send.Image("https://x.test/a.png"),
		"quick replies":                    send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}),
		"buttons":                          send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")),
		"cards":                            send.Carousel(send.Card{Title: "Tea", Buttons: []send.Button{send.Postback("Buy", "tea")}}),
		"news":                             send.News(send.Article{Title: "News"}),
		"a template":                       send.BravoTemplate("order", "en"),
		"the platform's own":               send.Other("FORM", document.O("message", document.O("type", "form", "fields", document.A()))),
		"a card without buttons":           send.Carousel(send.Card{Title: "Tea"}),
		"an address that is not the web's": send.Image("data:image/png;base64,AA"),
		"a file by an id":                  send.Attachment(send.TypeImage, "77"),
		"an unknown type":                  send.Other("POLL", document.O("text", "x")),
		"typing":                           send.Typing(1),
		"a request":                        send.Text("Ada asks for a person."),
	} {
		platform := newPlatform()
		platform.AddConversation(deskApp, ada)
		one := message(in, ada, response)
		if one.ID = name; name == "a request" {
			one.To = support
		}
		outcomes := [2]string{outcome(t, over(t, platform), one), outcome(t, fake, one)}
		if outcomes[0] != outcomes[1] {
			found[name] = outcomes
		}
	}
	require.Equal(t, differences, found)
}

// outcome returns the prefixes of a sent message's id and of the conversation's id. If sending fails, it returns
// the code and the field of the error.
func outcome(t *testing.T, connector send.Connector, one send.Message) string {
	t.Helper()
	if one.To == ada {
		one.Member = &member.Member{ID: "member-1", ExternalID: ada}
	}
	delivery, err := connector.Send(t.Context(), one)
	if refused, ok := boterr.AsError(err); ok {
		return string(refused.Code) + " " + refused.Field
	}
	require.NoError(t, err)
	if delivery.MessageID == "" {
		return "no message"
	}
	place := "member"
	if one.To != ada { // Package fakes uses another id for the conversation with a member.
		place = regexp.MustCompile(`^[a-z:]+`).FindString(delivery.ChatID)
	}
	return "message " + regexp.MustCompile(`^[a-z]+`).FindString(delivery.MessageID) + " in " + place
}
