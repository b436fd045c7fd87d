package telegram

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/send"
)

// Fields of the Bot API and of responses.
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
	// maxParts is the largest number of Telegram messages for one response. It equals the largest number of
	// cards in a carousel.
	maxParts = send.MaxCards
)

// Parts of a message that Telegram's errors can refer to.
const (
	partText    = "text"
	partFile    = "file"
	partButtons = "buttons"
)

// part is one of the Telegram messages for a response.
type part struct {
	method string
	params document.Object
	// fields maps the parts in Telegram's errors to fields of the response. If path is not "", the fields
	// belong to the element at path.
	fields map[string]string
	path   string
}

// partsOf converts a response to one or more Telegram messages.
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

// fileKinds has Telegram's kinds of files. A kind is the name of a field in messages and of a parameter of its
// method. attachment is the type of the attachment in events. The first kind for a type is the default. An
// animation comes before document, because Telegram also reports it as a document.
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

// oggForm matches addresses of recordings that sendVoice accepts and sendAudio does not.
var oggForm = regexp.MustCompile(`(?i)^[^?#]+\.og[ag]([?#]|$)`)

// filePart returns the message for a file. The file has a url, or the attachment_id of a file that this bot has
// received or sent. Its field kind selects Telegram's kind if it is not the default for the type.
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

// cardParts returns a message for each card: its texts, below its picture if there is one.
func cardParts(response send.Response) ([]part, error) {
	var parts []part
	for i, card := range pieces.Objects(response, "carousel") {
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

// attachmentParts converts a MISC response that a live chat relays: a text, and attachments like the ones in
// events.
func attachmentParts(response send.Response) ([]part, error) {
	return pieces.Relay[part]{
		Platform: Type, Most: maxParts,
		Text: func(text string) (part, error) { return textPart(text), nil },
		Attachment: func(attachment document.Object, at string) (part, error) {
			shown, err := attachmentPart(attachment)
			shown.path, shown.fields = at, nil
			return shown, boterr.WithField("", err)
		},
	}.Parts(response)
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

// addButtons adds the buttons or quick replies in a field, each in a separate row.
func (p *part) addButtons(of document.Lookuper, field string) error {
	rows, err := pieces.Each(of, field, func(given document.Object) (document.Array, error) {
		button, err := buttonOf(given, field)
		return document.A(button), err
	})
	if err != nil {
		return err
	}
	if rows.Len() > 0 {
		p.params = p.params.With("reply_markup", document.O("inline_keyboard", rows))
	}
	p.fields[partButtons] = field
	return nil
}

// buttonOf converts an element of buttons or quickReplies.
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
		if value, ok := given.Field(fieldValue); ok { // Quick replies in tickets of live chats have a value.
			payload = document.O(fieldPayload, payload, fieldValue, value)
		}
	default:
		return document.Object{}, boterr.New(boterr.Unsupported, typeField, "Telegram has no buttons of type %s next to a text", kind)
	}
	data, err := dataOf(payload, mark)
	return document.O(fieldText, document.Get(given, fieldTitle, ""), "callback_data", data), boterr.PrefixField(fieldPayload, err)
}

// replyMark is the first character of a quick reply's data. Quick replies disappear after a tap.
const replyMark = "~"

// dataOf returns the callback data for a payload; payloadOf converts it back. A string is unchanged, unless it
// could be mistaken for another form: then it is a JSON string. Objects are JSON objects, except that an object
// of payload and value, the most frequent one, is a JSON array to save space.
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
		return "", boterr.Invalid("", "takes %d bytes; the limit for a button on Telegram is %d: "+
			"store it elsewhere, such as in the member's meta, and send its key", len(data), maxDataBytes)
	}
	return data, nil
}

// payloadOf returns the payload in the callback data of a tap. It reports whether the tap was on a quick reply.
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

// address identifies a chat, or a topic in a group.
type address struct {
	// chat is the id of a user, group or channel, or the name of a channel such as "@news".
	chat string
	// topic is the id of a topic in the group, or "".
	topic string
}

// addressOf parses the id of a conversation: "chat" or "chat/topic".
func addressOf(id string) address {
	chat, topic, _ := strings.Cut(id, "/")
	return address{chat, topic}
}

// String returns the id of the conversation. addressOf parses it.
func (a address) String() string { return strings.TrimSuffix(a.chat+"/"+a.topic, "/") }

// params returns the address as parameters of a method.
func (a address) params() document.Object {
	params := document.O("chat_id", a.chatID())
	if a.topic != "" {
		params = params.With("message_thread_id", number(a.topic))
	}
	return params
}

// chatID returns the chat as the Bot API expects it: a number or a name.
func (a address) chatID() any {
	if id, err := strconv.ParseInt(a.chat, 10, 64); err == nil {
		return id
	}
	return a.chat
}

// number parses an id. It returns 0 if the id is not a number. Telegram never uses 0, so it then refuses the
// request.
func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}
