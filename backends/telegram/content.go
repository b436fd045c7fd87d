package telegram

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Fields of the Bot API and of responses that are used in several places.
const (
	fieldText    = "text"
	fieldButtons = "buttons"
	fieldReplies = "quickReplies"
	fieldPayload = "payload"
	fieldValue   = "value"
	fieldTitle   = "title"
)

// Limits of a message.
const (
	maxDataBytes = 64
	// maxParts is the maximum number of Telegram messages for one message of the bot. It is also the maximum
	// number of cards in a carousel.
	maxParts = send.MaxCards
)

// The parts of a message that Telegram complains about.
const (
	partText    = "text"
	partFile    = "file"
	partButtons = "buttons"
)

// part is one of the Telegram messages that show a response.
type part struct {
	method string
	params document.Object
	// fields maps the parts that Telegram may complain about to the fields of the response, or of its element
	// at path.
	fields map[string]string
	path   string
}

// partsOf returns the messages that show a response, at least one.
func partsOf(response send.Response) ([]part, error) {
	switch kind := response.Type(); kind {
	case send.TypeText:
		return []part{textPart(response.Text())}, nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		one, err := filePart(strings.ToLower(string(kind)), response)
		return []part{one}, err
	case send.TypeQuickReplies, send.TypeButton:
		shown, field := textPart(response.Text()), fieldButtons
		if kind == send.TypeQuickReplies {
			field = fieldReplies
		}
		err := shown.addButtons(response, field)
		return []part{shown}, err
	case send.TypeCarousel:
		return cardParts(response)
	case send.TypeTyping:
		return []part{{method: "sendChatAction", params: document.O("action", "typing")}}, nil
	case send.TypeMisc:
		return attachmentParts(response)
	default:
		return nil, boterr.New(boterr.Unsupported, "type",
			"Telegram has no messages of type %s: send a text, a file, quick replies, buttons or a carousel", kind)
	}
}

func textPart(text string) part {
	return part{method: "sendMessage", params: document.O(fieldText, text), fields: map[string]string{partText: fieldText}}
}

// fileKinds are Telegram's kinds of files, each a field of messages and a parameter of its method, with the
// types that attachments have in events. The first kind of a type is the usual one. An animation is reported
// as a document, too.
var fileKinds = []struct{ kind, method, attachment string }{
	{"photo", "sendPhoto", "image"},
	{"video", "sendVideo", "video"},
	{"animation", "sendAnimation", "video"},
	{"video_note", "sendVideoNote", "video"},
	{"audio", "sendAudio", "audio"},
	{"voice", "sendVoice", "audio"},
	{"sticker", "sendSticker", "image"},
	{"document", "sendDocument", "file"},
}

// oggForm matches the addresses of recordings that sendAudio refuses and sendVoice accepts.
var oggForm = regexp.MustCompile(`(?i)^[^?#]+\.og[ag]([?#]|$)`)

// filePart returns the message for a file of a type with a url, or with an attachment_id that this bot has
// received or sent. "kind" is Telegram's kind of the file, if it is not the usual one for the type.
func filePart(fileType string, file document.Lookuper) (part, error) {
	at, field, kind := document.Get(file, "url", ""), "url", document.Get(file, "kind", "")
	if at == "" {
		at, field = document.Get(file, "attachment_id", ""), "attachment_id"
	} else if fileType == "audio" && kind == "" && oggForm.MatchString(at) {
		kind = "voice"
	}
	for _, known := range fileKinds {
		if at != "" && (known.kind == kind || kind == "" && known.attachment == fileType) {
			return part{method: known.method, params: document.O(known.kind, at), fields: map[string]string{partFile: field}}, nil
		}
	}
	if at == "" {
		return part{}, boterr.Missing("url", "the address of the file, or its attachment_id")
	}
	return part{}, boterr.New(boterr.Unsupported, "kind", "Telegram has no files of the type %q and the kind %q", fileType, kind)
}

// cardParts returns a message for each card: its picture with the texts below it, or only the texts.
func cardParts(response send.Response) ([]part, error) {
	var parts []part
	for i, card := range document.Get(response, "carousel", []document.Object{}) {
		at := "carousel" + boterr.Index(i)
		text := document.Get(card, fieldTitle, "")
		if subtitle := document.Get(card, "subtitle", ""); subtitle != "" {
			text += "\n" + subtitle
		}
		shown := textPart(text)
		if picture := document.Get(card, "image_url", ""); picture != "" {
			shown.method, shown.params = "sendPhoto", document.O("photo", picture, "caption", text)
		}
		shown.path, shown.fields = at, map[string]string{partText: fieldTitle, partFile: "image_url"}
		if err := shown.addButtons(card, fieldButtons); err != nil {
			return nil, boterr.PrefixField(at, err)
		}
		parts = append(parts, shown)
	}
	if len(parts) == 0 {
		return nil, boterr.Missing("carousel", "at least one card")
	}
	return parts, nil
}

// attachmentParts returns the messages for content from a member of another channel: a text, and attachments
// as in a MISC event.
func attachmentParts(response send.Response) ([]part, error) {
	var parts []part
	if text := response.Text(); text != "" {
		parts = append(parts, textPart(text))
	}
	for i, attachment := range document.Get(response, "attachments", []document.Object{}) {
		at := "attachments" + boterr.Index(i)
		shown, err := attachmentPart(attachment)
		if err != nil {
			return nil, boterr.WithField(at, err)
		}
		shown.path, shown.fields = at, nil
		parts = append(parts, shown)
	}
	switch {
	case len(parts) == 0:
		return nil, boterr.New(boterr.Unsupported, "type", "Telegram shows only attachments and a text of a message of type MISC")
	case len(parts) > maxParts:
		return nil, boterr.Invalid("attachments", "needs %d messages; the limit on Telegram is %d", len(parts), maxParts)
	}
	return parts, nil
}

