package send

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// UpdateMessage implements Operations.
func (s *Service) UpdateMessage(ctx context.Context, p UpdateMessageParams) (UpdateMessageResult, error) {
	update, err := messageUpdate(p)
	if err != nil {
		return UpdateMessageResult{}, err
	}
	in, updater, err := channelWith[MessageUpdater](ctx, s, p.Channel, "change messages")
	if err == nil {
		err = canceled(ctx)
	}
	if err != nil {
		return UpdateMessageResult{}, err
	}
	of := fmt.Sprintf("update %q %q %q", in.ID, update.ConversationID, update.MessageID)
	return Once(ctx, s.env, of, func(ctx context.Context) (UpdateMessageResult, error) {
		reply, err := updater.UpdateMessage(ctx, in, update)
		return updatedMessage(update, reply), PlatformError(ctx, in.Type, err)
	})
}

// messageUpdate returns what a call asks for.
func messageUpdate(p UpdateMessageParams) (MessageUpdate, error) {
	if p.ExternalChannelID == "" {
		return MessageUpdate{}, boterr.Missing("externalChannelId", "the id of the conversation on the platform")
	}
	if p.Text == "" && p.Attachments == nil {
		return MessageUpdate{}, boterr.Missing(fieldText, "the new text, or new attachments")
	}
	if p.Text != "" {
		if err := textRule(document.O(fieldText, p.Text)); err != nil {
			return MessageUpdate{}, err
		}
	}
	for i, attachment := range p.Attachments {
		field := "attachments[" + strconv.Itoa(i) + "]"
		if attachment.IsZero() {
			return MessageUpdate{}, boterr.Missing(field, "an object")
		}
		if err := attachment.Err(); err != nil {
			return MessageUpdate{}, boterr.PrefixField(field, err)
		}
	}
	id, err := messageToUpdate(p)
	if err != nil {
		return MessageUpdate{}, err
	}
	return MessageUpdate{
		ConversationID: p.ExternalChannelID, MessageID: id, Text: p.Text, Attachments: slices.Clone(p.Attachments),
	}, nil
}

// messageToUpdate returns the id of the message that a call names.
func messageToUpdate(p UpdateMessageParams) (string, error) {
	byTS := string(p.MessageTS)
	switch {
	case byTS == "" && p.MessageEvent == nil:
		return "", boterr.Missing("messageTs", "the message's timestamp on the platform, or messageEvent, which it was sent as")
	case p.MessageEvent == nil:
		return byTS, nil
	case p.MessageEvent.MessageID == "" && byTS == "":
		return "", boterr.Missing("messageEvent.messageId", "the message's id on the platform")
	case p.MessageEvent.MessageID == "":
		return byTS, nil
	case byTS != "" && byTS != p.MessageEvent.MessageID:
		return "", boterr.Invalid("messageTs", "is %q, and messageEvent is the message %q: give one of both", byTS, p.MessageEvent.MessageID)
	default:
		return p.MessageEvent.MessageID, nil
	}
}

// updatedMessage returns the platform's reply, completed from what was asked for.
func updatedMessage(asked MessageUpdate, reply document.Object) UpdateMessageResult {
	result := UpdateMessageResult{
		OK:      document.Get(reply, "ok", true),
		Channel: document.Get(reply, "channel", asked.ConversationID),
		TS:      MessageTS(asked.MessageID),
		Text:    document.Get(reply, fieldText, asked.Text),
	}
	var replied MessageTS
	if ts, _ := reply.Field(fieldTS); replied.DecodeValue(ts) == nil && replied != "" {
		result.TS = replied
	}
	return result
}
