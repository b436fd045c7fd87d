package charlie

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Methods of the API for messages.
const (
	methodPost   = "chat.postMessage"
	methodUpdate = "chat.update"
	methodDelete = "chat.delete"
)

const (
	fieldChannel     = "channel"
	fieldTS          = "ts"
	fieldThread      = "thread_ts"
	fieldText        = "text"
	fieldBlocks      = "blocks"
	fieldAttachments = "attachments"
	fieldPayload     = "payload"
)

// Send implements send.Connector. The recipient is the id of a conversation, or of a user, who gets a direct
// message.
//
// A file becomes a picture or a link. Quick replies and buttons become buttons; quick replies stay visible
// after a tap. A carousel becomes a list of cards. A MISC response, such as a message that a live chat relays, can
// have text and attachments like the ones in events. A file becomes a link, and a place becomes its coordinates.
// Other types are Unsupported unless the response has blocks or attachments in the tool's format, which are sent
// unchanged. The tool cannot show that a bot is typing: TYPING sends nothing and succeeds.
//
// The tool does not recognise repetitions by the message's ID. A message may appear twice if the process dies
// while sending it, or if the run of an agenda sends it again. Messages of the run of an accepted event are not
// sent again; see botctx.Runtime.Accept.
//
// Any response may have the tool's own fields thread_ts, reply_broadcast, unfurl_links, unfurl_media, username,
// icon_url, icon_emoji and metadata.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	if message.Response.Type() == send.TypeTyping {
		return send.Delivery{Reply: document.O("ok", true, fieldChannel, message.To)}, ctx.Err()
	}
	form, err := formOf(message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	form.Set(fieldChannel, message.To)
	reply, err := c.call(ctx, message.Channel, methodPost, form)
	if err != nil {
		return send.Delivery{}, located(err, message.Response)
	}
	ts := document.Get(reply, fieldTS, "")
	return send.Delivery{
		Reply:     reply,
		MessageID: ts,
		ChatID:    document.Get(reply, fieldChannel, message.To),
		From:      document.Get(reply, "message.user", botOf(message.Channel)),
		Timestamp: millisecondsOf(ts),
	}, nil
}

// botOf returns the id of a channel's bot, or "" if it is unknown.
func botOf(in *channel.Channel) string {
	info, _ := in.Info.(channel.CharlieInfo)
	return info.BotID
}

// millisecondsOf returns the time in a message's id, or 0 if the id has none. The id is a number of seconds
// with a fraction.
func millisecondsOf(ts string) document.Timestamp {
	whole, fraction, _ := strings.Cut(ts, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return 0
	}
	milliseconds, err := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	if err != nil || milliseconds < 0 {
		milliseconds = 0
	}
	return document.Timestamp(seconds*1000 + milliseconds)
}

// located adds the path of the faulty part of the response to an error.
func located(err error, response send.Response) error {
	found := calls.RefusalIn(err)
	if !errors.Is(err, boterr.InvalidArgument) {
		return err
	}
	if _, isRaw := response.Lookup(fieldBlocks); isRaw && strings.Contains(found.Code, "block") {
		return boterr.PrefixField(blockPath(found.Message), err)
	}
	switch found.Code {
	case "msg_too_long", "no_text":
		return boterr.PrefixField(fieldText, err)
	case "invalid_attachment", "too_many_attachments":
		return boterr.PrefixField(fieldAttachments, err)
	default:
		return err
	}
}

// blockPath converts the position in the tool's details to a path, such as "blocks[0].text". If they contain no
// position, the path is "blocks".
func blockPath(details string) string {
	_, pointer, found := strings.Cut(details, "[json-pointer:/")
	if !found {
		return fieldBlocks
	}
	pointer, _, _ = strings.Cut(pointer, "]")
	var path strings.Builder
	for i, part := range strings.Split(pointer, "/") {
		switch _, err := strconv.Atoi(part); {
		case err == nil:
			path.WriteString("[" + part + "]")
		case i > 0:
			path.WriteString("." + part)
		default:
			path.WriteString(part)
		}
	}
	return path.String()
}

// nothing is an empty list in JSON. It removes a message's blocks or attachments.
const nothing = "[]"

// UpdateMessage implements send.MessageUpdater. A new text removes the message's blocks, including buttons,
// because blocks would still show the old text.
func (c *Connector) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	form := url.Values{fieldChannel: {update.ConversationID}, fieldTS: {update.MessageID}}
	if update.Text != "" {
		form.Set(fieldText, escaper.Replace(update.Text))
		form.Set(fieldBlocks, nothing)
	}
	if update.Attachments != nil {
		attachments := document.A()
		for _, attachment := range update.Attachments {
			attachments = attachments.Append(attachment)
		}
		text, err := document.AppendJSON(nil, attachments)
		if err != nil {
			return document.Object{}, boterr.PrefixField(fieldAttachments, err)
		}
		form.Set(fieldAttachments, string(text))
	}
	return c.call(ctx, in, methodUpdate, form)
}

// ShowTaken implements livechat.TicketUpdater.
func (c *Connector) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	form := formOn(ticket)
	form.Set(fieldText, escaper.Replace(text))
	form.Set(fieldBlocks, nothing)
	form.Set(fieldAttachments, nothing)
	_, err := c.call(ctx, in, methodUpdate, form)
	return err
}

// RecallTicket implements livechat.TicketRecaller.
func (c *Connector) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	_, err := c.call(ctx, in, methodDelete, formOn(ticket))
	return err
}

// formOn returns the fields that identify the message of a ticket. For a ticket sent to a user, the conversation
// is the direct one that the tool opened for the ticket.
func formOn(ticket livechat.Ticket) url.Values {
	return url.Values{fieldChannel: {cmp.Or(ticket.ChatID, ticket.Group.ID)}, fieldTS: {ticket.MessageID}}
}
