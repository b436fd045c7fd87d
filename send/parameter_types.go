package send

import (
	"math"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// AttachmentType is the kind of a file: TypeImage, TypeAudio, TypeVideo or TypeFile. JSON may use
// either case, such as "image", or an object with the kind as its type.
type AttachmentType Type

// DecodeValue reads a string, or an object with a type. null gives "".
func (a *AttachmentType) DecodeValue(value any) error {
	given, field := value, ""
	if object, ok := value.(document.Object); ok {
		given, _ = object.Field(fieldType)
		field = fieldType
	}
	text, ok := given.(string)
	switch {
	case value == nil:
		*a = ""
		return nil
	case !ok:
		return wrongType(field, "a kind of file, such as \"image\"", given)
	}
	*a = AttachmentType(strings.ToUpper(text))
	return nil
}

// UnmarshalJSON reads a kind of file by the rules of DecodeValue.
func (a *AttachmentType) UnmarshalJSON(text []byte) error { return unmarshal(text, a) }

// BroadcastID is Alpha's id of a stored message. JSON may give it as a string, a number, or an
// object that contains it: Alpha's reply, an element of AlphaCreateBroadcast's result, or that
// whole result if it has one element.
type BroadcastID string

// broadcastIDFields are the names of fields that may hold the id, in order of preference.
var broadcastIDFields = []string{"message_creative_id", "broadcast_id", "broadcastId", "id"}

// DecodeValue reads a string, a whole number, or an object. An object has the id as
// message_creative_id, broadcast_id, broadcastId or id, in itself, in its response, or in the only
// element of its result. null gives "".
func (b *BroadcastID) DecodeValue(value any) error {
	if value == nil {
		*b = ""
		return nil
	}
	id, err := broadcastID(value)
	if err != nil {
		return err
	}
	*b = BroadcastID(id)
	return nil
}

// UnmarshalJSON reads an id by the rules of DecodeValue.
func (b *BroadcastID) UnmarshalJSON(text []byte) error { return unmarshal(text, b) }

func broadcastID(value any) (string, error) {
	object, ok := value.(document.Object)
	if !ok {
		return idText(value)
	}
	for _, field := range broadcastIDFields {
		if id, _ := object.Field(field); id != nil {
			text, err := idText(id)
			return text, boterr.PrefixField(field, err)
		}
	}
	if reply, ok := document.Get[any](object, "response", nil).(document.Object); ok {
		id, err := broadcastID(reply)
		return id, boterr.PrefixField("response", err)
	}
	if stored, ok := document.Get[any](object, fieldResult, nil).(document.Array); ok {
		return onlyBroadcastID(stored)
	}
	return "", boterr.Invalid("", "contains no id of a stored message; give one of %s", strings.Join(broadcastIDFields, ", "))
}

// onlyBroadcastID returns the id in a result of AlphaCreateBroadcast that has exactly one element.
func onlyBroadcastID(stored document.Array) (string, error) {
	if n := stored.Len(); n != 1 {
		return "", boterr.Invalid(fieldResult, "has %d elements; give exactly one", n)
	}
	for _, element := range stored.All() {
		id, err := broadcastID(element)
		return id, boterr.PrefixField("result[0]", err)
	}
	return "", nil
}

// maxExact is the limit up to which a float64 represents every integer.
const maxExact = 1 << 53

// idText returns an id given as a string or a whole number.
func idText(value any) (string, error) {
	switch id := value.(type) {
	case string:
		if id == "" {
			return "", boterr.Invalid("", "is empty; give an id")
		}
		return id, nil
	case int64:
		return strconv.FormatInt(id, 10), nil
	case float64:
		if id == math.Trunc(id) && math.Abs(id) <= maxExact {
			return strconv.FormatInt(int64(id), 10), nil
		}
		return "", boterr.Invalid("", "is not an exact whole number; give it as text")
	default:
		return "", wrongType("", "an id: text, a number or an object that has it", value)
	}
}

// MessageTS is a message's timestamp on the platform, which is also its id there, such as
// "1767225600.000100". JSON may give it as a string or a number; a fraction is written with six
// decimals, as the platforms do.
type MessageTS string

// DecodeValue reads a string or a non-negative number. null gives "".
func (m *MessageTS) DecodeValue(value any) error {
	switch ts := value.(type) {
	case nil:
		*m = ""
	case string:
		*m = MessageTS(ts)
	case int64:
		*m = MessageTS(strconv.FormatInt(ts, 10))
	case float64:
		*m = MessageTS(strconv.FormatFloat(ts, 'f', 6, 64))
	default:
		return wrongType("", "a message's timestamp as text or a number", value)
	}
	if n, ok := document.FloatNumber(value); ok && (n < 0 || n > maxExact || math.IsNaN(n)) {
		return boterr.Invalid("", "is not a timestamp; give it as the platform did, such as \"1767225600.000100\"")
	}
	return nil
}

// UnmarshalJSON reads a timestamp by the rules of DecodeValue.
func (m *MessageTS) UnmarshalJSON(text []byte) error { return unmarshal(text, m) }
