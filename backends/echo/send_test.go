package echo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/echofake"
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
	server := sendtest.NewServer(t, p, echofake.Faults())
	connector := newConnector(t, echo.Config{APIURL: server.URL})
	h := &sendtest.Harness{
		Connector: connector, Channel: shop(), Other: desk(),
		Members: []*member.Member{{ID: "m1", ExternalID: ada}, {ID: "m2", ExternalID: bob}},
		Arrived: func() []sendtest.Arrival { return p.Arrivals(map[string]string{shopApp: "shop", deskApp: "desk"}) },
		Fail:    server.Fail, HasNoKeys: true,
		Tags: func(to string) []int64 { return p.Tags(shopApp, to) },
		Odd:  func() []sendtest.Reception { return oddReports(t) },
	}
	for _, in := range []*send.Message{{Channel: h.Channel}, {Channel: h.Other}} { // Get the tokens now, so that only messages fail later.
		in.To, in.Response = ada, send.Typing(1)
		_, err := connector.Send(t.Context(), *in)
		require.NoError(t, err)
	}
	h.Secrets = []string{"token-000001-of-" + shopApp, "token-000002-of-" + deskApp}
	return h
}

// oddReports posts reports of unknown kinds to a handler, and returns how it handled each.
func oddReports(t *testing.T) []sendtest.Reception {
	t.Helper()
	return connectortest.Receptions(map[string]string{
		"a message of a new kind":   "<xml><FromUserName>o1</FromUserName><MsgType>of_a_new_kind</MsgType><A><B>1</B><B>2</B></A></xml>",
		"an event of a new kind":    echofake.Event(ada, "gh_shop", noon(), "of_a_new_kind", "<EventKey>1</EventKey>"),
		"an event about an account": echofake.Event(ada, "gh_shop", noon(), "MASSSENDJOBFINISH", ""),
		"an empty report":           "<xml></xml>",
		"a report without a sender": "<xml><MsgType>text</MsgType><Content>hi</Content></xml>",
		"an empty text":             echofake.Text(ada, "gh_shop", "7", noon(), ""),
		"an empty tap":              echofake.Event(ada, "gh_shop", noon(), "CLICK", "<EventKey></EventKey>"),
	}, func(body string) (*connectortest.Box, int) {
		box := newBox(t, find)
		return box, box.Ask(shopWebhook.Report(t.Context(), "/echo/gh_shop", noon(), body)).Code
	})
}

// attached returns a message as a live chat relays it.
func attached(attachments ...any) send.Response {
	return send.Other(send.TypeMisc, document.O("attachments", document.A(attachments...)))
}

func TestSend_RelayedParts(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	picture := document.O("type", "image", "payload", document.O("url", "https://x.test/a.png"))
	delivery, err := over(t, p).Send(t.Context(), toAda(attached(picture, picture).With("text", "look")))
	require.NoError(t, err)
	var kinds []string
	for _, sent := range p.Sent() {
		kinds = append(kinds, document.Get(sent.Body, "msgtype", ""))
	}
	require.Equal(t, []string{"text", "image", "image"}, kinds)
	require.Equal(t, "image", document.Get(delivery.Reply, "msgType", ""))
}

