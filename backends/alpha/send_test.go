package alpha_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, newHarness)
}

func newHarness(t *testing.T) *sendtest.Harness {
	t.Helper()
	p := newPlatform()
	server := sendtest.NewServer(t, p, alphafake.Faults())
	connector := connectortest.New(t, alpha.New, alpha.Config{APIURL: server.URL + "/v23.0", AppSecret: channel.NewSecret(appSecret)})
	return &sendtest.Harness{
		Connector: connector, Channel: shop(), Other: desk(),
		Members: []*member.Member{{ID: "m1", ExternalID: "100"}, {ID: "m2", ExternalID: "101"}},
		Arrived: func() []sendtest.Arrival {
			return p.Arrivals(map[string]string{"1900": "shop", "1901": "desk"})
		},
		Fail: server.Fail, Labels: p.Labels, Thread: p.Thread,
		Secrets: []string{appSecret},
		Odd:     func() []sendtest.Reception { return oddReports(t) },
	}
}

// oddReports posts reports of unknown kinds to a handler, and returns how it handled each.
func oddReports(t *testing.T) []sendtest.Reception {
	t.Helper()
	return connectortest.Receptions(map[string]string{
		"an item of a new kind":       `{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"of_a_new_kind":{"a":1}}]}]}`,
		"an item that says nothing":   `{"object":"page","entry":[{"id":"1900","messaging":[{}]}]}`,
		"a message that says nothing": `{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"message":{"mid":"m1"}}]}]}`,
		"an empty text":               `{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"message":{"mid":"m1","text":""}}]}]}`,
		"a change of a new kind":      `{"object":"page","entry":[{"id":"1900","changes":[{"field":"of_a_new_kind","value":7}]}]}`,
		"an entry that says nothing":  `{"object":"page","entry":[{"id":"1900"}]}`,
		"an entry without an id":      `{"object":"page","entry":[{"messaging":[{"sender":{"id":"100"},"message":{"text":"hi"}}]}]}`,
		"another object":              `{"object":"of_a_new_kind","entry":[{"id":"1900"}]}`,
	}, func(body string) (*connectortest.Box, int) {
		box := newBox(t, find)
		return box.Box, box.report(t.Context(), appSecret, body)
	})
}

