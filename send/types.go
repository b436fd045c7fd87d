package send

import (
	"slices"
	"strings"
)

// Type is the kind of a message. Any other text than the constants below is a type
// of the platform's own, which passes through as it is.
type Type string

// The types of messages that are sent.
const (
	// TypeText is a text. It is received, too.
	TypeText Type = "TEXT"
	// TypeImage, TypeAudio, TypeVideo and TypeFile are files, by address or by the id
	// under which the platform has them.
	TypeImage Type = "IMAGE"
	TypeAudio Type = "AUDIO"
	TypeVideo Type = "VIDEO"
	TypeFile  Type = "FILE"
	// TypeQuickReplies is a text with answers to tap, which vanish after one was.
	TypeQuickReplies Type = "QUICK_REPLIES"
	// TypeButton is a text with buttons, which stay.
	TypeButton Type = "BUTTON"
	// TypeCarousel is a row of cards.
	TypeCarousel Type = "CAROUSEL"
	// TypeTyping shows that the bot is typing.
	TypeTyping Type = "TYPING"
	// TypeNews is an article on Echo.
	TypeNews Type = "NEWS"
	// TypeTemplate is a message that Bravo has approved beforehand.
	TypeTemplate Type = "TEMPLATE"
)

// The types of messages that are only received.
const (
	// TypePayload is a tap on a button or a quick reply.
	TypePayload Type = "PAYLOAD"
	// TypeReferral is an arrival through a link, an advertisement or a code.
	TypeReferral Type = "REFERRAL"
	// TypeOptIn is a member's consent to be written to.
	TypeOptIn Type = "OPTIN"
	// TypeComment is a comment on a post.
	TypeComment Type = "COMMENT"
	// TypeMisc is a message of attachments.
	TypeMisc Type = "MISC"
	// TypeDelivery tells that a message arrived.
	TypeDelivery Type = "DELIVERY"
	// TypeRead tells that a message was read.
	TypeRead Type = "READ"
	// TypeEcho is a message of the bot's own, as the platform reports it back.
	TypeEcho Type = "ECHO"
	// TypeWebEvent is an event of a web page that shows the channel.
	TypeWebEvent Type = "WEB_EVENT"
)

// types are those that have a constant.
var types = []Type{
	TypeText, TypeImage, TypeAudio, TypeVideo, TypeFile, TypeQuickReplies, TypeButton, TypeCarousel, TypeTyping, TypeNews,
	TypeTemplate, TypePayload, TypeReferral, TypeOptIn, TypeComment, TypeMisc, TypeDelivery, TypeRead, TypeEcho, TypeWebEvent,
}

// Meant returns the type that has a constant and differs from this one only in the case of letters, "" where
// none does: one such as "text" is a mistake, not a type of the platform's own.
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
