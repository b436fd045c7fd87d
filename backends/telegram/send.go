package telegram

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Send implements send.Connector. The recipient is the id of a user who has written to the bot, of a group, or
// of a topic in a group ("group/topic"), or the name of a channel such as "@news".
//
//   - TEXT is shown without markup.
//   - IMAGE, VIDEO and FILE are sent by address (Telegram fetches pictures up to 5 MB and other files up to 20 MB) or
//     by the attachment_id of a file that this bot has received or sent.
//   - AUDIO is sent in the same way: MP3 and M4A as music, Ogg as a voice message.
//   - QUICK_REPLIES and BUTTON become buttons below the text, one in each row. Quick replies disappear after a tap.
//   - CAROUSEL becomes a message for each card.
//   - TYPING shows typing for at most 5 seconds. Its duration is ignored.
//   - MISC can have a text, and attachments like the ones in this package's events or with addresses, as live chats
//     relay them, at most 10 messages.
//   - NEWS, TEMPLATE and other types are Unsupported.
//
// A payload together with its value must fit into 64 bytes, which is Telegram's limit; otherwise it is InvalidArgument.
// An object {payload, value} takes 5 bytes and the value's JSON more than its payload. A file may have a field kind
// with Telegram's name for it, such as "voice" or "animation".
//
// Telegram has no idempotency keys: if a process dies while sending, the message may appear twice. If a
// response becomes several messages, such as a carousel, and a later one fails, the earlier ones remain. The
// error then has no *send.RetryAfterError.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	parts, err := partsOf(message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	of, err := credentialsOf(message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	var delivery send.Delivery
	to := addressOf(message.To)
	for i, part := range parts {
		result, err := c.sendPart(ctx, message.Channel, &to, part)
		if err != nil {
			return send.Delivery{}, part.located(pieces.AfterSome(err, "Telegram", i, len(parts)))
		}
		delivery = deliveryOf(result, to, of)
	}
	return delivery, nil
}

// sendPart sends one message. If the group has a new id, sendPart changes to and sends the message there.
func (c *Connector) sendPart(ctx context.Context, in *channel.Channel, to *address, part part) (any, error) {
	params := to.params()
	for field, value := range part.params.All() {
		params = params.With(field, value)
	}
	result, err := c.call(ctx, in, part.method, params)
	if movedTo := document.Get(calls.RefusalIn(err).Details, "migrate_to_chat_id", int64(0)); movedTo != 0 {
		to.chat = strconv.FormatInt(movedTo, 10)
		return c.call(ctx, in, part.method, params.With("chat_id", movedTo))
	}
	return result, err
}

// located adds the path of the faulty part of the response to an InvalidArgument error.
func (p part) located(err error) error {
	found, ok := boterr.AsError(err)
	if !ok || found.Code != boterr.InvalidArgument {
		return err
	}
	return boterr.PrefixField(p.path, boterr.WithField(p.fields[found.Field], err))
}

func deliveryOf(result any, to address, of credentials) send.Delivery {
	reply, isMessage := result.(document.Object)
	if !isMessage { // For typing, the result is true.
		reply = document.O("ok", true)
	}
	delivery := send.Delivery{Reply: reply, From: of.botID(), ChatID: to.String(), Timestamp: millisecondsOf(reply)}
	if chat := idText(reply, "chat.id"); chat != "" {
		delivery.ChatID = address{chat, to.topic}.String()
	}
	if id := idText(reply, "message_id"); id != "" {
		delivery.MessageID = addressOf(delivery.ChatID).chat + ":" + id
	}
	return delivery
}

// messageParams returns the parameters that identify a message. messageID is "chat:message". Without a chat,
// the message is in the conversation.
func messageParams(conversationID, messageID string) document.Object {
	chat, id, hasChat := strings.Cut(messageID, ":")
	if !hasChat {
		chat, id = conversationID, messageID
	}
	return document.O("chat_id", addressOf(chat).chatID(), "message_id", number(id))
}

// UpdateMessage implements send.MessageUpdater. The new text replaces the message's text or caption, and
// removes its buttons. Attachments are Unsupported.
func (c *Connector) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	if len(update.Attachments) > 0 {
		return document.Object{}, boterr.New(boterr.Unsupported, "attachments", "Telegram cannot change them: give text, or send a new message")
	}
	if update.Text == "" {
		return document.Object{}, boterr.Missing(fieldText, "the new text")
	}
	result, err := c.showText(ctx, in, messageParams(update.ConversationID, update.MessageID), update.Text)
	if reply, ok := result.(document.Object); ok && err == nil {
		return reply, nil
	}
	return document.O("ok", true), err
}

// showText changes a message's text and removes its buttons. If the message already has this form, there is no
// error.
func (c *Connector) showText(ctx context.Context, in *channel.Channel, message document.Object, text string) (any, error) {
	result, err := c.call(ctx, in, "editMessageText", message.With(fieldText, text))
	if saysAny(err, "no text in the message") {
		result, err = c.call(ctx, in, "editMessageCaption", message.With("caption", text))
	}
	if saysAny(err, "message is not modified") {
		return true, nil
	}
	return result, err
}

// ShowTaken implements livechat.TicketUpdater.
func (c *Connector) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	_, err := c.showText(ctx, in, ticketParams(ticket), text)
	return err
}

// RecallTicket implements livechat.TicketRecaller. Bots can delete messages for 48 hours. For an older one,
// RecallTicket returns FailedPrecondition.
func (c *Connector) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	_, err := c.call(ctx, in, "deleteMessage", ticketParams(ticket))
	return err
}

func ticketParams(ticket livechat.Ticket) document.Object {
	return messageParams(cmp.Or(ticket.ChatID, ticket.Group.ID), ticket.MessageID)
}
