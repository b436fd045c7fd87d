package foxtrot

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/send"
)

// ticketChat is the prefix of the conversation id of a ticket; the ticket's id follows.
const ticketChat = "ticket:"

// ticketFields are the fields that are copied from a request's response to its ticket.
var ticketFields = []string{
	"requester", "priority", "tags", "group_id", "assignee_id", "brand_id", "ticket_form_id", "custom_fields", "recipient",
}

// maxSubject is the longest subject that is taken from the text, in code points.
const maxSubject = 150

// sendTicket creates a ticket, or adds a comment to one.
func (c *Connector) sendTicket(ctx context.Context, of account, message send.Message) (send.Delivery, error) {
	id, isTicket := strings.CutPrefix(message.To, ticketChat)
	isNew := addressOf(message).isNew
	if !isTicket && !isNew {
		return send.Delivery{}, boterr.New(boterr.NotFound, "to",
			"the channel %s uses tickets, and %q is neither a ticket nor one of its broadcast groups", of.in.ID, message.To)
	}
	switch kind := message.Response.Type(); {
	case kind == send.TypeTyping, kind == TypeMarkSeen:
		return send.Delivery{Reply: document.O(), ChatID: message.To}, ctx.Err()
	case kind == TypeClose && isTicket:
		return c.put(ctx, of, id, document.O("status", "solved"))
	}
	body, err := commentOf(message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	if isTicket {
		return c.put(ctx, of, id, document.O("comment", document.O("body", body, "public", true)))
	}
	ticket := newTicket(message, body)
	if err := ticket.Err(); err != nil {
		return send.Delivery{}, err
	}
	reply, err := c.call(ctx, of, request{
		method: http.MethodPost, path: []string{"tickets.json"}, key: message.ID, body: document.O("ticket", ticket),
	})
	if err != nil {
		return send.Delivery{}, err
	}
	return ticketDelivery(reply)
}

// newTicket returns the ticket for a request. body is the text of the ticket's first comment.
func newTicket(message send.Message, body string) document.Object {
	ticket := document.O("subject", subjectOf(message.Response, body), "comment", document.O("body", body, "public", true))
	for _, field := range ticketFields {
		if value, isThere := message.Response.Object().Field(field); isThere {
			ticket = ticket.With(field, value)
		}
	}
	if kind := document.Get(message.Response, "ticketType", ""); kind != "" {
		ticket = ticket.With("type", kind)
	}
	if number, err := strconv.ParseInt(message.To, 10, 64); err == nil && number > 0 && !ticket.Has("group_id") {
		ticket = ticket.With("group_id", number)
	}
	if message.ID != "" {
		ticket = ticket.With("external_id", message.ID)
	}
	return ticket
}

func (c *Connector) put(ctx context.Context, of account, id string, change document.Object) (send.Delivery, error) {
	reply, err := c.call(ctx, of, request{
		method: http.MethodPut, path: []string{"tickets", id + ".json"}, body: document.O("ticket", change),
	})
	if err != nil {
		return send.Delivery{}, err
	}
	return ticketDelivery(reply)
}

// ticketDelivery returns the Delivery for an answer. Its MessageID identifies the ticket's last change.
func ticketDelivery(reply document.Object) (send.Delivery, error) {
	number := document.Get(reply, "ticket.id", int64(0))
	if number == 0 {
		return send.Delivery{}, calls.ErrUnreadable
	}
	delivery := send.Delivery{
		Reply: reply, ChatID: ticketChat + strconv.FormatInt(number, 10),
		Timestamp: timestamp(document.Get(reply, "ticket.updated_at", "")),
	}
	if audit := document.Get(reply, "audit.id", int64(0)); audit != 0 {
		delivery.MessageID = strconv.FormatInt(audit, 10)
	}
	return delivery, nil
}

// subjectOf returns the response's subject, or the first line of the text.
func subjectOf(response send.Response, body string) string {
	if subject := document.Get(response, "subject", ""); subject != "" {
		return subject
	}
	line, _, _ := strings.Cut(body, "\n")
	if utf8.RuneCountInString(line) > maxSubject {
		line = string([]rune(line)[:maxSubject-1]) + "…"
	}
	return line
}

// commentOf converts a response to the text of a comment.
func commentOf(response send.Response) (string, error) {
	switch kind := response.Type(); kind {
	case send.TypeText, send.TypeQuickReplies, send.TypeButton, send.TypeCarousel:
		return inWords(response), nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile, send.TypeMisc:
		parts, err := shownToAgent(response)
		if err != nil {
			return "", err
		}
		var lines []string
		for _, part := range parts {
			for _, field := range []string{"text", "mediaUrl"} {
				if text := document.Get(part.content, field, ""); text != "" {
					lines = append(lines, text)
				}
			}
			if at := document.Get(part.content, "coordinates", document.Object{}); !at.IsZero() {
				lines = append(lines, pieces.Place(at))
			}
		}
		return strings.Join(lines, "\n"), nil
	default:
		return "", boterr.New(boterr.Unsupported, "type", "tickets on foxtrot have no messages of type %s: send a text or a file", kind)
	}
}
