package send

import (
	"time"

	"github.com/botctx/go-sdk/document"
)

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
