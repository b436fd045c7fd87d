package charlie_test

import (
	"testing"

	"github.com/slack-go/slack/slacktest"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// The test server of the library decodes blocks and attachments as the library knows them,
// fails where it cannot, and answers with the text that it got.
func TestSend_LibrarysServerUnderstands(t *testing.T) {
	t.Parallel()
	server := slacktest.NewTestServer()
	server.Start()
	t.Cleanup(server.Stop)
	connector, err := charlie.New(charlie.Config{APIURL: server.GetAPIURL()})
	require.NoError(t, err)
	card := send.Card{Title: "card", ImageURL: "https://x.test/a.png", Buttons: []send.Button{send.Postback("Go", "go")}}
	for text, response := range map[string]send.Response{
		"text":                     send.Text("text"),
		"<https://x.test/a.png>":   send.Image("https://x.test/a.png"),
		"<https://x.test/a.mp3>":   send.Audio("https://x.test/a.mp3"),
		"<https://x.test/a.mp4>":   send.Video("https://x.test/a.mp4"),
		"<https://x.test/a.pdf>":   send.File("https://x.test/a.pdf"),
		"quick":                    send.QuickReplies("quick", send.QuickReply{Title: "Go"}),
		"button":                   send.Buttons("button", send.PostbackValue("Go", "go", 1), send.WebURL("See", "https://x.test")),
		"card":                     send.Carousel(card),
		"a type of the tool's own": send.Other("OWN", document.O("text", "a type of the tool's own", "attachments", document.A(document.O("color", "red")))),
	} {
		delivery, err := connector.Send(t.Context(), to("C1", response))
		require.NoError(t, err, text)
		require.Equal(t, text, document.Get(delivery.Reply, "text", ""), "what the server got")
		require.Equal(t, "C1", delivery.ChatID)
		require.NotEmpty(t, delivery.MessageID)
	}
	made, err := connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a1", AdminExternalID: "U7"})
	require.NoError(t, err)
	require.NotEmpty(t, made.ExternalID)
}
