package send

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// EchoSaveMemberTag implements Operations.
func (s *Service) EchoSaveMemberTag(ctx context.Context, p EchoSaveMemberTagParams) (EchoSaveMemberTagResult, error) {
	switch {
	case p.TagID == nil:
		return EchoSaveMemberTagResult{}, boterr.Missing("tagId", "the number of a tag")
	case *p.TagID < 0:
		return EchoSaveMemberTagResult{}, boterr.Invalid("tagId", "must not be negative, got %d", *p.TagID)
	}
	with, err := contactWith[Tagger](ctx, s, p.Channel, p.Member, requirement{platform: channel.Echo, what: "put tags on members"})
	if err == nil {
		err = canceled(ctx)
	}
	if err != nil {
		return EchoSaveMemberTagResult{}, err
	}
	of := fmt.Sprintf("tag %q %q %d", with.in.ID, with.to, *p.TagID)
	return Once(ctx, s.env, of, func(ctx context.Context) (EchoSaveMemberTagResult, error) {
		reply, err := with.port.SaveTag(ctx, with.in, with.to, *p.TagID)
		return EchoSaveMemberTagResult{ErrCode: reply.Code, ErrMsg: reply.Message}, PlatformError(ctx, with.in.Type, err)
	})
}