func TestSend_EachType(t *testing.T) {
	t.Parallel()
	article := `{"title":"Tea","description":"green","url":"https://x.test/1","picurl":"https://x.test/a.png"}`
	for name, c := range map[string]struct {
		response send.Response
		message  string
		result   string
	}{
		"text": {
			send.Text("a < b & <a lot> <b>"), `{"msgtype":"text","text":{"content":"a < b & ＜a lot> <b>"}}`,
			`{"msgType":"text","text":"a < b & <a lot> <b>"}`,
		},
		"image by id": {
			send.Attachment(send.TypeImage, "77"), `{"msgtype":"image","image":{"media_id":"77"}}`, `{"msgType":"image","image":"77"}`,
		},
		"audio by address": {
			send.Audio("https://x.test/a"), `{"msgtype":"voice","voice":{"media_id":"media-000002"}}`,
			`{"msgType":"voice","url":"https://x.test/a"}`,
		},
		"video": {
			send.Attachment(send.TypeVideo, "78").With("title", "Tea").With("thumb_media_id", "79"),
			`{"msgtype":"video","video":{"media_id":"78","thumb_media_id":"79","title":"Tea"}}`, `{"msgType":"video","video":"78","title":"Tea"}`,
		},
		"quick replies": {
			send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}, send.QuickReply{Title: "No", Payload: "no"}),
			`{"msgtype":"msgmenu","msgmenu":{"head_content":"Again?","list":[{"id":"Yes","content":"Yes"},{"id":"no","content":"No"}],"tail_content":""}}`,
			`{"msgType":"text","text":"Again?"}`,
		},
		"buttons": {
			send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu <1>", `https://x.test/?a="b"`)),
			`{"msgtype":"msgmenu","msgmenu":{"head_content":"Now?","list":[{"id":"{\"payload\":\"book\",\"value\":2}","content":"Yes"}],` +
				`"tail_content":"<a href=\"https://x.test/?a=%22b%22\">Menu ＜1＞</a>"}}`,
			`{"msgType":"text","text":"Now?"}`,
		},
		"links": {
			send.Buttons("Now?", send.WebURL("Menu", "https://x.test")),
			`{"msgtype":"text","text":{"content":"Now?\n<a href=\"https://x.test\">Menu</a>"}}`, `{"msgType":"text","text":"Now?"}`,
		},
		"a card": {
			send.Carousel(send.Card{
				Title: "Tea", Subtitle: "green", ImageURL: "https://x.test/a.png", Buttons: []send.Button{send.WebURL("Buy", "https://x.test/1")},
			}),
			`{"msgtype":"news","news":{"articles":[` + article + `]}}`,
			`{"msgType":"news","news":[` + article + `],"title":"Tea","description":"green","url":"https://x.test/1","image":"https://x.test/a.png"}`,
		},
		"news": {
			send.News(send.Article{Title: "Tea", URL: "https://x.test/1"}),
			`{"msgtype":"news","news":{"articles":[{"title":"Tea","url":"https://x.test/1"}]}}`,
			`{"msgType":"news","news":[{"title":"Tea","url":"https://x.test/1"}],"title":"Tea","url":"https://x.test/1"}`,
		},
		"the platform's own": {
			send.Other("MINI", document.O("message", document.O("msgtype", "wxcard", "wxcard", document.O("card_id", "1")))),
			`{"msgtype":"wxcard","wxcard":{"card_id":"1"}}`, `{"msgType":"wxcard"}`,
		},
		"a relayed picture": {
			attached(document.O("type", "image", "payload", document.O("url", "https://x.test/a.png", "attachment_id", "of another platform"))),
			`{"msgtype":"image","image":{"media_id":"media-000002"}}`, `{"msgType":"image","url":"https://x.test/a.png","image":"media-000002"}`,
		},
		"a relayed video of the platform": {
			attached(document.O("type", "video", "payload", document.O("attachment_id", "78", "url", ""))),
			`{"msgtype":"video","video":{"media_id":"78"}}`, `{"msgType":"video","video":"78"}`,
		},
		"a relayed place": {
			attached(document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 52.5, "long", 13)))),
			`{"msgtype":"text","text":{"content":"52.5, 13"}}`, `{"msgType":"text","text":"52.5, 13"}`,
		},
		"a named writer": {
			send.Text("Hi").With("customservice", document.O("kf_account", "grace@shop")),
			`{"msgtype":"text","text":{"content":"Hi"},"customservice":{"kf_account":"grace@shop"}}`, `{"msgType":"text","text":"Hi"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			delivery, err := over(t, p).Send(t.Context(), toAda(c.response))
			require.NoError(t, err)
			sent := p.Sent()[0]
			require.JSONEq(t, c.message, sent.Body.Without("touser").String())
			require.NotContains(t, sent.Body.String(), `\u003c`, "the platform would show it")
			require.JSONEq(t, c.result, delivery.Reply.String())
			require.Equal(t, "send-1", delivery.MessageID)
			require.Equal(t, "gh_shop", delivery.From)
		})
	}
}

func TestSend_Refuses(t *testing.T) {
	t.Parallel()
	web := []send.Button{send.WebURL("A", "https://x.test")}
	picture := document.O("type", "image", "payload", document.O("url", "https://x.test/a.png"))
	connectortest.RequireUnsendable(t, map[string]connectortest.Unsendable{
		"a long text above lines": {send.Buttons(strings.Repeat("\u8336", 683), send.Postback("A", "a")), boterr.InvalidArgument, "text"},
		"a long payload": {
			send.Buttons("x", send.Postback("A", "a"), send.PostbackValue("B", "b", strings.Repeat("x", 120))),
			boterr.InvalidArgument, "buttons[1].payload",
		},
		"a payload of a quick reply": {
			send.QuickReplies("x", send.QuickReply{Title: "A", Payload: strings.Repeat("x", 129)}), boterr.InvalidArgument, "quickReplies[0].payload",
		},
		"a quick reply of another kind": {
			send.QuickReplies("x", send.QuickReply{ContentType: "location"}), boterr.Unsupported, "quickReplies[0].content_type",
		},
		"a button of another kind": {
			send.Other(send.TypeButton, document.O("text", "x", "buttons", document.A(document.O("type", "phone_number", "title", "A")))),
			boterr.Unsupported, "buttons[0].type",
		},
		"a button to elsewhere": {send.Buttons("x", send.WebURL("A", "tel:123")), boterr.InvalidArgument, "buttons[0].url"},
		"two cards":             {send.Carousel(send.Card{Title: "A", Buttons: web}, send.Card{Title: "B", Buttons: web}), boterr.InvalidArgument, "carousel"},
		"a card to elsewhere": {
			send.Carousel(send.Card{Title: "A", Buttons: []send.Button{send.WebURL("A", "ftp://x")}}), boterr.InvalidArgument, "carousel[0].buttons[0].url",
		},
		"the platform's own without its kind": {
			send.Other("POLL", document.O("message", document.O("text", "x"))), boterr.InvalidArgument, "message.msgtype",
		},
		"relayed, of nothing": {send.Other(send.TypeMisc, document.O("event", "x")), boterr.Unsupported, "type"},
		"a relayed file":      {attached(picture, document.O("type", "file")), boterr.Unsupported, "attachments[1].type"},
		"a relayed picture without an address": {
			attached(picture, document.O("type", "image")), boterr.InvalidArgument, "attachments[1].payload.url",
		},
		"six relayed pictures":             {attached(picture, picture, picture, picture, picture).With("text", "x"), boterr.InvalidArgument, "attachments"},
		"an address that is not the web's": {send.Image("data:image/png;base64,AA"), boterr.InvalidArgument, "url"},
		"a file that is gone":              {send.Image("https://x.test/gone.png"), boterr.InvalidArgument, "url"},
		"a large file":                     {send.Video("https://x.test/large.mp4"), boterr.InvalidArgument, "url"},
	}, func(t *testing.T, response send.Response) error {
		t.Helper()
		p := newPlatform()
		_, err := over(t, p).Send(t.Context(), toAda(response))
		require.Empty(t, p.Sent())
		return err
	})
}

func TestSend_Typing(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	_, err := over(t, p).Send(t.Context(), toAda(send.Typing(1)))
	require.NoError(t, err)
	require.Equal(t, []string{"Typing to " + ada}, p.Actions())
}

func TestSend_UploadedFileHasAName(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	for address, name := range map[string]string{
		"https://x.test/tea.png?size=2": "tea.png", "https://x.test/tea": "tea.jpg", "https://x.test": "image.jpg",
	} {
		_, err := connector.Send(t.Context(), toAda(send.Image(address)))
		require.NoError(t, err)
		arrived := p.Arrivals(nil)
		require.Contains(t, arrived[len(arrived)-1].Body, " "+name)
	}
}

func TestSaveTag_ReplyOfThePlatform(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	for tag := range int64(send.MaxMemberTags) {
		reply, err := connector.SaveTag(t.Context(), shop(), ada, tag+1)
		require.NoError(t, err)
		require.Equal(t, send.TagReply{Message: "ok"}, reply)
	}
	for _, c := range []struct {
		to    string
		tag   int64
		reply send.TagReply
	}{
		{ada, 21, send.TagReply{Code: 45059, Message: "has out of tagging limit"}},
		{ada, 20, send.TagReply{Message: "ok"}},
		{ada, 999, send.TagReply{Code: 45159, Message: "invalid tag"}},
		{"oNone", 1, send.TagReply{Code: 40003, Message: "invalid openid"}},
	} {
		reply, err := connector.SaveTag(t.Context(), shop(), c.to, c.tag)
		require.NoError(t, err)
		require.Equal(t, c.reply, reply)
	}
	require.Len(t, p.Tags(shopApp, ada), send.MaxMemberTags)
}
