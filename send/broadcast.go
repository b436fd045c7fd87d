package send

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// doBroadcast is what a Broadcaster does.
const doBroadcast = "broadcast"

// AlphaCreateBroadcast implements Operations.
func (s *Service) AlphaCreateBroadcast(ctx context.Context, p AlphaCreateBroadcastParams) (AlphaCreateBroadcastResult, error) {
	if err := p.Response.Validate(); err != nil {
		return AlphaCreateBroadcastResult{}, boterr.PrefixField("response", err)
	}
	in, broadcaster, err := channelWith[Broadcaster](ctx, s, p.Channel, doBroadcast, channel.Alpha)
	if err != nil {
		return AlphaCreateBroadcastResult{}, err
	}
	if err := canceled(ctx); err != nil {
		return AlphaCreateBroadcastResult{}, err
	}
	of := fmt.Sprintf("stored message %q", in.ID)
	return Once(ctx, s.env, of, func(ctx context.Context) (AlphaCreateBroadcastResult, error) {
		stored, err := broadcaster.CreateBroadcast(ctx, in, Raw(p.Response.object))
		if err != nil {
			return AlphaCreateBroadcastResult{}, atResponse(PlatformError(ctx, in.Type, err))
		}
		if len(stored) == 0 {
			return AlphaCreateBroadcastResult{}, boterr.New(boterr.Internal, "",
				"the connector stored the message and told nothing of it: have it tell the platform's reply")
		}
		return AlphaCreateBroadcastResult{OK: 1, Result: mapped(stored, StoredMessage.withWritableReply)}, nil
	})
}

// AlphaSendBroadcast implements Operations.
func (s *Service) AlphaSendBroadcast(ctx context.Context, p AlphaSendBroadcastParams) (AlphaSendBroadcastResult, error) {
	switch {
	case p.BroadcastID == "":
		return AlphaSendBroadcastResult{}, boterr.Missing("broadcastId", "the stored message, as alphaCreateBroadcast returns it")
	case p.LabelID == "":
		return AlphaSendBroadcastResult{}, boterr.Missing("labelId", "the label of the members who get the message")
	case p.NotificationType == "":
		return AlphaSendBroadcastResult{}, boterr.Missing("notificationType", "how the members are notified, in Alpha's words")
	}
	in, broadcaster, err := channelWith[Broadcaster](ctx, s, p.Channel, doBroadcast, channel.Alpha)
	if err != nil {
		return AlphaSendBroadcastResult{}, err
	}
	if err := canceled(ctx); err != nil {
		return AlphaSendBroadcastResult{}, err
	}
	broadcast := Broadcast{MessageID: string(p.BroadcastID), LabelID: p.LabelID, NotificationType: p.NotificationType}
	of := fmt.Sprintf("broadcast %q %q %q", in.ID, broadcast.MessageID, broadcast.LabelID)
	return Once(ctx, s.env, of, func(ctx context.Context) (AlphaSendBroadcastResult, error) {
		id, err := broadcaster.SendBroadcast(ctx, in, broadcast)
		return AlphaSendBroadcastResult{BroadcastID: id}, PlatformError(ctx, in.Type, err)
	})
}
