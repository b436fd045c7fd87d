package telegram

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Kinds of updates that can become events other than MISC.
const (
	kindMessage  = "message"
	kindCallback = "callback_query"
)

// update is a report from Telegram to a channel: a message, a tap, or another event.
type update struct {
	in *channel.Channel
	of credentials
	id int64
	// kind is Telegram's name for the update, such as "message". object is its content.
	kind   string
	object document.Object
}

// readUpdate parses an update. If the form is unknown, the kind is "".
func readUpdate(in *channel.Channel, of credentials, told document.Object) update {
	u := update{in: in, of: of, id: document.Get(told, "update_id", int64(0))}
	for kind, object := range told.All() {
		if object, isObject := object.(document.Object); isObject && u.kind == "" {
			u.kind, u.object = kind, object
		}
	}
	return u
}

// event returns the event for the bot.
func (u update) event() inbound.Event {
	kind := cmp.Or(u.kind, "update")
	from := document.Get(u.object, "from", document.Get(u.object, "user", document.Object{}))
	sender := idText(from, "id")
	switch {
	case u.id == 0 || u.kind == "":
		return inbound.Event{Kind: kind, Drop: send.DropInvalid}
	case sender == "":
		return inbound.Event{Kind: kind, Drop: send.DropIncomplete}
	case document.Get(from, "is_bot", false):
		return inbound.Event{Kind: kind, Drop: send.DropFromBot}
	}
	message := u.message()
	arrived := botctx.Inbound{
		Key:             "u" + u.of.botID() + ":" + strconv.FormatInt(u.id, 10), // Each bot has its own numbers.
		GroupExternalID: groupOf(u.object, message),
		Event:           send.MessageEvent{From: sender, To: u.of.botID(), Timestamp: millisecondsOf(u.object)},
		Profile: member.Member{
			FirstName: document.Get(from, "first_name", ""), LastName: document.Get(from, "last_name", ""),
			Locale: document.Get(from, "language_code", ""), BotID: u.of.botID(), Platform: string(Type), Profile: from,
		},
	}
	if arrived.GroupExternalID != "" {
		arrived.Event.To = arrived.GroupExternalID
	}
	if id := idText(message, "message_id"); id != "" {
		arrived.Event.MessageID = idText(message, "chat.id") + ":" + id
	}
	arrived.Event.Type, arrived.Event.Data = u.content()
	return inbound.Event{Kind: kind, Inbound: arrived}
}

// message returns the update's message, or the zero Object if there is none.
func (u update) message() document.Object {
	if u.object.Has("message_id") {
		return u.object
	}
	return document.Get(u.object, kindMessage, document.Object{})
}

// groupOf returns the id of an event's group or topic, or "" in a private chat.
func groupOf(object, message document.Object) string {
	chat := document.Get(object, "chat", document.Get(message, "chat", document.Object{}))
	at := address{chat: idText(chat, "id")}
	switch document.Get(chat, "type", "") {
	case "supergroup":
		if document.Get(message, "is_topic_message", false) {
			at.topic = idText(message, "message_thread_id")
		}
	case "group":
	default:
		return ""
	}
	return at.String()
}

// content returns the type and the data of the event. Other kinds of updates, and messages without known
// content, are MISC with the update as event.
func (u update) content() (send.Type, document.Object) {
	switch u.kind {
	case kindCallback:
		if data := document.Get(u.object, "data", ""); data != "" {
			payload, _ := payloadOf(data)
			return send.TypePayload, document.O(fieldPayload, payload)
		}
	case kindMessage:
		text := document.Get(u.object, fieldText, "")
		if ref := startForm.FindStringSubmatch(text); ref != nil {
			return send.TypeReferral, document.O("ref", ref[1])
		}
		if text != "" {
			return send.TypeText, document.O(fieldText, text)
		}
		if attachments := attachmentsOf(u.object); attachments.Len() > 0 {
			data := document.O("attachments", attachments)
			if caption := document.Get(u.object, "caption", ""); caption != "" {
				data = data.With(fieldText, caption)
			}
			return send.TypeMisc, data
		}
	}
	return send.TypeMisc, document.O("event", document.O(u.kind, u.object))
}

// startForm matches the text that Telegram sends when a user arrives by a link with a parameter.
var startForm = regexp.MustCompile(`^/start(?:@\w+)? (\S+)$`)

// attachmentsOf returns the file, location or contact of a message, in the form that all platforms share.
func attachmentsOf(message document.Object) document.Array {
	for _, known := range fileKinds {
		found, isThere := message.Field(known.kind)
		if !isThere {
			continue
		}
		if sizes, isPhoto := found.(document.Array); isPhoto && sizes.Len() > 0 {
			found = sizes.At(sizes.Len() - 1) // The last size is the largest.
		}
		file, _ := found.(document.Object)
		id := document.Get(file, "file_id", "")
		if id == "" {
			continue
		}
		return document.A(document.O(
			"type", known.attachment, fieldPayload, document.O("attachment_id", id, "kind", known.kind),
			fieldTitle, document.Get(file, "file_name", ""), "mimeType", document.Get(file, "mime_type", ""),
			"size", document.Get(file, "file_size", int64(0)),
		))
	}
	if at, ok := message.Field("location"); ok {
		location, _ := at.(document.Object)
		return document.A(document.O("type", "location", fieldTitle, document.Get(message, "venue.title", ""), fieldPayload,
			document.O("coordinates", document.O("lat", document.Get(location, "latitude", 0.0), "long", document.Get(location, "longitude", 0.0)))))
	}
	if contact := document.Get(message, "contact", document.Object{}); !contact.IsZero() {
		return document.A(document.O("type", "contact", fieldPayload, contact))
	}
	return document.A()
}
