package fakes

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// update changes a message, as a platform does whose messages are found by the conversation
// and their ids.
func (o *outbox) update(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	if err := o.reach(ctx, in); err != nil {
		return document.Object{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := o.find(in.ID, update.MessageID)
	if sent == nil || sent.ChatID != update.ConversationID {
		return document.Object{}, boterr.New(boterr.NotFound, "", "message_not_found: the conversation %q of %s has no message %q: "+
			"give the conversation and the timestamp that the platform answered with", update.ConversationID, in.ID, update.MessageID)
	}
	if update.Text != "" {
		sent.Shown = sent.Shown.With("text", update.Text)
	}
	if update.Attachments != nil {
		sent.Shown = sent.Shown.With("attachments", update.Attachments)
	}
	o.platform.notef("%s shows on %s: %s", in.ID, sent.MessageID, sent.Shown)
	return document.O("ok", true, "channel", sent.ChatID, "ts", sent.MessageID, "text", sent.Shown.Text()), nil
}
