package send

import (
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// The fields of responses that the code looks at.
const (
	fieldType    = "type"
	fieldText    = "text"
	fieldPayload = "payload"
	// fieldLiteral is true in JSON where {{path}} is not filled.
	fieldLiteral = "_literal"
)

// Response is an outgoing message: an object with a type and the fields of that type.
//
// What code makes is literal: a text may hold what a member wrote, and {{path}} in it is sent as it
// is. WithPlaceholders says that {{path}} is to be filled from the member. What was read from JSON has
// placeholders, as the specification says. A literal response that holds {{ has "_literal": true in
// JSON, so that it stays literal; that is no field of the response.
//
// A Response keeps every field in its place, known or not, so that what was read as JSON is written as
// it was. Only the spelling of a value may change: the escapes of strings; numbers such as 1.0 and 1e3,
// which are written 1 and 1000; a number that neither 64 bits nor a double hold, which becomes the
// nearest double; half of a surrogate pair, which is no text and becomes U+FFFD; and of a key that
// comes twice the last value stays. (json.Marshal also escapes <, > and &; String and
// document.EncodeJSON do not.)
//
// A Response is a value: With and WithPlaceholders return another one. The zero Response
// counts as absent. Making one never fails; Validate and every send refuse what no
// platform would take.
type Response struct {
	object document.Object
	// hasPlaceholders tells that {{path}} is to be filled.
	hasPlaceholders bool
}

// Raw returns the response that an object with a type and other fields is, such as
// one that was kept in a data source. It is literal; the "_literal" of one that was stored is
// taken away.
func Raw(object document.Object) Response {
	if object.Has(fieldLiteral) {
		object = object.Without(fieldLiteral)
	}
	return Response{object: object}
}

// Type returns the response's type, "" where it has none.
func (r Response) Type() Type { return Type(document.Get(r.object, fieldType, "")) }

// Text returns the text of a response of any type, "" where it has none.
func (r Response) Text() string { return document.Get(r.object, fieldText, "") }

// Object returns all fields.
func (r Response) Object() document.Object { return r.object }

// Data returns the fields but the type, as a message event has them.
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

// Lookup returns the value at a dotted path, for document.Get:
//
//	document.Get(response, "buttons.0.title", "")
func (r Response) Lookup(path string) (any, bool) { return r.object.Lookup(path) }

// With returns the response with a field set to what document.ValueOf takes:
//
//	send.Text("Hello").With("transform", rules)
func (r Response) With(field string, value any) Response {
	r.object = r.object.With(field, value)
	return r
}

// WithPlaceholders returns the response with {{path}} in its strings to be filled from the member
// who gets it:
//
//	send.Text("Hello {{firstName}}!").WithPlaceholders()
//
// What is filled in is not looked at again. Do not put what a member wrote into such a text: she
// may have written {{meta.secret}}. Fill says what a path may be.
func (r Response) WithPlaceholders() Response {
	r.hasPlaceholders = true
	return r
}

// IsZero reports whether the response is absent.
func (r Response) IsZero() bool { return r.object.IsZero() }

// String returns the response as JSON, for logs and failure messages.
func (r Response) String() string { return r.object.String() }

// GoString is String, for failures of tests.
func (r Response) GoString() string { return "send.Response" + r.String() }

// EncodeValue returns the object that the response is, with "_literal": true where it is literal
// and holds {{.
func (r Response) EncodeValue() (any, error) { return r.marked(), r.object.Err() }

// marked returns the object with a mark where it would not be read as it is.
func (r Response) marked() document.Object {
	if r.hasPlaceholders || !mayHavePlaceholder(r.object) {
		return r.object
	}
	return r.object.With(fieldLiteral, true)
}

// DecodeValue reads an object, or text that holds one as JSON, which is how some scripts give
// a response. null gives the zero Response.
func (r *Response) DecodeValue(value any) error {
	if text, ok := value.(string); ok {
		held, err := document.ParseJSON([]byte(text))
		if _, isObject := held.(document.Object); err != nil || !isObject {
			return boterr.Invalid("", "is text that holds no JSON object: give an object with a type, such as {\"type\": \"TEXT\", \"text\": ...}")
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

// MarshalJSON writes the fields in their order, and null for the zero Response. One that is literal
// and holds {{ has "_literal": true besides; Object has the fields alone.
func (r Response) MarshalJSON() ([]byte, error) { return r.marked().MarshalJSON() }

// UnmarshalJSON reads a response by the rules of DecodeValue.
func (r *Response) UnmarshalJSON(text []byte) error { return unmarshal(text, r) }

// unmarshal reads JSON by a type's own DecodeValue.
func unmarshal(text []byte, into document.ValueDecoder) error {
	value, err := document.ParseJSON(text)
	if err != nil {
		return err
	}
	return into.DecodeValue(value)
}

// wrongType is the error for a value that is not of the type expected.
func wrongType(field, expected string, value any) error {
	return boterr.Invalid(field, "must be %s, got %s", expected, document.TypeName(value))
}

// Text returns a text of at most [MaxText] characters, which is sent as it is: what a member wrote
// may stand in it.
func Text(text string) Response {
	valid, _ := document.ValueOf(text) // A text always is a value.
	return Raw(textShape.Object(func(i int) any { return [...]any{string(TypeText), valid}[i] }))
}

// The shapes of a text and of its data, as most messages are texts.
var (
	textShape     = document.NewShape([]string{fieldType, fieldText})
	textDataShape = document.NewShape([]string{fieldText})
)

// Template returns a text with {{path}} to be filled from the member who gets it:
//
//	send.Template("Hello {{firstName}}, your order {{meta.order.id}} is ready.")
//
// It is Text with WithPlaceholders, for a text that stands in the code.
func Template(text Constant) Response { return Text(string(text)).WithPlaceholders() }

// Constant is a text that stands in the code: a string constant converts to it by itself, and no
// string variable does, so that what a member wrote does not become a template by accident.
type Constant string

// Image returns a picture at an address.
func Image(url string) Response { return file(TypeImage, url) }

// Audio returns a recording at an address.
func Audio(url string) Response { return file(TypeAudio, url) }

// Video returns a film at an address.
func Video(url string) Response { return file(TypeVideo, url) }

// File returns a file at an address.
func File(url string) Response { return file(TypeFile, url) }

func file(t Type, url string) Response {
	return Raw(document.O(fieldType, t, "url", url))
}

// Attachment returns a file that the platform has already, by its id there. The type
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

// News returns a message with articles, on Echo, at most [MaxArticles].
func News(articles ...Article) Response {
	return Raw(document.O(fieldType, TypeNews, "articles", articles))
}

// BravoTemplate returns a message that Bravo has approved beforehand, by its name and the code of
// a language such as "en_US". The components are what is put into it, in Bravo's words.
func BravoTemplate(elementName, languageCode string, components ...document.Object) Response {
	response := Raw(document.O(fieldType, TypeTemplate, "elementName", elementName, "languageCode", languageCode))
	if components == nil {
		return response
	}
	return response.With("components", components)
}

// Typing shows for a time, counted in milliseconds, that the bot is typing.
func Typing(duration time.Duration) Response {
	return Raw(document.O(fieldType, TypeTyping, "duration", duration.Milliseconds()))
}

// Other returns a response of any type, with its other fields. Types that the package
// does not know, and fields of any name, pass through to the platform as they are.
func Other(t Type, fields document.Object) Response {
	if fields.Err() != nil {
		return Raw(fields)
	}
	named, _ := document.ValueOf(string(t)) // Each text is a value, once it is UTF-8.
	object := document.NewBuilder(1 + fields.Len())
	object.Set(fieldType, named)
	for field, value := range fields.All() {
		if field != fieldType {
			object.Set(field, value)
		}
	}
	return Raw(object.Object())
}
