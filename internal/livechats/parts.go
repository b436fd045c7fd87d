package livechats

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/send"
)

// eachPart calls relay for the message in an event, or for each part of a long text, and returns the last outcome. It
// stops after an error, and after an outcome that also holds for the rest.
func eachPart(event send.MessageEvent, relay func(send.Response) (Outcome, error)) (outcome Outcome, err error) {
	response, isMessage := relayedOf(event)
	if !isMessage {
		return OutcomeNone, nil
	}
	parts := []send.Response{response}
	if utf8.RuneCountInString(response.Text()) <= longestText {
		parts = partsOf(response, send.MaxText, oneForEach)
	}
	for _, part := range parts {
		if outcome, err = relay(part); err != nil || outcome != OutcomeDelivered && outcome != OutcomeKept {
			break
		}
	}
	return outcome, err
}

// longestText is the length of the longest text that is relayed in parts, in Unicode code points: the limit of Charlie.
const longestText = 40_000

// partsOf splits a text into parts of at most a size, because some platforms allow longer texts than others. sizeOf is the
// size of a code point. A part ends at white space if there is any in its second half. If most is 0, and for other
// messages, it returns the message unchanged.
func partsOf(response send.Response, most int, sizeOf func(rune) int) []send.Response {
	rest := []rune(response.Text())
	if response.Type() != send.TypeText || most == 0 {
		return []send.Response{response}
	}
	var parts []send.Response
	for {
		end := endOfPart(rest, most, sizeOf)
		if end == len(rest) && parts == nil {
			return []send.Response{response}
		}
		parts = append(parts, response.With(fieldText, string(rest[:end])))
		if rest = rest[end:]; len(rest) == 0 {
			return parts
		}
	}
}

// oneForEach is the size of a code point if code points are counted.
func oneForEach(rune) int { return 1 }

// endOfPart returns the length of the first part of a text.
func endOfPart(rest []rune, most int, sizeOf func(rune) int) int {
	end, size := 0, 0
	for ; end < len(rest); end++ {
		if size += sizeOf(rest[end]); size > most {
			break
		}
	}
	if end == len(rest) {
		return end
	}
	for i := end; i > end/2; i-- {
		if unicode.IsSpace(rest[i-1]) {
			return i
		}
	}
	return end
}

// relayedOf returns an event as a message for the other side, and reports whether the event is relayed.
func relayedOf(event send.MessageEvent) (send.Response, bool) {
	switch event.Type {
	case "", send.TypeReferral, send.TypeOptIn, send.TypeComment, send.TypeDelivery, send.TypeRead, send.TypeEcho,
		send.TypeWebEvent, send.TypeTyping:
		return send.Response{}, false
	case send.TypePayload:
		text := chosenOf(event)
		return send.Text(text), text != ""
	case send.TypeMisc:
		// An event without attachments or text is a report of the platform, such as a submitted form.
		if !event.Data.Has("attachments") && !event.Data.Has("text") {
			return send.Response{}, false
		}
	default:
	}
	event.Data = sends.WithoutReferences(event.Data) // The two sides share neither threads nor message ids.
	return event.Response(), true
}

// chosenOf returns the member's choice in a tap as text: what the member read on the button, if the platform reports it,
// else the payload, or all values chosen in a menu or form.
func chosenOf(event send.MessageEvent) string {
	values, ok := document.Get(event.Data, "values", any(nil)).(document.Array)
	if !ok {
		if event.Payload() == "" {
			return ""
		}
		return cmp.Or(document.Get(event.Data, fieldText, ""), document.Get(event.Data, "title", ""), event.Payload())
	}
	var texts []string
	for _, value := range values.All() {
		if chosen, isObject := value.(document.Object); isObject {
			value = document.Get(chosen, "payload", any(nil))
		}
		if value != nil {
			texts = append(texts, fmt.Sprint(value))
		}
	}
	return strings.Join(texts, ", ")
}

// sendRelayed sends a message of a live chat to the other side, in parts if its text is too long for the platform. A
// platform that has no messages with attachments gets the text and each attachment as a message. sendRelayed returns a
// lostError if the other side is gone. If only an attachment cannot be shown, the rest is sent.
func (s *Service) sendRelayed(ctx context.Context, message send.Message) error {
	err := s.sendEach(ctx, message, message.Response)
	if !isUnshowable(err) || message.Response.Type() != send.TypeMisc {
		return err
	}
	pieces, isAll := piecesOf(message.Response)
	if message.ID != "" {
		message.ID += "/piece"
	}
	if failed := s.sendEach(ctx, message, pieces...); failed != nil || isAll {
		return failed
	}
	return err
}

// sendEach sends responses as messages like the given one. The first one has its ID.
func (s *Service) sendEach(ctx context.Context, message send.Message, responses ...send.Response) error {
	var parts []send.Response
	for _, response := range responses {
		parts = append(parts, partsOf(response, channel.PlatformOf(message.Channel.Type).MaxTextBytes, utf8.RuneLen)...)
	}
	id := message.ID
	for i, part := range parts {
		if message.Response = part; id != "" && i > 0 {
			message.ID = id + "/" + strconv.Itoa(i+1)
		}
		if _, err := s.deliver(ctx, message); err != nil {
			return orLost(err)
		}
	}
	return nil
}

// isUnshowable reports whether a platform cannot show a message, by the error of its send.
func isUnshowable(err error) bool {
	code := boterr.CodeOf(err)
	return code == boterr.InvalidArgument || code == boterr.Unsupported
}

// fileTypes maps the types of attachments in events to types of messages.
var fileTypes = map[string]send.Type{
	"image": send.TypeImage, "audio": send.TypeAudio, "video": send.TypeVideo, "file": send.TypeFile,
}

// piecesOf returns the text and the attachments of a message as separate messages. isAll is false if an attachment is
// not among them, because it is not a file or its file has no address, or if there are no attachments.
func piecesOf(response send.Response) (pieces []send.Response, isAll bool) {
	if text := response.Text(); text != "" {
		pieces = partsOf(send.Text(text), send.MaxText, oneForEach)
	}
	attachments := document.Get(response, "attachments", []document.Object{})
	isAll = len(attachments) > 0
	for _, attachment := range attachments {
		kind, isFile := fileTypes[document.Get(attachment, "type", "")]
		address := document.Get(attachment, "payload.url", "")
		at := document.Get(attachment, "payload.coordinates", document.Object{})
		switch {
		case !at.IsZero():
			pieces = append(pieces, send.Text(coordinate(at, "lat")+", "+coordinate(at, "long")))
		case isFile && address != "":
			pieces = append(pieces, send.Other(kind, document.O("url", address)))
		default:
			isAll = false
		}
	}
	return pieces, isAll
}

func coordinate(at document.Object, name string) string {
	return strconv.FormatFloat(document.Get(at, name, 0.0), 'f', -1, 64)
}