func attachmentPart(attachment document.Object) (part, error) {
	payload := document.Get(attachment, fieldPayload, document.O())
	switch kind := document.Get(attachment, "type", ""); kind {
	case "location":
		return part{method: "sendLocation", params: document.O(
			"latitude", document.Get(payload, "coordinates.lat", 0.0), "longitude", document.Get(payload, "coordinates.long", 0.0),
		)}, nil
	case "contact":
		return part{method: "sendContact", params: document.O(
			"phone_number", document.Get(payload, "phone_number", ""), "first_name", document.Get(payload, "first_name", ""),
		)}, nil
	default:
		return filePart(kind, payload)
	}
}

// addButtons adds the buttons or quick replies in a field below a message, each in a row.
func (p *part) addButtons(of document.Lookuper, field string) error {
	rows := document.A()
	for i, given := range document.Get(of, field, []document.Object{}) {
		button, err := buttonOf(given, field)
		if err != nil {
			return boterr.PrefixField(field+boterr.Index(i), err)
		}
		rows = rows.Append(document.A(button))
	}
	if rows.Len() > 0 {
		p.params = p.params.With("reply_markup", document.O("inline_keyboard", rows))
	}
	p.fields[partButtons] = field
	return nil
}

// buttonOf converts an element of buttons or quickReplies to a button of Telegram.
func buttonOf(given document.Object, field string) (document.Object, error) {
	typeField, mark := "type", ""
	if field == fieldReplies {
		typeField, mark = "content_type", replyMark
	}
	payload, _ := given.Field(fieldPayload)
	switch kind := document.Get(given, typeField, ""); {
	case mark == "" && kind == send.ButtonWebURL:
		return document.O(fieldText, document.Get(given, fieldTitle, ""), "url", document.Get(given, "url", "")), nil
	case mark == "" && kind == send.ButtonPostback:
	case mark != "" && (kind == send.ContentText || kind == ""):
		if value, ok := given.Field(fieldValue); ok { // Tickets of live chats have such quick replies.
			payload = document.O(fieldPayload, payload, fieldValue, value)
		}
	default:
		return document.Object{}, boterr.New(boterr.Unsupported, typeField, "Telegram has no buttons of type %s next to a text", kind)
	}
	data, err := dataOf(payload, mark)
	return document.O(fieldText, document.Get(given, fieldTitle, ""), "callback_data", data), boterr.PrefixField(fieldPayload, err)
}

// replyMark begins the data of quick replies, which disappear after a tap.
const replyMark = "~"

// dataOf returns the callback data from which payloadOf reads a payload. A string is sent unchanged, unless
// it begins like one of the other forms: a string, an object or an array in JSON. The array is for the most
// frequent object: its payload and its value.
func dataOf(payload any, mark string) (string, error) {
	data, isText := payload.(string)
	if !isText || data == "" || strings.ContainsAny(data[:1], replyMark+`"[{`) {
		if object, ok := payload.(document.Object); ok && slices.Equal(object.Keys(), []string{fieldPayload, fieldValue}) {
			payload = document.A(object.Values()...)
		}
		text, err := document.AppendJSON(nil, payload)
		if err != nil {
			return "", err
		}
		data = string(text)
	}
	if data = mark + data; len(data) > maxDataBytes {
		return "", boterr.Invalid("", "takes %d bytes on a button of Telegram, which holds at most %d: "+
			"store it elsewhere, such as in the member's meta, and send its key", len(data), maxDataBytes)
	}
	return data, nil
}

// payloadOf returns the payload in the callback data of a tap, and whether a quick reply was tapped.
func payloadOf(data string) (payload any, isReply bool) {
	data, isReply = strings.CutPrefix(data, replyMark)
	if data == "" || !strings.ContainsAny(data[:1], `"[{`) {
		return data, isReply
	}
	value, err := document.ParseJSON([]byte(data))
	if err != nil {
		return data, isReply
	}
	switch value := value.(type) {
	case string:
		return value, isReply
	case document.Array:
		if value.Len() == 2 {
			return document.O(fieldPayload, value.At(0), fieldValue, value.At(1)), isReply
		}
	case document.Object:
		if _, isText := document.Get(value, fieldPayload, any(nil)).(string); isText {
			return value, isReply
		}
	}
	return data, isReply
}

// address is a conversation of Telegram: a chat, or a topic in a group.
type address struct {
	// chat is the id of a user, a group or a channel, or the name of a channel such as "@news".
	chat string
	// topic is the id of a topic in the group, or "" for none.
	topic string
}

// addressOf reads the id of a conversation: "chat" or "chat/topic".
func addressOf(id string) address {
	chat, topic, _ := strings.Cut(id, "/")
	return address{chat, topic}
}

// String returns the id that addressOf reads.
func (a address) String() string { return strings.TrimSuffix(a.chat+"/"+a.topic, "/") }

// params returns the address as parameters of a method.
func (a address) params() document.Object {
	params := document.O("chat_id", a.chatID())
	if a.topic != "" {
		params = params.With("message_thread_id", number(a.topic))
	}
	return params
}

// chatID returns the chat in the form of the Bot API.
func (a address) chatID() any {
	if id, err := strconv.ParseInt(a.chat, 10, 64); err == nil {
		return id
	}
	return a.chat
}

// number returns the number in an id, or 0 for an id of another form. Telegram never uses 0, and so refuses
// the request.
func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}
