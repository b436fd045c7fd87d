package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// CharlieArchiveConversation implements Operations.
func (s *Service) CharlieArchiveConversation(
	ctx context.Context, p CharlieArchiveConversationParams,
) (CharlieArchiveConversationResult, error) {
	switch {
	case p.MessageEvent == nil:
		return CharlieArchiveConversationResult{}, boterr.Missing("messageEvent", "an event in the conversation")
	case p.MessageEvent.To == "":
		return CharlieArchiveConversationResult{}, boterr.Missing("messageEvent.to", "the id of the conversation on Charlie")
	}
	in, archiver, err := channelWith[ConversationArchiver](ctx, s, p.Channel, "archive conversations", channel.Charlie)
	if err == nil {
		err = canceled(ctx)
	}
	if err != nil {
		return CharlieArchiveConversationResult{}, err
	}
	if err := archiver.ArchiveConversation(ctx, in, p.MessageEvent.To); err != nil {
		return CharlieArchiveConversationResult{}, PlatformError(ctx, in.Type, err)
	}
	return CharlieArchiveConversationResult{OK: true}, nil
}
