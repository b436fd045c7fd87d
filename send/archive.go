package send

import (
	"context"
	"fmt"

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
	of := fmt.Sprintf("archive %q %q", in.ID, p.MessageEvent.To)
	return Once(ctx, s.env, of, func(ctx context.Context) (CharlieArchiveConversationResult, error) {
		err := archiver.ArchiveConversation(ctx, in, p.MessageEvent.To)
		return CharlieArchiveConversationResult{OK: true}, PlatformError(ctx, in.Type, err)
	})
}
