package send

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// shape is the form of a result in JSON.
type shape uint8

const (
	// shapeFull is {result, messageEvent, chatId}.
	shapeFull shape = iota
	// shapeCommon is {result, messageEvent}.
	shapeCommon
	// shapeCharlie is {ok, channel, ts, message}.
	shapeCharlie
	// shapeEcho is msgType with those of the fields of echoFields that there are.
	shapeEcho
)

// The fields of results.
const (
	fieldResult       = "result"
	fieldMessageEvent = "messageEvent"
	fieldChatID       = "chatId"
	fieldError        = "error"

	fieldMsgType = "msgType"
	fieldTS      = "ts"
)

// echoFields are the fields of a result on Echo behind msgType.
var echoFields = []string{"url", "image", "text", "video", "title", "description", "news"}

// object returns a result in this shape.
func (s shape) object(r Result) document.Object {
	switch s {
	case shapeCharlie:
		return charlieObject(r)
	case shapeEcho:
		return echoObject(r)
	case shapeCommon:
		return commonObject(r)
	default:
		return commonObject(r).With(fieldChatID, r.ChatID)
	}
}

func commonObject(r Result) document.Object {
	return document.O(fieldResult, present(r.Reply), fieldMessageEvent, r.MessageEvent)
}

// charlieObject takes the platform's own reply, and completes it from the message
// event where the reply lacks something.
func charlieObject(r Result) document.Object {
	return document.O(
		"ok", replied(r, "ok", true),
		"channel", replied(r, "channel", r.ChatID),
		fieldTS, repliedTS(r),
		"message", replied(r, "message", present(r.MessageEvent.Data)),
	)
}

// repliedTS returns the platform's timestamp of a message as text, as updateMessage takes it: the
// reply's, or the time of the message event. A ts of the reply that is not a timestamp is returned
// as it is.
func repliedTS(r Result) any {
	given := replied(r, fieldTS, seconds(r.MessageEvent.Timestamp))
	var ts MessageTS
	if err := ts.DecodeValue(given); err != nil {
		return given
	}
	return string(ts)
}

// echoObject takes the platform's own reply, and what it lacks from the message.
func echoObject(r Result) document.Object {
	object := document.O(fieldMsgType, replied(r, fieldMsgType, strings.ToLower(string(r.MessageEvent.Type))))
	for _, field := range echoFields {
		sent, _ := r.MessageEvent.Data.Field(field)
		if value := replied(r, field, sent); value != nil {
			object = object.With(field, value)
		}
	}
	return object
}

// replied returns a field of the platform's reply, or otherwise where it has none.
func replied(r Result, field string, otherwise any) any {
	if value, ok := r.Reply.Field(field); ok && value != nil {
		return value
	}
	return otherwise
}

// present returns an object that is there, empty where o is absent.
func present(o document.Object) document.Object {
	if o.IsZero() {
		return document.O()
	}
	return o
}

// readResult reads a result by the shape that its fields show.
func readResult(o document.Object) (Result, error) {
	_, isCommon := o.Field(fieldMessageEvent)
	_, isEcho := o.Field(fieldMsgType)
	_, isCharlie := o.Field(fieldTS)
	switch {
	case isCommon:
		return readCommon(o)
	case isEcho:
		return Result{Reply: o, shape: shapeEcho}, nil
	case isCharlie:
		return readCharlie(o), nil
	default:
		return Result{}, boterr.Invalid("", "is no result of a send: it has none of messageEvent, msgType and ts")
	}
}

// readCommon reads {result, messageEvent}, perhaps with chatId.
func readCommon(o document.Object) (Result, error) {
	var fields struct {
		Result       document.Object `json:"result"`
		MessageEvent MessageEvent    `json:"messageEvent"`
		ChatID       *string         `json:"chatId"`
	}
	if err := document.Decode(o, &fields); err != nil {
		return Result{}, err
	}
	r := Result{Reply: fields.Result, MessageEvent: fields.MessageEvent, shape: shapeCommon}
	if fields.ChatID != nil {
		r.ChatID, r.shape = *fields.ChatID, shapeFull
	}
	return r, nil
}

// readCharlie reads {ok, channel, ts, message}. ts is the message's id, too. One that is not a
// timestamp is kept as it is, and leaves the event without a time.
func readCharlie(o document.Object) Result {
	r := Result{Reply: o, ChatID: document.Get(o, "channel", ""), shape: shapeCharlie}
	given, _ := o.Field(fieldTS)
	var ts MessageTS
	if err := ts.DecodeValue(given); err != nil {
		return r
	}
	if err := r.MessageEvent.DecodeValue(document.O("timestamp", ts)); err != nil {
		r.MessageEvent = MessageEvent{}
	}
	r.MessageEvent.MessageID = string(ts)
	return r
}
