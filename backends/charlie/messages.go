package charlie

import (
	"context"
	"net/url"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// nothing is an empty list, which takes away what a message shows.
const nothing = "[]"

// UpdateMessage implements send.MessageUpdater. A new text stands in the place of the blocks
// that the message has, buttons included, since those would show the old one.
func (c *Connector) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	form := url.Values{fieldChannel: {update.ConversationID}, fieldTS: {update.MessageID}}
	if update.Text != "" {
		form.Set(fieldText, escaped(update.Text))
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
	return c.post(ctx, in, methodUpdate, form)
}

// ShowTaken implements livechat.TicketUpdater.
func (c *Connector) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	form := formOn(ticket)
	form.Set(fieldText, escaped(text))
	form.Set(fieldBlocks, nothing)
	form.Set(fieldAttachments, nothing)
	_, err := c.post(ctx, in, methodUpdate, form)
	return err
}

// RecallTicket implements livechat.TicketRecaller.
func (c *Connector) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	_, err := c.post(ctx, in, methodDelete, formOn(ticket))
	return err
}

// formOn returns the fields that name a ticket. One that a user got is in the conversation
// that the tool opened with that user.
func formOn(ticket livechat.Ticket) url.Values {
	conversation := ticket.ChatID
	if conversation == "" {
		conversation = ticket.Group.ID
	}
	return url.Values{fieldChannel: {conversation}, fieldTS: {ticket.MessageID}}
}
