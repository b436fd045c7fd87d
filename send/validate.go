package send

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/replies"
)

// unlimited means no limit.
const unlimited = 0

var limits = map[Type]rule{
	TypeText:         textRule,
	TypeImage:        fileRule,
	TypeAudio:        fileRule,
	TypeVideo:        fileRule,
	TypeFile:         fileRule,
	TypeQuickReplies: all(textRule, list("quickReplies", 1, MaxQuickReplies, quickReplyRule)),
	TypeButton:       all(textRule, list("buttons", 1, MaxButtons, buttonRule)),
	TypeCarousel:     list("carousel", 1, MaxCards, cardRule),
	TypeTyping:       ifPresent("duration", durationRule),
	TypeNews:         list("articles", 1, MaxArticles, articleRule),
	TypeTemplate:     all(text("elementName", unlimited), text("languageCode", unlimited), ifPresent("components", arrayRule)),
}

var (
	textRule = text(fieldText, MaxText)
	fileRule = all(either("url", "attachment_id"), address("url"))
	cardRule = all(
		text("title", MaxCardTitle),
		optional("subtitle", MaxCardTitle),
		optional("image_url", unlimited), address("image_url"),
		ifPresent("buttons", list("buttons", 0, MaxButtons, buttonRule)),
	)
	articleRule = all(
		text("title", unlimited),
		optional("description", unlimited),
		optional("url", unlimited), address("url"),
		optional("picurl", unlimited), address("picurl"),
	)
	postbackRule = all(text("title", MaxButtonTitle), payloadRule)
	webURLRule   = all(text("title", MaxButtonTitle), text("url", unlimited), address("url"))
)

// Validate checks the response as every send does: it must have a type and the fields that the type
// requires, within the type's limits. Text is counted in Unicode code points. Unknown types and
// fields are valid, and an optional string may be "". The rules of a type apply on every platform,
// even if only one supports it (TypeNews, TypeTemplate). The size of a file ([MaxFileMegabytes])
// cannot be checked from its URL.
//
// In a template, a placeholder counts as two characters, because its value is not known yet. A send
// also checks the filled response.
//
// The error is InvalidArgument; Field is the path in the response, such as "buttons[2].title".
func (r Response) Validate() error {
	if r.IsZero() {
		return boterr.Missing("", "a message, such as send.Text(...)")
	}
	if err := r.object.Err(); err != nil {
		return err
	}
	checked := r.object
	if r.IsTemplate() {
		checked, _ = (&filler{left: maxFilled}).value(r.object).(document.Object)
	}
	if err := text(fieldType, unlimited)(checked); err != nil {
		return err
	}
	if err := replies.Check(checked, 0); err != nil {
		return err
	}
	if rule, ok := limits[r.Type()]; ok {
		return rule(checked)
	}
	return nil
}

// quickReplyRule requires title and payload for quick replies of type text. Other types, such as a request for a
// location, need neither.
func quickReplyRule(reply document.Object) error {
	title, payload := text("title", MaxQuickReplyTitle), text(fieldPayload, MaxQuickReplyPayload)
	if !isAbsent(reply, "content_type") && document.Get(reply, "content_type", "") != ContentText {
		title, payload = optional("title", MaxQuickReplyTitle), optional(fieldPayload, MaxQuickReplyPayload)
	}
	return all(optional("content_type", unlimited), title, payload)(reply)
}

// buttonRule checks a button. For unknown types it only limits the title.
func buttonRule(button document.Object) error {
	if err := text(fieldType, unlimited)(button); err != nil {
		return err
	}
	switch document.Get(button, fieldType, "") {
	case ButtonPostback:
		return postbackRule(button)
	case ButtonWebURL:
		return webURLRule(button)
	default:
		return optional("title", MaxButtonTitle)(button)
	}
}

// payloadRule requires a payload: a string, or an object with a string payload.
func payloadRule(button document.Object) error {
	payload, _ := button.Field(fieldPayload)
	if inner, ok := payload.(document.Object); ok {
		return boterr.PrefixField(fieldPayload, text(fieldPayload, unlimited)(inner))
	}
	return text(fieldPayload, unlimited)(button)
}

