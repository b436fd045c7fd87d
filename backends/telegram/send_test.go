package telegram_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

const site = "https://files.example.com/"

func TestSend_EachType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response send.Response
		// sent has the called methods with their parameters, except the chat.
		sent []string
	}{
		"text":           {send.Text("Hi *you*"), []string{`sendMessage {"text":"Hi *you*"}`}},
		"image":          {send.Image(site + "a.png"), []string{`sendPhoto {"photo":"https://files.example.com/a.png"}`}},
		"image by id":    {send.Attachment(send.TypeImage, "F1"), []string{`sendPhoto {"photo":"F1"}`}},
		"audio":          {send.Audio(site + "a.mp3"), []string{`sendAudio {"audio":"https://files.example.com/a.mp3"}`}},
		"audio of Ogg":   {send.Audio(site + "a.ogg?x=.mp3"), []string{`sendVoice {"voice":"https://files.example.com/a.ogg?x=.mp3"}`}},
		"voice by id":    {send.Attachment(send.TypeAudio, "F1").With("kind", "voice"), []string{`sendVoice {"voice":"F1"}`}},
		"video":          {send.Video(site + "a.mp4"), []string{`sendVideo {"video":"https://files.example.com/a.mp4"}`}},
		"animation":      {send.Attachment(send.TypeVideo, "F1").With("kind", "animation"), []string{`sendAnimation {"animation":"F1"}`}},
		"file":           {send.File(site + "a.pdf"), []string{`sendDocument {"document":"https://files.example.com/a.pdf"}`}},
		"typing":         {send.Typing(time.Minute), nil},
		"only a text":    {send.Other(send.TypeMisc, document.O("text", "Hi")), []string{`sendMessage {"text":"Hi"}`}},
		"relayed photo":  {misc("Look", "image", "photo", "F1"), []string{`sendMessage {"text":"Look"}`, `sendPhoto {"photo":"F1"}`}},
		"relayed by url": {miscOf("", document.O("type", "file", "payload", document.O("url", site+"a", "attachment_id", "theirs"))), []string{`sendDocument {"document":"https://files.example.com/a"}`}},
		"relayed sticker": {misc("Look", "image", "sticker", "F1"), []string{
			`sendMessage {"text":"Look"}`, `sendSticker {"sticker":"F1"}`,
		}},
		"relayed place and person": {
			miscOf("",
				document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 52.5, "long", 13.25))),
				document.O("type", "contact", "payload", document.O("phone_number", "+15550100", "first_name", "Grace", "vcard", "x"))),
			[]string{`sendLocation {"latitude":52.5,"longitude":13.25}`, `sendContact {"phone_number":"+15550100","first_name":"Grace"}`},
		},
		"buttons": {
			send.Buttons("Now?", send.Postback("Yes", "yes"), send.PostbackValue("Book", "book", 2), send.WebURL("Menu", site)),
			[]string{`sendMessage {"text":"Now?","reply_markup":{"inline_keyboard":[[{"text":"Yes","callback_data":"yes"}],` +
				`[{"text":"Book","callback_data":"[\"book\",2]"}],[{"text":"Menu","url":"https://files.example.com/"}]]}}`},
		},
		"quick replies": {
			send.QuickReplies("Again?", send.QuickReply{Title: "Yes", Payload: "again"}, send.QuickReply{Title: "No"}),
			[]string{`sendMessage {"text":"Again?","reply_markup":{"inline_keyboard":[[{"text":"Yes","callback_data":"~again"}],[{"text":"No","callback_data":"~No"}]]}}`},
		},
		"carousel": {
			send.Carousel(
				send.Card{Title: "Tea", Subtitle: "green", ImageURL: site + "t.png", Buttons: []send.Button{send.Postback("Buy", "tea")}},
				send.Card{Title: "Coffee"},
			),
			[]string{
				`sendPhoto {"photo":"https://files.example.com/t.png","caption":"Tea\ngreen","reply_markup":{"inline_keyboard":[[{"text":"Buy","callback_data":"tea"}]]}}`,
				`sendMessage {"text":"Coffee"}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			connector := w.start(t)
			for id, address := range map[string]string{adaID: `{"chat_id":501,`, w.topic: `{"chat_id":-100300,"message_thread_id":1001,`} {
				before := len(w.Messages())
				_, err := connector.Send(t.Context(), to(id, c.response))
				require.NoError(t, err)
				var sent []string
				for _, message := range w.Messages()[before:] {
					require.Equal(t, id, message.Chat)
					sent = append(sent, message.Method+" "+strings.Replace(message.Sent.String(), address, "{", 1))
				}
				require.Equal(t, c.sent, sent)
			}
			require.Equal(t, c.response.Type() == send.TypeTyping, w.IsTyping(adaID))
		})
	}
}

// misc returns a message with a file that looks like one of this package's events.
func misc(text, attachment, kind, id string) send.Response {
	return miscOf(text, document.O("type", attachment, "payload", document.O("attachment_id", id, "kind", kind)))
}

func miscOf(text string, attachments ...any) send.Response {
	return send.Other(send.TypeMisc, document.O("attachments", document.A(attachments...), "text", text))
}

func TestSend_RefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 65)
	connectortest.RequireUnsendable(t, map[string]connectortest.Unsendable{
		"payload":           {send.Buttons("a", send.Postback("b", long)), boterr.InvalidArgument, "buttons[0].payload"},
		"payload of two":    {send.Buttons("a", send.PostbackValue("b", "c", long)), boterr.InvalidArgument, "buttons[0].payload"},
		"payload of bytes":  {send.Buttons("a", send.Postback("b", strings.Repeat("ä", 33))), boterr.InvalidArgument, "buttons[0].payload"},
		"quick reply":       {send.QuickReplies("a", send.QuickReply{Title: "b", Payload: long[:64]}), boterr.InvalidArgument, "quickReplies[0].payload"},
		"second card":       {send.Carousel(send.Card{Title: "a"}, send.Card{Title: "b", Buttons: []send.Button{send.Postback("c", long)}}), boterr.InvalidArgument, "carousel[1].buttons[0].payload"},
		"button":            {send.Other(send.TypeButton, document.O("text", "a", "buttons", document.A(document.O("type", "phone_number")))), boterr.Unsupported, "buttons[0].type"},
		"other quick reply": {send.Other(send.TypeQuickReplies, document.O("text", "a", "quickReplies", document.A(document.O("content_type", "location")))), boterr.Unsupported, "quickReplies[0].content_type"},
		"news":              {send.News(send.Article{Title: "a"}), boterr.Unsupported, "type"},
		"template":          {send.BravoTemplate("a", "en"), boterr.Unsupported, "type"},
		"nothing to relay":  {send.Other(send.TypeMisc, document.O("event", document.O())), boterr.Unsupported, "type"},
		"relayed something": {miscOf("", document.O("type", "hologram", "payload", document.O("url", site))), boterr.Unsupported, "attachments[0]"},
		"relayed nothing":   {miscOf("", document.O("type", "image")), boterr.InvalidArgument, "attachments[0]"},
		"kind of file":      {send.Image(site).With("kind", "hologram"), boterr.Unsupported, "kind"},
	}, func(t *testing.T, response send.Response) error {
		t.Helper()
		w := newWorld()
		_, err := w.start(t).Send(t.Context(), to(adaID, response))
		require.Empty(t, w.Calls())
		return err
	})
}

func TestSend_Delivery(t *testing.T) {
	t.Parallel()
	w := newWorld()
	connector := w.start(t)
	delivery, err := connector.Send(t.Context(), to(w.topic, send.Text("Hello")))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d:%d", forum, w.last(t, w.topic).ID), delivery.MessageID)
	require.Equal(t, w.topic, delivery.ChatID)
	require.Equal(t, "7001", delivery.From)
	require.Equal(t, document.Timestamp(telegramfake.Date*1000), delivery.Timestamp)
	require.Equal(t, "Hello", document.Get(delivery.Reply, "text", ""))

	typing, err := connector.Send(t.Context(), to(adaID, send.Typing(1)))
	require.NoError(t, err)
	require.Equal(t, send.Delivery{Reply: document.O("ok", true), ChatID: adaID, From: "7001"}, typing)
}

// A tap sends the payload back unchanged.
func TestPayload_ComesBack(t *testing.T) {
	t.Parallel()
	for _, payload := range []any{
		"yes", "~yes", "~", `"yes"`, `{"payload":"x"}`, "[1]", "[", "{", `["a","b"]`, "null", "7", "ä ö",
		document.O("payload", "book", "value", 2), document.O("payload", "book", "value", document.O("a", document.A(1, nil, "x"))),
		document.O("payload", "book"), document.O("payload", "", "value", nil), document.O("payload", "a", "value", true, "more", 1),
		document.O("value", 1, "payload", "x"),
		document.O("payload", livechat.TakePayload, "value", "0b3f7c8a-8f1e-4c1b-9a53-0123456789ab"),
	} {
		w := newWorld()
		var a connectortest.Box
		connector := direct(t, w, telegram.Config{})
		handler := routed(connector.Handler(a.Accept))
		require.NoError(t, connector.SetWebhook(t.Context(), shop(), "https://bots.example.com"+shopPath))
		_, err := connector.Send(t.Context(), to(adaID, send.Other(send.TypeButton, document.O("text", "a", "buttons",
			document.A(document.O("type", "postback", "title", "Tap", "payload", payload))))))
		require.NoError(t, err)
		if text, isText := payload.(string); isText {
			_, err = connector.Send(t.Context(), to(adaID, send.QuickReplies("a", send.QuickReply{Title: "Tap", Payload: text})))
			require.NoError(t, err)
		}
		for _, message := range w.Messages() {
			w.Taps(token, ada, message, "Tap")
			require.Equal(t, []int{200}, w.Push(t.Context(), token, handler, shopPath, 1))
			events := a.Got
			got, _ := events[len(events)-1].Event.Data.Field("payload")
			require.True(t, document.Equal(payload, got), "%v came back as %v", payload, got)
		}
	}
}

func TestQuickReplies_DisappearAfterATap(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var a connectortest.Box
	connector := w.start(t)
	for _, response := range []send.Response{
		send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}), send.Buttons("Now?", send.Postback("Yes", "yes")),
	} {
		_, err := connector.Send(t.Context(), to(adaID, response))
		require.NoError(t, err)
		tapped := w.last(t, adaID)
		for range 2 { // The second tap happens before the buttons disappear.
			w.Taps(token, ada, tapped, "Yes")
		}
		require.NoError(t, connector.SetWebhook(t.Context(), shop(), "https://bots.example.com"+shopPath))
		require.Equal(t, []int{200, 200}, w.Push(t.Context(), token, routed(connector.Handler(a.Accept)), shopPath, 9))
	}
	shown := w.Messages()
	require.Empty(t, shown[0].Buttons)
	require.Equal(t, "Again?", shown[0].Text)
	require.Len(t, shown[1].Buttons, 1, "buttons stay")
	require.Len(t, w.Answered(token), 4)
}

func TestSend_GroupHasMoved(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.Move(group, -100999)
	delivery, err := w.start(t).Send(t.Context(), to("-100200", send.Carousel(send.Card{Title: "a"}, send.Card{Title: "b"})))
	require.NoError(t, err)
	require.Equal(t, "-100999", delivery.ChatID)
	require.Equal(t, "b", w.last(t, "-100999").Text)
	require.Len(t, w.Calls(), 3, "the second card goes to the new id at once")
}

func TestSend_PartsAfterTheFirst(t *testing.T) {
	t.Parallel()
	two := send.Carousel(send.Card{Title: "a", ImageURL: site}, send.Card{Title: "b", ImageURL: site})
	for name, c := range map[string]struct {
		refusal http.HandlerFunc
		code    boterr.Code
		field   string
	}{
		"rate":    {telegramfake.Refuses(429, "Too Many Requests: retry after 7", "retry_after", 7), boterr.ResourceExhausted, ""},
		"picture": {telegramfake.Refuses(400, "Bad Request: wrong type of the web page content"), boterr.InvalidArgument, "carousel[1].image_url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			connector := direct(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if len(w.Messages()) == 1 {
					c.refusal(rw, r)
					return
				}
				w.ServeHTTP(rw, r)
			}), telegram.Config{})
			_, err := connector.Send(t.Context(), to(adaID, two))
			found, ok := boterr.AsError(err)
			require.True(t, ok)
			require.Equal(t, c.code, found.Code)
			require.Equal(t, c.field, found.Field)
			require.Zero(t, boterr.RetryAfter(err), "send.Limited must not send the first part again")
			require.Len(t, w.Messages(), 1)
		})
	}
}

func TestUpdate_CaptionAndRepetition(t *testing.T) {
	t.Parallel()
	w := newWorld()
	connector := w.start(t)
	delivery, err := connector.Send(t.Context(), to(adaID, send.Carousel(send.Card{
		Title: "Tea", ImageURL: site, Buttons: []send.Button{send.Postback("Buy", "tea")},
	})))
	require.NoError(t, err)
	update := send.MessageUpdate{ConversationID: delivery.ChatID, MessageID: delivery.MessageID, Text: "Sold out"}
	for range 2 {
		_, err = connector.UpdateMessage(t.Context(), shop(), update)
		require.NoError(t, err)
		require.Equal(t, "Sold out", w.last(t, adaID).Text)
		require.Empty(t, w.last(t, adaID).Buttons)
	}
	update.Attachments = []document.Object{document.O()}
	_, err = connector.UpdateMessage(t.Context(), shop(), update)
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestCreateGroup_TopicOrOwnConversation(t *testing.T) {
	t.Parallel()
	w := newWorld()
	connector := w.start(t)
	for name, topic := range map[string]string{
		"Ada": "Ada", "": "Conversation", strings.Repeat("ä", 200): strings.Repeat("ä", 128),
	} {
		made, err := connector.CreateGroup(t.Context(), shop(), livechat.NewGroup{Key: "k", Name: name, AdminExternalID: graces})
		require.NoError(t, err)
		require.Equal(t, topic, w.TopicName(made.ExternalID))
	}
	alone := shop()
	alone.Metadata = document.O()
	made, err := connector.CreateGroup(t.Context(), alone, livechat.NewGroup{Name: "Ada", AdminExternalID: graces})
	require.NoError(t, err)
	require.Equal(t, graces, made.ExternalID)
	_, err = connector.CreateGroup(t.Context(), alone, livechat.NewGroup{Name: "Ada"})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "agentsChat")
}

func TestLimited_DocumentedRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform := &paced{start: time.Now()} //nolint:forbidigo // Virtual time.
		limited := telegram.Limited(platform)
		var group sync.WaitGroup
		for i := range 150 {
			id := strconv.Itoa(1000 + i)
			if i < 90 {
				id = []string{"-100", adaID, "-100/7"}[i%3]
			}
			group.Go(func() { _, _ = limited.Send(t.Context(), to(id, send.Text("x"))) })
		}
		group.Wait()
		require.Len(t, platform.at, 150)
		require.LessOrEqual(t, platform.most("", time.Second), 30)
		require.LessOrEqual(t, platform.most("-100", time.Minute), 20, "with its topics")
		require.LessOrEqual(t, platform.most(adaID, time.Second), 3)
	})
}

func TestConfig_Refused(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, telegram.New, map[string]telegram.Config{
		"Timeout":  {Timeout: -1},
		"PollTime": {PollTime: -1},
		"BodyTime": {BodyTime: -1},
		"APIURL":   {APIURL: "ftp://example.com"},
	})
}

func TestToken_OfAnotherForm(t *testing.T) {
	t.Parallel()
	w := newWorld()
	connector := w.start(t)
	for _, given := range []any{"", "7001", "7001:", "7001:a/../b", "7001:a b", ":abc", 7} {
		message := to(adaID, send.Text("Hello"))
		message.Channel.Info = channel.OtherInfo{Hidden: channel.Hide(document.O("token", given))}
		_, err := connector.Send(t.Context(), message)
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "BotFather")
	}
	require.Empty(t, w.Calls())
}

// paced is a connector that records the times of messages.
type paced struct {
	start time.Time

	mu sync.Mutex
	at []came
}

type came struct {
	to    string
	after time.Duration
}

func (p *paced) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	chat, _, _ := strings.Cut(message.To, "/")
	p.at = append(p.at, came{chat, time.Since(p.start)}) //nolint:forbidigo // Virtual time.
	return send.Delivery{}, nil
}

// most returns the largest number of messages to a recipient within any period of this length. If to is "", it
// counts all messages.
func (p *paced) most(to string, within time.Duration) (most int) {
	for _, first := range p.at {
		count := 0
		for _, other := range p.at {
			if (to == "" || other.to == to) && other.after >= first.after && other.after < first.after+within {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}
