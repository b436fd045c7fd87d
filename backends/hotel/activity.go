package hotel

import (
	"cmp"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Names of activities.
const (
	typeInvoke   = "invoke"
	typeUpdate   = "conversationUpdate"
	channelTeams = "msteams"
	nameAction   = "adaptiveCard/action"
	nameRead     = "application/vnd.microsoft.readReceipt"
)

// activity is a message or an event that the platform reports to a channel.
type activity struct {
	told document.Object
	in   *channel.Channel
}

func (a activity) text(path string) string { return document.Get(a.told, path, "") }

// kind returns the activity's type, followed by its name if it has one.
func (a activity) kind() string {
	return cmp.Or(strings.TrimSpace(a.text(fieldType)+" "+a.text("name")), "activity")
}

// event returns the event for the bot, or the reason for dropping the activity.
func (a activity) event() inbound.Event {
	from := document.Get(a.told, "from", document.Object{})
	sender, conversation := document.Get(from, "id", ""), a.text("conversation.id")
	kind := a.text(fieldType)
	switch {
	case kind == "":
		return inbound.Event{Kind: a.kind(), Drop: send.DropInvalid}
	case a.text("channelId") != channelTeams, kind == "typing", kind == typeInvoke && a.text("name") != nameAction:
		return inbound.Event{Kind: a.kind(), Drop: send.DropUnsupported}
	case isBot(from):
		return inbound.Event{Kind: a.kind(), Drop: send.DropFromBot}
	case sender == "" || conversation == "":
		return inbound.Event{Kind: a.kind(), Drop: send.DropIncomplete}
	}
	bot := a.text("recipient.id")
	arrived := botctx.Inbound{
		Key:   a.key(conversation),
		Event: send.MessageEvent{From: sender, To: bot, Timestamp: a.timestamp()},
		Profile: member.Member{
			FirstName: document.Get(from, "name", ""), Locale: a.text("locale"), BotID: bot, Platform: string(channel.Hotel), Profile: from,
		},
	}
	if a.isInGroup() {
		arrived.Event.To, arrived.GroupExternalID = conversation, conversation
	}
	if kind == typeMessage {
		arrived.Event.MessageID = a.text("id")
	}
	arrived.Event.Type, arrived.Event.Data = a.content()
	return inbound.Event{Kind: a.kind(), Inbound: arrived}
}

// key returns the key by which a repeated activity is recognised, or "" if the activity has no id. Changes of a
// message have the message's id, so keys of activities other than messages also contain the time.
func (a activity) key(conversation string) string {
	id, kind := a.text("id"), a.text(fieldType)
	if id == "" {
		return ""
	}
	key := kind + " " + conversation + " " + id
	if kind != typeMessage {
		key += " " + a.text("timestamp")
	}
	return key
}

// isInGroup reports whether the conversation has participants other than the user and the bot.
func (a activity) isInGroup() bool {
	switch a.text("conversation.conversationType") {
	case "personal":
		return false
	case "groupChat", "channel":
		return true
	default:
		return document.Get(a.told, "conversation.isGroup", false)
	}
}

// timestamp returns the time of the activity, or 0 if it has none.
func (a activity) timestamp() document.Timestamp {
	at, err := time.Parse(time.RFC3339Nano, a.text("timestamp"))
	if err != nil {
		return 0
	}
	return document.TimestampOf(at)
}

// content converts the activity to the type and the data of its event.
func (a activity) content() (send.Type, document.Object) {
	switch kind := a.text(fieldType); kind {
	case typeMessage:
		return a.message()
	case typeInvoke:
		data, _ := a.told.Lookup("value.action.data")
		return send.TypePayload, tapOf(data)
	case typeUpdate:
		if a.addsBot() && !a.isInGroup() {
			return send.TypeOptIn, document.O("event", a.told)
		}
	case "event":
		if a.text("name") == nameRead {
			return send.TypeRead, document.Get(a.told, "value", document.O())
		}
	}
	return send.TypeMisc, document.O("event", a.told)
}

// addsBot reports whether the bot itself is among the members that were added.
func (a activity) addsBot() bool {
	for _, added := range pieces.Objects(a.told, "membersAdded") {
		if document.Get(added, "id", "") == a.text("recipient.id") {
			return true
		}
	}
	return false
}

// message converts a message to the type and the data of its event. A message with a value is a tap.
func (a activity) message() (send.Type, document.Object) {
	text := a.plainText()
	if value, _ := a.told.Field("value"); value != nil {
		data := tapOf(value)
		if text != "" && !data.Has(fieldText) {
			data = data.With(fieldText, text)
		}
		return send.TypePayload, data
	}
	files, cards := a.attachments()
	if files.Len() == 0 && text == "" {
		return send.TypeMisc, document.O("event", a.told)
	}
	kind, data := send.TypeText, document.O()
	if files.Len() > 0 {
		kind, data = send.TypeMisc, data.With(fieldAttachments, files)
	}
	if text != "" {
		data = data.With(fieldText, text)
	}
	if cards.Len() > 0 {
		data = data.With("cards", cards)
	}
	return kind, data
}

// tapOf converts the value of a tap to the data of its event. The bot's own payload keeps its form and includes
// the values of the card's inputs. Any other value becomes the value of a payload with the name "".
func tapOf(value any) document.Object {
	switch value := value.(type) {
	case string:
		return document.O(fieldPayload, taps.Payload(value))
	case document.Object:
		switch payload := document.Get(value, fieldPayload, any(nil)).(type) {
		case string:
			return value
		case document.Object:
			if _, isText := document.Get(payload, fieldPayload, any(nil)).(string); isText {
				return value
			}
		}
	}
	return document.O(fieldPayload, document.O(fieldPayload, "", "value", value))
}

// plainText returns the text of a message without mentions of the bot.
func (a activity) plainText() string {
	text := a.text(fieldText)
	for _, entity := range pieces.Objects(a.told, "entities") {
		mention := document.Get(entity, fieldText, "")
		if document.Get(entity, fieldType, "") == "mention" && mention != "" &&
			document.Get(entity, "mentioned.id", "") == a.text("recipient.id") {
			text = strings.TrimSpace(strings.Replace(text, mention, "", 1))
		}
	}
	return text
}

// Media types of attachments.
const (
	mediaFile = "application/vnd.microsoft.teams.file.download.info"
	// mediaHTML is the type of an attachment that contains the message's text once more.
	mediaHTML = "text/html"
)

// attachments returns the files of a message in the form that all platforms share, and its other attachments,
// such as cards, in the platform's form.
func (a activity) attachments() (files, cards document.Array) {
	var fileItems, cardItems []any
	for _, given := range pieces.Objects(a.told, fieldAttachments) {
		media, name := document.Get(given, "contentType", ""), document.Get(given, "name", "")
		address := document.Get(given, "contentUrl", "")
		switch media {
		case mediaHTML:
			continue
		case mediaFile:
			address = document.Get(given, "content.downloadUrl", "")
		}
		if address == "" {
			cardItems = append(cardItems, given)
			continue
		}
		kind := fileType(media, document.Get(given, "content.fileType", ""))
		fileItems = append(fileItems, document.O(
			fieldType, kind, fieldPayload, document.O(fieldURL, address), fieldTitle, name, "mimeType", media))
	}
	return document.A(fileItems...), document.A(cardItems...)
}

// fileType derives the type of a file from its media type, or else from the ending of its name.
func fileType(media, ending string) string {
	kind, _, _ := strings.Cut(media, "/")
	switch kind {
	case "image", "audio", "video":
		return kind
	}
	if known := endings[strings.ToLower(ending)]; media == mediaFile && known != "" {
		return known
	}
	return "file"
}

// endings maps common endings of file names to types of files.
var endings = map[string]string{
	"png": "image", "jpg": "image", "jpeg": "image", "gif": "image", "webp": "image",
	"mp3": "audio", "m4a": "audio", "wav": "audio", "ogg": "audio", "mp4": "video", "mov": "video", "webm": "video",
}
