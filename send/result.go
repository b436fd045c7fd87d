package send

import (
	"cmp"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Result is the result of sending one message to one recipient.
//
// Its JSON has the form that the specification shows for the operation and the platform. For and
// Full choose the form, and decoding keeps it. Because the JSON does not name the platform,
// decoding a platform's own form, such as the forms of Charlie and Echo, stores everything in
// Reply; For then extracts the other fields.
type Result struct {
	// Reply is the platform's raw answer.
	Reply document.Object
	// MessageEvent is the sent message. It is zero if nothing was sent because the member has
	// unsubscribed; see Operations.SendResponse.
	MessageEvent MessageEvent
	// ChatID is the platform's id of the conversation, or "".
	ChatID string
	// Err is the reason why this recipient, one of several, did not receive the message. All other
	// fields are then zero, and the JSON is {"error": ...} with the error's JSON form.
	Err error

	// shape writes the JSON. Nil means fullShape.
	shape *shape
}

// For returns the result in the JSON form that the specification shows for the platform; see
// channel.Platform.Result. If the result was decoded from the platform's own form, For also
// extracts the other fields: on Charlie the conversation, and the id and time of the message.
func (r Result) For(platform channel.Type) Result {
	s := shapeOf(platform)
	if r.shape == foreignShape {
		if s.read == nil {
			return r
		}
		r = s.read(r.Reply)
	}
	r.shape = s
	return r
}

// Full returns the result in the JSON form {result, messageEvent, chatId}, which the results of a
// node's responses have on every platform. It is the default form.
func (r Result) Full() Result {
	r.shape = nil
	return r
}

// EncodeValue returns the result's JSON value, in the form that For or Full chose.
func (r Result) EncodeValue() (any, error) {
	if r.Err == nil {
		return cmp.Or(r.shape, fullShape).write(r), nil
	}
	failure, ok := boterr.AsError(r.Err)
	if !ok {
		failure = boterr.New(boterr.CodeOf(r.Err), "", "%w", r.Err)
	}
	return document.O(fieldError, failure), nil
}

// DecodeValue reads a result. An object without a message event is taken as a platform's own form.
// An empty object is InvalidArgument.
func (r *Result) DecodeValue(value any) error {
	object, ok := value.(document.Object)
	if !ok {
		return wrongType("", "an object", value)
	}
	if failure, ok := object.Field(fieldError); ok && object.Len() == 1 {
		var read *boterr.Error
		if err := document.DecodeValue(failure, &read); err != nil {
			return boterr.PrefixField(fieldError, err)
		}
		*r = Result{Err: read}
		return nil
	}
	read, err := readResult(object)
	if err != nil {
		return err
	}
	*r = read
	return nil
}

// MarshalJSON writes the value of EncodeValue as JSON.
func (r Result) MarshalJSON() ([]byte, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads a result by the rules of DecodeValue.
func (r *Result) UnmarshalJSON(text []byte) error { return unmarshal(text, r) }

const (
	fieldResult       = "result"
	fieldMessageEvent = "messageEvent"
	fieldChatID       = "chatId"
	fieldError        = "error"

	fieldMsgType = "msgType"
	fieldTS      = "ts"
)

// shape is a JSON form of results.
type shape struct {
	// write encodes r.
	write func(r Result) document.Object
	// read decodes a platform's own form. It is nil for the forms with a message event, which are
	// decoded the same on all platforms.
	read func(words document.Object) Result
}

// The forms that do not depend on a platform.
var (
	// fullShape is {result, messageEvent, chatId}.
	fullShape = &shape{write: func(r Result) document.Object { return commonObject(r).With(fieldChatID, r.ChatID) }}
	// commonShape is {result, messageEvent}.
	commonShape = &shape{write: commonObject}
	// foreignShape is some platform's own form, as decoded.
	foreignShape = &shape{write: func(r Result) document.Object { return r.Reply }}
)

// ownShapes are the platforms' own forms, described by channel.Platform.Result.
var ownShapes = map[channel.Type]*shape{
	channel.Charlie: {write: charlieObject, read: readCharlie},
	channel.Echo:    {write: echoObject, read: func(words document.Object) Result { return Result{Reply: words} }},
}

func shapeOf(platform channel.Type) *shape {
	if own := ownShapes[platform]; own != nil {
		return own
	}
	return commonShape
}

func commonObject(r Result) document.Object {
	event := r.MessageEvent
	event.Data = present(event.Data)
	return document.O(fieldResult, present(r.Reply), fieldMessageEvent, event)
}

// charlieObject returns the platform's reply, with missing fields taken from the message event.
func charlieObject(r Result) document.Object {
	return document.O(
		"ok", replied(r, "ok", r.MessageEvent.Type != ""),
		"channel", replied(r, "channel", r.ChatID),
		fieldTS, repliedTS(r),
		"message", replied(r, "message", present(r.MessageEvent.Data)),
	)
}

// repliedTS returns the message's timestamp as text for updateMessage: the reply's, or the time of
// the message event. An invalid ts is returned unchanged.
func repliedTS(r Result) any {
	given := replied(r, fieldTS, seconds(r.MessageEvent.Timestamp))
	var ts MessageTS
	if err := ts.DecodeValue(given); err != nil {
		return given
	}
	return string(ts)
}

// echoObject returns the platform's reply, with missing fields taken from the message.
func echoObject(r Result) document.Object {
	object := document.O(fieldMsgType, replied(r, fieldMsgType, strings.ToLower(string(r.MessageEvent.Type))))
	for _, field := range channel.PlatformOf(channel.Echo).Result.Optional {
		sent, _ := r.MessageEvent.Data.Field(field)
		if value := replied(r, field, sent); value != nil {
			object = object.With(field, value)
		}
	}
	return object
}

// replied returns a field of the platform's reply, or otherwise if it has none.
func replied(r Result, field string, otherwise any) any {
	if value, ok := r.Reply.Field(field); ok && value != nil {
		return value
	}
	return otherwise
}

// present returns o, or an empty object if o is absent.
func present(o document.Object) document.Object {
	if o.IsZero() {
		return document.O()
	}
	return o
}

// readResult decodes a result of an unknown platform.
func readResult(o document.Object) (Result, error) {
	if o.Len() == 0 {
		return Result{}, boterr.Invalid("", "is not the result of a send; it is empty")
	}
	if _, hasEvent := o.Field(fieldMessageEvent); hasEvent {
		return readCommon(o)
	}
	return Result{Reply: o, shape: foreignShape}, nil
}

// readCommon decodes {result, messageEvent} with an optional chatId.
func readCommon(o document.Object) (Result, error) {
	var fields struct {
		Result       document.Object `json:"result"`
		MessageEvent MessageEvent    `json:"messageEvent"`
		ChatID       *string         `json:"chatId"`
	}
	if err := document.Decode(o, &fields); err != nil {
		return Result{}, err
	}
	r := Result{Reply: fields.Result, MessageEvent: fields.MessageEvent, shape: commonShape}
	if fields.ChatID != nil {
		r.ChatID, r.shape = *fields.ChatID, nil
	}
	return r, nil
}

// readCharlie decodes {ok, channel, ts, message}. ts is also the message's id. If it is not a
// timestamp, the event has no time.
func readCharlie(words document.Object) Result {
	r := Result{Reply: words, ChatID: document.Get(words, "channel", "")}
	given, _ := words.Field(fieldTS)
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