func durationRule(typing document.Object) error {
	duration, _ := typing.Field("duration")
	milliseconds, ok := document.FloatNumber(duration)
	switch {
	case !ok:
		return wrongType("duration", "a number of milliseconds", duration)
	case milliseconds < 0:
		return boterr.Invalid("duration", "must not be negative, got %v", duration)
	default:
		return nil
	}
}

func arrayRule(template document.Object) error {
	components, _ := template.Field("components")
	if _, ok := components.(document.Array); !ok {
		return wrongType("components", "an array", components)
	}
	return nil
}

// rule checks an object. Its error is InvalidArgument with the path of the field.
type rule func(o document.Object) error

// all returns a rule that applies rules until one fails.
func all(rules ...rule) rule {
	return func(o document.Object) error {
		for _, r := range rules {
			if err := r(o); err != nil {
				return err
			}
		}
		return nil
	}
}

// ifPresent is a rule for a field that may be absent or null.
func ifPresent(field string, r rule) rule {
	return func(o document.Object) error {
		if value, _ := o.Field(field); value == nil {
			return nil
		}
		return r(o)
	}
}

// optional is a rule for a string that may be absent, null or "". A {{path}} without a value becomes "".
func optional(field string, most int) rule {
	return func(o document.Object) error {
		if isAbsent(o, field) {
			return nil
		}
		return text(field, most)(o)
	}
}

func isAbsent(o document.Object, field string) bool {
	value, _ := o.Field(field)
	return value == nil || value == ""
}

// text requires a non-empty string. most is its maximum length in code points.
func text(field string, most int) rule {
	return func(o document.Object) error {
		value, _ := o.Field(field)
		s, isString := value.(string)
		switch {
		case value == nil:
			return boterr.Missing(field, "a string")
		case !isString:
			return wrongType(field, "a string", value)
		case s == "":
			return boterr.Invalid(field, "is empty")
		}
		if length := utf8.RuneCountInString(s); most != unlimited && length > most {
			return boterr.Invalid(field, "is %d characters long; the limit is %d", length, most)
		}
		return nil
	}
}

// address requires a URL with a scheme, because a platform cannot resolve a relative one. An empty
// string and one with {{path}}, which is filled later, pass.
func address(field string) rule {
	return func(o document.Object) error {
		given, _ := o.Field(field)
		text, _ := given.(string)
		if text == "" || strings.Contains(text, "{{") {
			return nil
		}
		if parsed, err := url.Parse(text); err != nil || parsed.Scheme == "" || isHostAndPort(parsed) {
			return boterr.Invalid(field, "is %.100q, which a platform cannot open; give a full URL, such as https://example.com/a.png", text)
		}
		return nil
	}
}

// isHostAndPort reports whether a URL without a scheme, such as localhost:8080/a.png, was parsed as one whose scheme is
// the host.
func isHostAndPort(parsed *url.URL) bool {
	isHost := parsed.Scheme == "localhost" || strings.Contains(parsed.Scheme, ".")
	return isHost && strings.IndexAny(parsed.Opaque, "0123456789") == 0
}

// either requires at least one of two strings.
func either(first, second string) rule {
	return func(o document.Object) error {
		if isAbsent(o, first) && isAbsent(o, second) {
			return boterr.Missing(first, "%s or %s", first, second)
		}
		return all(optional(first, unlimited), optional(second, unlimited))(o)
	}
}

// list requires an array of objects and applies a rule to each. Elements are checked before their
// number, so that the error names the element at fault.
func list(field string, least, most int, element rule) rule {
	return func(o document.Object) error {
		value, _ := o.Field(field)
		array, ok := value.(document.Array)
		switch {
		case value == nil:
			return boterr.Missing(field, "%d to %d elements", least, most)
		case !ok:
			return wrongType(field, "an array", value)
		}
		for i, item := range array.All() {
			if err := checkElement(item, element); err != nil {
				return boterr.PrefixField(field+"["+strconv.Itoa(i)+"]", err)
			}
		}
		if n := array.Len(); n < least || n > most {
			return boterr.Invalid(field, "has %d elements; give %d to %d", n, least, most)
		}
		return nil
	}
}

