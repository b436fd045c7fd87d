package foxtrot_test

import (
	"regexp"
	"testing"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestDifferences_FromTheFakes(t *testing.T) {
	t.Parallel()
	fake, in := connectortest.Fake(t, desk(), ada)
	platform := newPlatform()
	platform.AddConversation(deskApp, ada)
	connectortest.Differences{
		Connector: over(t, platform), Fake: fake,
		Message: func(name string, response send.Response) send.Message {
			if name == "a request" {
				return send.Message{ID: name, Channel: in, To: support, Response: response}
			}
			return send.Message{ID: name, Channel: in, To: ada, Member: &member.Member{ID: "member-1", ExternalID: ada}, Response: response}
		},
		Describe: func(_ *testing.T, message send.Message, delivery send.Delivery) string {
			place := "member"
			if message.To != ada { // Package fakes uses another id for the conversation with a member.
				place = regexp.MustCompile(`^[a-z:]+`).FindString(delivery.ChatID)
			}
			return "message " + regexp.MustCompile(`^[a-z]+`).FindString(delivery.MessageID) + " in " + place
		},
	}.Run(t, map[string]connectortest.Compared{
		"a text":             {Response: send.Text("Hello")},
		"a picture":          {Response: send.Image("https://x.test/a.png")},
		"quick replies":      {Response: send.QuickReplies("Again?", send.QuickReply{Title: "Yes"})},
		"buttons":            {Response: send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test"))},
		"cards":              {Response: send.Carousel(send.Card{Title: "Tea", Buttons: []send.Button{send.Postback("Buy", "tea")}})},
		"news":               {Response: send.News(send.Article{Title: "News"})},
		"a template":         {Response: send.BravoTemplate("order", "en")},
		"the platform's own": {Response: send.Other("FORM", document.O("message", document.O("type", "form", "fields", document.A())))},
		"a card without buttons": {
			send.Carousel(send.Card{Title: "Tea"}), "InvalidArgument carousel[0].buttons", "message msg in member",
		},
		"an address that is not the web's": {send.Image("data:image/png;base64,AA"), "InvalidArgument url", "message msg in member"},
		// Files need an address.
		"a file by an id": {send.Attachment(send.TypeImage, "77"), "InvalidArgument attachment_id", "message msg in member"},
		// The fakes accept every type.
		"an unknown type": {send.Other("POLL", document.O("text", "x")), "Unsupported type", "message msg in member"},
		"typing":          {send.Typing(1), "no message", "message msg in member"},
		"a request":       {send.Text("Ada asks for a person."), "message msg in out:cnv", "message msg in cnv"}, // The id has a prefix.
	})
}
