package hotel

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"unicode/utf16"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Fields of activities and responses.
const (
	fieldType         = "type"
	fieldText         = "text"
	fieldTitle        = "title"
	fieldPayload      = "payload"
	fieldURL          = "url"
	fieldAttachments  = "attachments"
	fieldQuickReplies = "quickReplies"
	fieldButtons      = "buttons"
	fieldCarousel     = "carousel"

	typeMessage = "message"

	pathVersion       = "v3"
	pathConversations = "conversations"
	pathActivities    = "activities"
)

// Send implements send.Connector. The recipient is a conversation (a group chat, a channel of a team, or a
// thread in it), or a user, who gets the message in the personal conversation with the bot. If ReceiverType is
// set, it decides between the two. Otherwise ids that start with "29:" and ids of users in the organisation's
// directory are users, and all other ids are conversations. GroupID is the team to which a user belongs.
//
//   - TEXT is shown without markup.
//   - IMAGE becomes a card with the picture at the address.
//   - AUDIO, VIDEO and FILE become a card with the file's name (filename, title, or the end of the address) and a
//     button that opens the address.
//   - QUICK_REPLIES and BUTTON become a card with buttons. Quick replies are shown in rows of 6, and stay after a tap.
//   - CAROUSEL becomes a row of cards.
//   - TYPING shows typing until the next message. Its duration is ignored.
//   - MISC can have a text, and attachments like the ones in this package's events, as live chats relay them.
//   - Other types, and files by id, are Unsupported.
//
// Any response may have attachments in the platform's form, with a contentType. They are sent unchanged after the
// cards. It may also have the platform's fields entities, suggestedActions, summary and channelData. A message of
// more than 80 KB in the platform's encoding is InvalidArgument.
//
// The platform has no idempotency keys: if a process dies while sending, the message may appear twice.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	of, err := c.botOf(message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	activity, field, err := activityOf(message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	activity = activity.With("from", document.O("id", of.id()))
	if err := checkSize(activity, field); err != nil {
		return send.Delivery{}, err
	}
	conversation, err := c.conversationOf(ctx, of, message)
	if err != nil {
		return send.Delivery{}, err
	}
	reply, err := c.call(ctx, of, request{
		method: http.MethodPost, part: scopeService, path: []string{pathVersion, pathConversations, conversation, pathActivities},
		body: activity,
	})
	id := document.Get(reply, "id", "")
	switch refused := calls.RefusalIn(err); {
	case refused.Status == http.StatusNotFound:
		c.conversations.Remove(func(_ recipient, known string) bool { return known == conversation })
		return send.Delivery{}, err
	case refused.Status == http.StatusRequestEntityTooLarge:
		return send.Delivery{}, boterr.WithField(field, err)
	case err != nil:
		return send.Delivery{}, err
	case id == "" && document.Get(activity, fieldType, "") == typeMessage:
		return send.Delivery{}, calls.ErrUnreadable
	}
	return send.Delivery{Reply: reply, MessageID: id, ChatID: conversation, From: of.id()}, nil
}

// maxActivityBytes is the longest activity, in bytes of UTF-16. The platform allows 100 KB, including fields
// that it adds.
const maxActivityBytes = 80 << 10

// checkSize returns InvalidArgument for an activity that is too long for the platform. field is the field to
// blame.
func checkSize(activity document.Object, field string) error {
	text, err := document.AppendJSON(nil, activity)
	if err != nil {
		return boterr.Invalid(field, "cannot be written as JSON: %w", err)
	}
	if size := 2 * len(utf16.Encode([]rune(string(text)))); size > maxActivityBytes {
		return boterr.Invalid(field, "makes a message of %d bytes; the limit on hotel is %d: send several", size, maxActivityBytes)
	}
	return nil
}

