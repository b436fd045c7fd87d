package send

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// MessageEvent is a message that was sent or received. A nil event has no text, payload or value.
type MessageEvent struct {
	// From and To are the platform ids of sender and receiver.
	From string `json:"from"`
	To   string `json:"to"`
	// Data is the response without its type, or the data reported by the platform.
	Data document.Object `json:"data"`
	// Type is the kind of message, such as TEXT, IMAGE, QUICK_REPLIES or PAYLOAD.
	Type Type `json:"type"`
	// Timestamp is the time of sending in Unix milliseconds. JSON may also give it as a string of
	// seconds.
	Timestamp document.Timestamp `json:"timestamp"`
	// MessageID is the platform's id of the message.
	MessageID string `json:"messageId"`
	// Unknown holds fields that MessageEvent does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// Text returns the text of a message of type TEXT, and "" for every other type. Use
// Response().Text() for the text of any type.
func (e *MessageEvent) Text() string {
	if e == nil || e.Type != TypeText {
		return ""
	}
	return document.Get(e.Data, fieldText, "")
}

// Payload returns the payload of a tap on a button or a quick reply, given as a string or as an
// object with a value. It is "" for other messages.
func (e *MessageEvent) Payload() string {
	if e == nil || e.Type != TypePayload {
		return ""
	}
	return document.Get(e.Data, fieldPayload, document.Get(e.Data, "payload.payload", ""))
}

// Value returns the value in the payload of a tap, or nil if there is none.
func (e *MessageEvent) Value() any {
	if e == nil || e.Type != TypePayload {
		return nil
	}
	value, _ := e.Data.Lookup("payload.value")
	return value
}

// Response returns the message as a literal response.
func (e *MessageEvent) Response() Response {
	if e == nil {
		return Response{}
	}
	return Other(e.Type, e.Data)
}

// messageEvent is a MessageEvent without its methods.
type messageEvent MessageEvent

// DecodeValue reads an object by the rules of document.Decode. The timestamp may be a number of
// milliseconds or a string of seconds. null gives the zero event.
func (e *MessageEvent) DecodeValue(value any) error {
	if object, ok := value.(document.Object); ok {
		if seconds, ok := object.Field("timestamp"); ok {
			timestamp, err := milliseconds(seconds)
			if err != nil {
				return boterr.PrefixField("timestamp", err)
			}
			value = object.With("timestamp", timestamp)
		}
	}
	var read messageEvent
	if err := document.DecodeValue(value, &read); err != nil {
		return err
	}
	*e = MessageEvent(read)
	return nil
}

// MarshalJSON writes the event with its unknown fields.
func (e MessageEvent) MarshalJSON() ([]byte, error) { return document.EncodeJSON(messageEvent(e)) }

// UnmarshalJSON reads an event by the rules of DecodeValue.
func (e *MessageEvent) UnmarshalJSON(text []byte) error { return unmarshal(text, e) }

const millisecondsPerSecond = 1000

// milliseconds converts a string of seconds, with an optional fraction, to milliseconds. Any other
// value is returned unchanged.
func milliseconds(timestamp any) (any, error) {
	text, ok := timestamp.(string)
	if !ok {
		return timestamp, nil
	}
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || !isDigits(fraction) || seconds >= math.MaxInt64/millisecondsPerSecond {
		return nil, boterr.Invalid("", "must be a number of milliseconds or a string of seconds, got %.40q", text)
	}
	return int64(seconds)*millisecondsPerSecond + thousandths(fraction), nil
}

// seconds formats a timestamp as seconds with six decimals, like platforms that use timestamps as
// ids. No timestamp gives "".
func seconds(timestamp document.Timestamp) string {
	if timestamp.IsZero() {
		return ""
	}
	const microsecondsPerMillisecond = 1000
	ms := int64(timestamp)
	return fmt.Sprintf("%d.%06d", ms/millisecondsPerSecond, ms%millisecondsPerSecond*microsecondsPerMillisecond)
}

func isDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// thousandths returns the first three digits after the decimal point.
func thousandths(fraction string) int64 {
	n, _ := strconv.ParseInt((fraction + "000")[:3], 10, 64) // The digits have been checked.
	return n
}