func checkElement(item any, element rule) error {
	object, ok := item.(document.Object)
	if !ok {
		return wrongType("", "an object", item)
	}
	return element(object)
}

// The limits of the specification. Text is counted in Unicode code points.
const (
	// MaxText is the maximum length of a text, including the text above quick replies and buttons.
	MaxText = 2000
	// MaxQuickReplies is the maximum number of quick replies of a message. MaxQuickReplyTitle and
	// MaxQuickReplyPayload are the maximum lengths of their titles and payloads.
	MaxQuickReplies      = 13
	MaxQuickReplyTitle   = 20
	MaxQuickReplyPayload = 1000
	// MaxButtons is the maximum number of buttons of a message or a card. MaxButtonTitle is the
	// maximum length of a button's title.
	MaxButtons     = 3
	MaxButtonTitle = 20
	// MaxCards is the maximum number of cards of a carousel. MaxCardTitle is the maximum length of
	// a card's title and of its subtitle.
	MaxCards     = 10
	MaxCardTitle = 80
	// MaxArticles is the maximum number of articles of a message of TypeNews.
	MaxArticles = 1
	// MaxFileMegabytes is the maximum size in MiB of a file in a message or an upload.
	MaxFileMegabytes = 25
	// MaxMemberTags is the maximum number of tags of a user of an Echo account.
	MaxMemberTags = 20
)

// Type is the type of a message. Other values than the constants below are types of a platform and
// are passed on unchanged.
type Type string

// Types of messages that can be sent.
const (
	// TypeText is a text. Members send it, too.
	TypeText Type = "TEXT"
	// TypeImage, TypeAudio, TypeVideo and TypeFile are files, given by URL or by the platform's id.
	TypeImage Type = "IMAGE"
	TypeAudio Type = "AUDIO"
	TypeVideo Type = "VIDEO"
	TypeFile  Type = "FILE"
	// TypeQuickReplies is a text with answers to tap, which disappear after a tap.
	TypeQuickReplies Type = "QUICK_REPLIES"
	// TypeButton is a text with buttons, which stay.
	TypeButton Type = "BUTTON"
	// TypeCarousel is a row of cards.
	TypeCarousel Type = "CAROUSEL"
	// TypeTyping shows that the bot is typing.
	TypeTyping Type = "TYPING"
	// TypeNews is an article on Echo.
	TypeNews Type = "NEWS"
	// TypeTemplate is a message based on a template approved by Bravo.
	TypeTemplate Type = "TEMPLATE"
)

// Types of events. Only TypeMisc can also be sent, as live chats do to relay attachments.
const (
	// TypePayload is a tap on a button or a quick reply.
	TypePayload Type = "PAYLOAD"
	// TypeReferral is an arrival through a link, an advertisement or a code.
	TypeReferral Type = "REFERRAL"
	// TypeOptIn is a member's consent to be written to.
	TypeOptIn Type = "OPTIN"
	// TypeComment is a comment on a post.
	TypeComment Type = "COMMENT"
	// TypeMisc is a message with attachments, or an event of a platform that has no other type.
	TypeMisc Type = "MISC"
	// TypeDelivery reports that a message arrived.
	TypeDelivery Type = "DELIVERY"
	// TypeRead reports that a message was read.
	TypeRead Type = "READ"
	// TypeEcho is the bot's own message, reported by the platform.
	TypeEcho Type = "ECHO"
	// TypeWebEvent is an event of a web page that shows the channel.
	TypeWebEvent Type = "WEB_EVENT"
)

// types are the types with a constant.
var types = []Type{
	TypeText, TypeImage, TypeAudio, TypeVideo, TypeFile, TypeQuickReplies, TypeButton, TypeCarousel, TypeTyping, TypeNews,
	TypeTemplate, TypePayload, TypeReferral, TypeOptIn, TypeComment, TypeMisc, TypeDelivery, TypeRead, TypeEcho, TypeWebEvent,
}

// Meant returns the constant that differs from t only in case, such as TypeText for "text", or "" if
// there is none.
func (t Type) Meant() Type {
	if slices.Contains(types, t) {
		return ""
	}
	for _, known := range types {
		if strings.EqualFold(string(t), string(known)) {
			return known
		}
	}
	return ""
}
