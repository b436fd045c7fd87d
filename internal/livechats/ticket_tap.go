package livechats

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
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

// eachOf returns an array whose objects are changed.
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

// TakeByTap gives a request to the agent who tapped on its ticket, as Take does, and reports
// whether the agent has the request now. Such a tap is an event of type PAYLOAD whose payload is
// TakePayload, or whose value is the id of an assignment that was offered in the channel: in a ticket
// of the bot's own, whatever can be tapped and has no other value has that one. For other events it
// does nothing, and there is no error. It is for hosts, which call it for the events in outlet
// channels that no node of the bot answers.
//
// Errors are those of Take, with the same fields.
func (s *Service) TakeByTap(ctx context.Context, channelID string, event send.MessageEvent) (bool, error) {
	assignmentID, isTap, err := s.tapped(ctx, channelID, event)
	if err != nil || !isTap {
		return false, err
	}
	_, err = s.Take(ctx, livechat.TakeParams{
		AssignmentID: assignmentID, ChannelID: channelID, AdminExternalID: event.From, BroadcastGroupID: event.To,
	})
	return err == nil, err
}

// tapped returns the id of the assignment on whose ticket an event is a tap, and whether it
// is one.
func (s *Service) tapped(ctx context.Context, channelID string, event send.MessageEvent) (string, bool, error) {
	if event.Type != send.TypePayload {
		return "", false, nil
	}
	id, _ := event.Value().(string)
	if event.Payload() == livechat.TakePayload {
		return id, true, nil
	}
	if id == "" {
		return "", false, nil
	}
	r, err := s.loadAssignment(ctx, id)
	if errors.Is(err, boterr.NotFound) {
		return "", false, nil
	}
	return id, err == nil && isOfferedIn(r, channelID), err
}
