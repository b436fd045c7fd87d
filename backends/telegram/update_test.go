package telegram_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/send"
)

func TestUpdate_BecomesEvent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	message := func() document.Object { return w.MessageOf(ada, adaID) }
	size := func(id string) document.Object {
		return document.O("file_id", id, "file_unique_id", "u", "width", 1, "height", 1)
	}
	file := document.O("file_id", "F1", "file_unique_id", "u")
	member := document.O("status", "member", "user", document.O("id", int64(7001), "is_bot", true, "first_name", "Bot"))
	user := document.O("id", ada, "is_bot", false, "first_name", "Ada")
	chat := document.O("id", ada, "type", "private", "first_name", "Ada")
	blocked := document.O("chat", chat, "from", user, "date", telegramfake.Date, "old_chat_member", member, "new_chat_member",
		document.O("status", "kicked", "user", document.Get(member, "user", document.O()), "until_date", 0))
	reaction := document.O("chat", chat, "message_id", 7, "user", user, "date", telegramfake.Date,
		"old_reaction", document.A(), "new_reaction", document.A(document.O("type", "emoji", "emoji", "👍")))
	dice := message().With("dice", document.O("emoji", "🎲", "value", 3))
	edited := message().With("text", "changed").With("edit_date", telegramfake.Date)
	game := document.O("id", "q", "from", user, "chat_instance", "c", "game_short_name", "chess")
	for name, c := range map[string]struct {
		kind   string
		object document.Object
		event  send.Type
		data   string
	}{
		"text":                 {"message", message().With("text", "hi"), send.TypeText, `{"text":"hi"}`},
		"start":                {"message", message().With("text", "/start"), send.TypeText, `{"text":"/start"}`},
		"link":                 {"message", message().With("text", "/start spring-7"), send.TypeReferral, `{"ref":"spring-7"}`},
		"link of a group":      {"message", message().With("text", "/start@the_bot spring-7"), send.TypeReferral, `{"ref":"spring-7"}`},
		"more than a link":     {"message", message().With("text", "/start it now"), send.TypeText, `{"text":"/start it now"}`},
		"photo":                {"message", message().With("photo", document.A(size("small"), size("large"))).With("caption", "Look"), send.TypeMisc, `{"attachments":[{"type":"image","payload":{"attachment_id":"large","kind":"photo"},"title":"","mimeType":"","size":0}],"text":"Look"}`},
		"document":             {"message", message().With("document", file.With("file_name", "a.pdf").With("mime_type", "application/pdf").With("file_size", 7)), send.TypeMisc, `{"attachments":[{"type":"file","payload":{"attachment_id":"F1","kind":"document"},"title":"a.pdf","mimeType":"application/pdf","size":7}]}`},
		"animation":            {"message", message().With("animation", size("F2").With("duration", 1)).With("document", file), send.TypeMisc, `{"attachments":[{"type":"video","payload":{"attachment_id":"F2","kind":"animation"},"title":"","mimeType":"","size":0}]}`},
		"voice":                {"message", message().With("voice", file.With("duration", 1)), send.TypeMisc, `{"attachments":[{"type":"audio","payload":{"attachment_id":"F1","kind":"voice"},"title":"","mimeType":"","size":0}]}`},
		"audio":                {"message", message().With("audio", file.With("duration", 1)), send.TypeMisc, `{"attachments":[{"type":"audio","payload":{"attachment_id":"F1","kind":"audio"},"title":"","mimeType":"","size":0}]}`},
		"video":                {"message", message().With("video", size("F1").With("duration", 1)), send.TypeMisc, `{"attachments":[{"type":"video","payload":{"attachment_id":"F1","kind":"video"},"title":"","mimeType":"","size":0}]}`},
		"video note":           {"message", message().With("video_note", file.With("length", 1).With("duration", 1)), send.TypeMisc, `{"attachments":[{"type":"video","payload":{"attachment_id":"F1","kind":"video_note"},"title":"","mimeType":"","size":0}]}`},
		"sticker":              {"message", message().With("sticker", size("F1").With("type", "regular").With("is_animated", false).With("is_video", false)), send.TypeMisc, `{"attachments":[{"type":"image","payload":{"attachment_id":"F1","kind":"sticker"},"title":"","mimeType":"","size":0}]}`},
		"location":             {"message", message().With("location", document.O("latitude", 52.5, "longitude", 13.25)), send.TypeMisc, `{"attachments":[{"type":"location","title":"","payload":{"coordinates":{"lat":52.5,"long":13.25}}}]}`},
		"contact":              {"message", message().With("contact", document.O("phone_number", "+15550100", "first_name", "Grace")), send.TypeMisc, `{"attachments":[{"type":"contact","payload":{"phone_number":"+15550100","first_name":"Grace"}}]}`},
		"dice":                 {"message", dice, send.TypeMisc, fmt.Sprintf(`{"event":{"message":%s}}`, dice)},
		"edited":               {"edited_message", edited, send.TypeMisc, fmt.Sprintf(`{"event":{"edited_message":%s}}`, edited)},
		"blocked":              {"my_chat_member", blocked, send.TypeMisc, fmt.Sprintf(`{"event":{"my_chat_member":%s}}`, blocked)},
		"reaction":             {"message_reaction", reaction, send.TypeMisc, fmt.Sprintf(`{"event":{"message_reaction":%s}}`, reaction)},
		"tap on a game":        {"callback_query", game, send.TypeMisc, fmt.Sprintf(`{"event":{"callback_query":%s}}`, game)},
		"tap":                  {"callback_query", game.With("data", "yes"), send.TypePayload, `{"payload":"yes"}`},
		"tap on a quick reply": {"callback_query", game.With("data", "~yes"), send.TypePayload, `{"payload":"yes"}`},
		"tap with a value":     {"callback_query", game.With("data", `["book",2]`), send.TypePayload, `{"payload":{"payload":"book","value":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a connectortest.Box
			handler := routed(direct(t, w, telegram.Config{Logger: silent()}).Handler(a.Accept))
			update := document.O("update_id", 42, c.kind, c.object)
			require.Equal(t, http.StatusOK, postUpdate(handler, shopPath, update.String()).Code)
			require.Len(t, a.Got, 1)
			arrived := a.Got[0]
			require.Equal(t, c.event, arrived.Event.Type)
			require.Equal(t, c.data, arrived.Event.Data.String())
			require.Equal(t, "u7001:42", arrived.Key)
			require.Equal(t, []string{adaID, "7001", ""}, []string{arrived.Event.From, arrived.Event.To, arrived.GroupExternalID})
			require.Equal(t, []string{"app-1", "shop"}, []string{arrived.App, arrived.Channel})
			require.Equal(t, []string{"Ada", "7001", "telegram"}, []string{arrived.Profile.FirstName, arrived.Profile.BotID, arrived.Profile.Platform})
		})
	}
}

func TestUpdate_PlaceAndTime(t *testing.T) {
	t.Parallel()
	w := newWorld()
	thread := w.MessageOf(ada, "-100300").With("message_thread_id", 77) // A thread of replies is not a topic.
	for name, c := range map[string]struct {
		object document.Object
		group  string
	}{
		"private":  {w.MessageOf(ada, adaID), ""},
		"group":    {w.MessageOf(ada, "-100200"), "-100200"},
		"topic":    {w.MessageOf(ada, w.topic), w.topic},
		"a thread": {thread, "-100300"},
	} {
		var a connectortest.Box
		handler := routed(direct(t, w, telegram.Config{}).Handler(a.Accept))
		update := document.O("update_id", 42, "message", c.object.With("text", "hi"))
		require.Equal(t, http.StatusOK, postUpdate(handler, shopPath, update.String()).Code)
		arrived := a.Got[0]
		require.Equal(t, c.group, arrived.GroupExternalID, name)
		if c.group != "" {
			require.Equal(t, c.group, arrived.Event.To, name)
		}
		require.Equal(t, fmt.Sprintf("%d:%d", document.Get(c.object, "chat.id", int64(0)), document.Get(c.object, "message_id", int64(0))), arrived.Event.MessageID)
		require.Equal(t, document.Timestamp(telegramfake.Date*1000), arrived.Event.Timestamp)
	}
}

func TestUpdate_TapInATopic(t *testing.T) {
	t.Parallel()
	w := newWorld()
	connector := direct(t, w, telegram.Config{})
	_, err := connector.Send(t.Context(), to(w.topic, send.Buttons("Now?", send.Postback("Yes", "yes"))))
	require.NoError(t, err)
	var a connectortest.Box
	update := document.O("update_id", 42, "callback_query", w.TapOf(grace, w.last(t, w.topic), "yes"))
	require.Equal(t, http.StatusOK, postUpdate(routed(connector.Handler(a.Accept)), shopPath, update.String()).Code)
	arrived := a.Got[0]
	require.Equal(t, w.topic, arrived.GroupExternalID)
	require.Equal(t, fmt.Sprintf("%d:%d", forum, w.last(t, w.topic).ID), arrived.Event.MessageID)
	require.Zero(t, arrived.Event.Timestamp, "Telegram reports no time of a tap")
}

func TestUpdate_DroppedAndCounted(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for reason, body := range map[send.DropReason]document.Object{
		send.DropFromBot:    document.O("update_id", 1, "message", w.MessageOf(ada, adaID).With("from", document.O("id", 7, "is_bot", true))),
		send.DropIncomplete: document.O("update_id", 1, "channel_post", document.O("message_id", 7)),
		send.DropInvalid:    document.O("update_id", 1),
	} {
		drops := &send.Drops{Logger: silent()}
		var a connectortest.Box
		handler := routed(direct(t, w, telegram.Config{Drops: drops}).Handler(a.Accept))
		require.Equal(t, http.StatusOK, postUpdate(handler, shopPath, body.String()).Code)
		require.Empty(t, a.Got)
		require.Len(t, drops.Counts(), 1)
		require.Equal(t, reason, drops.Counts()[0].Reason)
	}
}
