package send

import (
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

const (
	fieldType    = "type"
	fieldText    = "text"
	fieldPayload = "payload"
	// fieldLiteral is true in JSON if {{path}} must not be filled.
	fieldLiteral = "_literal"
)

// Response is an outgoing message: an object with a type and the fields of that type.
//
// A Response created in Go is literal: {{path}} in it is sent unchanged, so it may contain text
// that a member wrote. WithPlaceholders turns on filling {{path}} from the member. A Response
// decoded from JSON has placeholders, as the specification requires. A literal response that
// contains {{ is encoded with "_literal": true, so that it stays literal when decoded; Object does
// not contain this mark.
//
// A Response keeps all fields in order, known or not, so decoding and encoding preserve the JSON.
// Only spellings may change: string escapes; numbers such as 1.0 and 1e3, which become 1 and 1000;
// numbers that fit neither 64 bits nor a double, which become the nearest double; unpaired
// surrogates, which become U+FFFD; and duplicate keys: the last one remains. (json.Marshal
// also escapes <, > and &; String and document.EncodeJSON do not.)
//
// A Response is immutable: With and WithPlaceholders return a new one. The zero Response counts as
// absent. Constructors never fail; Validate and every send return InvalidArgument for a response
// that no platform would accept.
type Response struct {
	object document.Object
	// hasPlaceholders is true if {{path}} must be filled.
	hasPlaceholders bool
}

// Raw returns an object with a type and other fields, such as one read from a data source, as a
// literal response. A field "_literal" is removed.
func Raw(object document.Object) Response {
	if _, has := object.Field(fieldLiteral); has {
		object = object.Without(fieldLiteral)
	}
	return Response{object: object}
}

// Type returns the response's type, or "".
func (r Response) Type() Type {
	name, _ := r.object.Value(fieldType).(string)
	return Type(name)
}

// Text returns the text of a response of any type, or "".
func (r Response) Text() string {
	text, _ := r.object.Value(fieldText).(string)
	return text
}

// Object returns all fields.
func (r Response) Object() document.Object { return r.object }

// Data returns all fields except the type, as in a message event.
func (r Response) Data() document.Object {
	switch {
	case r.object.IsZero():
		return document.O()
	case r.object.Shape() == textShape && r.object.Err() == nil:
		return textDataShape.Object(func(int) any { return r.object.At(1) })
	default:
		return r.object.Without(fieldType)
	}
}

// Lookup returns the value at a dotted path. It is used by document.Get:
//
//	document.Get(response, "buttons.0.title", "")
func (r Response) Lookup(path string) (any, bool) { return r.object.Lookup(path) }

// With returns the response with a field set to value, which may be anything that document.ValueOf
// accepts:
//
//	send.Text("Hello").With("transform", rules)
func (r Response) With(field string, value any) Response {
	r.object = r.object.With(field, value)
	return r
}

// WithPlaceholders returns the response with {{path}} in its strings to be filled from the
// receiving member:
//
//	send.Text("Hello {{firstName}}!").WithPlaceholders()
//
// Placeholders in inserted values are not filled. Do not use it on a response with text that a
// member wrote, which might contain {{meta.secret}}. See Fill for the syntax of a path.
func (r Response) WithPlaceholders() Response {
	r.hasPlaceholders = true
	return r
}

// IsTemplate reports whether Fill replaces placeholders in the response.
func (r Response) IsTemplate() bool { return r.hasPlaceholders && mayHavePlaceholder(r.object) }

// IsZero reports whether the response is absent.
func (r Response) IsZero() bool { return r.object.IsZero() }

// String returns the response as JSON, for logs and failure messages.
func (r Response) String() string { return r.object.String() }

// GoString returns String with the type's name, so that test failures are readable.
func (r Response) GoString() string { return "send.Response" + r.String() }

// EncodeValue returns the response's object, with "_literal": true if it is literal and contains
// {{.
func (r Response) EncodeValue() (any, error) { return r.marked(), r.object.Err() }

func (r Response) marked() document.Object {
	if r.hasPlaceholders || !mayHavePlaceholder(r.object) {
		return r.object
	}
	return r.object.With(fieldLiteral, true)
}

// DecodeValue reads an object, or a string of JSON, which some scripts use. null gives the zero
// Response.
func (r *Response) DecodeValue(value any) error {
	if text, ok := value.(string); ok {
		held, err := document.ParseJSON([]byte(text))
		if _, isObject := held.(document.Object); err != nil || !isObject {
			return boterr.Invalid("", "is text without a JSON object; give an object with a type, such as {\"type\": \"TEXT\", \"text\": ...}")
		}
		value = held
	}
	var object document.Object
	if err := document.DecodeValue(value, &object); err != nil {
		return err
	}
	isLiteral := document.Get(object, fieldLiteral, false)
	if isLiteral {
		object = object.Without(fieldLiteral)
	}
	*r = Response{object: object, hasPlaceholders: !isLiteral && mayHavePlaceholder(object)}
	return nil
}

// MarshalJSON writes the fields in order, and null for the zero Response. A literal response that
// contains {{ also gets "_literal": true; Object returns the fields alone.
func (r Response) MarshalJSON() ([]byte, error) { return r.marked().MarshalJSON() }

// UnmarshalJSON reads a response by the rules of DecodeValue.
func (r *Response) UnmarshalJSON(text []byte) error { return unmarshal(text, r) }

func unmarshal(text []byte, into document.ValueDecoder) error {
	value, err := document.ParseJSON(text)
	if err != nil {
		return err
	}
	return into.DecodeValue(value)
}

func wrongType(field, expected string, value any) error {
	return boterr.Invalid(field, "must be %s, got %s", expected, document.JSONType(value))
}

// Text returns a text message of at most [MaxText] characters. It is sent unchanged, so it may
// contain text that a member wrote.
func Text(text string) Response {
	valid, _ := document.ValueOf(text) // A string is always a valid value.
	return Raw(textShape.Object(func(i int) any { return [...]any{string(TypeText), valid}[i] }))
}

// Text messages are the most frequent, so their shapes are created only once.
var (
	textShape     = document.NewShape([]string{fieldType, fieldText})
	textDataShape = document.NewShape([]string{fieldText})
)

// Template returns a text message with {{path}} to be filled from the receiving member:
//
//	send.Template("Hello {{firstName}}, your order {{meta.order.id}} is ready.")
//
// It is Text with WithPlaceholders for string constants.
func Template(text Constant) Response { return Text(string(text)).WithPlaceholders() }

// Constant is a string constant. Constants convert to it implicitly and string variables do not, so
// text that a member wrote cannot become a template by accident.
type Constant string

// Image returns a message with the picture at a URL.
func Image(url string) Response { return file(TypeImage, url) }

// Audio returns a message with the recording at a URL.
func Audio(url string) Response { return file(TypeAudio, url) }

// Video returns a message with the video at a URL.
func Video(url string) Response { return file(TypeVideo, url) }

// File returns a message with the file at a URL.
func File(url string) Response { return file(TypeFile, url) }

func file(t Type, url string) Response {
	return Raw(document.O(fieldType, t, "url", url))
}

// Attachment returns a message with a file that the platform already has, by its id there. The type
// is TypeImage, TypeAudio, TypeVideo or TypeFile.
func Attachment(t Type, id string) Response {
	return Raw(document.O(fieldType, t, "attachment_id", id))
}

// QuickReplies returns a text with at most [MaxQuickReplies] answers to tap:
//
//	send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}, send.QuickReply{Title: "No"})
func QuickReplies(text string, replies ...QuickReply) Response {
	return Raw(document.O(fieldType, TypeQuickReplies, fieldText, text,
		"quickReplies", mapped(replies, QuickReply.withDefaults)))
}

// Buttons returns a text with at most [MaxButtons] buttons:
//
//	send.Buttons("A table for two?", send.Postback("Yes", "book"), send.WebURL("Menu", url))
func Buttons(text string, buttons ...Button) Response {
	return Raw(document.O(fieldType, TypeButton, fieldText, text,
		"buttons", mapped(buttons, Button.withDefaults)))
}

// Carousel returns a row of at most [MaxCards] cards.
func Carousel(cards ...Card) Response {
	return Raw(document.O(fieldType, TypeCarousel, "carousel", mapped(cards, Card.withDefaults)))
}

// News returns an Echo message with at most [MaxArticles] articles.
func News(articles ...Article) Response {
	return Raw(document.O(fieldType, TypeNews, "articles", articles))
}

// BravoTemplate returns a message based on a template that Bravo has approved, given by its name
// and a language code such as "en_US". The components, in Bravo's format, are inserted into it.
func BravoTemplate(elementName, languageCode string, components ...document.Object) Response {
	response := Raw(document.O(fieldType, TypeTemplate, "elementName", elementName, "languageCode", languageCode))
	if components == nil {
		return response
	}
	return response.With("components", components)
}

// Typing shows that the bot is typing. The duration is sent in milliseconds.
func Typing(duration time.Duration) Response {
	return Raw(document.O(fieldType, TypeTyping, "duration", duration.Milliseconds()))
}

// Other returns a response of any type. Unknown types and fields are passed to the platform
// unchanged.
func Other(t Type, fields document.Object) Response {
	if fields.Err() != nil {
		return Raw(fields)
	}
	named, _ := document.ValueOf(string(t)) // A string is always a valid value.
	object := document.NewBuilder(1 + fields.Len())
	object.Set(fieldType, named)
	for field, value := range fields.All() {
		if field != fieldType {
			object.Set(field, value)
		}
	}
	return Raw(object.Object())
}
