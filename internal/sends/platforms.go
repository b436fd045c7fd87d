package sends

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// CharlieArchiveConversation implements Operations.
func (s *Service) CharlieArchiveConversation(
	ctx context.Context, p send.CharlieArchiveConversationParams,
) (send.CharlieArchiveConversationResult, error) {
	switch {
	case p.MessageEvent == nil:
		return send.CharlieArchiveConversationResult{}, boterr.Missing("messageEvent", "an event in the conversation")
	case p.MessageEvent.To == "":
		return send.CharlieArchiveConversationResult{}, boterr.Missing("messageEvent.to", "the id of the conversation on Charlie")
	}
	in, archiver, err := channelWith[send.ConversationArchiver](ctx, s, p.Channel, "archive conversations", channel.Charlie)
	if err != nil {
		return send.CharlieArchiveConversationResult{}, err
	}
	of := fmt.Sprintf("archive %q %q", in.ID, p.MessageEvent.To)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.CharlieArchiveConversationResult, error) {
		err := archiver.ArchiveConversation(ctx, in, p.MessageEvent.To)
		return send.CharlieArchiveConversationResult{OK: true}, PlatformError(ctx, in.Type, err)
	})
}

// EchoSaveMemberTag implements Operations.
func (s *Service) EchoSaveMemberTag(ctx context.Context, p send.EchoSaveMemberTagParams) (send.EchoSaveMemberTagResult, error) {
	switch {
	case p.TagID == nil:
		return send.EchoSaveMemberTagResult{}, boterr.Missing("tagId", "the number of a tag")
	case *p.TagID < 0:
		return send.EchoSaveMemberTagResult{}, boterr.Invalid("tagId", "must not be negative, got %d", *p.TagID)
	}
	with, err := contactWith[send.Tagger](ctx, s, p.Channel, p.Member, requirement{platform: channel.Echo, what: "put tags on members"})
	if err != nil {
		return send.EchoSaveMemberTagResult{}, err
	}
	of := fmt.Sprintf("tag %q %q %d", with.in.ID, with.to, *p.TagID)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.EchoSaveMemberTagResult, error) {
		reply, err := with.port.SaveTag(ctx, with.in, with.to, *p.TagID)
		return send.EchoSaveMemberTagResult{ErrCode: reply.Code, ErrMsg: reply.Message}, PlatformError(ctx, with.in.Type, err)
	})
}

// UpdateMessage implements Operations.
func (s *Service) UpdateMessage(ctx context.Context, p send.UpdateMessageParams) (send.UpdateMessageResult, error) {
	update, err := messageUpdate(p)
	if err != nil {
		return send.UpdateMessageResult{}, err
	}
	in, updater, err := channelWith[send.MessageUpdater](ctx, s, p.Channel, "change messages")
	if err != nil {
		return send.UpdateMessageResult{}, err
	}
	of := fmt.Sprintf("update %q %q %q", in.ID, update.ConversationID, update.MessageID)
	return Once(ctx, s.env, of, func(ctx context.Context) (send.UpdateMessageResult, error) {
		reply, err := updater.UpdateMessage(ctx, in, update)
		return updatedMessage(update, reply), PlatformError(ctx, in.Type, err)
	})
}

// messageUpdate validates the params of UpdateMessage.
func messageUpdate(p send.UpdateMessageParams) (send.MessageUpdate, error) {
	if p.ExternalChannelID == "" {
		return send.MessageUpdate{}, boterr.Missing("externalChannelId", "the id of the conversation on the platform")
	}
	if p.Text == "" && p.Attachments == nil {
		return send.MessageUpdate{}, boterr.Missing("text", "the new text, or new attachments")
	}
	if p.Text != "" {
		if err := send.Text(p.Text).Validate(); err != nil {
			return send.MessageUpdate{}, err
		}
	}
	for i, attachment := range p.Attachments {
		field := "attachments[" + strconv.Itoa(i) + "]"
		if attachment.IsZero() {
			return send.MessageUpdate{}, boterr.Missing(field, "an object")
		}
		if err := attachment.Err(); err != nil {
			return send.MessageUpdate{}, boterr.PrefixField(field, err)
		}
	}
	id, err := messageToUpdate(p)
	if err != nil {
		return send.MessageUpdate{}, err
	}
	return send.MessageUpdate{
		ConversationID: p.ExternalChannelID, MessageID: id, Text: p.Text, Attachments: slices.Clone(p.Attachments),
	}, nil
}

// messageToUpdate returns the id of the message to update.
func messageToUpdate(p send.UpdateMessageParams) (string, error) {
	byTS := string(p.MessageTS)
	switch {
	case byTS == "" && p.MessageEvent == nil:
		return "", boterr.Missing("messageTs", "the message's timestamp on the platform, or the messageEvent of the sent message")
	case p.MessageEvent == nil:
		return byTS, nil
	case p.MessageEvent.MessageID == "" && byTS == "":
		return "", boterr.Missing("messageEvent.messageId", "the message's id on the platform")
	case p.MessageEvent.MessageID == "":
		return byTS, nil
	case byTS != "" && byTS != p.MessageEvent.MessageID:
		return "", boterr.Invalid("messageTs", "is %q, but messageEvent is the message %q; give one of them", byTS, p.MessageEvent.MessageID)
	default:
		return p.MessageEvent.MessageID, nil
	}
}

// updatedMessage returns the platform's reply, with missing fields taken from the request.
func updatedMessage(asked send.MessageUpdate, reply document.Object) send.UpdateMessageResult {
	result := send.UpdateMessageResult{
		OK:      document.Get(reply, "ok", true),
		Channel: document.Get(reply, "channel", asked.ConversationID),
		TS:      send.MessageTS(asked.MessageID),
		Text:    document.Get(reply, "text", asked.Text),
	}
	var replied send.MessageTS
	if ts, _ := reply.Field("ts"); replied.DecodeValue(ts) == nil && replied != "" {
		result.TS = replied
	}
	return result
}