// isUser reports whether the recipient is a user. It returns InvalidArgument for an unknown ReceiverType.
func isUser(message send.Message) (bool, error) {
	switch message.ReceiverType {
	case send.ReceiverUser:
		return true, nil
	case send.ReceiverGroup:
		return false, nil
	case "":
		return strings.HasPrefix(message.To, "29:") || directoryForm.MatchString(message.To), nil
	default:
		return false, boterr.Invalid("",
			"channels of type hotel have no receivers of type %q: set receiverType to user or group", message.ReceiverType)
	}
}

// conversationOf returns the id of the conversation to which a message is sent. For a user it opens the
// personal conversation if necessary.
func (c *Connector) conversationOf(ctx context.Context, of bot, message send.Message) (string, error) {
	toUser, err := isUser(message)
	if err != nil || !toUser {
		return message.To, err
	}
	at := recipient{of.key, message.To, message.GroupID}
	if id := c.conversations.Get(at); id != "" {
		return id, nil
	}
	return c.begin(ctx, of, at)
}

// begin opens the personal conversation with a user. The platform returns the same id each time.
func (c *Connector) begin(ctx context.Context, of bot, with recipient) (string, error) {
	data := document.O("tenant", document.O("id", of.tenantID))
	if with.group != "" {
		data = data.With("team", document.O("id", with.group))
	}
	reply, err := c.call(ctx, of, request{
		method: http.MethodPost, part: scopeService, path: []string{pathVersion, pathConversations},
		body: document.O(
			"bot", document.O("id", of.id()), "members", document.A(document.O("id", with.user)), "isGroup", false,
			"tenantId", of.tenantID, "channelData", data,
		),
	})
	if err != nil {
		return "", err
	}
	id := document.Get(reply, "id", "")
	if id == "" {
		return "", calls.ErrUnreadable
	}
	c.conversations.Keep(with, id)
	return id, nil
}

// recipient is a user who gets messages from a bot.
type recipient struct {
	from        botKey
	user, group string
}

// UpdateMessage implements send.MessageUpdater. The platform replaces the whole message, so the text is
// required, and attachments that are not given are lost. Attachments are in the platform's form.
func (c *Connector) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	of, err := c.botOf(in)
	if err != nil {
		return document.Object{}, err
	}
	if update.Text == "" {
		return document.Object{}, boterr.Missing(fieldText, "the new text: the platform replaces the whole message, and cannot keep the old one")
	}
	return c.replace(ctx, of, update)
}

func (c *Connector) replace(ctx context.Context, of bot, update send.MessageUpdate) (document.Object, error) {
	activity := textActivity(update.Text).With("id", update.MessageID).With("from", document.O("id", of.id()))
	if len(update.Attachments) > 0 {
		activity = activity.With(fieldAttachments, update.Attachments)
	}
	if err := checkSize(activity, fieldText); err != nil {
		return document.Object{}, err
	}
	reply, err := c.call(ctx, of, request{
		method: http.MethodPut, part: scopeService, path: messagePath(update.ConversationID, update.MessageID), body: activity,
	})
	if err == nil && reply.IsZero() {
		reply = document.O("ok", true)
	}
	return reply, err
}

func messagePath(conversation, message string) []string {
	return []string{pathVersion, pathConversations, conversation, pathActivities, message}
}

// ShowTaken implements livechat.TicketUpdater.
func (c *Connector) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	of, err := c.botOf(in)
	if err != nil {
		return err
	}
	_, err = c.replace(ctx, of, send.MessageUpdate{
		ConversationID: cmp.Or(ticket.ChatID, ticket.Group.ID), MessageID: ticket.MessageID, Text: text,
	})
	return err
}

// RecallTicket implements livechat.TicketRecaller.
func (c *Connector) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	of, err := c.botOf(in)
	if err != nil {
		return err
	}
	_, err = c.call(ctx, of, request{
		method: http.MethodDelete, part: scopeService, path: messagePath(cmp.Or(ticket.ChatID, ticket.Group.ID), ticket.MessageID),
	})
	return err
}
