package charlie_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

func TestSend_TextAndReply(t *testing.T) {
	t.Parallel()
	s := newTool()
	delivery, err := s.start(t, charlie.Config{}).Send(t.Context(), to("U1", send.Text("Hello")))
	require.NoError(t, err)
	require.Equal(t, "Hello", s.sent(t, "D1").Get("text"))
	require.Equal(t, "1700000000.001000", delivery.MessageID)
	require.Equal(t, "D1", delivery.ChatID)
	require.Equal(t, "UBOT", delivery.From)
	require.Equal(t, document.Timestamp(1700000000001), delivery.Timestamp)
	require.Equal(t, []string{"channel", "message", "ok", "ts"}, delivery.Reply.Keys())
	require.True(t, document.Get(delivery.Reply, "message.of_a_new_kind.kept", false), "what the library does not know is kept")
}

func TestSend_TextIsNoMarkup(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	const text = `<!channel> a & b <https://x.test|y> &lt;`
	const shown = `&lt;!channel&gt; a &amp; b &lt;https://x.test|y&gt; &amp;lt;`
	for name, response := range map[string]send.Response{
		"text":          send.Text(text),
		"buttons":       send.Buttons(text, send.Postback("Go", "go")),
		"quick replies": send.QuickReplies(text, send.QuickReply{Title: "Go"}),
	} {
		_, err := connector.Send(t.Context(), to("C1", response))
		require.NoError(t, err, name)
		require.Equal(t, shown, s.sent(t, "C1").Get("text"), name)
		require.NotContains(t, s.sent(t, "C1").Get("blocks"), "<!channel>", name)
	}
}

