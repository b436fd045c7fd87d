package send

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// unlimited is the limit of what has none.
const unlimited = 0

// limits are the rules of the types that are known.
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

// Validate checks the response as every send does: that it has a type, and what its
// type needs within the limits of that type. Text is counted in Unicode code points.
// Types and fields that are not known pass, and a string that is not required may be "". The rules of a type hold on every platform,
// those of TypeNews and TypeTemplate too, which one platform alone has: what another makes
// of them is its connector's to say. Whether a file is within [MaxFileMegabytes] cannot be
// seen from its address.
//
// The error is InvalidArgument; its Field is the path in the response, such as
// "buttons[2].title".
func (r Response) Validate() error {
	if r.IsZero() {
		return boterr.Missing("", "a message, such as send.Text(...)")
	}
	if err := r.object.Err(); err != nil {
		return err
	}
	if err := text(fieldType, unlimited)(r.object); err != nil {
		return err
	}
	if err := writable(r.object, 0); err != nil {
		return err
	}
	if rule, ok := limits[r.Type()]; ok {
		return rule(r.object)
	}
	return nil
}

// quickReplyRule asks for title and payload where the quick reply says its title;
// other kinds, such as one that asks for a location, need none.
func quickReplyRule(reply document.Object) error {
	title, payload := text("title", MaxQuickReplyTitle), text(fieldPayload, MaxQuickReplyPayload)
	if !isAbsent(reply, "content_type") && document.Get(reply, "content_type", "") != ContentText {
		title, payload = optional("title", MaxQuickReplyTitle), optional(fieldPayload, MaxQuickReplyPayload)
	}
	return all(optional("content_type", unlimited), title, payload)(reply)
}

// buttonRule lets buttons of other types pass, but for the limit of the title.
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

// payloadRule asks for a payload that is a string, or an object with one.
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
