package send

import (
	"cmp"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Result is what came of sending one message to one recipient.
//
// Its JSON is what the specification shows for the operation and the platform: For
// and Full choose it, and reading remembers it. JSON does not say from which platform it
// is. Where that answers in words of its own, as Charlie and Echo do, they are in Reply when
// they are read, and For says what else they tell.
type Result struct {
	// Reply is what the platform answered to the request, in its own words.
	Reply document.Object
	// MessageEvent is the message as it was sent.
	MessageEvent MessageEvent
	// ChatID is the platform's id of the conversation, "" where it has none.
	ChatID string
	// Err tells why the message was not sent to this recipient of several. The other
	// fields are then zero, and the JSON is {"error": ...} with the error's JSON form.
	Err error

	// shape is the form of the JSON, nil for that of Full.
	shape *shape
}

// For returns the result as one of a platform, with the JSON that the specification shows for
// that: channel.Platform.Result. Of a result that was read from JSON in a platform's own words
// it reads them: on Charlie the conversation, and the id and the time of the message.
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

// Full returns the result with the JSON {result, messageEvent, chatId}, which the
// result of a node's responses has on every platform. It is the shape of a Result
// that names no other.
func (r Result) Full() Result {
	r.shape = nil
	return r
}

// EncodeValue returns the result in its shape.
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

// DecodeValue reads a result. What has no message event is a platform's
// own words. What is empty is InvalidArgument.
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

// MarshalJSON writes the result in its shape.
func (r Result) MarshalJSON() ([]byte, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads a result by the rules of DecodeValue.
func (r *Result) UnmarshalJSON(text []byte) error { return unmarshal(text, r) }

// The fields of results.
const (
	fieldResult       = "result"
	fieldMessageEvent = "messageEvent"
	fieldChatID       = "chatId"
	fieldError        = "error"

	fieldMsgType = "msgType"
	fieldTS      = "ts"
)

// shape is the form of a result in JSON.
type shape struct {
	// write returns a result in this form.
	write func(r Result) document.Object
	// read returns what a platform's own words say. It is nil for the forms that hold the
	// message event, which need no platform to be read.
	read func(words document.Object) Result
}

// The forms that do not depend on a platform.
var (
	// fullShape is {result, messageEvent, chatId}.
	fullShape = &shape{write: func(r Result) document.Object { return commonObject(r).With(fieldChatID, r.ChatID) }}
	// commonShape is {result, messageEvent}.
	commonShape = &shape{write: commonObject}
	// foreignShape is the words of some platform, as they were read: nobody has said which platform.
	foreignShape = &shape{write: func(r Result) document.Object { return r.Reply }}
)

// ownShapes are the forms of the platforms that answer in words of their own, which
// channel.Platform.Result describes.
var ownShapes = map[channel.Type]*shape{
	channel.Charlie: {write: charlieObject, read: readCharlie},
	channel.Echo:    {write: echoObject, read: func(words document.Object) Result { return Result{Reply: words} }},
}

// shapeOf returns the form of the results of a platform.
func shapeOf(platform channel.Type) *shape {
	if own := ownShapes[platform]; own != nil {
		return own
	}
	return commonShape
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
	for _, field := range channel.PlatformOf(channel.Echo).Result.Optional {
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

// readResult reads a result without being told its platform: one with a message event, or a
// platform's own words, which stay as they are.
func readResult(o document.Object) (Result, error) {
	if o.Len() == 0 {
		return Result{}, boterr.Invalid("", "is no result of a send: it is empty")
	}
	if _, hasEvent := o.Field(fieldMessageEvent); hasEvent {
		return readCommon(o)
	}
	return Result{Reply: o, shape: foreignShape}, nil
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
	r := Result{Reply: fields.Result, MessageEvent: fields.MessageEvent, shape: commonShape}
	if fields.ChatID != nil {
		r.ChatID, r.shape = *fields.ChatID, nil
	}
	return r, nil
}

// readCharlie reads {ok, channel, ts, message}. ts is the message's id, too. One that is not a
// timestamp is kept as it is, and leaves the event without a time.
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
