package livechat

import (
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// The fields of what can be tapped.
const (
	fieldButtons      = "buttons"
	fieldCarousel     = "carousel"
	fieldQuickReplies = "quickReplies"
	fieldContentType  = "content_type"
	fieldPayload      = "payload"
	fieldValue        = "value"
)

// withAssignment returns a ticket on which all that can be tapped sends the assignment's id
// as its value, unless it sends a value of its own.
func withAssignment(ticket send.Response, assignmentID string) send.Response {
	field, change := fieldButtons, postbackOf(assignmentID)
	if ticket.Type() == send.TypeCarousel {
		field, change = fieldCarousel, cardOf(assignmentID)
	} else if ticket.Type() == send.TypeQuickReplies {
		field, change = fieldQuickReplies, replyOf(assignmentID)
	}
	items := document.Get(ticket, field, document.Array{})
	if items.Len() == 0 {
		return ticket
	}
	return ticket.With(field, eachOf(items, change))
}

// eachOf returns an array with what change makes of each object in it.
func eachOf(items document.Array, change func(document.Object) document.Object) document.Array {
	changed := make([]any, 0, items.Len())
	for _, item := range items.All() {
		if object, ok := item.(document.Object); ok {
			item = change(object)
		}
		changed = append(changed, item)
	}
	return document.A(changed...)
}

// cardOf makes the buttons of a card send an assignment's id.
func cardOf(assignmentID string) func(document.Object) document.Object {
	return func(card document.Object) document.Object {
		buttons := document.Get(card, fieldButtons, document.Array{})
		if buttons.Len() == 0 {
			return card
		}
		return card.With(fieldButtons, eachOf(buttons, postbackOf(assignmentID)))
	}
}

// postbackOf makes a button send an assignment's id, if it is a postback.
func postbackOf(assignmentID string) func(document.Object) document.Object {
	return func(button document.Object) document.Object {
		if document.Get(button, fieldType, "") != send.ButtonPostback {
			return button
		}
		return button.With(fieldPayload, payloadFor(button, assignmentID))
	}
}

// payloadFor returns what a button sends, with the assignment's id where it has no value.
func payloadFor(button document.Object, assignmentID string) any {
	payload, _ := button.Field(fieldPayload)
	switch p := payload.(type) {
	case string:
		return document.O(fieldPayload, p, fieldValue, assignmentID)
	case document.Object:
		if !p.Has(fieldValue) {
			return p.With(fieldValue, assignmentID)
		}
	}
	return payload
}

// replyOf makes a quick reply that says its title send an assignment's id. Its payload is a
// string, so that the value stands beside it.
func replyOf(assignmentID string) func(document.Object) document.Object {
	return func(reply document.Object) document.Object {
		isText := document.Get(reply, fieldContentType, send.ContentText) == send.ContentText
		if !isText || reply.Has(fieldValue) {
			return reply
		}
		return reply.With(fieldValue, assignmentID)
	}
}