func TestSend_EachType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response     send.Response
		text, blocks string
	}{
		"image": {
			send.Image("https://x.test/a.png?b=1&c=2"), "<https://x.test/a.png?b=1&amp;c=2>",
			`[{"type":"image","image_url":"https://x.test/a.png?b=1&c=2","alt_text":"Image"}]`,
		},
		"image by id": {
			send.Attachment(send.TypeImage, "F1"), "Image", `[{"type":"image","slack_file":{"id":"F1"},"alt_text":"Image"}]`,
		},
		"audio": {send.Audio("https://x.test/a.mp3"), "<https://x.test/a.mp3>", ""},
		"video": {send.Video("https://x.test/a.mp4"), "<https://x.test/a.mp4>", ""},
		"file":  {send.File("https://x.test/a|b>"), "<https://x.test/a%7Cb%3E>", ""},
		"buttons": {
			send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")), "Now?",
			`[{"type":"section","text":{"type":"mrkdwn","text":"Now?","verbatim":true}},{"type":"actions","elements":[` +
				`{"type":"button","action_id":"button-0","text":{"type":"plain_text","text":"Yes","emoji":true},"value":"{\"payload\":\"book\",\"value\":2}"},` +
				`{"type":"button","action_id":"button-1","text":{"type":"plain_text","text":"Menu","emoji":true},"url":"https://x.test"}]}]`,
		},
		"quick replies": {
			send.QuickReplies("Again?", send.QuickReply{Title: "Yes", Payload: "again"}), "Again?",
			`[{"type":"section","text":{"type":"mrkdwn","text":"Again?","verbatim":true}},{"type":"actions","elements":[` +
				`{"type":"button","action_id":"button-0","text":{"type":"plain_text","text":"Yes","emoji":true},"value":"again"}]}]`,
		},
		"carousel": {
			send.Carousel(
				send.Card{Title: "Tea", Subtitle: "green", ImageURL: "https://x.test/t.png", Buttons: []send.Button{send.Postback("Buy", "tea")}},
				send.Card{Title: "R&B"},
			), "Tea\nR&amp;B",
			`[{"type":"section","text":{"type":"mrkdwn","text":"*Tea*\ngreen","verbatim":true},` +
				`"accessory":{"type":"image","image_url":"https://x.test/t.png","alt_text":"Tea"}},` +
				`{"type":"actions","elements":[{"type":"button","action_id":"button-0","text":{"type":"plain_text","text":"Buy","emoji":true},"value":"tea"}]},` +
				`{"type":"divider"},{"type":"section","text":{"type":"mrkdwn","text":"*R&amp;B*","verbatim":true}}]`,
		},
		"the tool's own": {
			send.Other("POLL", document.O("text", "<!here>", "blocks", document.A(document.O("type", "poll", "n", 1)))),
			"<!here>", `[{"type":"poll","n":1}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTool()
			_, err := s.start(t, charlie.Config{}).Send(t.Context(), to("C1", c.response))
			require.NoError(t, err)
			require.Equal(t, c.text, s.sent(t, "C1").Get("text"))
			require.Equal(t, c.blocks, s.sent(t, "C1").Get("blocks"))
		})
	}
}

func TestSend_FieldsOfTheTool(t *testing.T) {
	t.Parallel()
	s := newTool()
	response := send.Text("Hello").With("thread_ts", "1.2").With("unfurl_links", false).
		With("attachments", document.A(document.O("color", "red", "of_a_new_kind", 1)))
	_, err := s.start(t, charlie.Config{}).Send(t.Context(), to("C1", response))
	require.NoError(t, err)
	sent := s.sent(t, "C1")
	require.Equal(t, "1.2", sent.Get("thread_ts"))
	require.Equal(t, "false", sent.Get("unfurl_links"))
	require.JSONEq(t, `[{"color":"red","of_a_new_kind":1}]`, sent.Get("attachments"))
}

func TestSend_Typing(t *testing.T) {
	t.Parallel()
	s := newTool()
	delivery, err := s.start(t, charlie.Config{}).Send(t.Context(), to("C1", send.Typing(1)))
	require.NoError(t, err)
	require.True(t, document.Get(delivery.Reply, "ok", false))
	require.Empty(t, s.called())
}

func TestSend_LongText(t *testing.T) {
	t.Parallel()
	s := newTool()
	text := strings.Repeat("&", 2000)
	_, err := s.start(t, charlie.Config{}).Send(t.Context(), to("C1", send.Buttons(text, send.Postback("Go", "go"))))
	require.NoError(t, err)
	blocks, err := document.ParseJSON([]byte(s.sent(t, "C1").Get("blocks")))
	require.NoError(t, err)
	var whole strings.Builder
	for _, block := range blocks.(document.Array).All() {
		part := document.Get(block.(document.Object), "text.text", "")
		require.LessOrEqual(t, len(part), 3000)
		whole.WriteString(part)
	}
	require.Equal(t, strings.Repeat("&amp;", 2000), whole.String())
}

func TestSend_UnshowableHasPath(t *testing.T) {
	t.Parallel()
	long := send.Postback("Go", strings.Repeat("é", 2001))
	for name, c := range map[string]struct {
		response send.Response
		code     boterr.Code
		field    string
	}{
		"a long payload":           {send.Buttons("x", send.Postback("A", "a"), long), boterr.InvalidArgument, "buttons[1].payload"},
		"a long payload in a card": {send.Carousel(send.Card{Title: "x", Buttons: []send.Button{long}}), boterr.InvalidArgument, "carousel[0].buttons[0].payload"},
		"a long value":             {send.Buttons("x", send.PostbackValue("A", "a", strings.Repeat("x", 1990))), boterr.InvalidArgument, "buttons[0].payload"},
		"a relative address":       {send.Image("/a.png"), boterr.InvalidArgument, "url"},
		"a long address":           {send.Image("https://x.test/" + strings.Repeat("a", 3000)), boterr.InvalidArgument, "url"},
		"a script":                 {send.Buttons("x", send.WebURL("A", "javascript:alert(1)")), boterr.InvalidArgument, "buttons[0].url"},
		"a picture of a card":      {send.Carousel(send.Card{Title: "x", ImageURL: "a"}), boterr.InvalidArgument, "carousel[0].image_url"},
		"a film by id":             {send.Attachment(send.TypeVideo, "F1"), boterr.Unsupported, "attachment_id"},
		"a button of another type": {send.Buttons("x", send.Button{Type: "call", Title: "A"}), boterr.Unsupported, "buttons[0].type"},
		"a location":               {send.QuickReplies("x", send.QuickReply{ContentType: "location"}), boterr.Unsupported, "quickReplies[0].content_type"},
		"an article":               {send.Other(send.TypeNews, document.O("articles", document.A())), boterr.Unsupported, "type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTool()
			_, err := s.start(t, charlie.Config{}).Send(t.Context(), to("C1", c.response))
			found, ok := boterr.AsError(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.code, found.Code)
			require.Equal(t, c.field, found.Field)
			require.Empty(t, s.called())
		})
	}
}

func TestSend_LongestPayload(t *testing.T) {
	t.Parallel()
	s := newTool()
	_, err := s.start(t, charlie.Config{}).Send(t.Context(), to("C1", send.Buttons("x", send.Postback("A", strings.Repeat("é", 2000)))))
	require.NoError(t, err)
}

func TestSend_TokenOfUser(t *testing.T) {
	t.Parallel()
	s := newTool()
	message := to("C1", send.Text("Hello"))
	message.Channel.Info = channel.CharlieInfo{AccessToken: channel.NewSecret(token)}
	connector := s.start(t, charlie.Config{})
	_, err := connector.Send(t.Context(), message)
	require.NoError(t, err)
	message.Channel.Info = channel.CharlieInfo{BotAccessToken: channel.NewSecret(token), AccessToken: channel.NewSecret("another")}
	_, err = connector.Send(t.Context(), message)
	require.NoError(t, err)
	for name, info := range map[string]channel.Info{"no token": channel.CharlieInfo{}, "no info": nil} {
		message.Channel.Info = info
		_, err = connector.Send(t.Context(), message)
		require.ErrorIs(t, err, boterr.FailedPrecondition, name)
	}
}
