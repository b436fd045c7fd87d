package send

import (
	"cmp"

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