func TestSend_EachType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response send.Response
		message  string
	}{
		"text":  {send.Text("Hello"), `{"text":"Hello"}`},
		"image": {send.Image("https://x.test/a.png"), `{"attachment":{"type":"image","payload":{"url":"https://x.test/a.png"}}}`},
		"file by id": {
			send.Attachment(send.TypeFile, "77"), `{"attachment":{"type":"file","payload":{"attachment_id":"77"}}}`,
		},
		"quick replies": {
			send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}, send.QuickReply{ContentType: "user_email"}),
			`{"text":"Again?","quick_replies":[{"content_type":"text","title":"Yes","payload":"Yes"},{"content_type":"user_email"}]}`,
		},
		"buttons": {
			send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")),
			`{"attachment":{"type":"template","payload":{"template_type":"button","text":"Now?","buttons":[` +
				`{"type":"postback","title":"Yes","payload":"{\"payload\":\"book\",\"value\":2}"},` +
				`{"type":"web_url","title":"Menu","url":"https://x.test"}]}}}`,
		},
		"carousel": {
			send.Carousel(send.Card{Title: "Tea", Subtitle: "green", Buttons: []send.Button{send.Postback("Buy", "tea")}}),
			`{"attachment":{"type":"template","payload":{"template_type":"generic","elements":[{"title":"Tea","subtitle":"green",` +
				`"buttons":[{"type":"postback","title":"Buy","payload":"tea"}]}]}}}`,
		},
		"the platform's own": {
			send.Other("MEDIA", document.O("message", document.O("attachment", document.O("type", "template")))),
			`{"attachment":{"type":"template"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			delivery, err := over(t, p).Send(t.Context(), to("100", c.response))
			require.NoError(t, err)
			sent := p.Sent()[0]
			require.Equal(t, sent.ID, delivery.MessageID)
			require.Equal(t, "1900", delivery.From)
			require.JSONEq(t, c.message, sent.Content.Without("metadata").String())
			require.Equal(t, "send-1", document.Get(sent.Content, "metadata", ""))
		})
	}
}

func TestSend_Refuses(t *testing.T) {
	t.Parallel()
	connectortest.RequireUnsendable(t, map[string]connectortest.Unsendable{
		"a long text above buttons": {
			send.Buttons(strings.Repeat("ä", 641), send.Postback("A", "a")), boterr.InvalidArgument, "text",
		},
		"a long payload": {
			send.Buttons("x", send.Postback("A", "a"), send.PostbackValue("B", "b", strings.Repeat("x", 990))),
			boterr.InvalidArgument, "buttons[1].payload",
		},
		"a card with a title alone": {
			send.Carousel(send.Card{Title: "A", Subtitle: "a"}, send.Card{Title: "B"}), boterr.InvalidArgument, "carousel[1].subtitle",
		},
		"a button to elsewhere": {
			send.Buttons("x", send.WebURL("A", "tel:123")), boterr.InvalidArgument, "buttons[0].url",
		},
		"a picture of a card": {
			send.Carousel(send.Card{Title: "A", ImageURL: "ftp://x.test/a"}), boterr.InvalidArgument, "carousel[0].image_url",
		},
	}, func(t *testing.T, response send.Response) error {
		t.Helper()
		p := newPlatform()
		_, err := over(t, p).Send(t.Context(), to("100", response))
		require.Empty(t, p.Sent())
		return err
	})
}

func TestSend_MessagingType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, tag, wantKind string }{
		{"", "", "RESPONSE"},
		{"UPDATE", "", "UPDATE"},
		{"", "HUMAN_AGENT", "MESSAGE_TAG"},
		{"MESSAGE_TAG", "HUMAN_AGENT", "MESSAGE_TAG"},
	} {
		p := newPlatform()
		message := to("100", send.Text("Hello").With("notification_type", "NO_PUSH"))
		message.MessagingType, message.MessagingTag = c.kind, c.tag
		_, err := over(t, p).Send(t.Context(), message)
		require.NoError(t, err)
		body := p.Sent()[0].Body
		require.Equal(t, c.wantKind, document.Get(body, "messaging_type", ""))
		require.Equal(t, c.tag, document.Get(body, "tag", ""))
		require.Equal(t, "NO_PUSH", document.Get(body, "notification_type", ""))
	}
}

func TestSend_RetiredTag(t *testing.T) {
	t.Parallel()
	message := to("100", send.Text("Hello"))
	message.MessagingTag = "ACCOUNT_UPDATE"
	_, err := over(t, newPlatform()).Send(t.Context(), message)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "no longer accepts the messagingTag ACCOUNT_UPDATE; use HUMAN_AGENT")
}

func TestSend_Actions(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	for _, response := range []send.Response{send.Typing(1), send.Other("MARK_SEEN", document.O())} {
		delivery, err := connector.Send(t.Context(), to("100", response))
		require.NoError(t, err)
		require.Empty(t, delivery.MessageID)
	}
	require.Equal(t, []string{"typing_on to 100", "mark_seen to 100"}, p.Actions())
}

func TestSend_OtherRecipients(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	_, err := connector.Send(t.Context(), to("200", send.Text("In private").With("comment_id", "1900_77_88")))
	require.NoError(t, err)
	_, err = connector.Send(t.Context(), to("user_ref:u-1", send.Text("Thanks")))
	require.NoError(t, err)
	require.JSONEq(t, `{"comment_id":"1900_77_88"}`, p.Sent()[0].To)
	require.JSONEq(t, `{"user_ref":"u-1"}`, p.Sent()[1].To)

	message := to("200", send.Text("In private").With("comment_id", "1900_77_88"))
	message.Channel = desk()
	_, err = connector.Send(t.Context(), message)
	require.ErrorIs(t, err, boterr.FailedPrecondition, "its info does not allow answers to comments")
	require.Len(t, p.Sent(), 2)
}

func TestSend_ProvesTheSecret(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AppSecret = appSecret
	connector := over(t, p)
	_, err := connector.Send(t.Context(), to("100", send.Text("Hello")))
	require.NoError(t, err)
	message := to("100", send.Text("Hello"))
	message.Channel = desk()
	_, err = connector.Send(t.Context(), message)
	require.ErrorContains(t, err, "Invalid appsecret_proof", "the desk has an application of its own")
}

func TestLabels_ByName(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AddLabel("1900", 7002, "guest")
	p.AddLabel("1900", 7003, "late")
	connector := over(t, p)
	number, err := connector.SaveLabel(t.Context(), shop(), "100", "late")
	require.NoError(t, err)
	require.EqualValues(t, 7003, number, "it is on the third page of the list")
	made, err := connector.SaveLabel(t.Context(), shop(), "100", "new")
	require.NoError(t, err)
	again, err := connector.SaveLabel(t.Context(), shop(), "101", "new")
	require.NoError(t, err)
	require.Equal(t, made, again, "it is made once")
	require.NoError(t, connector.RemoveLabel(t.Context(), shop(), "100", "late"))
	require.NoError(t, connector.RemoveLabel(t.Context(), shop(), "100", "none of this name"))
	require.Len(t, p.Labels("100"), 1)
	require.ErrorIs(t, connector.RemoveLabel(t.Context(), shop(), "100", "8000"), boterr.NotFound)
	_, err = connector.SaveLabel(t.Context(), shop(), "100", "")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestThread_GoesToTheInbox(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	require.NoError(t, connector.PassThreadControl(t.Context(), shop(), "100", send.ThreadHandover{}))
	require.Equal(t, "263902037430900", p.Thread("100").TargetAppID)
	_, err := connector.Send(t.Context(), to("100", send.Text("Hello")))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "another application controls the conversation")
	require.False(t, send.IsGone(err), "it may come back")
}

func TestProfile(t *testing.T) {
	t.Parallel()
	connector := over(t, newPlatform())
	found, err := connector.Profile(t.Context(), shop(), "100")
	require.NoError(t, err)
	require.Equal(t, member.Member{FirstName: "Ada", LastName: "Lovelace", ProfilePic: "https://cdn.example/ada.png"}, found)
	_, err = connector.Profile(t.Context(), shop(), "999")
	require.ErrorIs(t, err, boterr.NotFound)
}
