package echo

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/send"
)

// maxDepth is the maximum depth of elements in a report.
const maxDepth = 10

var errReport = errors.New("the body is not an XML document of the platform")

// parseReport converts an XML document to an object. An element with text becomes a text, an element with
// elements becomes an object, and repeated elements become an array.
func parseReport(body []byte) (document.Object, error) {
	decoder := xml.NewDecoder(bytes.NewReader(body)) //nolint:gosec // Only texts are read, and the depth is limited.
	for {
		next, err := decoder.Token()
		if err != nil {
			return document.Object{}, errReport
		}
		if start, isStart := next.(xml.StartElement); isStart {
			value, err := parseElement(decoder, maxDepth)
			object, isObject := value.(document.Object)
			if err != nil || !isObject || start.Name.Local != "xml" {
				return document.Object{}, errReport
			}
			return object, trailing(decoder)
		}
	}
}

// trailing returns an error if anything but white space and comments follows the report.
func trailing(decoder *xml.Decoder) error {
	for {
		next, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		text, isText := next.(xml.CharData)
		if _, isComment := next.(xml.Comment); err != nil || !isComment && (!isText || len(bytes.TrimSpace(text)) > 0) {
			return errReport
		}
	}
}

// parseElement returns the content of an element after its start tag was read.
func parseElement(decoder *xml.Decoder, depth int) (any, error) {
	if depth == 0 {
		return nil, errReport
	}
	var text strings.Builder
	names, values := []string{}, map[string][]any{}
	for {
		next, err := decoder.Token()
		if err != nil {
			return nil, errReport
		}
		switch part := next.(type) {
		case xml.CharData:
			text.Write(part)
		case xml.StartElement:
			value, err := parseElement(decoder, depth-1)
			if err != nil {
				return nil, err
			}
			name := part.Name.Local
			if _, isKnown := values[name]; !isKnown {
				names = append(names, name)
			}
			values[name] = append(values[name], value)
		case xml.EndElement:
			if len(names) == 0 {
				return text.String(), nil
			}
			return objectOf(names, values), nil
		}
	}
}

func objectOf(names []string, values map[string][]any) document.Object {
	object := document.NewBuilder(len(names))
	for _, name := range names {
		if all := values[name]; len(all) == 1 {
			object.Set(name, all[0])
		} else {
			object.Set(name, document.A(all...))
		}
	}
	return object.Object()
}

// report is one message or one event from the platform.
type report struct{ told document.Object }

// text returns a field, or "" if it is missing or not a text.
func (r report) text(name string) string { return document.Get(r.told, name, "") }

// kind names the report in the platform's terms, such as "image" or "event CLICK".
func (r report) kind() string {
	kind := r.text("MsgType")
	if event := r.text("Event"); event != "" {
		kind += " " + event
	}
	return kind
}

// inbound returns the event of a report, or the reason why it is dropped.
func (r report) event() inbound.Event {
	seconds, _ := strconv.ParseInt(r.text("CreateTime"), 10, 64)
	event := send.MessageEvent{From: r.text("FromUserName"), To: r.text("ToUserName"), MessageID: r.text("MsgId")}
	if seconds > 0 && seconds < 1<<40 {
		event.Timestamp = document.Timestamp(seconds * 1000)
	}
	if event.From == "" || r.text("MsgType") == "" {
		return inbound.Event{Kind: r.kind(), Drop: send.DropIncomplete}
	}
	if isOfOperator[r.text("Event")] {
		return inbound.Event{Kind: r.kind(), Drop: send.DropUnsupported}
	}
	key := "message " + event.MessageID
	if event.MessageID == "" {
		// Events have no id. These fields identify an event.
		key = strings.Join([]string{
			"event", event.From, r.text("CreateTime"), r.text("Event"), r.text("EventKey"), r.text("MsgID"),
		}, " ")
	}
	if r.text("MsgType") == "event" {
		event.Type, event.Data = r.happened()
	} else {
		event.Type, event.Data = r.written()
	}
	return inbound.Event{Kind: r.kind(), Inbound: botctx.Inbound{Event: event, Key: key}}
}

// isOfOperator has the events about the account itself, not about a member.
var isOfOperator = map[string]bool{"MASSSENDJOBFINISH": true, "PUBLISHJOBFINISH": true}

// written converts a member's message to the type and the data of its event.
func (r report) written() (send.Type, document.Object) {
	kind, id := r.text("MsgType"), r.text("MediaId")
	switch {
	case kind == "text" && r.text("bizmsgmenuid") != "":
		return send.TypePayload, document.O("payload", taps.Payload(r.text("bizmsgmenuid")), "text", r.text("Content"))
	case kind == "text" && r.text("Content") != "":
		return send.TypeText, document.O("text", r.text("Content"))
	case kind == "image":
		return attached("image", document.O("attachment_id", id, "url", r.text("PicUrl")), "")
	case kind == "voice":
		return attached("audio", document.O("attachment_id", id, "format", r.text("Format")), r.text("Recognition"))
	case kind == "video", kind == "shortvideo":
		return attached("video", document.O("attachment_id", id, "thumb_media_id", r.text("ThumbMediaId")), "")
	case kind == "location":
		return attached("location", document.O("coordinates", document.O(
			"lat", number(r.text("Location_X")), "long", number(r.text("Location_Y")),
		)), r.text("Label"))
	case kind == "link":
		return attached("link", document.O("url", r.text("Url"), "title", r.text("Title")), r.text("Description"))
	default:
		return send.TypeMisc, document.O("message", r.content())
	}
}

// attached returns the data of a message with an attachment. Empty fields are left out.
func attached(kind string, payload document.Object, text string) (send.Type, document.Object) {
	for field, value := range payload.All() {
		if value == "" {
			payload = payload.Without(field)
		}
	}
	return pieces.Attached(kind, payload, text)
}

// number parses a coordinate, or returns 0 if the text is not one.
func number(text string) float64 {
	parsed, err := strconv.ParseFloat(text, 64)
	if err != nil || !(parsed >= -180 && parsed <= 180) { // NaN fails both comparisons.
		return 0
	}
	return parsed
}

// content returns the report's own fields, without the common ones such as the sender.
func (r report) content() document.Object {
	content := r.told
	for _, name := range []string{"ToUserName", "FromUserName", "CreateTime", "MsgId", "Encrypt"} {
		content = content.Without(name)
	}
	return content
}

// scene precedes the key of a scanned code in the event of a new follower.
const scene = "qrscene_"

// happened converts an event to the type and the data of a MessageEvent.
func (r report) happened() (send.Type, document.Object) {
	key := r.text("EventKey")
	switch kind := r.text("Event"); kind {
	case "subscribe", "SCAN":
		data := document.O("source", strings.ToLower(kind))
		if reference := strings.TrimPrefix(key, scene); reference != "" {
			data = data.With("ref", reference)
		}
		if ticket := r.text("Ticket"); ticket != "" {
			data = data.With("ticket", ticket)
		}
		return send.TypeReferral, data
	case "CLICK":
		if key == "" {
			break
		}
		return send.TypePayload, document.O("payload", taps.Payload(key))
	case "VIEW":
		return send.TypeWebEvent, document.O("url", key)
	case "TEMPLATESENDJOBFINISH":
		return send.TypeDelivery, document.O("mids", document.A(r.text("MsgID")), "status", r.text("Status"))
	}
	return send.TypeMisc, document.O("event", r.content().Without("MsgType"))
}
