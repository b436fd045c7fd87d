package telegram

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Send implements send.Connector. The recipient is a user who has written to the bot, a group, a channel such
// as "@news", or a topic in a group, as "group/topic".
//
// Texts are shown literally, without markup. Quick replies are buttons that disappear after a tap. Each card
// of a carousel is a separate message. A payload must fit into 64 bytes with its value; a longer one is
// InvalidArgument. TYPING shows for at most 5 seconds, whatever its duration. A MISC response can have
// attachments in the form of this package's events, or with addresses, so that live chats relay files. NEWS,
// TEMPLATE and other types are Unsupported.
//
// A file may have a "kind" with Telegram's own name for it, such as "voice" or "animation".
//
// Telegram has no idempotency keys: if a process dies while sending, the message may appear twice. If a
// message of several parts, such as a carousel, fails after the first one, the earlier ones stay, and the
// error has no *send.RetryAfterError.
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
		if _, isLimit := errors.AsType[*send.RetryAfterError](err); isLimit && i > 0 { // send.Limited would repeat the first part.
			err = boterr.New(boterr.ResourceExhausted, "",
				"Telegram showed %d of the %d parts of the message and then limited the rate: send fewer parts", i, len(parts))
		}
		if err != nil {
			return send.Delivery{}, part.located(err)
		}
		delivery = deliveryOf(result, to, of)
	}
	return delivery, nil
}

// sendPart sends one message. If the group has moved to another id, it updates to, and sends the message
// there.
func (c *Connector) sendPart(ctx context.Context, in *channel.Channel, to *address, part part) (any, error) {
	params := to.params()
	for field, value := range part.params.All() {
		params = params.With(field, value)
	}
	result, err := c.call(ctx, in, part.method, params)
	if said, ok := errors.AsType[*refusal](err); ok && said.movedTo != 0 {
		to.chat = strconv.FormatInt(said.movedTo, 10)
		return c.call(ctx, in, part.method, params.With("chat_id", said.movedTo))
	}
	return result, err
}

// located gives an error about a part of the message its path in the response.
func (p part) located(err error) error {
	found, ok := boterr.AsError(err)
	if !ok || found.Code != boterr.InvalidArgument {
		return err
	}
	return boterr.PrefixField(p.path, boterr.WithField(p.fields[found.Field], err))
}

func deliveryOf(result any, to address, of credentials) send.Delivery {
	reply, isMessage := result.(document.Object)
	if !isMessage { // Typing is answered by true.
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

// messageParams returns the parameters that identify a message. Its id is "chat:message"; without a chat it
// is in the given conversation.
func messageParams(conversationID, messageID string) document.Object {
	chat, id, hasChat := strings.Cut(messageID, ":")
	if !hasChat {
		chat, id = conversationID, messageID
	}
	return document.O("chat_id", addressOf(chat).chatID(), "message_id", number(id))
}

// UpdateMessage implements send.MessageUpdater. The new text replaces the message's text or caption and removes its
// buttons. Attachments are Unsupported.
func (c *Connector) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	if len(update.Attachments) > 0 {
		return document.Object{}, boterr.New(boterr.Unsupported, "attachments", "Telegram cannot change them: give a text, or send a new message")
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

// showText makes a message show a text and no buttons. It is not an error if the message already does.
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

// RecallTicket implements livechat.TicketRecaller. Telegram deletes messages for 48 hours; an older one is
// FailedPrecondition.
func (c *Connector) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	_, err := c.call(ctx, in, "deleteMessage", ticketParams(ticket))
	return err
}

func ticketParams(ticket livechat.Ticket) document.Object {
	return messageParams(cmp.Or(ticket.ChatID, ticket.Group.ID), ticket.MessageID)
}
